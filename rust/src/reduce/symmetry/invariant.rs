//! Does a property tell interchangeable nodes apart? Its verdict is compared on all arrangements.
//!
//! A property depends on what it reads. So for each state only the parts it has ever read, of any
//! node of a group, matter; arrangements that agree in them are looked at once, in the whole
//! search. As verdicts are filed in the decision trie, Python is asked no more often than the
//! search without symmetry would ask it.
//!
//! Invariant: a state is passed over only if the verdicts on all arrangements of what was read of
//! it were compared, and all they read was among what had been read before.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use crate::property::judge::Judge;
use crate::property::trie::Query;
use crate::reduce::symmetry::canon::Canon;
use crate::reduce::symmetry::equivariant::ARRANGEMENTS_MAX;
use crate::services::expand::Expander;
use crate::table::fingerprint::scramble;

/// What a property has ever read, of every node of a group alike.
#[derive(Default)]
struct Reads {
    queries: usize,
    fields: Vec<(u32, u32)>, // (node, field)
    others: Vec<Query>,
}

impl Reads {
    fn new(queries: &[Query], groups: &[Vec<u32>]) -> Self {
        let mut reads = Reads {
            queries: queries.len(),
            ..Reads::default()
        };
        for query in queries {
            let Query::Field { node, field } = query else {
                reads.others.push(query.clone());
                continue;
            };
            let group = groups.iter().find(|group| group.contains(node));
            let nodes = group.map_or(std::slice::from_ref(node), |group| group);
            reads
                .fields
                .extend(nodes.iter().map(|&node| (node, *field)));
        }
        reads.fields.sort_unstable();
        reads.fields.dedup();
        reads
    }
}

/// What is known of one property: parts of states, all of whose arrangements were compared.
#[derive(Default)]
pub struct Compared {
    reads: Reads,
    done: FxHashSet<u64>,
}

/// Everything a thread needs to ask a property.
pub struct Asking<'a> {
    pub expander: &'a mut Expander,
    pub judge: &'a mut Judge,
    pub canon: &'a mut Canon,
}

impl Asking<'_> {
    /// Compare `verdict`, which `property` gave of `words`, with that on every arrangement.
    pub fn compare(
        &mut self,
        compared: &mut Compared,
        property: usize,
        words: &[u32],
        verdict: bool,
    ) -> PyResult<()> {
        loop {
            if !self.up_to_date(property, &compared.reads) {
                let shared = &self.expander.shared;
                let claim = shared.properties[property].claim.lock();
                compared.reads = Reads::new(claim.queries(), &shared.symmetry().groups);
                compared.done.clear(); // it reads more than was known then
            }
            if compared.done.contains(&self.key(&compared.reads, words)) {
                return Ok(());
            }
            if let Some(met) = self.arrangements(&compared.reads, property, words, verdict)? {
                compared.done.extend(met);
                return Ok(());
            }
        }
    }

    /// Ask about every arrangement; `None` if the property has read something new meanwhile.
    fn arrangements(
        &mut self,
        reads: &Reads,
        property: usize,
        words: &[u32],
        verdict: bool,
    ) -> PyResult<Option<FxHashSet<u64>>> {
        let shared = self.expander.shared.clone();
        let symmetry = shared.symmetry();
        let mut met = FxHashSet::from_iter([self.key(reads, words)]);
        let mut waiting = vec![words.to_vec()];
        while let Some(state) = waiting.pop() {
            for &generator in &symmetry.generators {
                let places = symmetry.permutation(generator);
                let mut image = Vec::with_capacity(state.len());
                self.canon
                    .image(self.expander, &state, &places, &mut image)?;
                if !met.insert(self.key(reads, &image)) {
                    continue;
                }
                let mirror = &self.expander.mirror;
                match self.judge.holds(property, &image, mirror)? {
                    Some(other) if other == verdict => waiting.push(image),
                    None => return Ok(Some(met)), // it raised, and is judged no more
                    Some(_) => {
                        let nodes = places.to_vec();
                        return Err(
                            shared.refusal("asymmetric_property", |_| Ok((property, nodes)))
                        );
                    }
                }
            }
            if met.len() > ARRANGEMENTS_MAX {
                symmetry.sampled.store(true, Relaxed);
                break;
            }
        }
        Ok(self.up_to_date(property, reads).then_some(met))
    }

    /// Is `reads` all that the property has ever read?
    fn up_to_date(&self, property: usize, reads: &Reads) -> bool {
        let claim = self.expander.shared.properties[property].claim.lock();
        claim.queries().len() == reads.queries
    }

    /// The parts of a state that these reads are about.
    fn key(&self, reads: &Reads, words: &[u32]) -> u64 {
        let mirror = &self.expander.mirror;
        let layout = &self.expander.shared.layout;
        let mut sum = 0u64;
        for &(node, field) in &reads.fields {
            let local = mirror.locals[words[node as usize] as usize];
            let value = u64::from(mirror.rows[(local.row + field) as usize]);
            let place = u64::from(node) << 32 | u64::from(field);
            sum = sum.wrapping_add(scramble(value ^ scramble(!place)));
        }
        for (at, query) in reads.others.iter().enumerate() {
            let part = match query {
                Query::Observer(slot) => u64::from(words[layout.nodes + *slot as usize]),
                Query::Messages(types) => mirror.flight().answer(layout, words, types.as_deref()),
                Query::Count(types) => mirror.flight().count(layout, words, types.as_deref()),
                Query::Connection(slot) => u64::from(layout.links(words)[*slot as usize]),
                Query::Partition => u64::from(layout.split(words)),
                Query::Field { .. } => continue,
            };
            sum = sum.wrapping_add(scramble(part ^ scramble(at as u64)));
        }
        sum
    }
}
