//! A shard at the end of a level, as bytes, and back: into as many shards as there are then.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::Shard;
use super::dictionary::{Known, Translation};
use super::wire::{Packer, Unpacker, damaged};
use crate::checkpoint::Earlier;
use crate::search::worker::{HEADER, store, stored};
use crate::services::start::sum;
use crate::table::fingerprint::nonzero;

pub fn write(shard: &Shard) -> Packer {
    let mut out = Packer::default();
    let (_, generated, depth, handlers, properties, faults) = shard.counts();
    out.word(shard.depth);
    out.longs(&[generated, depth as u64, handlers, properties]);
    out.longs(&faults);
    let decided = shard.search.shared.properties.iter();
    let decided: Vec<u32> = decided
        .map(|property| u32::from(property.decided.load(Relaxed)))
        .collect();
    out.words(&decided);
    Known::default().write(&mut out, &shard.search.shared);
    out.long(shard.current.len() as u64);
    shard.current.iter().for_each(|chunk| out.words(chunk));
    let mut seen = Vec::with_capacity(2 * shard.search.seen.len());
    let pushed = shard.search.seen.each(|key, parent| {
        seen.extend([key, parent]);
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(()) = pushed;
    out.longs(&seen);
    out
}

pub fn read(shard: &mut Shard, py: Python<'_>, saved: &[u8], counts: bool) -> PyResult<()> {
    let mut from = Unpacker::new(saved);
    shard.depth = from.word()?;
    let counted = from.longs()?;
    let faults = from.longs()?;
    let decided = from.words()?;
    let &[generated, depth, handler_runs, property_runs] = &counted[..] else {
        return Err(damaged());
    };
    let search = &shard.search;
    if faults.len() != search.faults.len() || decided.len() != search.shared.properties.len() {
        return Err(damaged());
    }
    search.depth.fetch_max(depth as usize, Relaxed);
    for (property, decided) in search.shared.properties.iter().zip(decided) {
        property.decided.fetch_or(decided != 0, Relaxed);
    }
    if counts {
        search.generated.fetch_add(generated, Relaxed);
        for (fault, count) in search.faults.iter().zip(faults) {
            fault.fetch_add(count, Relaxed);
        }
        let mut earlier = search.earlier.lock();
        *earlier = Earlier {
            handler_runs: earlier.handler_runs + handler_runs,
            property_runs: earlier.property_runs + property_runs,
            ..*earlier
        };
    }
    let mut translation = Translation::default();
    let host = shard.host.bind(py);
    translation.read(py, &mut from, &search.shared, host)?;
    for _ in 0..from.long()? {
        let chunk = from.words()?;
        waiting(shard, &chunk, &translation)?;
    }
    seen(shard, &from.longs()?)
}

/// The states of a chunk that wait here from now on.
fn waiting(shard: &mut Shard, chunk: &[u32], translation: &Translation) -> PyResult<()> {
    let mut own = Vec::new();
    let mut at = 0;
    while at < chunk.len() {
        if at + HEADER > chunk.len() || at + HEADER + chunk[at] as usize > chunk.len() {
            return Err(damaged());
        }
        let state = stored(chunk, at);
        at += HEADER + state.words.len();
        if shard.owner(nonzero(state.sum)) as u64 != shard.index {
            continue;
        }
        let mut words = state.words.to_vec();
        translation.state(&shard.search.shared, &mut words)?;
        if sum(&shard.search.shared, &words) != state.sum {
            return Err(damaged());
        }
        store(&mut own, state.sum, |out| out.extend_from_slice(&words));
    }
    shard.current.push(own);
    Ok(())
}

fn seen(shard: &Shard, pairs: &[u64]) -> PyResult<()> {
    let own = |pair: &&[u64]| shard.owner(pair[0]) as u64 == shard.index;
    let count = pairs.chunks_exact(2).filter(own).count();
    shard.search.seen.reserve(count);
    let slots = shard.search.seen.read();
    for pair in pairs.chunks_exact(2).filter(own) {
        slots.insert(pair[0], pair[1], 0);
    }
    drop(slots);
    shard.search.seen.add(count);
    Ok(())
}
