//! All searches for accepting cycles say the same, which is what plain reachability says.

use super::accepting::{Accepting, Lacking};
use super::bounded::Effort;
use super::crew::Crew;
use super::explicit::{Explicit, copies, cycle};
use super::fair::{Fair, Fairness};
use super::map::Map;
use super::ndfs::Nested;
use super::patience::Patience;
use super::reachability::Survey;
use super::round::Fresh;
use super::space::{Edge, FAULT, Space};
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

    fn edges_after(&self, state: u32, known: usize) -> impl Iterator<Item = (u32, bool)> {
        self.edges[state as usize][known..].iter().copied()
    }

    fn rank(&self, state: u32) -> u64 {
        self.ranks[state as usize]
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

/// By maps, edges coming in several lots, the last of which makes the graph whole: the length of
/// a cycle.
fn by_map(graph: &Plain, lots: usize, threads: usize) -> Option<usize> {
    let (mut map, mut effort) = (Map::default(), Effort::default());
    for lot in 1..=lots {
        let part = |edges: &Vec<(u32, bool)>| edges[..edges.len() * lot / lots].to_vec();
        let part = Plain {
            edges: graph.edges.iter().map(part).collect(),
            ranks: graph.ranks.clone(),
        };
        let known = |node: u32| graph.edges[node as usize].len() * (lot - 1) / lots;
        let fresh = (0..graph.edges.len() as u32).map(|node| Fresh {
            node,
            known: known(node) as u32,
        });
        let fresh: Vec<Fresh> = fresh.collect();
        let cycle = map.cycle(&part, &fresh, &crew(threads), &mut effort);
        let cycle = cycle.expect("nobody stops it");
        let every = vec![true; graph.edges.len()];
        assert_eq!(cycle.is_some(), part.has_cycle(&every), "{:?}", part.edges);
        if let Some(cycle) = &cycle {
            let cycle: Vec<usize> = cycle.iter().map(|&node| node as usize).collect();
            assert!(part.is_accepting(&cycle), "{cycle:?}: {:?}", part.edges);
            return cycle.len().into();
        }
    }
    None
}

#[test]
fn accepting_cycles_are_those_of_plain_reachability() {
    let mut found = [0, 0];
    for seed in 0..GRAPHS {
        let graph = random(seed);
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
        let cycle = nested
            .cycle(&mut Explicit(&graph), 0)
            .expect("it cannot fail");
        assert_eq!(cycle.is_some(), expected, "seed {seed}: {:?}", graph.edges);
        assert!(cycle.is_none_or(|cycle| graph.is_accepting(&cycle)));
    }
    assert!(found.iter().all(|&count| count > GRAPHS / 5), "{found:?}");
}

const UNITS: u64 = 4;

/// The same graph, where a claim holds in some states and each edge belongs to a unit or to nobody.
/// Some units are enabled in states where no edge takes them.
fn space(graph: &Plain, draw: &mut Draw) -> Space {
    let mut space = Space::growing(1);
    let mut edges = Vec::new();
    for (state, targets) in graph.edges.iter().enumerate() {
        let state = state as u32;
        assert_eq!(space.meet(graph.ranks[state as usize]), state);
        if draw.below(4) == 0 {
            space.set_holds(0, state);
        }
        let mut enabled = Vec::new();
        for &(target, _) in targets {
            let unit = match draw.below(UNITS + 1) as u32 {
                0 => FAULT,
                unit => unit - 1,
            };
            edges.push((state, Edge { target, unit }));
            enabled.extend((unit != FAULT).then_some(unit));
        }
        enabled.extend((draw.below(3) == 0).then(|| draw.below(UNITS) as u32));
        enabled.sort_unstable();
        enabled.dedup();
        if let Some(partial) = &mut space.partial {
            partial.set_enabled(state, &enabled);
        }
    }
    space.units = UNITS as usize;
    space.extend(edges);
    space
}

/// Whether a closed walk through these states, in order, avoids the claim and is fair.
fn is_fair(space: &Space, fairness: Fairness, cycle: &[u32]) -> bool {
    let mut taken = Vec::new();
    for (at, &from) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()];
        let edges = space.edges(from).filter(|edge| edge.target == to);
        let units: Vec<u32> = edges.map(|edge| edge.unit).collect();
        assert!(!units.is_empty(), "{from} to {to} is no edge");
        assert!(!space.holds(0, from));
        taken.extend(units);
    }
    let always = |unit: &u32| {
        let mut states = cycle.iter();
        states.all(|&state| space.enabled(state).any(|other| other == *unit))
    };
    let mut units = (0..UNITS as u32).filter(always);
    fairness == Fairness::Nothing || units.all(|unit| taken.contains(&unit))
}

#[test]
fn components_maps_and_nested_searches_agree_on_fair_cycles() {
    let (mut unfair, mut found) = (0, [0, 0]);
    for seed in 0..GRAPHS {
        let space = space(&random(seed), &mut Draw(seed << 20));
        let never = || false;
        let patience = Patience::new(1, &never);
        let survey = Survey::of(&space, 0, &patience).expect("nobody stops it");
        for fairness in [Fairness::Nothing, Fairness::Weak] {
            let fair = Fair::new(&space, fairness);
            let witness = fair.nearest(&survey.cyclic, &patience).expect("nor it");
            for algorithm in ["map", "ndfs"] {
                let cycle = cycle(&space, 0, fairness, algorithm).expect("it cannot fail");
                let text = format!("seed {seed}, {fairness:?}, {algorithm}: {cycle:?}");
                assert_eq!(cycle.is_some(), witness.is_some(), "{text}");
                assert!(
                    cycle.is_none_or(|cycle| is_fair(&space, fairness, &cycle)),
                    "{text}"
                );
            }
            if fairness == Fairness::Weak {
                found[usize::from(witness.is_some())] += 1;
                unfair += usize::from(witness.is_none() && !survey.cyclic.is_empty());
            }
        }
    }
    assert!(found.iter().all(|&count| count > GRAPHS / 5), "{found:?}");
    assert!(unfair > GRAPHS as usize / 20, "{unfair}");
}

#[test]
fn threads_that_share_a_pass_find_the_fair_cycles_that_one_finds() {
    for seed in 0..GRAPHS / 3 {
        let space = space(&random(seed), &mut Draw(seed << 20));
        let fairness = Fairness::Weak;
        let copies = &copies(&space, 0, fairness);
        let lacking = Lacking {
            space: &space,
            claim: 0,
            fairness,
            copies,
        };
        let nodes: Vec<Fresh> = (0..copies.len() as u32).map(Fresh::all).collect();
        let found = [1, 3].map(|threads| {
            let mut map = Map::default();
            let cycle = map.cycle(&lacking, &nodes, &crew(threads), &mut Effort::default());
            cycle.expect("nobody stops it").is_some()
        });
        assert_eq!(found[0], found[1], "seed {seed}");
    }
}

#[test]
fn a_path_is_refined_once() {
    let states = 500;
    let next = |state| vec![(state + 1, true)];
    let mut edges: Vec<_> = (0..states - 1).map(next).collect();
    edges.push(Vec::new());
    let ranks = (1..=u64::from(states)).map(scramble).collect();
    let (path, mut effort) = (Plain { edges, ranks }, Effort::default());
    let fresh: Vec<Fresh> = (0..states).map(Fresh::all).collect();
    let cycle = Map::default().cycle(&path, &fresh, &crew(1), &mut effort);
    assert_eq!(cycle, Ok(None));
    assert!(effort.checked < u64::from(states) / 2, "{}", effort.checked);
}

/// Rings, each in front of the next by an accepting edge to a greater node. Within a ring the one
/// accepting edge leads to its least node if `closed`, else there is none.
fn rings(count: u32, closed: u32) -> Plain {
    let mut edges = Vec::new();
    for ring in 0..count {
        let first = 3 * ring;
        edges.push(vec![(first + 1, false)]);
        edges.push(vec![(first + 2, false)]);
        edges.push(vec![(first, ring == closed)]);
        if ring + 1 < count {
            edges[first as usize + 2].push((first + 3, true));
        }
    }
    let ranks = (1..=3 * u64::from(count)).rev().collect();
    Plain { edges, ranks }
}

#[test]
fn only_what_lies_behind_new_edges_is_refined() {
    let count = 40;
    for closed in [0, 7, count - 1, count] {
        let graph = rings(count, closed);
        let (mut map, mut effort) = (Map::default(), Effort::default());
        let mut before = rings(count, count);
        before.edges[3 * closed.min(count - 1) as usize + 2].clear();
        let every: Vec<Fresh> = (0..3 * count).map(Fresh::all).collect();
        let cycle = map.cycle(&before, &every, &crew(1), &mut effort);
        assert_eq!(cycle, Ok(None));
        let checked = effort.checked;
        let fresh = [Fresh::all(3 * closed.min(count - 1) + 2)];
        let cycle = map.cycle(&graph, &fresh, &crew(1), &mut effort);
        let cycle = cycle.expect("nobody stops it");
        assert_eq!(cycle.is_some(), closed < count, "ring {closed}: {cycle:?}");
        assert!(
            effort.checked - checked <= 1,
            "ring {closed}: {}",
            effort.checked
        );
    }
}
