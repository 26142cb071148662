//! What a sequential spec does, asked of Python once per state and operation.

use rustc_hash::FxHashMap;

use super::Need;

/// What an operation does to a spec's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Applied {
    To {
        state: u32,
        result: u32,
    },
    Impossible,
    /// It raised, or gave what is no state, or not the same twice: Python shall see to it.
    Unclear,
}

/// Why there is no verdict yet, or none from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    Needs(Need),
    /// Python shall see to it.
    Unclear,
}

/// All answers so far. States, operations and results are ids of values.
#[derive(Default)]
pub struct Specs {
    initial: FxHashMap<u32, Option<u32>>,
    applied: FxHashMap<(u32, u32, u32), Applied>,
    equal: FxHashMap<(u32, u32), Option<bool>>,
}

impl Specs {
    pub fn initial(&self, spec: u32) -> Result<u32, Open> {
        match self.initial.get(&spec) {
            Some(known) => known.ok_or(Open::Unclear),
            None => Err(Open::Needs(Need::Initial { spec })),
        }
    }

    /// State and result; none if the operation cannot happen there.
    pub fn apply(&self, spec: u32, state: u32, op: u32) -> Result<Option<(u32, u32)>, Open> {
        match self.applied.get(&(spec, state, op)) {
            Some(&Applied::To { state, result }) => Ok(Some((state, result))),
            Some(Applied::Impossible) => Ok(None),
            Some(Applied::Unclear) => Err(Open::Unclear),
            None => Err(Open::Needs(Need::Apply { spec, state, op })),
        }
    }

    /// Whether an answer is the result that the spec gives, as Python compares them.
    pub fn equal(&self, answer: u32, result: u32) -> Result<bool, Open> {
        match self.equal.get(&(answer, result)) {
            Some(known) => known.ok_or(Open::Unclear),
            None => Err(Open::Needs(Need::Equal { answer, result })),
        }
    }

    pub fn learn_initial(&mut self, spec: u32, state: Option<u32>) {
        self.initial.insert(spec, state);
    }

    pub fn learn_applied(&mut self, key: (u32, u32, u32), applied: Applied) {
        self.applied.insert(key, applied);
    }

    pub fn learn_equal(&mut self, answer: u32, result: u32, equal: Option<bool>) {
        self.equal.insert((answer, result), equal);
    }
}
