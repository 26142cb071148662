//! Parts of a tree that are explored in other processes, of which only bytes come back.
//!
//! One process explores the top of the tree as if it were alone. A node so many levels down is the
//! root of a *part*: all that is explored below it follows from the way there, from what sleeps
//! there and from `Stack::reversed` (`desk.rs`). These are its name. If it is known by that name
//! what exploring it came to, that is taken over, and nothing below it is explored here.
//!
//! If it is not known, the part is *wanted*: its first executions are explored, what their races
//! ask for above the part is granted, and the exploration goes on behind it, to learn which other
//! parts there may be. So a pass that wanted something has guessed, and counts for nothing; it is
//! done again when more is known. The first part that a pass wants is certain, since all before
//! it was known. So passes come to an end, and the last one is the exploration by one process,
//! wherever parts were explored, and whichever were guessed in vain.
//!
//! Names of steps are the same in every process, ids are not. So each process takes steps in an
//! order of its own where the explorer leaves it open, and classes of executions are the same, but
//! not the number of nodes. A part explored by a process that knows nothing else is always the
//! same.

use std::collections::hash_map::Entry;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::desk::{Alone, Collected, Desk};
use super::named::{Named, find, name_of, names, read_handed, write_debts};
use super::odpor::Odpor;
use super::part::{settle, take_over};
use super::run::run;
use super::sets::{Kind, Sets};
use super::stack::{Backtrack, Stack};
use super::{End, Machine, Reduction, Step, Visitor};
use crate::search::shard::wire::{Packer, Unpacker};

/// Who looks on while parts are explored.
pub trait Witness<M: Machine>: Visitor<M> {
    /// Another one, who has met nothing.
    fn twin(&self) -> Self;

    fn write(record: &Self::Record, out: &mut Packer);

    fn read(from: &mut Unpacker<'_>) -> PyResult<Self::Record>;
}

/// What is known of a part.
enum Known {
    /// What its first executions ask for.
    Begun(Vec<u8>),
    Done(Vec<u8>),
    /// It is too large, and is explored in parts itself.
    Divided,
}

/// What is known of parts, by their names.
pub struct Atlas {
    /// From the root of a tree, or of a part that is divided, to the roots of parts.
    levels: usize,
    /// Executions explored of a part that is not known.
    first: u64,
    known: FxHashMap<Vec<u8>, Known>,
    pub wanted: Vec<Vec<u8>>,
}

impl Atlas {
    pub fn new(levels: usize, first: u64) -> Self {
        let (known, wanted) = Default::default();
        Atlas {
            levels,
            first,
            known,
            wanted,
        }
    }

    /// What exploring a part came to.
    pub fn learn(&mut self, part: Vec<u8>, handed: Vec<u8>) {
        self.known.insert(part, Known::Done(handed));
    }

    pub fn divide(&mut self, part: Vec<u8>) {
        self.known.insert(part, Known::Divided);
    }
}

/// What exploring a part came to.
pub enum Below {
    Whole(Vec<u8>),
    /// There are more executions than were to be explored.
    Begun(Vec<u8>),
    /// Nobody wants more.
    Stopped,
}

/// Counts executions down.
struct Counting<'v, V> {
    inner: &'v mut V,
    left: u64,
}

impl<M: Machine, V: Visitor<M>> Visitor<M> for Counting<'_, V> {
    type Record = V::Record;

    fn hand_in(&mut self) -> Option<V::Record> {
        self.inner.hand_in()
    }

    fn accepts(&self, record: &V::Record) -> bool {
        self.inner.accepts(record)
    }

    fn absorb(&mut self, record: V::Record) -> Result<(), M::Error> {
        self.inner.absorb(record)
    }

    fn enter(
        &mut self,
        machine: &mut M,
        state: &M::State,
        path: &[Step],
    ) -> Result<bool, M::Error> {
        self.inner.enter(machine, state, path)
    }

    fn end(
        &mut self,
        machine: &mut M,
        state: &M::State,
        path: &[Step],
        how: End,
    ) -> Result<bool, M::Error> {
        let more = self.inner.end(machine, state, path, how)?;
        self.left -= u64::from(more);
        Ok(more && self.left > 0)
    }

    fn depth(&self) -> usize {
        self.inner.depth()
    }
}

/// Explore a part, at most so many executions of it; one that has as many counts as larger.
pub fn explore_below<M: Named, V: Witness<M>>(
    machine: &mut M,
    reduction: Reduction,
    visitor: &mut V,
    part: &[u8],
    most: u64,
) -> PyResult<Below> {
    match reduction {
        Reduction::None => below(machine, Sets::of(Kind::All), visitor, part, most),
        Reduction::Dpor => below(machine, Sets::of(Kind::Persistent), visitor, part, most),
        Reduction::Sdpor => below(machine, Sets::of(Kind::Source), visitor, part, most),
        Reduction::Odpor => below(machine, Odpor::default(), visitor, part, most),
    }
}

fn below<M: Named, B: Backtrack<M>, V: Witness<M>>(
    machine: &mut M,
    mut backtrack: B,
    visitor: &mut V,
    part: &[u8],
    most: u64,
) -> PyResult<Below> {
    let mut from = Unpacker::new(part);
    let (_origin, reversed) = (from.long()?, from.long()? as usize);
    let (way, asleep) = (names(&from.longs()?)?, names(&from.longs()?)?);
    let mut stack = Stack::new(machine)?;
    visitor.pass(&stack.levels[0].state, &[]);
    for name in way {
        let state = stack.levels[stack.depth()].state.clone();
        let (step, _) = find(stack.machine, &state, name)?;
        backtrack.retrace(&mut stack, step)?;
        let label = stack.lead(step)?;
        match backtrack.reduces() {
            true => stack.trace.push(stack.machine, step, label),
            false => stack.trace.steps.push(step),
        }
        visitor.pass(&stack.levels[stack.depth()].state, &stack.trace.steps);
    }
    let floor = stack.depth();
    (stack.floor, stack.reversed) = (floor, reversed);
    let root = stack.levels[floor].state.clone();
    for name in asleep {
        let sleeper = find(stack.machine, &root, name)?;
        stack.levels[floor].sleep.push(sleeper);
    }
    let before = stack.machine.work();
    let mut counting = Counting {
        inner: visitor,
        left: most,
    };
    let whole = run(&mut stack, &mut backtrack, &mut counting, &mut Alone)?;
    let left = counting.left;
    let Some(record) = visitor.hand_in().filter(|_| whole || left == 0) else {
        return Ok(Below::Stopped);
    };
    let mut out = Packer::default();
    out.long(stack.reversed as u64);
    out.long(stack.machine.work() - before);
    write_debts(&mut stack, std::mem::take(backtrack.debts()), &mut out)?;
    V::write(&record, &mut out);
    Ok(match whole {
        true => Below::Whole(out.bytes),
        false => Below::Begun(out.bytes),
    })
}

/// The exploration of the top of a tree.
pub struct Apart<'p> {
    atlas: &'p mut Atlas,
    reduction: Reduction,
    /// Nodes on the way that are divided, by their levels.
    divided: Vec<usize>,
}

impl<'p> Apart<'p> {
    pub fn new(atlas: &'p mut Atlas, reduction: Reduction) -> Self {
        let divided = Vec::new();
        Apart {
            atlas,
            reduction,
            divided,
        }
    }

    /// See to it that something is known of a part; whether anybody wants more.
    fn begin<M: Named, V: Witness<M>>(
        &mut self,
        part: &[u8],
        machine: &mut M,
        visitor: &mut V,
    ) -> PyResult<bool> {
        let Entry::Vacant(place) = self.atlas.known.entry(part.to_vec()) else {
            return Ok(true);
        };
        let work = machine.work();
        let met = visitor.hand_in(); // what searches count, they count once for all who look on
        let (reduction, first) = (self.reduction, self.atlas.first);
        let below = explore_below(machine, reduction, &mut visitor.twin(), part, first);
        machine.set_work(work);
        met.map_or(Ok(()), |met| visitor.absorb(met))?;
        place.insert(match below? {
            Below::Whole(handed) => Known::Done(handed),
            Below::Begun(handed) => Known::Begun(handed),
            Below::Stopped => return Ok(false),
        });
        Ok(true)
    }
}

impl<M: Named, B: Backtrack<M>, V: Witness<M>> Desk<M, B, V> for Apart<'_> {
    fn collect(
        &mut self,
        stack: &mut Stack<'_, M, B::Set>,
        backtrack: &mut B,
        visitor: &mut V,
    ) -> PyResult<Collected> {
        let depth = stack.depth();
        self.divided.retain(|&level| level < depth);
        let above = self.divided.last().copied().unwrap_or(0);
        if depth < above + self.atlas.levels || !backtrack.is_free() {
            return Ok(Collected::Nothing);
        }
        let part = name_of(stack)?;
        if !self.begin(&part, stack.machine, visitor)? {
            return Ok(Collected::Enough);
        }
        match &self.atlas.known[&part] {
            Known::Divided => {
                self.divided.push(depth);
                return Ok(Collected::Nothing);
            }
            Known::Done(handed) => {
                let handed = read_handed::<_, _, V>(stack, handed)?;
                take_over(stack, backtrack, visitor, handed)?;
            }
            Known::Begun(handed) => {
                let handed = read_handed::<_, _, V>(stack, handed)?;
                self.atlas.wanted.push(part);
                settle(stack, backtrack, handed.debts)?;
                stack.reversed = handed.reversed;
            }
        }
        Ok(Collected::All)
    }

    fn offer(
        &mut self,
        _stack: &mut Stack<'_, M, B::Set>,
        _backtrack: &mut B,
        _visitor: &mut V,
    ) -> PyResult<()> {
        Ok(())
    }
}
