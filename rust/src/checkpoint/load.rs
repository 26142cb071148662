//! Read a search back, in a process where every id may be another one.
//!
//! Everything written is interned here as well, oldest first, which gives a translation from old
//! ids to new ones. Nothing is believed: the digest of the file was compared before, the initial
//! states must be the same, and each waiting state must have the fingerprint it had.

use std::io;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Earlier;
use super::save::{EVENTS, Status};
use super::wire::{In, damaged};
use crate::python::tables::FAULTS;
use crate::search::frontier::Levels;
use crate::search::level::Level;
use crate::search::worker::{HEADER, Worker, stored};
use crate::search::{EventId, Found, Route, Search};
use crate::services::coverage::Before;
use crate::services::expand::EventKind;
use crate::services::ids::{EnvelopeId, LocalId, QueueId, StimulusId};
use crate::services::start::sum;
use crate::services::streams::connection::Link;
use crate::services::tables::{Tables, delivery_key};
use crate::table::fingerprint::nonzero;
use crate::table::flat::pair;
use crate::table::scratch::passes;

/// New ids by old ones.
#[derive(Default)]
struct Translation {
    values: Vec<u32>,
    stimuli: Vec<StimulusId>,
    messages: Vec<EnvelopeId>,
    locals: Vec<LocalId>,
    queues: Vec<QueueId>,
    links: Vec<u32>,
}

fn other_system(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what.to_owned())
}

fn new_id<Id: Copy>(ids: &[Id], old: u32) -> io::Result<Id> {
    let id = ids.get(old as usize).copied();
    id.ok_or_else(|| damaged("it uses an id that it does not explain"))
}

/// Fill `search` with what `file` holds from its status on; gives that and the waiting states.
/// `host` has `restore(classes, references)`, which makes their names known to the codec, and
/// `recall(errors)`.
pub fn read(
    py: Python<'_>,
    file: &mut In,
    search: &Search,
    host: &Bound<'_, PyAny>,
) -> PyResult<(Status, Levels)> {
    let status = match file.byte()? {
        0 => Status::Open,
        1 => Status::Exhausted,
        2 => Status::Violated,
        _ => return Err(damaged("its status is unknown").into()),
    };
    let states = file.count()?;
    counters(file, search, states)?;
    let found = findings(file, search)?;
    let known = search.shared.codec.get().names();
    let classes = texts(file, &known.0)?;
    let references = texts(file, &known.1)?;
    host.call_method1("restore", (classes, references))?;
    let translation = tables(py, file, search)?;
    for found in found.into_iter().flatten() {
        search.report(translate_found(found, &translation)?);
    }
    covered(file, search, &translation)?;
    let levels = frontier(file, search, &translation)?;
    search
        .seen
        .fill(states, || Ok::<_, io::Error>((file.long()?, file.long()?)))?;
    let errors = PyBytes::new(py, &file.bytes()?).into_any();
    host.call_method1("recall", (errors,))?;
    Ok((status, levels))
}

fn counters(file: &mut In, search: &Search, states: usize) -> io::Result<()> {
    let seconds = f64::from_bits(file.long()?);
    search.generated.store(file.long()?, Relaxed);
    search.depth.store(file.long()? as usize, Relaxed);
    search.frontier.store(file.long()? as usize, Relaxed);
    *search.earlier.lock() = Earlier {
        states: states as u64,
        seconds,
        handler_runs: file.long()?,
        property_runs: file.long()?,
    };
    if file.count()? != FAULTS.len() {
        return Err(other_system("it counts other faults"));
    }
    for fault in &search.faults {
        fault.store(file.long()?, Relaxed);
    }
    let initial: Vec<u64> = (0..file.count()?)
        .map(|_| file.long())
        .collect::<Result<_, _>>()?;
    if !initial.iter().eq(search.initial.iter().map(|now| &now.sum)) {
        return Err(other_system("the system begins in other states"));
    }
    Ok(())
}

fn findings(file: &mut In, search: &Search) -> io::Result<Vec<Option<Found>>> {
    let properties = &search.shared.properties;
    if file.count()? != properties.len() {
        return Err(other_system("it has another number of properties"));
    }
    let mut found = Vec::new();
    for (index, property) in properties.iter().enumerate() {
        property.decided.store(file.byte()? != 0, Relaxed);
        found.push(match file.byte()? {
            0 => None,
            _ => Some(finding(file, index, search.initial.len())?),
        });
    }
    Ok(found)
}

fn finding(file: &mut In, property: usize, initial: usize) -> io::Result<Found> {
    let length = file.word()?;
    let route = match file.byte()? {
        0 => {
            let index = file.long()? as usize;
            if index >= initial {
                return Err(damaged("a finding begins nowhere"));
            }
            Route::Walked(index, Vec::new())
        }
        _ => {
            let key = file.long()?;
            let event = match file.byte()? {
                0 => None,
                _ => Some(happened(file)?),
            };
            Route::Seen(key, event)
        }
    };
    Ok(Found {
        property,
        length,
        delays: 0,
        route,
    })
}

fn happened(file: &mut In) -> io::Result<EventId> {
    Ok(EventId {
        what: *EVENTS
            .get(file.byte()? as usize)
            .ok_or_else(|| damaged("a finding has an unknown event"))?,
        node: file.word()?,
        origin: file.word()?,
        branch: file.word()?,
    })
}

fn translate_found(mut found: Found, ids: &Translation) -> io::Result<Found> {
    if let Route::Seen(_, Some(event)) = &mut found.route {
        event.origin = match event.what {
            EventKind::Internal => new_id(&ids.stimuli, event.origin)?.number(),
            // A node, or the number of a partition, is the same in every process.
            EventKind::Cut | EventKind::Idle | EventKind::Split | EventKind::Heal => event.origin,
            _ => new_id(&ids.messages, event.origin)?.number(),
        };
    }
    Ok(found)
}

/// Names, without those that are known.
fn texts(file: &mut In, known: &[String]) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = (0..file.count()?)
        .map(|_| file.text())
        .collect::<Result<_, _>>()?;
    names.retain(|name| !known.contains(name));
    Ok(names)
}

fn new_ids<Id: Copy>(ids: &[Id], old: Vec<u32>) -> io::Result<Vec<Id>> {
    old.into_iter().map(|old| new_id(ids, old)).collect()
}

fn tables(py: Python<'_>, file: &mut In, search: &Search) -> PyResult<Translation> {
    let shared = &search.shared;
    let mut ids = Translation::default();
    for _ in 0..file.count()? {
        ids.values.push(shared.intern_value_bytes(&file.bytes()?)?);
    }
    for _ in 0..file.count()? {
        ids.stimuli
            .push(shared.intern_stimulus_bytes(&file.bytes()?)?);
    }
    for _ in 0..file.count()? {
        ids.messages.push(shared.envelope_of(py, &file.bytes()?)?);
    }
    let mut tables = shared.tables.lock();
    for _ in 0..file.count()? {
        let node = file.word()? as usize;
        let row = new_ids(&ids.values, file.words()?)?;
        let ghosts = shared.ghosts.get(node).filter(|own| own.len() == row.len());
        let ghosts = ghosts.ok_or_else(|| other_system("its nodes have other fields"))?;
        let up = file.byte()? != 0;
        ids.locals.push(tables.local(node, &row, ghosts, up));
    }
    queues(file, &mut tables, &mut ids)?;
    ids.links.push(0);
    for _ in 0..file.count()? {
        let ends = file.words()?;
        let ends = <[u32; 2]>::try_from(ends).map_err(|_| damaged("a connection has no ends"))?;
        let queues = new_ids(&ids.queues, file.words()?)?;
        let queues = <[QueueId; 2]>::try_from(queues);
        let queues = queues.map_err(|_| damaged("a connection has no queues"))?;
        ids.links
            .push(tables.link(Link::of(ends, queues, file.byte()?)));
    }
    for _ in 0..file.count()? {
        let nodes = file.words()?;
        let values = new_ids(&ids.values, file.words()?)?;
        let sequence: Vec<(u32, u32)> = nodes.into_iter().zip(values).collect();
        tables.record_sequence(&sequence);
    }
    Ok(ids)
}

/// The queues, whose messages are linked from the newest back: links are shared by queues.
fn queues(file: &mut In, tables: &mut Tables, ids: &mut Translation) -> PyResult<()> {
    let mut nodes = vec![0];
    for _ in 0..file.count()? {
        let before = new_id(&nodes, file.word()?)?;
        let message = new_id(&ids.messages, file.word()?)?;
        nodes.push(tables.queues.node(before, message));
    }
    ids.queues.push(QueueId::EMPTY);
    for _ in 0..file.count()? {
        let last = new_id(&nodes, file.word()?)?;
        let queue = tables.queue_at(last, file.word()?);
        ids.queues
            .push(queue.ok_or_else(|| damaged("a queue has no messages"))?);
    }
    Ok(())
}

/// Take over which steps were run, in the ids of this process.
fn covered(file: &mut In, search: &Search, ids: &Translation) -> io::Result<()> {
    let mut before = Before::default();
    for _ in 0..file.count()? {
        let read = file.byte()?;
        before.reads.push((read > 0, read > 1));
    }
    for row in file.words()?.chunks(3) {
        let &[local, envelope, done] = row else {
            return Err(damaged("a step is cut short"));
        };
        let local = new_id(&ids.locals, local)?;
        let key = delivery_key(local, new_id(&ids.messages, envelope)?);
        before.deliveries.insert(key, done != 0);
    }
    let words = file.words()?;
    let mut rest = &words[..];
    while let [local, count, after @ ..] = rest {
        let stimuli = after.split_at_checked(*count as usize);
        let (stimuli, after) = stimuli.ok_or_else(|| damaged("a step is cut short"))?;
        let stimuli = stimuli.iter().map(|&old| new_id(&ids.stimuli, old));
        let stimuli = stimuli.collect::<io::Result<_>>()?;
        before
            .internals
            .insert(new_id(&ids.locals, *local)?, stimuli);
        rest = after;
    }
    let mut tables = search.shared.tables.lock();
    for row in file.words()?.chunks(2) {
        let &[node, stimulus] = row else {
            return Err(damaged("a step is cut short"));
        };
        tables
            .happened
            .insert(pair(node, new_id(&ids.stimuli, stimulus)?.number()));
    }
    tables.levels = file.words()?;
    tables.before = before;
    Ok(())
}

fn frontier(file: &mut In, search: &Search, ids: &Translation) -> io::Result<Levels> {
    let mut levels = Levels::default();
    levels.depth = file.word()?;
    level(file, search, ids, &mut levels.current)?;
    level(file, search, ids, &mut levels.next)?;
    for _ in 0..file.count()? {
        let thread = file.long()? as usize;
        let states = states(file, search, ids)?;
        match thread < search.limits.threads {
            true => levels.kept.push((thread, states)),
            false => levels.next.push(states),
        }
    }
    Ok(levels)
}

fn level(file: &mut In, search: &Search, ids: &Translation, level: &mut Level) -> io::Result<()> {
    for _ in 0..file.count()? {
        level.push(states(file, search, ids)?);
        if let Some(scratch) = search
            .scratch
            .as_ref()
            .filter(|scratch| passes(scratch.limit_mib, 0))
        {
            level.file(scratch)?;
        }
    }
    Ok(())
}

/// Judge the waiting states once more. What their successors are asked is derived from what was
/// read in them (`Judge::same`), and this process has read nothing yet.
pub fn judge_again(search: &Search, levels: &Levels) -> PyResult<()> {
    let mut worker = Worker::new(search);
    let mut judge = |chunk: &[u32], length: u32| -> PyResult<()> {
        let mut at = 0;
        while at < chunk.len() {
            let state = stored(chunk, at);
            let route = || Route::Seen(nonzero(state.sum), None);
            worker.check_state(state.words, None, length, route)?;
            at += HEADER + state.words.len();
        }
        Ok(())
    };
    // The initial states, 0 steps long, wait in a next level before any was expanded.
    let depth = levels.depth;
    let current = |chunk: &[u32]| judge(chunk, depth.saturating_sub(1));
    levels.current.each(current)?;
    levels.next.each(|chunk| judge(chunk, depth))?;
    let mut kept = levels.kept.iter();
    kept.try_for_each(|(_, states)| judge(states, depth))
}

/// A chunk of states, in the ids of this process.
fn states(file: &mut In, search: &Search, ids: &Translation) -> io::Result<Vec<u32>> {
    let mut chunk = file.words()?;
    let mut at = 0;
    while at < chunk.len() {
        let end = at + HEADER + chunk[at] as usize;
        if end > chunk.len() || (chunk[at] as usize) < search.shared.layout.fixed {
            return Err(damaged("a waiting state is cut short"));
        }
        translate(&mut chunk[at + HEADER..end], search, ids)?;
        let state = stored(&chunk, at);
        if sum(&search.shared, state.words) != state.sum {
            return Err(other_system("a waiting state has another fingerprint here"));
        }
        at = end;
    }
    Ok(chunk)
}

fn translate(words: &mut [u32], search: &Search, ids: &Translation) -> io::Result<()> {
    let layout = &search.shared.layout;
    let observed = layout.nodes + layout.observers;
    let network = |word| match layout.network.is_queued() {
        true => new_id(&ids.queues, word).map(QueueId::number),
        false => new_id(&ids.messages, word).map(EnvelopeId::number),
    };
    let links = layout.streams;
    for (position, word) in words.iter_mut().enumerate() {
        *word = match position {
            _ if position < layout.nodes => new_id(&ids.locals, *word)?.number(),
            _ if position < observed => new_id(&ids.values, *word)?,
            _ if links.is_some_and(|first| position >= first) && position < layout.fixed => {
                new_id(&ids.links, *word)?
            }
            _ if position < layout.fixed => *word, // a budget or a partition: a plain number
            _ => network(*word)?,
        };
    }
    words[layout.fixed..].sort_unstable();
    Ok(())
}
