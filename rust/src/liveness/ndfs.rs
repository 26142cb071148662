//! Accepting cycles by two nested depth-first searches (Courcoubetis, Vardi, Wolper, Yannakakis).
//!
//! The first, *blue*, goes through the graph. When it leaves an accepting edge for good, the
//! second, *red*, looks from its target for the way back to its source. That is as if a node stood
//! in the middle of the edge: when it is left, all that lies behind it has been left. What is red
//! stays red, so both together look at each edge twice. A state on the path of the blue search
//! leads to the source of the edge, so the red one may stop there.
//!
//! The graph may be made while it is searched: the red search only follows edges that the blue one
//! has followed.

use pyo3::prelude::*;

/// A graph whose edges are found when they are asked for.
pub trait Lazy {
    /// The edge of `node` that comes after the one called `after`; 0: the first.
    fn next(&mut self, node: usize, after: u32) -> PyResult<Option<Step>>;

    /// Whether to give up.
    fn stopping(&self) -> bool;
}

#[derive(Clone, Copy)]
pub struct Step {
    /// What the edge is called, among those of its source; not 0.
    pub edge: u32,
    pub target: usize,
    pub accepting: bool,
}

struct Frame {
    node: usize,
    /// The edge that was followed last.
    edge: u32,
    /// Whether that is accepting.
    accepting: bool,
}

const BLUE: u8 = 1;
const RED: u8 = 2;
const ON_PATH: u8 = 4;

#[derive(Default)]
pub struct Nested {
    colours: Vec<u8>,
    path: Vec<Frame>,
    /// How many red searches there were.
    pub searches: u64,
}

impl Nested {
    /// The nodes of an accepting cycle that can be reached from `start`, in order.
    pub fn cycle(&mut self, graph: &mut impl Lazy, start: usize) -> PyResult<Option<Vec<usize>>> {
        if self.is(start, BLUE) {
            return Ok(None);
        }
        self.enter(start);
        while let Some(frame) = self.path.last_mut() {
            if graph.stopping() {
                return Ok(None);
            }
            let node = frame.node;
            let Some(step) = graph.next(node, frame.edge)? else {
                self.colours[node] &= !ON_PATH;
                self.path.pop();
                if self.path.last().is_some_and(|before| before.accepting) {
                    let found = self.way_back(graph, node)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                continue;
            };
            (frame.edge, frame.accepting) = (step.edge, step.accepting);
            if !self.is(step.target, BLUE) {
                self.enter(step.target);
            } else if step.accepting {
                let found = self.way_back(graph, step.target)?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    fn is(&self, node: usize, colour: u8) -> bool {
        self.colours.get(node).is_some_and(|own| own & colour != 0)
    }

    fn enter(&mut self, node: usize) {
        if self.colours.len() <= node {
            self.colours.resize(node + 1, 0);
        }
        self.colours[node] |= BLUE | ON_PATH;
        self.path.push(Frame {
            node,
            edge: 0,
            accepting: false,
        });
    }

    /// The red search from the target of the edge that was followed last.
    fn way_back(&mut self, graph: &mut impl Lazy, from: usize) -> PyResult<Option<Vec<usize>>> {
        self.searches += 1;
        if self.is(from, ON_PATH) {
            return Ok(Some(self.closed(from, &[])));
        }
        if self.is(from, RED) {
            return Ok(None);
        }
        self.colours[from] |= RED;
        let mut path = vec![(from, 0)];
        while let Some((node, edge)) = path.last_mut() {
            if graph.stopping() {
                return Ok(None);
            }
            let Some(step) = graph.next(*node, *edge)? else {
                path.pop();
                continue;
            };
            *edge = step.edge;
            if self.is(step.target, ON_PATH) {
                return Ok(Some(self.closed(step.target, &path)));
            }
            if !self.is(step.target, RED) {
                self.colours[step.target] |= RED;
                path.push((step.target, 0));
            }
        }
        Ok(None)
    }

    /// From `node`, along the path of the blue search to its end, then along the red one.
    fn closed(&self, node: usize, red: &[(usize, u32)]) -> Vec<usize> {
        let blue = self.path.iter().map(|frame| frame.node);
        let blue = blue.skip_while(|&each| each != node);
        blue.chain(red.iter().map(|&(each, _)| each)).collect()
    }
}
