//! Accepting cycles by maximal accepting predecessors (Brim, Cerna, Moravec, Simsa 2004).
//!
//! The *root* of a state is the greatest target of an accepting edge that leads to it. States on a
//! common cycle have the same root. If an accepting edge leads from a state to its own root, there
//! is a cycle. If none does, edges between states of different roots are dropped, and with them all
//! that lead to a root; what is left is looked at again (*refined*) until there are no roots.
//!
//! Roots of the whole graph are kept while the graph grows, and only raised: new edges alone begin
//! the next pass (Desai, Qadeer, Rajamani, "Iterative cycle detection via delaying explorers").
//! They are raised in any order, by any number of threads, to the same values.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use super::accepting::Accepting;
use super::bounded::{ASK_EVERY, Effort};
use super::crew::{Crew, Member};
use super::patience::{Cut, Patience};
use crate::search::dfs::Pool;
use crate::table::fingerprint::scramble;

const NO_ROOT: u64 = 0;
const NO_STATE: u32 = u32::MAX;
/// States that a thread looks through before it takes others.
const CHUNK: usize = 4096;

/// The roots of the whole graph.
#[derive(Default)]
pub struct Map {
    roots: Vec<AtomicU64>,
}

/// What is looked at in one round.
struct Round<'a, G> {
    graph: &'a G,
    roots: &'a [AtomicU64],
    /// By state: the class of those that it may lie on a cycle with; empty in the first round, when
    /// these may be all.
    classes: &'a [u64],
}

impl Map {
    /// The states with one root, which comes first, and among which there is a cycle through it;
    /// none if there is no accepting cycle. `sources` have edges that are new since the last time.
    pub fn cycle<G: Accepting>(
        &mut self,
        graph: &G,
        sources: &[u32],
        crew: &Crew<'_>,
        effort: &mut Effort,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let none = || AtomicU64::new(NO_ROOT);
        self.roots.resize_with(graph.len(), none);
        let first = Round {
            graph,
            roots: &self.roots,
            classes: &[],
        };
        let mut cycle = first.run(sources, 0..graph.len() as u32, crew)?;
        if cycle.is_some() {
            return Ok(cycle);
        }
        let started = Instant::now();
        let mut active: Vec<u32> = (0..graph.len() as u32).collect();
        let mut classes = vec![0; graph.len()];
        effort.checked += divide(graph, &self.roots, &mut active, &mut classes);
        let mut roots = Vec::new();
        roots.resize_with(graph.len(), none);
        while cycle.is_none() && !active.is_empty() {
            active
                .iter()
                .for_each(|&state| roots[state as usize] = none());
            let round = Round {
                graph,
                roots: &roots,
                classes: &classes,
            };
            cycle = round.run(&active, active.iter().copied(), crew)?;
            effort.checked += divide(graph, &roots, &mut active, &mut classes);
        }
        effort.refining += started.elapsed().as_secs_f64();
        Ok(cycle)
    }
}

/// Keep apart what has different roots, and leave out what has none; gives how many there are.
fn divide<G: Accepting>(
    graph: &G,
    roots: &[AtomicU64],
    active: &mut Vec<u32>,
    classes: &mut [u64],
) -> u64 {
    let mut count = 0;
    active.retain(|&state| {
        let root = roots[state as usize].load(Relaxed);
        let class = &mut classes[state as usize];
        *class = scramble(*class ^ root);
        count += u64::from(root == graph.rank(state));
        root != NO_ROOT
    });
    count
}

impl<G: Accepting> Round<'_, G> {
    /// Raise all roots that edges of `sources` raise; gives a cycle among `states`.
    fn run(
        &self,
        sources: &[u32],
        states: impl Iterator<Item = u32> + Clone,
        crew: &Crew<'_>,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let stopping = || (crew.stopping)();
        let patience = Patience::new(ASK_EVERY, &stopping);
        let mut raised = Vec::new();
        for &state in sources {
            patience.ask()?;
            self.raise(state, &mut raised);
        }
        // The greatest is spread first, from the top of a stack: it need not be raised again.
        raised.sort_unstable_by_key(|&state| (self.root(state), state));
        raised.dedup();
        let pool = Pool::default();
        crew.run(raised.len(), |member, patience| {
            let own = raised.iter().copied().skip(member.index);
            let own = own.step_by(member.of).collect();
            self.spread(own, &pool, member, (crew, patience))
        })?;
        let states: Vec<u32> = states.collect();
        let Some(root) = self.closed(&states, crew)? else {
            return Ok(None);
        };
        let same = |&state: &u32| {
            state != root && self.root(state) == self.graph.rank(root) && self.alike(state, root)
        };
        let others = states.iter().copied().filter(same);
        Ok(Some(std::iter::once(root).chain(others).collect()))
    }

    #[inline(always)]
    fn root(&self, state: u32) -> u64 {
        self.roots[state as usize].load(Relaxed)
    }

    /// Whether two states may lie on a common cycle.
    #[inline(always)]
    fn alike(&self, one: u32, other: u32) -> bool {
        self.classes.is_empty() || self.classes[one as usize] == self.classes[other as usize]
    }

    /// The edges that count, and the root that each gives by itself.
    #[inline(always)]
    fn edges(&self, state: u32) -> impl Iterator<Item = (u32, u64)> {
        let edges = self.graph.edges(state);
        let edges = edges.filter(move |&(target, _)| self.alike(state, target));
        edges.map(|(target, accepting)| {
            let own = if accepting {
                self.graph.rank(target)
            } else {
                NO_ROOT
            };
            (target, own)
        })
    }

    /// Raise the roots of the targets of a state; those that are raised go to `out`.
    #[inline(always)]
    fn raise(&self, state: u32, out: &mut Vec<u32>) {
        let root = self.root(state);
        for (target, own) in self.edges(state) {
            let root = root.max(own);
            if self.roots[target as usize].fetch_max(root, Relaxed) < root {
                out.push(target);
            }
        }
    }

    /// Raise roots until none rises; one thread.
    fn spread(
        &self,
        mut stack: Vec<u32>,
        pool: &Pool<Vec<u32>>,
        member: Member,
        (crew, patience): (&Crew<'_>, &Patience<'_>),
    ) -> Result<(), Cut> {
        loop {
            while let Some(state) = stack.pop() {
                patience.ask()?;
                self.raise(state, &mut stack);
                if pool.is_wanted() && stack.len() > 1 {
                    pool.give(stack.split_off(stack.len() / 2));
                }
            }
            match pool.take(member.of, || (crew.stopping)()) {
                Some(given) => stack = given,
                None => return Ok(()),
            }
        }
    }

    /// The first root that an accepting edge leads to from a state with that root.
    fn closed(&self, states: &[u32], crew: &Crew<'_>) -> Result<Option<u32>, Cut> {
        let (next, first) = (AtomicUsize::new(0), AtomicU32::new(NO_STATE));
        crew.run(states.len(), |_, patience| {
            loop {
                let from = next.fetch_add(CHUNK, Relaxed);
                let Some(chunk) = states.get(from..) else {
                    return Ok(());
                };
                for &state in chunk.iter().take(CHUNK) {
                    patience.ask()?;
                    let root = self.root(state);
                    for (target, own) in self.edges(state) {
                        if own != NO_ROOT && own == root {
                            first.fetch_min(target, Relaxed);
                        }
                    }
                }
            }
        })?;
        let first = first.into_inner();
        Ok((first != NO_STATE).then_some(first))
    }
}
