//! Several threads on one tree, and the same exploration as by one.
//!
//! One thread explores as if it were alone. From time to time it offers a part of what it will come
//! to: `Backtrack::pending` names a branch, and the sleep set there is that of the branch's level,
//! the branch at hand, which will sleep by then, and nothing else. Another thread explores all that
//! is below this branch, and notes what races ask for above it. When the first thread comes there
//! it takes over counts and notes, in their order, and goes on behind it. Threads that explore
//! parts offer parts of these.
//!
//! Claim: what is taken over is what the thread would have met by itself. All that is explored
//! below a node follows from the way there, from what sleeps there, from what must be taken first
//! there and from `Stack::reversed`. The first two do not change while the thread is in branches to
//! the left; what must be taken first is offered as it is (`below`), and the part is explored again
//! if more was added (`is_as`); `reversed` is then the level of the branch. What races ask for
//! above the node is read by nothing below it. What may be learnt on the way is learnt in the
//! order of one thread (`turn`), and where that changes what is explored, the part is given up
//! (`Machine::version`, `Visitor::hand_in`). So is one in which something is found, or during which
//! a limit is reached: then the thread explores it by itself.
//!
//! A thread that must wait for a part helps with parts of that one only. So nothing waits for
//! what is below it on its own thread, and there is always one that goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use super::offer::{Handed, Offer, Pool, Progress};
use super::part::{explore_part, take_over};
use super::stack::{Backtrack, Stack};
use super::{Machine, Step, Visitor};
use crate::python::turn::Turn;
use crate::search::dice::Dice;

/// A part must have so many steps to go, as it seems: less is done at once.
const STEPS_MIN: usize = 4;
/// Where one thread does it all: parts that it explores ahead of a tree, of a part, and so on.
const HAND_OVERS: [u32; 3] = [40, 4, 2];

/// What came of asking for a node.
pub enum Collected {
    /// It is to be explored.
    Nothing,
    /// All below it was explored.
    All,
    /// Nobody wants more.
    Enough,
}

/// Where parts are offered and collected.
pub trait Desk<M: Machine, B: Backtrack<M>, V: Visitor<M>> {
    /// At a node just descended to.
    fn collect(
        &mut self,
        stack: &mut Stack<'_, M, B::Set>,
        backtrack: &mut B,
        visitor: &mut V,
    ) -> Result<Collected, M::Error>;

    /// Let others explore something.
    fn offer(
        &mut self,
        stack: &mut Stack<'_, M, B::Set>,
        backtrack: &mut B,
        visitor: &mut V,
    ) -> Result<(), M::Error>;
}

/// There are no others.
pub struct Alone;

impl<M: Machine, B: Backtrack<M>, V: Visitor<M>> Desk<M, B, V> for Alone {
    #[inline(always)]
    fn collect(
        &mut self,
        _stack: &mut Stack<'_, M, B::Set>,
        _backtrack: &mut B,
        _visitor: &mut V,
    ) -> Result<Collected, M::Error> {
        Ok(Collected::Nothing)
    }

    #[inline(always)]
    fn offer(
        &mut self,
        _stack: &mut Stack<'_, M, B::Set>,
        _backtrack: &mut B,
        _visitor: &mut V,
    ) -> Result<(), M::Error> {
        Ok(())
    }
}

/// Of one thread, while it explores a tree or a part of one.
pub struct Shared<'p, 't, M: Machine, V: Visitor<M>> {
    pub pool: &'p Pool<'t, M, V>,
    /// Of the part; `None`: the whole tree.
    turn: Option<Arc<Turn>>,
    /// At most one for each level, by level.
    offers: Vec<Arc<Offer<M, V::Record>>>,
    spare: Vec<(M, V)>,
    dice: Option<Dice>,
    nested: usize,
    /// How many there were.
    made: u32,
}

fn most(nested: usize) -> u32 {
    HAND_OVERS.get(nested).copied().unwrap_or(0)
}

impl<'p, 't, M: Machine, V: Visitor<M>> Shared<'p, 't, M, V> {
    pub fn new(pool: &'p Pool<'t, M, V>) -> Self {
        Shared {
            pool,
            turn: None,
            offers: Vec::new(),
            spare: Vec::new(),
            dice: pool.seed.map(|seed| Dice::new(seed, 0)),
            nested: 0,
            made: 0,
        }
    }

    fn within(&mut self, turn: Arc<Turn>) -> Self {
        let roll = self.dice.as_mut().map(|dice| Dice::new(dice.roll(), 1));
        let mut desk = Shared::new(self.pool);
        (desk.turn, desk.dice, desk.nested) = (Some(turn), roll, self.nested + 1);
        desk.spare = std::mem::take(&mut self.spare);
        desk
    }

    /// Explore a part with a machine of its own; false if there is none.
    pub fn help(&mut self, offer: &Offer<M, V::Record>) -> bool {
        let spare = self.spare.pop().or_else(|| self.pool.team.recruit());
        let Some((mut machine, mut visitor)) = spare else {
            return false;
        };
        let mut desk = self.within(offer.turn.clone());
        explore_part(&mut desk, offer, &mut machine, &mut visitor);
        self.spare = std::mem::take(&mut desk.spare);
        self.spare.push((machine, visitor));
        true
    }

    fn is_over(&self, visitor: &V) -> bool {
        let abandoned = |turn: &Arc<Turn>| turn.is_abandoned();
        visitor.is_stopping() || self.turn.as_ref().is_some_and(abandoned)
    }

    /// Wait until a part is explored; false if nobody wants more.
    fn wait_for(&mut self, offer: &Arc<Offer<M, V::Record>>, visitor: &V) -> bool {
        offer.turn.await_it();
        self.pool.idle.fetch_add(1, Relaxed);
        let mut over = false;
        while !offer.is_settled() && !over {
            let Some(part) = self.pool.take(Some(&offer.turn)) else {
                self.pool.bell.wait(|| offer.is_settled());
                over = self.is_over(visitor);
                continue;
            };
            self.pool.idle.fetch_sub(1, Relaxed);
            if !self.help(&part) {
                *part.progress.lock() = Progress::Waiting;
                self.pool.put(part);
                self.pool.bell.wait(|| offer.is_settled());
            }
            self.pool.idle.fetch_add(1, Relaxed);
        }
        self.pool.idle.fetch_sub(1, Relaxed);
        !over
    }

    /// The level whose branch to offer.
    fn choose<B: Backtrack<M>>(
        &mut self,
        stack: &Stack<'_, M, B::Set>,
        backtrack: &B,
    ) -> Option<(usize, Step)> {
        let depth = stack.depth();
        let last = match backtrack.reduces() {
            true => depth.min(stack.reversed + 1),
            false => depth,
        };
        let offered = |level: &usize| self.offers.iter().any(|it| it.prefix.len() == *level);
        let mut levels = (stack.floor..last).filter(|level| !offered(level));
        let Some(dice) = &mut self.dice else {
            return levels.find_map(|level| {
                let step = backtrack.pending(stack, level)?;
                (level + 1 + STEPS_MIN <= depth).then_some((level, step))
            });
        };
        let pending = |level| Some((level, backtrack.pending(stack, level)?));
        let mut all: Vec<_> = levels.filter_map(pending).collect();
        let at = dice.below(all.len().max(1) as u64) as usize;
        (!all.is_empty()).then(|| all.swap_remove(at))
    }

    fn make<B: Backtrack<M>>(
        &self,
        stack: &Stack<'_, M, B::Set>,
        backtrack: &B,
        (level, step): (usize, Step),
    ) -> Offer<M, V::Record> {
        let mut sleep = stack.levels[level].sleep.clone();
        if backtrack.reduces() {
            sleep.push((stack.trace.steps[level], stack.trace.label(level).clone()));
        }
        let bell = self.pool.bell.clone();
        Offer {
            turn: Arc::new(Turn::new(self.turn.clone(), bell)),
            brief: stack.machine.brief(),
            version: stack.machine.version(),
            prefix: stack.trace.steps[..level].to_vec(),
            step,
            below: backtrack.below(stack, level),
            sleep,
            progress: Mutex::new(Progress::Waiting),
        }
    }
}

impl<M: Machine, V: Visitor<M>> Drop for Shared<'_, '_, M, V> {
    fn drop(&mut self) {
        self.offers.iter().for_each(|offer| offer.abandon());
    }
}

impl<M: Machine, B: Backtrack<M>, V: Visitor<M>> Desk<M, B, V> for Shared<'_, '_, M, V> {
    fn collect(
        &mut self,
        stack: &mut Stack<'_, M, B::Set>,
        backtrack: &mut B,
        visitor: &mut V,
    ) -> Result<Collected, M::Error> {
        if self.turn.as_ref().is_some_and(|turn| turn.is_abandoned()) {
            return Ok(Collected::Enough);
        }
        let steps = &stack.trace.steps;
        let here = |offer: &Arc<Offer<M, V::Record>>| {
            let before = steps.split_last().filter(|(last, _)| **last == offer.step);
            before.is_some_and(|(_, before)| *before == offer.prefix)
        };
        let Some(at) = self.offers.iter().position(here) else {
            return Ok(Collected::Nothing);
        };
        let offer = self.offers.swap_remove(at);
        if offer.claim() {
            *offer.progress.lock() = Progress::Failed; // nobody has begun
            return Ok(Collected::Nothing);
        }
        if !self.wait_for(&offer, visitor) {
            offer.abandon();
            return Ok(Collected::Enough);
        }
        let progress = std::mem::replace(&mut *offer.progress.lock(), Progress::Failed);
        let level = &stack.levels[stack.depth()];
        let expected = |handed: &Handed<M, V::Record>| {
            let mut asleep = level.sleep.iter().map(|(step, _)| step);
            let same = handed.asleep.iter().all(|it| asleep.next() == Some(it));
            same && asleep.next().is_none()
                && backtrack.is_as(&offer.below)
                && offer.version == stack.machine.version()
                && visitor.accepts(&handed.record)
        };
        match progress {
            Progress::Done(handed) if expected(&handed) => {
                self.pool.collected.fetch_add(1, Relaxed);
                take_over(stack, backtrack, visitor, handed)?;
                Ok(Collected::All)
            }
            _ => {
                self.pool.lost.fetch_add(1, Relaxed);
                Ok(Collected::Nothing)
            }
        }
    }

    fn offer(
        &mut self,
        stack: &mut Stack<'_, M, B::Set>,
        backtrack: &mut B,
        _visitor: &mut V,
    ) -> Result<(), M::Error> {
        if let Some(dice) = &mut self.dice {
            if self.made >= most(self.nested) || dice.below(3) > 0 {
                return Ok(());
            }
        } else if !self.pool.is_hungry() {
            return Ok(());
        }
        let Some(chosen) = self.choose(stack, backtrack) else {
            return Ok(());
        };
        let offer = Arc::new(self.make(stack, backtrack, chosen));
        self.offers.push(offer.clone());
        self.made += 1;
        let Some(dice) = &mut self.dice else {
            self.pool.put(offer);
            return Ok(());
        };
        // Now and then nobody takes it, or it comes to nothing.
        match dice.below(8) {
            0 => {}
            1 => *offer.progress.lock() = Progress::Failed,
            _ => {
                if offer.claim() && !self.help(&offer) {
                    *offer.progress.lock() = Progress::Failed;
                }
            }
        }
        Ok(())
    }
}
