//! The graph as Python sees it: made by a kernel or, in tests, out of explicit edges.

use std::sync::OnceLock;

use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::bounded::{Cycle, Growing};
use super::events::happened;
use super::explicit::cycle;
use super::explore::Explorer;
use super::fair::{Fair, Fairness, Witness};
use super::lasso::Walk;
use super::partial::Partial;
use super::pass::Pass;
use super::patience::{Cut, Patience};
use super::reachability::{Reachability, Survey};
use super::space::{CALL, Edge, FAULT, NOBODY, Space};
use super::units::{UnitNames, Units};
use crate::python::outcome::Finding;
use crate::python::tables::StopReason;
use crate::search::{Route, Search};
use crate::services::path;
use crate::table::scratch::{passes, trim};

#[pyclass(frozen)]
pub struct Graph {
    space: Space,
    units: Mutex<Units>,
    /// By property, made when first asked for.
    surveys: Vec<OnceLock<Survey>>,
    /// What it was made from; `None` for explicit edges.
    search: Option<Search>,
    /// What a search for cycles has found, by property; and whether it looked at all of the graph.
    cycles: Vec<Option<Cycle>>,
    is_examined: bool,
}

/// A state and the unit of the edge taken there; -1 for a call, -2 for a fault.
type Step = (u32, i64);

fn native(unit: i64) -> u32 {
    match unit {
        -2 => FAULT,
        unit => u32::try_from(unit).unwrap_or(CALL),
    }
}

fn unit_number(unit: u32) -> i64 {
    match unit {
        CALL => -1,
        FAULT => -2,
        unit => i64::from(unit),
    }
}

/// How many states can still reach a property, may, and cannot; and how many edges go from the
/// first to the last.
#[pyclass(frozen, get_all)]
pub struct Reachable {
    live: usize,
    unknown: usize,
    dead: usize,
    critical: u64,
}

impl Graph {
    /// Explore what `search` allows, looking at these properties; gives the seconds it took, too.
    pub fn explore(
        py: Python<'_>,
        search: Search,
        properties: &[usize],
        room: (usize, usize),
    ) -> PyResult<(Graph, f64)> {
        let made = Mutex::new(None);
        trim();
        let room = match passes(search.limits.memory_mib, Space::bytes(room.0)) {
            true => {
                search.stop(StopReason::Memory); // before it is taken: it would be full at once
                (0, 0)
            }
            false => room,
        };
        let seconds = search.supervise(py, None, |_| {
            let mut explorer = Explorer::new(&search, properties, room);
            explorer.run()?;
            *made.lock() = Some((explorer.space, explorer.units));
            Ok(())
        })?;
        let (space, units) = made
            .into_inner()
            .ok_or_else(|| PyRuntimeError::new_err("no graph was made"))?;
        Ok((Graph::new(space, units, Some(search)), seconds))
    }

    fn new(space: Space, units: Units, search: Option<Search>) -> Graph {
        let surveys = space.holds.iter().map(|_| OnceLock::new()).collect();
        let cycles = space.holds.iter().map(|_| None).collect();
        Graph {
            space,
            units: Mutex::new(units),
            surveys,
            search,
            cycles,
            is_examined: false,
        }
    }

    /// What a search for cycles has met.
    pub fn of_cycles(graph: Growing, names: UnitNames, search: Search) -> Graph {
        let is_examined = graph.is_examined();
        let units = Units::sharing(names);
        Graph {
            cycles: graph.cycles,
            is_examined,
            ..Graph::new(graph.space, units, Some(search))
        }
    }

    /// States among which a fair walk leads round; none if there are none.
    fn witness(
        &self,
        property: usize,
        fairness: Fairness,
        patience: &Patience<'_>,
    ) -> Result<Option<Witness>, Cut> {
        if let Some(cycle) = &self.cycles[property] {
            let states = cycle.states.clone();
            return Ok(Some(Witness::of(states, self.space.len())));
        }
        if self.is_examined {
            return Ok(None);
        }
        let survey = self.survey(property, patience)?;
        Fair::new(&self.space, fairness).nearest(&survey.cyclic, patience)
    }

    fn survey(&self, property: usize, patience: &Patience<'_>) -> Result<&Survey, Cut> {
        let place = &self.surveys[property];
        if place.get().is_none() {
            let made = Survey::of(&self.space, property, patience)?;
            let _ = place.set(made); // of two, the first one stays
        }
        place.get().ok_or(Cut)
    }

    /// A pass for `property`, within the memory that the search was allowed.
    fn pass(&self, property: usize, seconds: Option<f64>) -> Pass {
        let memory_mib = self.search.as_ref().map(|search| search.limits.memory_mib);
        let bytes = match self.surveys[property].get() {
            Some(_) => 0,
            None => Survey::bytes(self.space.len()),
        };
        Pass::new(seconds, memory_mib.unwrap_or(u64::MAX), bytes)
    }

    fn check(&self, property: usize) -> PyResult<()> {
        if property < self.space.holds.len() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "no property is number {property}"
        )))
    }
}

#[pymethods]
impl Graph {
    /// A graph given by hand: per state its edges (target, unit), `None` where nobody
    /// looked; per property whether it holds in each state; if some edges were not followed, the
    /// units of these per state. State 0 is the initial one, and states must be in breadth-first
    /// order.
    #[staticmethod]
    #[pyo3(signature = (edges, holds, cut=None))]
    fn of(
        edges: Vec<Option<Vec<(u32, i64)>>>,
        holds: Vec<Vec<bool>>,
        cut: Option<Vec<Vec<i64>>>,
    ) -> PyResult<Graph> {
        let mut space = Space::with_room(holds.len(), (0, 0));
        let count = edges.len() as u32;
        let known = edges.iter().flatten().flatten();
        if known.clone().any(|&(target, _)| target >= count) {
            return Err(PyValueError::new_err(
                "an edge leads to a state that is not there",
            ));
        }
        let named = cut.iter().flatten().flatten();
        let named = named.chain(known.map(|(_, unit)| unit));
        let units = named.map(|unit| unit + 1).max().unwrap_or(0);
        space.units = units.max(0) as usize;
        for state in 0..count {
            space.ids.insert(u64::from(state) + 1);
            space.push(u64::from(state) + 1, NOBODY);
            for (at, verdicts) in holds.iter().enumerate() {
                if verdicts[state as usize] {
                    space.set_holds(at, state);
                }
            }
        }
        for (state, listed) in edges.iter().enumerate() {
            let Some(listed) = listed else { break };
            let kept = !space.all_hold(state as u32);
            for &(target, unit) in listed {
                let unit = native(unit);
                let parent = &mut space.parents[target as usize];
                if *parent == NOBODY && target > state as u32 {
                    *parent = state as u32;
                }
                space.edge(kept, Edge { target, unit });
            }
            space.close();
        }
        if let Some(cut) = cut {
            space.partial = Some(Partial::of(&edges, &cut));
        }
        Ok(Graph::new(space, Units::default(), None))
    }

    #[getter]
    fn states(&self) -> usize {
        self.space.len()
    }

    /// How many states have all their edges; the others were met and not looked at.
    #[getter]
    fn expanded(&self) -> usize {
        self.space.expanded()
    }

    /// What ended the exploration before its end, if anything but depth and number did. A search
    /// for cycles says so itself.
    #[getter]
    fn stopped_by(&self) -> Option<StopReason> {
        let whole = self.search.as_ref();
        let whole = whole.filter(|_| self.space.partial.is_none());
        whole.and_then(|search| search.driver.reason())
    }

    /// The delays that a cycle without the property was found with, by a search for cycles.
    fn delays(&self, property: usize) -> Option<u32> {
        let cycle = self.cycles.get(property)?.as_ref();
        cycle.map(|cycle| cycle.delays)
    }

    /// The states before the loop, and the loop: a nearest fair cycle without the property.
    #[pyo3(signature = (property, fairness, seconds=None))]
    fn lasso(
        &self,
        py: Python<'_>,
        property: usize,
        fairness: &str,
        seconds: Option<f64>,
    ) -> PyResult<Option<(Vec<u32>, Vec<Step>)>> {
        self.check(property)?;
        let fairness = Fairness::of(fairness)?;
        let space = &self.space;
        let walk = self.pass(property, seconds).run(py, |patience| {
            let witness = self.witness(property, fairness, patience)?;
            let around = |witness| Walk::around(space, fairness, &witness, patience);
            witness.map(around).transpose()
        })?;
        Ok(walk.map(|mut walk| {
            // It may begin anywhere; what was met first has the shortest way to it.
            let first = (0..walk.len()).min_by_key(|&at| walk[at].state);
            walk.rotate_left(first.unwrap_or(0));
            let mut stem = space.stem(walk[0].state);
            stem.pop();
            let steps = walk
                .iter()
                .map(|taken| (taken.state, unit_number(taken.edge.unit)));
            (stem, steps.collect())
        }))
    }

    /// The states of a fair cycle without the property, in order, as `map` or `ndfs` finds it in a
    /// graph that grows.
    fn cycle(
        &self,
        property: usize,
        fairness: &str,
        algorithm: &str,
    ) -> PyResult<Option<Vec<u32>>> {
        self.check(property)?;
        let fairness = Fairness::of(fairness)?;
        if fairness == Fairness::Strong || self.space.partial.is_none() {
            let text = "only weak fairness, and in a graph that grows";
            return Err(PyValueError::new_err(text));
        }
        cycle(&self.space, property, fairness, algorithm)
    }

    /// The states from the start to a nearest one at rest without the property.
    #[pyo3(signature = (property, seconds=None))]
    fn rest(
        &self,
        py: Python<'_>,
        property: usize,
        seconds: Option<f64>,
    ) -> PyResult<Option<Vec<u32>>> {
        self.check(property)?;
        let pass = self.pass(property, seconds);
        let found = pass.run(py, |patience| self.space.rest(property, patience))?;
        Ok(found.map(|state| self.space.stem(state)))
    }

    /// What decides property `at`: the events through the states of `stem` and, if `steps` are
    /// given, once round the loop.
    fn finding(
        &self,
        py: Python<'_>,
        at: usize,
        stem: Vec<u32>,
        steps: Vec<Step>,
    ) -> PyResult<Finding> {
        let Some(search) = &self.search else {
            return Err(PyValueError::new_err("a graph made by hand has no events"));
        };
        let states = stem.iter().chain(steps.first().map(|(state, _)| state));
        let mut wanted: Vec<(u32, Option<u32>)> = states.map(|&state| (state, None)).collect();
        for (at, &(_, unit)) in steps.iter().enumerate() {
            let target = steps.get(at + 1).unwrap_or(&steps[0]).0;
            wanted.push((target, Some(native(unit))));
        }
        let begin = wanted.first().ok_or_else(path::lost)?.0;
        wanted.remove(0);
        let mut units = self.units.lock();
        units.change_expander();
        let (initial, happened) = happened(search, &self.space, &mut units, begin, &wanted)?;
        drop(units);
        let repeats = (!steps.is_empty()).then_some(stem.len() + 1);
        path::finding(py, search, (at, &Route::Walked(initial, happened)), repeats)
    }

    /// How many states are live, unknown and dead, and how many edges go from live to dead.
    #[pyo3(signature = (property, seconds=None))]
    fn reachability(
        &self,
        py: Python<'_>,
        property: usize,
        seconds: Option<f64>,
    ) -> PyResult<Reachable> {
        self.check(property)?;
        self.pass(property, seconds).run(py, |patience| {
            let survey = self.survey(property, patience)?;
            Ok(Reachable {
                live: survey.count(Reachability::Live),
                unknown: survey.count(Reachability::Unknown),
                dead: survey.count(Reachability::Dead),
                critical: survey.critical(&self.space, patience)?,
            })
        })
    }

    /// Per fingerprint "live", "unknown" or "dead"; states that are not in the graph are unknown.
    #[pyo3(signature = (property, fingerprints, seconds=None))]
    fn territories(
        &self,
        py: Python<'_>,
        property: usize,
        fingerprints: Vec<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Vec<&'static str>> {
        self.check(property)?;
        self.pass(property, seconds).run(py, |patience| {
            let survey = self.survey(property, patience)?;
            let of = |&key: &u64| match self.space.ids.get(key) {
                Some(state) => survey.territories[state as usize].name(),
                None => Reachability::Unknown.name(),
            };
            Ok(fingerprints.iter().map(of).collect())
        })
    }
}
