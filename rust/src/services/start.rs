//! The states a system can begin in: one for each way its `start` handlers can choose.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::search::Initial;
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, QueueId};
use crate::services::layout::{Budget, Layout, Network};
use crate::services::misses::Cause;
use crate::services::tables::Outcome;
use crate::table::fingerprint::{BUDGET, OBSERVER, SPLIT, mix};

/// Run every `start` and combine their branches, in node order.
pub fn initial_states(
    py: Python<'_>,
    shared: &Arc<Shared>,
    locals: &[LocalId],
    observers: &[u32],
) -> PyResult<Vec<Initial>> {
    let start = ("start",).into_pyobject(py)?;
    let start = shared.intern_stimulus(py, start.as_any())?;
    let mut partial: Vec<Vec<Outcome>> = vec![Vec::new()];
    let mut begun = Vec::new();
    for &local in locals {
        let mut outcomes = shared.run(py, local, Cause::Stimulus(start))?.to_vec();
        // Nothing is queued before a node starts.
        outcomes.retain(|outcome| outcome.limits.iter().all(|limit| limit.least == 0));
        begun.push(outcomes);
    }
    if shared.symmetry.is_some() {
        shared.verify_starts(&begun)?;
    }
    for outcomes in &begun {
        let extended = partial.iter().flat_map(|chosen| {
            outcomes.iter().map(|outcome| {
                let mut chosen = chosen.clone();
                chosen.push(outcome.clone());
                chosen
            })
        });
        partial = extended.collect();
    }
    let assembled = partial
        .iter()
        .map(|chosen| assemble(shared, chosen, observers));
    let assembled = assembled.collect::<PyResult<Vec<_>>>()?;
    if shared.symmetry.is_some() {
        shared.verify_initial(&assembled)?;
    }
    Ok(assembled)
}

fn assemble(shared: &Arc<Shared>, chosen: &[Outcome], observers: &[u32]) -> PyResult<Initial> {
    let layout = &shared.layout;
    let locals = chosen.iter().map(|outcome| outcome.local.number());
    let mut words: Vec<u32> = locals.collect();
    words.extend_from_slice(observers);
    for outcome in chosen.iter().filter(|outcome| outcome.records != 0) {
        for slot in 0..layout.observers {
            let word = layout.nodes + slot;
            words[word] = shared.observed(slot as u32, words[word], outcome.records)?;
        }
    }
    for (fault, budget) in layout.budgets.iter().enumerate() {
        if matches!(budget, Budget::Word(_)) {
            words.push(layout.granted[fault]);
        }
    }
    if layout.partition.is_some() {
        words.push(0);
    }
    if layout.streams.is_some() {
        words.extend(connections(shared, chosen));
    }
    let sends = chosen
        .iter()
        .flat_map(|outcome| outcome.sends.iter().copied());
    let mut network = in_flight(shared, sends);
    network.sort_unstable();
    words.extend(network);
    Ok(Initial {
        sum: sum(shared, &words),
        words,
        broken: chosen.iter().fold(0, |all, outcome| all | outcome.broken),
        choices: chosen
            .iter()
            .flat_map(|outcome| outcome.choices.to_vec())
            .collect(),
    })
}

/// The connections after what these outcomes, one per node, did to them.
fn connections(shared: &Shared, chosen: &[Outcome]) -> Vec<u32> {
    let mut tables = shared.tables.lock();
    let nodes = shared.layout.nodes;
    let mut words = vec![0; nodes * (nodes + 1) / 2];
    for (node, outcome) in chosen.iter().enumerate() {
        for flow in &outcome.flows {
            let ends = (node as u32, flow.peer);
            let word = &mut words[Layout::slot(ends.0, ends.1)];
            let (mut link, end) = (tables.linked(*word, ends), usize::from(ends.0 > ends.1));
            match flow.envelope {
                Some(message) => link.push(end, |queue| tables.pushed(queue, message)),
                None => link.close(end),
            }
            *word = tables.link(link);
        }
    }
    words
}

/// The network words after these sends.
pub fn in_flight(shared: &Shared, sends: impl Iterator<Item = EnvelopeId>) -> Vec<u32> {
    let mut tables = shared.tables.lock();
    let mut words: Vec<u32> = Vec::new();
    for send in sends {
        match shared.layout.network {
            Network::Unordered => words.push(send.number()),
            Network::Duplicating => {
                if !words.contains(&send.number()) {
                    words.push(send.number());
                }
            }
            network @ (Network::Ordered | Network::Lanes) => {
                let place = tables.flight().place(network, &words, send);
                let place = place.unwrap_or_else(|| {
                    words.push(QueueId::EMPTY.number());
                    words.len() - 1
                });
                let queue = QueueId::of(words[place]);
                words[place] = tables.pushed(queue, send).number();
            }
        }
    }
    words
}

/// The fingerprint sum of a state, from nothing.
pub fn sum(shared: &Shared, words: &[u32]) -> u64 {
    let layout = &shared.layout;
    let tables = shared.tables.lock();
    let locals = words[..layout.nodes].iter();
    let mut sum = locals.fold(0u64, |sum, &local| {
        sum.wrapping_add(tables.locals[local as usize].mix)
    });
    for slot in 0..layout.observers {
        let digest = tables.values.get(words[layout.nodes + slot]).digest;
        sum = sum.wrapping_add(mix(OBSERVER, slot as u64, digest));
    }
    for (fault, budget) in layout.budgets.iter().enumerate() {
        if let Budget::Word(word) = *budget {
            sum = sum.wrapping_add(mix(BUDGET, fault as u64, u64::from(words[word])));
        }
    }
    if layout.split(words) != 0 {
        sum = sum.wrapping_add(mix(SPLIT, 0, u64::from(layout.split(words))));
    }
    for &word in layout.links(words) {
        sum = sum.wrapping_add(tables.links[word as usize].mix);
    }
    words[layout.fixed..].iter().fold(sum, |sum, &word| {
        sum.wrapping_add(match layout.network.is_queued() {
            true => tables.queues.get(QueueId::of(word)).mix,
            false => tables.envelopes[word as usize].mix,
        })
    })
}
