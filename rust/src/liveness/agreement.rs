//! All searches for accepting cycles say the same, which is what plain reachability says.

use pyo3::prelude::*;

use super::accepting::{Accepting, Lacking};
use super::bounded::Effort;
use super::crew::Crew;
use super::fair::{Fair, Fairness};
use super::map::Map;
use super::ndfs::{Lazy, Nested, Step};
use super::patience::Patience;
use super::reachability::Survey;
use super::space::{Edge, Space};
use crate::table::fingerprint::scramble;

const GRAPHS: u64 = 3_000;

/// Edges by state, each accepting or not; ranks in some order.
struct Plain {
    edges: Vec<Vec<(u32, bool)>>,
    ranks: Vec<u64>,
}

impl Accepting for Plain {
    fn len(&self) -> usize {
        self.edges.len()
    }

    fn edges(&self, state: u32) -> impl Iterator<Item = (u32, bool)> {
        self.edges[state as usize].iter().copied()
    }

    fn rank(&self, state: u32) -> u64 {
        self.ranks[state as usize]
    }
}

impl Lazy for Plain {
    fn next(&mut self, node: usize, after: u32) -> PyResult<Option<Step>> {
        let edge = self.edges[node].get(after as usize);
        Ok(edge.map(|&(target, accepting)| Step {
            edge: after + 1,
            target: target as usize,
            accepting,
        }))
    }

    fn stopping(&self) -> bool {
        false
    }
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        scramble(self.0) % most
    }
}

/// A graph of up to twelve states, some of which cannot be reached from the first.
fn random(seed: u64) -> Plain {
    let mut draw = Draw(scramble(seed));
    let states = 1 + draw.below(12);
    let mut graph = Plain {
        edges: vec![Vec::new(); states as usize],
        ranks: (0..states)
            .map(|state| scramble(seed ^ state << 32))
            .collect(),
    };
    let accepting = 1 + draw.below(6);
    for _ in 0..draw.below(3 * states) {
        let (from, to) = (draw.below(states), draw.below(states));
        let edge = (to as u32, draw.below(6) < accepting);
        graph.edges[from as usize].push(edge);
    }
    graph
}

impl Plain {
    fn reached(&self, from: u32) -> Vec<bool> {
        let mut known = vec![false; self.edges.len()];
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            if !std::mem::replace(&mut known[state as usize], true) {
                waiting.extend(self.edges[state as usize].iter().map(|edge| edge.0));
            }
        }
        known
    }

    /// Whether an accepting edge among these states can be left behind and come back to.
    fn has_cycle(&self, among: &[bool]) -> bool {
        let states = (0..self.edges.len() as u32).filter(|&state| among[state as usize]);
        let mut edges = states.flat_map(|state| {
            let edges = self.edges[state as usize].iter();
            edges.map(move |&(target, accepting)| (state, target, accepting))
        });
        edges.any(|(from, to, accepting)| accepting && self.reached(to)[from as usize])
    }

    /// Whether some closed walk through these states, in order, takes an accepting edge.
    fn is_accepting(&self, cycle: &[usize]) -> bool {
        let mut taken = false;
        for (at, &from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()] as u32;
            let edges = self.edges[from].iter().filter(|edge| edge.0 == to);
            assert!(edges.clone().count() > 0, "{from} to {to} is no edge");
            taken |= edges.clone().any(|edge| edge.1);
        }
        taken
    }
}

fn crew(threads: usize) -> Crew<'static> {
    let stopping: &'static (dyn Fn() -> bool + Sync) = &|| false;
    Crew {
        threads,
        alone_below: 0,
        stopping,
    }
}

/// By maps, edges coming in several lots; the last graph is whole.
fn by_map(graph: &Plain, lots: usize, threads: usize) -> Option<Vec<u32>> {
    let (mut map, mut effort) = (Map::default(), Effort::default());
    for lot in 1..=lots {
        let part = |edges: &Vec<(u32, bool)>| edges[..edges.len() * lot / lots].to_vec();
        let part = Plain {
            edges: graph.edges.iter().map(part).collect(),
            ranks: graph.ranks.clone(),
        };
        let sources: Vec<u32> = (0..graph.edges.len() as u32).collect();
        let cycle = map.cycle(&part, &sources, &crew(threads), &mut effort);
        let cycle = cycle.expect("nobody stops it");
        let every = vec![true; graph.edges.len()];
        assert_eq!(cycle.is_some(), part.has_cycle(&every), "{:?}", part.edges);
        if cycle.is_some() {
            return cycle;
        }
    }
    None
}

#[test]
fn accepting_cycles_are_those_of_plain_reachability() {
    let mut found = [0, 0];
    for seed in 0..GRAPHS {
        let mut graph = random(seed);
        let every = vec![true; graph.edges.len()];
        let expected = graph.has_cycle(&every);
        found[usize::from(expected)] += 1;
        for (lots, threads) in [(1, 1), (3, 1), (1, 2 + seed as usize % 2)] {
            let roots = by_map(&graph, lots, threads);
            assert_eq!(roots.is_some(), expected, "seed {seed}: {:?}", graph.edges);
        }
        let among = graph.reached(0);
        let expected = graph.has_cycle(&among);
        let mut nested = Nested::default();
        let cycle = nested.cycle(&mut graph, 0).expect("it cannot fail");
        assert_eq!(cycle.is_some(), expected, "seed {seed}: {:?}", graph.edges);
        assert!(cycle.is_none_or(|cycle| graph.is_accepting(&cycle)));
    }
    assert!(found.iter().all(|&count| count > GRAPHS / 5), "{found:?}");
}

/// The same graph, where a claim holds in some states and acceptance follows from that.
fn space(graph: &Plain, holds: &[bool]) -> Space {
    let mut space = Space::growing(1);
    for (state, &rank) in graph.ranks.iter().enumerate() {
        let state_id = space.meet(rank);
        assert_eq!(state_id as usize, state);
        if holds[state] {
            space.set_holds(0, state_id);
        }
    }
    let mut edges = Vec::new();
    for (state, targets) in graph.edges.iter().enumerate() {
        let targets = targets.iter().map(|&(target, _)| Edge { target, unit: 0 });
        edges.extend(targets.map(|edge| (state as u32, edge)));
    }
    space.units = 1;
    space.extend(edges);
    space
}

#[test]
fn components_and_maps_agree_where_a_claim_fails_at_both_ends() {
    let mut found = [0, 0];
    for seed in 0..GRAPHS {
        let (graph, mut draw) = (random(seed), Draw(seed << 20));
        let holds: Vec<bool> = graph.edges.iter().map(|_| draw.below(4) == 0).collect();
        let space = space(&graph, &holds);
        let never = || false;
        let patience = Patience::new(1, &never);
        let survey = Survey::of(&space, 0, &patience).expect("nobody stops it");
        let fair = Fair::new(&space, Fairness::Nothing);
        let components = fair.nearest(&survey.cyclic, &patience).expect("nor it");
        let lacking = Lacking {
            space: &space,
            claim: 0,
        };
        let sources: Vec<u32> = (0..space.len() as u32).collect();
        let threads = 1 + seed as usize % 3;
        let roots = Map::default()
            .cycle(&lacking, &sources, &crew(threads), &mut Effort::default())
            .expect("nor it");
        assert_eq!(roots.is_some(), components.is_some(), "seed {seed}");
        found[usize::from(roots.is_some())] += 1;
    }
    assert!(found.iter().all(|&count| count > GRAPHS / 5), "{found:?}");
}

#[test]
fn on_a_path_each_state_is_a_root_once() {
    let states = 500;
    let next = |state| vec![(state + 1, true)];
    let mut edges: Vec<_> = (0..states - 1).map(next).collect();
    edges.push(Vec::new());
    let ranks = (1..=u64::from(states)).map(scramble).collect();
    let (path, mut effort) = (Plain { edges, ranks }, Effort::default());
    let sources: Vec<u32> = (0..states).collect();
    let cycle = Map::default().cycle(&path, &sources, &crew(1), &mut effort);
    assert_eq!(cycle, Ok(None));
    assert_eq!(effort.checked, u64::from(states) - 1);
}
