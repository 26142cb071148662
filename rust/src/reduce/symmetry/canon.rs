//! The representative of a state among all that interchangeable nodes make of it.
//!
//! The representative is the arrangement with the least fingerprint among those that put each
//! group's nodes in the order of their *colours*: 64 bits of how a node looks from outside, which
//! are the same wherever it stands. So hardly ever is more than one arrangement tried: nodes of one
//! colour that may change places without any effect need no second try.
//!
//! Invariant: all arrangements of a state have one representative, whatever met them first.

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::reduce::symmetry::images::{Permutation, Thing};
use crate::services::expand::Expander;
use crate::services::layout::{Budget, Network};
use crate::table::fingerprint::{BUDGET, SPLIT, mix, scramble};
use crate::table::flat::{FlatMap, pair};

/// Raw fingerprints whose representative is remembered; then the memory starts anew.
const KNOWN_MAX: usize = 1 << 20;

/// One thread's memory of arrangements.
#[derive(Default)]
pub struct Canon {
    images: [FlatMap; 3],
    looks: [FlatMap; 3],
    ids: FxHashMap<Vec<u32>, (u32, Permutation)>,
    known: FlatMap,
    count: usize,
    scratch: Vec<u32>,
}

/// The parts of a state that a permutation acts on.
#[derive(Clone, Copy)]
enum Part {
    Local,
    Observer,
    Network,
}

impl Part {
    fn thing(self, network: Network) -> Thing {
        match (self, network) {
            (Part::Local, _) => Thing::Local,
            (Part::Observer, _) => Thing::Value,
            (Part::Network, network) if network.is_queued() => Thing::Queue,
            (Part::Network, _) => Thing::Envelope,
        }
    }
}

/// Nodes of one colour, those that may change places without any effect together.
type Run = Vec<Vec<u32>>;

impl Canon {
    /// The representative's fingerprint, if the state with fingerprint `raw` was met before.
    pub fn known(&self, raw: u64) -> Option<u64> {
        self.known.get(raw)
    }

    pub fn remember(&mut self, raw: u64, sum: u64) {
        self.count += 1;
        if self.count > KNOWN_MAX {
            self.known = FlatMap::default();
            self.count = 0;
        }
        self.known.insert(raw, sum);
    }

    /// Write the representative of `words` to `out`; gives its fingerprint sum.
    pub fn represent(
        &mut self,
        expander: &mut Expander,
        words: &[u32],
        out: &mut Vec<u32>,
    ) -> PyResult<u64> {
        let mut runs: Vec<Vec<Run>> = Vec::new();
        for group in expander.shared.clone().symmetry().groups.iter() {
            runs.push(self.runs(expander, words, group)?);
        }
        let mut best = None;
        let mut order = Vec::new();
        self.arrange(expander, words, &runs, &mut order, &mut |sum, arranged| {
            if best.is_none_or(|least| sum < least) {
                best = Some(sum);
                out.clear();
                out.extend_from_slice(arranged);
            }
        })?;
        Ok(best.expect("there is at least one arrangement"))
    }

    /// The nodes of a group by colour, ascending.
    fn runs(
        &mut self,
        expander: &mut Expander,
        words: &[u32],
        group: &[u32],
    ) -> PyResult<Vec<Run>> {
        let mut coloured = Vec::with_capacity(group.len());
        for &node in group {
            coloured.push((self.colour(expander, words, node)?, node));
        }
        coloured.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        for (at, &(colour, node)) in coloured.iter().enumerate() {
            if at == 0 || coloured[at - 1].0 != colour {
                runs.push(vec![vec![node]]);
                continue;
            }
            let run = runs.last_mut().expect("begun by the node before");
            let mut place = None;
            for (index, twins) in run.iter().enumerate() {
                if place.is_none() && self.twins(expander, words, twins[0], node)? {
                    place = Some(index);
                }
            }
            match place {
                Some(index) => run[index].push(node),
                None => run.push(vec![node]),
            }
        }
        Ok(runs)
    }

    /// How `node` looks in this state, wherever it stands.
    fn colour(&mut self, expander: &Expander, words: &[u32], node: u32) -> PyResult<u64> {
        let layout = &expander.shared.layout;
        let mut colour = 0u64;
        for (at, &word) in words.iter().enumerate() {
            let (part, place) = match at {
                _ if at < layout.nodes => (Part::Local, 0),
                _ if at < layout.nodes + layout.observers => (Part::Observer, at as u64),
                _ if at < layout.fixed => continue,
                _ => (Part::Network, 0),
            };
            let key = pair(word, node);
            let look = match self.looks[part as usize].get(key) {
                Some(known) => known,
                None => {
                    let thing = part.thing(layout.network);
                    let look = expander.shared.seen_from(thing, word, node)?;
                    let look = scramble(look ^ scramble(part as u64));
                    self.looks[part as usize].insert(key, look);
                    look
                }
            };
            colour = colour.wrapping_add(scramble(look ^ place));
        }
        Ok(colour)
    }

    /// Whether two nodes may change places without any effect.
    fn twins(
        &mut self,
        expander: &mut Expander,
        words: &[u32],
        one: u32,
        other: u32,
    ) -> PyResult<bool> {
        let exchange = expander.shared.symmetry().exchange(one, other);
        let mut image = std::mem::take(&mut self.scratch);
        self.image(expander, words, &exchange, &mut image)?;
        let same = image == words;
        self.scratch = image;
        Ok(same)
    }

    /// Try every order of nodes that their colours leave open. `order` holds, for the groups
    /// decided so far, the nodes in the order of the places they take.
    fn arrange(
        &mut self,
        expander: &mut Expander,
        words: &[u32],
        runs: &[Vec<Run>],
        order: &mut Vec<Vec<u32>>,
        tell: &mut dyn FnMut(u64, &[u32]),
    ) -> PyResult<()> {
        let Some(group) = runs.get(order.len()) else {
            let shared = expander.shared.clone();
            let mut places: Vec<u32> = (0..shared.layout.nodes as u32).collect();
            for (nodes, group) in order.iter().zip(&shared.symmetry().groups) {
                for (&node, &place) in nodes.iter().zip(group) {
                    places[node as usize] = place;
                }
            }
            let mut image = Vec::with_capacity(words.len());
            let sum = self.image(expander, words, &places, &mut image)?;
            tell(sum, &image);
            return Ok(());
        };
        let mut orders = vec![Vec::new()];
        for run in group {
            let mut sizes: Vec<usize> = run.iter().map(Vec::len).collect();
            let mut ends = Vec::new();
            mixtures(&mut sizes, &mut Vec::new(), &mut ends);
            orders = orders
                .iter()
                .flat_map(|begun: &Vec<u32>| {
                    ends.iter().map(|mixture| {
                        let mut next = vec![0; run.len()];
                        let nodes = mixture.iter().map(|&block: &usize| {
                            next[block] += 1;
                            run[block][next[block] - 1]
                        });
                        begun.iter().copied().chain(nodes).collect()
                    })
                })
                .collect();
        }
        for nodes in orders {
            order.push(nodes);
            self.arrange(expander, words, runs, order, tell)?;
            order.pop();
        }
        Ok(())
    }

    /// Write what `words` become when each node takes another's place; gives its fingerprint sum.
    pub fn image(
        &mut self,
        expander: &mut Expander,
        words: &[u32],
        places: &[u32],
        out: &mut Vec<u32>,
    ) -> PyResult<u64> {
        let permutation = match self.ids.get(places) {
            Some((id, _)) => *id,
            None => {
                let id = expander.shared.symmetry().id(places);
                let known = expander.shared.symmetry().permutation(id);
                self.ids.insert(places.to_vec(), (id, known));
                id
            }
        };
        out.clear();
        out.extend_from_slice(words);
        let (nodes, fixed) = (expander.shared.layout.nodes, expander.shared.layout.fixed);
        let observers = expander.shared.layout.observers;
        for (node, &word) in words[..nodes].iter().enumerate() {
            out[places[node] as usize] = self.moved(expander, Part::Local, word, permutation)?;
        }
        for word in &mut out[nodes..nodes + observers] {
            *word = self.moved(expander, Part::Observer, *word, permutation)?;
        }
        for word in &mut out[fixed..] {
            *word = self.moved(expander, Part::Network, *word, permutation)?;
        }
        out[fixed..].sort_unstable();
        Ok(sum(expander, out))
    }

    fn moved(
        &mut self,
        expander: &mut Expander,
        part: Part,
        word: u32,
        permutation: u32,
    ) -> PyResult<u32> {
        let key = pair(word, permutation);
        if let Some(known) = self.images[part as usize].get(key) {
            return Ok(known as u32);
        }
        let thing = part.thing(expander.shared.layout.network);
        let image = expander.shared.image(thing, word, permutation)?;
        expander.sync();
        self.images[part as usize].insert(key, u64::from(image));
        Ok(image)
    }
}

/// All sequences in which block `i` occurs `sizes[i]` times.
fn mixtures(sizes: &mut [usize], begun: &mut Vec<usize>, ends: &mut Vec<Vec<usize>>) {
    if sizes.iter().all(|&size| size == 0) {
        ends.push(begun.clone());
        return;
    }
    for block in 0..sizes.len() {
        if sizes[block] > 0 {
            sizes[block] -= 1;
            begun.push(block);
            mixtures(sizes, begun, ends);
            begun.pop();
            sizes[block] += 1;
        }
    }
}

/// The fingerprint sum of a state, from nothing.
fn sum(expander: &mut Expander, words: &[u32]) -> u64 {
    let shared = expander.shared.clone();
    let layout = &shared.layout;
    let mut sum = 0u64;
    for &local in &words[..layout.nodes] {
        sum = sum.wrapping_add(expander.mirror.locals[local as usize].mix);
    }
    for slot in 0..layout.observers {
        sum = sum.wrapping_add(expander.observer_mix(slot, words[layout.nodes + slot]));
    }
    for (fault, budget) in layout.budgets.iter().enumerate() {
        if let Budget::Word(word) = *budget {
            sum = sum.wrapping_add(mix(BUDGET, fault as u64, u64::from(words[word])));
        }
    }
    if layout.split(words) != 0 {
        sum = sum.wrapping_add(mix(SPLIT, 0, u64::from(layout.split(words))));
    }
    for &word in &words[layout.fixed..] {
        sum = sum.wrapping_add(match layout.network.is_queued() {
            true => expander.mirror.queues[word as usize].mix,
            false => expander.mirror.envelopes[word as usize].mix,
        });
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::mixtures;

    #[test]
    fn twins_are_not_told_apart() {
        let mut ends = Vec::new();
        mixtures(&mut [2, 1], &mut Vec::new(), &mut ends);
        assert_eq!(ends, [vec![0, 0, 1], vec![0, 1, 0], vec![1, 0, 0]]);
    }
}
