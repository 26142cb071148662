//! Searches for accepting cycles on a graph that is all there: how tests compare them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::accepting::{Accepting, Lacking};
use super::bounded::Effort;
use super::copies::{Copies, count};
use super::crew::Crew;
use super::fair::Fairness;
use super::map::Map;
use super::ndfs::{Lazy, Nested, Step};
use super::round::Fresh;
use super::space::Space;

/// A graph, searched as if it were made meanwhile.
pub struct Explicit<'a, G>(pub &'a G);

impl<G: Accepting> Lazy for Explicit<'_, G> {
    fn next(&mut self, node: usize, after: u32) -> PyResult<Option<Step>> {
        let edge = self.0.edges_after(node as u32, 0).nth(after as usize);
        Ok(edge.map(|(target, accepting)| Step {
            edge: after + 1,
            target: target as usize,
            accepting,
        }))
    }

    fn stopping(&self) -> bool {
        false
    }
}

/// The copies of all states where a claim does not hold.
pub fn copies(space: &Space, claim: usize, fairness: Fairness) -> Copies {
    let mut copies = Copies::default();
    for state in (0..space.len() as u32).filter(|&state| !space.holds(claim, state)) {
        copies.add(state, count(space.due(state, fairness)));
    }
    copies
}

/// The states of a fair cycle on which a claim never holds, in order, found by this algorithm.
pub fn cycle(
    space: &Space,
    claim: usize,
    fairness: Fairness,
    algorithm: &str,
) -> PyResult<Option<Vec<u32>>> {
    let copies = &copies(space, claim, fairness);
    let lacking = Lacking {
        space,
        claim,
        fairness,
        copies,
    };
    let nodes: Vec<u32> = (0..copies.len() as u32).collect();
    let cycle = match algorithm {
        "map" => {
            let crew = Crew {
                threads: 1,
                alone_below: 0,
                stopping: &|| false,
            };
            let fresh: Vec<Fresh> = nodes.iter().copied().map(Fresh::all).collect();
            let found = Map::default().cycle(&lacking, &fresh, &crew, &mut Effort::default());
            found.unwrap_or(None) // nobody stops it
        }
        "ndfs" => {
            let mut nested = Nested::default();
            let mut found = None;
            for &node in &nodes {
                found = found.or(nested.cycle(&mut Explicit(&lacking), node as usize)?);
            }
            found.map(|cycle| cycle.into_iter().map(|node| node as u32).collect())
        }
        other => {
            let text = format!("no algorithm is called `{other}`");
            return Err(PyValueError::new_err(text));
        }
    };
    let states = |cycle: Vec<u32>| cycle.iter().map(|&node| copies.state(node)).collect();
    Ok(cycle.map(states))
}
