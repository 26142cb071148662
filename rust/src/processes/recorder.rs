//! Who looks on while executions are explored: counts, limits, findings.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::findings::{Findings, pairs};
use super::state::State;
use super::watch::Gauge;
use super::world::World;
use crate::python::outcome::Outcome;
use crate::python::tables::StopReason;
use crate::reduce::por::{Counts, End, Step, Visitor};
use crate::search::Limits;

pub struct Recorder<'a> {
    pub gauge: &'a Gauge,
    pub counts: Counts,
    /// Times that a process was not allowed to test in vain once more.
    pub spun: u64,
    pub findings: Findings,
    pub depth: usize,
    pub runs: u64,
    pub keep_going: bool,
    /// The first execution that ended well, and whether that is all that is looked for.
    pub passed: Option<Vec<Step>>,
    pub until_pass: bool,
    /// Whether it matters which steps depend on each other.
    pub reduces: bool,
    /// Called with each execution and how it ended.
    pub each: Option<Arc<Py<PyAny>>>,
    /// Of one that works ahead: it keeps what `each` is to be called with, and stops nothing.
    pub ahead: Option<Vec<Ended>>,
}

/// An execution, and how it ended.
type Ended = (Vec<Step>, End);

/// What was met in a part of the tree.
pub struct Record {
    counts: Counts,
    spun: u64,
    passed: Option<Vec<Step>>,
    ended: Vec<Ended>,
}

impl<'a> Recorder<'a> {
    pub fn new(gauge: &'a Gauge, findings: Findings, limits: &Limits) -> Self {
        Recorder {
            gauge,
            counts: Counts::default(),
            spun: 0,
            findings,
            depth: limits.depth as usize,
            runs: limits.walks,
            keep_going: limits.keep_going,
            passed: None,
            until_pass: false,
            reduces: true,
            each: None,
            ahead: None,
        }
    }

    /// What was counted and found.
    pub fn outcome(&self, py: Python<'_>) -> PyResult<Outcome> {
        Ok(Outcome {
            unique: self.counts.nodes,
            depth: self.counts.depth,
            cut: self.counts.truncated > 0,
            traces: self.counts.traces,
            blocked: self.counts.blocked,
            spun: self.spun,
            run_findings: self.findings.outcome(py)?,
            passed: self.passed.as_deref().map(pairs),
            ..Outcome::default()
        })
    }

    /// One that works ahead of this one.
    pub fn ahead(&self, mut findings: Findings) -> Recorder<'a> {
        findings.ahead = true;
        Recorder {
            gauge: self.gauge,
            counts: Counts::default(),
            spun: 0,
            findings,
            depth: self.depth,
            runs: self.runs,
            keep_going: false,
            passed: None,
            until_pass: false,
            reduces: self.reduces,
            each: self.each.clone(),
            ahead: Some(Vec::new()),
        }
    }

    fn show(&mut self, path: &[Step], how: End) -> PyResult<()> {
        let Some(each) = &self.each else {
            return Ok(());
        };
        if let Some(ended) = &mut self.ahead {
            ended.push((path.to_vec(), how));
            return Ok(());
        }
        let shown = match how {
            End::Over => "over",
            End::Asleep => "asleep",
            End::Cut => "cut",
        };
        Python::attach(|py| each.call1(py, (pairs(path), shown))).map(drop)
    }

    /// How far it is, for the progress line.
    fn report(&self) {
        if self.ahead.is_none() {
            self.gauge.nodes.store(self.counts.nodes, Relaxed);
            self.gauge.traces.store(self.counts.traces, Relaxed);
            self.gauge.depth.store(self.counts.depth as u64, Relaxed);
        }
    }

    fn found(&self) -> bool {
        if self.ahead.is_some() {
            return false;
        }
        if !self.keep_going {
            self.gauge.driver.stop(StopReason::Violation);
        }
        self.keep_going
    }
}

impl Visitor<World> for Recorder<'_> {
    type Record = Record;

    fn is_stopping(&self) -> bool {
        self.gauge.driver.stopping()
    }

    fn hand_in(&mut self) -> Option<Record> {
        let well = self.findings.all.is_empty();
        self.findings.all.clear();
        let record = Record {
            counts: std::mem::take(&mut self.counts),
            spun: std::mem::take(&mut self.spun),
            passed: self.passed.take(),
            ended: self.ahead.as_mut().map(std::mem::take).unwrap_or_default(),
        };
        well.then_some(record)
    }

    fn accepts(&self, record: &Record) -> bool {
        self.counts.ended() + record.counts.ended() < self.runs
    }

    fn absorb(&mut self, record: Record) -> PyResult<()> {
        self.counts.add(&record.counts);
        self.spun += record.spun;
        if self.passed.is_none() {
            self.passed = record.passed;
        }
        for (path, how) in record.ended {
            self.show(&path, how)?;
        }
        self.report();
        Ok(())
    }

    fn enter(&mut self, world: &mut World, state: &State, path: &[Step]) -> PyResult<bool> {
        self.counts.enter(path);
        if self.ahead.is_none() {
            self.gauge.nodes.store(self.counts.nodes, Relaxed);
        }
        let mover = path.last().map(|step| step.process);
        if !self
            .findings
            .inspect(world, state, mover, || path.to_vec())?
            && !self.found()
        {
            return Ok(false);
        }
        self.spun += mover.is_some_and(|mover| world.has_spun(state, mover)) as u64;
        let weak = self.reduces && world.memo.weakened;
        Ok(!weak && !self.gauge.driver.stopping())
    }

    fn end(&mut self, world: &mut World, state: &State, path: &[Step], how: End) -> PyResult<bool> {
        // One whose guesses were wrong was begun in vain.
        let how = match how {
            End::Over if world.is_wrong(state) => End::Asleep,
            how => how,
        };
        let ended = self.counts.end(how);
        self.report();
        self.show(path, how)?;
        let well = how != End::Over || self.findings.inspect_end(state, || path.to_vec());
        if how == End::Over
            && let Some((taken, state)) = world.blocked(path)?
        {
            // With room it may go wrong in another way, so this does not end the search.
            self.findings.inspect_end(&state, || taken.clone());
        }
        if how == End::Over && self.passed.is_none() && state.ended_well() {
            self.passed = Some(path.to_vec());
            if self.until_pass {
                self.gauge.driver.stop(StopReason::Passed);
                return Ok(false);
            }
        }
        if !well && !self.found() {
            return Ok(false);
        }
        if ended >= self.runs {
            if self.ahead.is_none() {
                self.gauge.driver.stop(StopReason::Runs);
            }
            return Ok(false);
        }
        Ok(!world.memo.grew)
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn restart(&mut self, world: &mut World) -> bool {
        let again = world.memo.grew || self.reduces && world.memo.weakened;
        if !again || self.gauge.driver.stopping() {
            return false;
        }
        (self.counts, self.spun, self.passed) = (Counts::default(), 0, None);
        self.findings.all.clear();
        (world.memo.weakened, world.memo.grew) = (false, false);
        true
    }
}
