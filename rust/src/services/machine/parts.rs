//! Executions of services in parts that other processes explore: what Python has of it.

use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::events::{Events, way_number};
use super::explore::{Wanted, from_each, prepare};
use super::recorder::{Record, Recorder};
use super::state::State;
use crate::python::kernel::Kernel;
use crate::python::outcome::Outcome;
use crate::python::tables::FAULTS;
use crate::reduce::por::{
    Atlas, Below, Counts, Name, Named, Reduction, Step, Witness, explore_below, explore_top,
};
use crate::search::shard::wire::{Packer, Unpacker, damaged};
use crate::search::{Found, Limits, Search};
use crate::services::layout::Network;
use crate::table::fingerprint::combine_iter;

create_exception!(_core, TooManyCuts, PyException);

/// The parts of one tree, and what is known of them.
#[pyclass]
pub struct Parts {
    atlas: Atlas,
    reduction: Reduction,
    /// Tell classes of executions, for tests.
    classes: bool,
    /// What passes have found; each search keeps one finding per property.
    found: Vec<Option<Found>>,
}

#[pymethods]
impl Parts {
    /// `levels` from one root to the next; `first`: executions explored of a part to learn what
    /// there is beside it.
    #[new]
    #[pyo3(signature = (reduction, levels, first, classes=false))]
    fn new(reduction: &str, levels: usize, first: u64, classes: bool) -> PyResult<Self> {
        Ok(Parts {
            atlas: Atlas::new(levels.max(1), first.max(1)),
            reduction: Reduction::named(reduction)?,
            classes,
            found: Vec::new(),
        })
    }

    /// Explore all but what is known; gives the parts that are not, in their order. If there are
    /// any, the outcome counts for nothing.
    #[pyo3(signature = (kernel, limits, progress=None))]
    fn explore<'py>(
        &mut self,
        py: Python<'py>,
        kernel: &Kernel,
        limits: Limits,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Outcome, Vec<Bound<'py, PyBytes>>)> {
        let search = kernel.begin(py, limits, false)?;
        self.recall(&search);
        self.atlas.wanted.clear();
        let wanted = self.wanted();
        let met = Mutex::new((&mut self.atlas, Met::default()));
        let work = |index| {
            if index > 0 {
                return Ok(());
            }
            let (atlas, met) = &mut *met.lock();
            *met = explore(&search, wanted, |machine, look| {
                explore_top(machine, wanted.reduction, look, atlas)
            })?;
            Ok(())
        };
        let seconds = search.supervise(py, progress.as_ref(), work)?;
        let met = met.into_inner().1;
        let outcome = Outcome {
            unique: met.counts.nodes,
            traces: met.counts.traces,
            blocked: met.counts.blocked,
            classes: met.classes,
            rests: met.rests,
            ..kernel.outcome(py, &search, seconds)?
        };
        self.found = std::mem::take(&mut *search.found.lock());
        let wanted = self.atlas.wanted.iter();
        Ok((outcome, wanted.map(|part| PyBytes::new(py, part)).collect()))
    }

    /// Explore one part, at most so many executions of it; gives what `learn` is to be called with,
    /// or None if it was stopped, or there are more. The outcome counts executions, in vain or not.
    #[pyo3(signature = (kernel, part, most, limits, progress=None))]
    fn explore_one<'py>(
        &self,
        py: Python<'py>,
        kernel: &Kernel,
        part: Vec<u8>,
        most: u64,
        limits: Limits,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Outcome, Option<Bound<'py, PyBytes>>)> {
        let search = kernel.begin(py, limits, false)?;
        let wanted = self.wanted();
        let origin = Unpacker::new(&part).long()?;
        let handed = Mutex::new(None);
        let work = |index| {
            if index > 0 {
                return Ok(());
            }
            explore(&search, wanted, |machine, look| {
                if machine.origin() == origin {
                    let below = explore_below(machine, wanted.reduction, look, &part, most)?;
                    if let Below::Whole(bytes) = below {
                        *handed.lock() = Some(bytes);
                    }
                }
                Ok(())
            })?;
            Ok(())
        };
        let seconds = search.supervise(py, progress.as_ref(), work)?;
        let outcome = Outcome {
            traces: search.walked.load(Relaxed),
            ..kernel.outcome(py, &search, seconds)?
        };
        let handed = handed.into_inner();
        Ok((outcome, handed.map(|bytes| PyBytes::new(py, &bytes))))
    }

    /// Take in what exploring a part came to.
    fn learn(&mut self, part: Vec<u8>, handed: Vec<u8>) {
        self.atlas.learn(part, handed);
    }

    /// A part is too large: explore it in parts itself.
    fn divide(&mut self, part: Vec<u8>) {
        self.atlas.divide(part);
    }
}

impl Parts {
    fn wanted(&self) -> Wanted {
        Wanted::whole(self.reduction, self.classes)
    }

    /// Go on with what earlier passes have found.
    fn recall(&mut self, search: &Search) {
        let mut slots = search.found.lock();
        for (at, known) in std::mem::take(&mut self.found).into_iter().enumerate() {
            search.shared.properties[at]
                .decided
                .store(known.is_some(), Relaxed);
            slots[at] = known;
        }
    }
}

#[derive(Default)]
struct Met {
    counts: Counts,
    classes: Vec<u64>,
    rests: Vec<u64>,
}

/// Explore from each state in which executions begin. What depends on what must not change on the
/// way: other processes do not know of it.
fn explore<'c>(
    search: &'c Search,
    wanted: Wanted,
    explore: impl FnMut(&mut Events<'c>, &mut Recorder<'c>) -> PyResult<()>,
) -> PyResult<Met> {
    let mut machine = prepare(search);
    let mut look = Recorder::new(search, wanted);
    from_each(search, (&mut machine, &mut look), explore)?;
    match machine.ordered {
        0 => Ok(Met {
            counts: look.counts,
            classes: look.classes.into_iter().flatten().collect(),
            rests: look.rests.into_iter().collect(),
        }),
        _ => Err(TooManyCuts::new_err(wanted.cuts)),
    }
}

impl Named for Events<'_> {
    fn origin(&self) -> u64 {
        self.start.sum
    }

    fn process_name(&self, process: u32) -> u64 {
        let mirror = &self.worker.expander.mirror;
        match (self.terrain.key(process), self.terrain.network) {
            (Some(envelope), Network::Unordered | Network::Duplicating) => {
                mirror.envelopes[envelope as usize].mix
            }
            (Some(lane), Network::Lanes) => mirror.lanes[lane as usize].key,
            _ => u64::from(process),
        }
    }

    /// Its process, which of its ways, what was lost of what it sent.
    fn name(&self, step: Step, after: &State) -> Name {
        let mirror = &self.worker.expander.mirror;
        let mix = |envelope: u32| mirror.envelopes[envelope as usize].mix;
        let lost = after.lost.iter();
        let lost = lost.map(|event| combine_iter([event.what as u64, mix(event.origin)]));
        let lost = lost.fold(0, u64::wrapping_add);
        let process = self.process_name(step.process);
        [process, u64::from(way_number(step)), lost]
    }

    fn set_work(&mut self, steps: u64) {
        self.runs = steps;
    }
}

impl<'a> Witness<Events<'a>> for Recorder<'a> {
    fn twin(&self) -> Self {
        Recorder {
            counts: Counts::default(),
            began: self.began.clone(),
            trail: Vec::new(),
            learnt: false,
            classes: self.classes.as_ref().map(|_| Default::default()),
            rests: Default::default(),
            ..*self
        }
    }

    fn write(record: &Record, out: &mut Packer) {
        let counts = &record.counts;
        let classes = record.classes.iter().flatten().copied();
        let classes: Vec<u64> = classes.collect();
        let rests: Vec<u64> = record.rests.iter().copied().collect();
        out.longs(&[
            counts.nodes,
            counts.traces,
            counts.blocked,
            counts.truncated,
            counts.depth as u64,
            record.generated,
            record.depth as u64,
            u64::from(record.cut),
        ]);
        out.longs(&record.faults);
        out.longs(&classes);
        out.longs(&rests);
    }

    fn read(from: &mut Unpacker<'_>) -> PyResult<Record> {
        let counts = <[u64; 8]>::try_from(from.longs()?).map_err(|_| damaged())?;
        let [
            nodes,
            traces,
            blocked,
            truncated,
            deepest,
            generated,
            depth,
            cut,
        ] = counts;
        let faults = <[u64; FAULTS.len()]>::try_from(from.longs()?).map_err(|_| damaged())?;
        let counts = Counts {
            nodes,
            traces,
            blocked,
            truncated,
            depth: deepest as usize,
        };
        Ok(Record {
            counts,
            generated,
            faults,
            depth: depth as usize,
            cut: cut != 0,
            classes: Some(from.longs()?.into_iter().collect()),
            rests: from.longs()?.into_iter().collect(),
        })
    }
}
