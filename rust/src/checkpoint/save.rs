//! Write a search down: whatever another process needs to go on exactly where this one is.
//!
//! Ids mean something in one process only, so the tables that give them their meaning are written
//! too, in the order of their ids. Outcomes of steps and verdicts are not: they are found again
//! when they are needed. Called while no thread works.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use super::wire::Out;
use super::{MAGIC, VERSION};
use crate::search::frontier::Levels;
use crate::search::level::Level;
use crate::search::{EventId, Found, Route, Search};
use crate::services::context::{PropertyState, Shared};
use crate::services::expand::EventKind;
use crate::services::ids::QueueId;
use crate::services::streams::connection::LinkInfo;
use crate::table::intern::Interner;

/// Kinds of events, by the number they have in a file: as they are declared.
pub const EVENTS: [EventKind; 12] = [
    EventKind::Internal,
    EventKind::Deliver,
    EventKind::Drop,
    EventKind::Duplicate,
    EventKind::Receive,
    EventKind::Broken,
    EventKind::Refused,
    EventKind::KeepAlive,
    EventKind::Cut,
    EventKind::Idle,
    EventKind::Split,
    EventKind::Heal,
];

/// What became of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It goes on from here, perhaps with other limits.
    Open,
    /// Every reachable state was examined.
    Exhausted,
    /// A violation ended it.
    Violated,
}

pub fn write(
    out: &mut Out,
    header: &[u8],
    (search, levels): (&Search, &Levels),
    (status, seconds): (Status, f64),
) -> io::Result<()> {
    out.raw(MAGIC)?;
    out.word(VERSION)?;
    out.bytes(header)?;
    out.byte(status as u8)?;
    out.count(search.seen.len())?;
    counters(out, search, seconds)?;
    findings(out, search)?;
    let (classes, references) = search.shared.codec.get().names();
    for names in [classes, references] {
        out.count(names.len())?;
        names
            .iter()
            .try_for_each(|name| out.bytes(name.as_bytes()))?;
    }
    tables(out, &search.shared)?;
    covered(out, &search.shared)?;
    frontier(out, levels)?;
    search.seen.each(|key, parent| {
        out.long(key)?;
        out.long(parent)
    })?;
    out.pause()
}

fn counters(out: &mut Out, search: &Search, seconds: f64) -> io::Result<()> {
    let earlier = *search.earlier.lock();
    out.long(seconds.to_bits())?;
    out.long(search.generated.load(Relaxed))?;
    out.count(search.depth.load(Relaxed))?;
    out.count(search.frontier.load(Relaxed))?;
    out.long(search.shared.handler_runs.load(Relaxed) + earlier.handler_runs)?;
    out.long(search.shared.property_runs.load(Relaxed) + earlier.property_runs)?;
    out.count(search.faults.len())?;
    for fault in &search.faults {
        out.long(fault.load(Relaxed))?;
    }
    out.count(search.initial.len())?;
    for initial in &search.initial {
        out.long(initial.sum)?;
    }
    Ok(())
}

fn findings(out: &mut Out, search: &Search) -> io::Result<()> {
    let found = search.found.lock();
    let decided = |property: &PropertyState| property.decided.load(Relaxed);
    out.count(found.len())?;
    for (property, found) in search.shared.properties.iter().zip(found.iter()) {
        out.byte(u8::from(decided(property)))?;
        out.byte(u8::from(found.is_some()))?;
        if let Some(found) = found {
            finding(out, found)?;
        }
    }
    Ok(())
}

fn finding(out: &mut Out, found: &Found) -> io::Result<()> {
    out.word(found.length)?;
    match &found.route {
        Route::Walked(initial, events) => {
            debug_assert!(events.is_empty(), "only walks have events");
            out.byte(0)?;
            out.count(*initial)
        }
        Route::Seen(key, event) => {
            out.byte(1)?;
            out.long(*key)?;
            out.byte(u8::from(event.is_some()))?;
            event.iter().try_for_each(|event| happened(out, event))
        }
    }
}

fn happened(out: &mut Out, event: &EventId) -> io::Result<()> {
    out.byte(event.what as u8)?;
    out.word(event.node)?;
    out.word(event.origin)?;
    out.word(event.branch)
}

fn tables(out: &mut Out, shared: &Shared) -> io::Result<()> {
    let tables = shared.tables.lock();
    interned(out, &tables.values)?;
    interned(out, &tables.stimuli)?;
    interned(out, &tables.messages)?;
    out.count(tables.locals.len())?;
    for (local, &up) in tables.locals.iter().zip(&tables.ups) {
        let fields = shared.ghosts[local.node as usize].len();
        let start = local.row as usize;
        out.word(local.node)?;
        out.words(&tables.rows[start..start + fields])?;
        out.byte(u8::from(up))?;
    }
    let (tree, queues) = (tables.queues.tree(), &tables.queues.infos()[1..]);
    out.count(tree.len())?;
    for (before, message) in tree {
        out.word(before)?;
        out.word(message.number())?;
    }
    out.count(queues.len())?;
    for queue in queues {
        out.word(queue.last())?;
        out.word(queue.len())?;
    }
    out.count(tables.links.len() - 1)?;
    for LinkInfo { link, .. } in &tables.links[1..] {
        out.words(&link.ends)?;
        out.words(&link.queues.map(QueueId::number))?;
        out.byte(link.flags())?;
    }
    out.count(tables.records.len() - 1)?;
    for sequence in &tables.records[1..] {
        let (nodes, values): (Vec<u32>, Vec<u32>) = sequence.iter().copied().unzip();
        out.words(&nodes)?;
        out.words(&values)?;
    }
    Ok(())
}

/// Which steps were run, not what came of them: enough to count each once when it is run again.
fn covered(out: &mut Out, shared: &Shared) -> io::Result<()> {
    let reads = shared.reads();
    out.count(reads.len())?;
    for (asked, varied) in reads {
        out.byte(u8::from(asked) + u8::from(varied))?;
    }
    let tables = shared.tables.lock();
    let mut deliveries = Vec::new();
    tables.each_delivery(|local, envelope, done| {
        deliveries.extend([local.number(), envelope.number(), u32::from(done)]);
    });
    out.words(&deliveries)?;
    let mut internals = Vec::new();
    tables.each_internal(|local, stimuli| {
        internals.extend([local.number(), stimuli.len() as u32]);
        internals.extend(stimuli.iter().map(|stimulus| stimulus.number()));
    });
    out.words(&internals)?;
    let happened = tables.happened.iter();
    let happened: Vec<u32> = happened
        .flat_map(|&key| [(key >> 32) as u32, key as u32])
        .collect();
    out.words(&happened)?;
    out.words(&tables.levels)
}

fn interned(out: &mut Out, interner: &Interner) -> io::Result<()> {
    out.count(interner.items().len())?;
    let mut items = interner.items().iter();
    items.try_for_each(|item| out.bytes(&item.bytes))
}

fn frontier(out: &mut Out, levels: &Levels) -> io::Result<()> {
    out.word(levels.depth)?;
    chunks(out, &levels.current)?;
    chunks(out, &levels.next)?;
    out.count(levels.kept.len())?;
    for (thread, states) in &levels.kept {
        out.count(*thread)?;
        out.words(states)?;
    }
    Ok(())
}

fn chunks(out: &mut Out, level: &Level) -> io::Result<()> {
    out.count(level.len())?;
    level.each(|chunk| out.words(chunk))
}

#[cfg(test)]
mod tests {
    use super::EVENTS;

    #[test]
    fn kinds_of_events_are_numbered_as_they_are_declared() {
        assert!(
            EVENTS
                .iter()
                .enumerate()
                .all(|(at, &what)| what as usize == at)
        );
    }
}
