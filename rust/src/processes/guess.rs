//! Guesses: which channel a receive takes from, what a test says, which wait ends first.
//!
//! A process that receives from anyone guesses from whom; one that tests guesses the answer,
//! and then waits until that is true. What others do in the meantime cannot change a guess, so a
//! guess is independent of all steps of others. Every execution is found under the guesses that
//! come true in it.
//!
//! An execution whose guesses do not all come true ends where the others wait for ever. All of its
//! steps could have happened; only its end could not, and `is_wrong` tells such an end from a
//! deadlock. A test may say that nothing is there: a wait for what it said is no deadlock, unless
//! it had said so too often (`World::waits`). A receive whose message never came is none if another
//! message was there for it.

use pyo3::prelude::*;

use super::act::impossible;
use super::channels::{claimed, could_meet, found, probed, was_seen};
use super::label::Label;
use super::memo::Response;
use super::op::{NONE, Op, fits};
use super::state::{Slot, State, Status};
use super::world::World;
use crate::reduce::por::Step;

impl World {
    /// The answers to a guess, or by a probe that was guessed to find something.
    pub fn guesses(&self, state: &State, process: u32, add: &mut impl FnMut(i32)) {
        let member = state.member(process);
        match *self.memo.op(member.local) {
            Op::Peek {
                mailbox,
                want,
                claim,
                ..
            } => {
                if found(state, mailbox, want, Some(claim)).is_some() {
                    add(0);
                }
            }
            Op::Poll(n) => {
                if !self.waits(&member) {
                    add(NONE);
                }
                (0..n).for_each(add);
            }
            _ => self.pick(state, process, add),
        }
    }

    /// Find a message, which stays where it is.
    pub fn peek(&self, state: &mut State, step: Step) -> PyResult<(Label, Response)> {
        let process = step.process;
        let Op::Peek {
            mailbox,
            want,
            claim,
            ..
        } = *self.memo.op(state.member(process).local)
        else {
            return Err(impossible(step));
        };
        let message = found(state, mailbox, want, Some(claim)).ok_or_else(|| impossible(step))?;
        let label = probed(state, process, mailbox, want, message);
        let post = &mut state.posts[message];
        post.seen = true;
        let response = Response {
            choice: 1,
            payload: post.payload,
            key: post.key,
        };
        Ok((label, response))
    }

    /// The channels that `process` may take a message from; `NONE` if there is none, or it may find
    /// nothing.
    fn pick(&self, state: &State, process: u32, add: &mut impl FnMut(i32)) {
        let member = state.member(process);
        let Op::Pick {
            mailbox,
            want,
            polls,
        } = *self.memo.op(member.local)
        else {
            unreachable!("only a pick has channels");
        };
        let most = self.memo.most_sent(mailbox);
        let mut some = false;
        for channel in most.chunk_by(|one, other| one.0[0] == other.0[0]) {
            let number = channel[0].0[0];
            let fitting = channel.iter().filter(|(key, _)| fits(want, *key));
            let taken = |key| state.records.taken(mailbox, key);
            let left: u32 = fitting
                .map(|&(key, most)| most.saturating_sub(taken(key)))
                .sum();
            if left > claimed(state, process, mailbox, want, number) {
                some = true;
                add(number);
            }
        }
        let may_miss = !self.waits(&member) && !was_seen(state, mailbox, want);
        if if polls { may_miss } else { !some } {
            add(NONE);
        }
    }

    /// Of a state in which nothing can be done: whether a guess was wrong.
    pub fn is_wrong(&self, state: &State) -> bool {
        let mut members = 0..state.members.len() as u32;
        could_meet(state) || members.any(|at| self.waits_wrongly(state, at))
    }

    /// Whether a process that cannot go on waits for what was guessed, and something else came.
    pub fn waits_wrongly(&self, state: &State, process: u32) -> bool {
        let complete = |group: &[u32]| {
            let mut slots = group.iter().map(|&slot| state.slot(process, slot));
            slots.all(|slot| slot.is_some_and(|slot| slot.complete()))
        };
        let member = state.member(process);
        if member.status != Status::Running {
            return false;
        }
        match self.memo.op(member.local) {
            Op::Wait { guess, .. } => {
                let free = guess.polled && !self.waits(&member);
                free || guess.rivals.iter().any(|group| complete(group))
            }
            Op::Peek {
                mailbox,
                want,
                polled,
                ..
            } => {
                let free = *polled && !self.waits(&member);
                free || found(state, *mailbox, *want, None).is_some()
            }
            Op::Pick { mailbox, want, .. } => found(state, *mailbox, *want, None).is_some(),
            _ => false,
        }
    }

    /// Whether a step returns a send that might as well wait for its receive.
    pub fn needs_room(&self, state: &State, step: Step) -> bool {
        let send = self.awaited_send(state, step.process);
        send.is_some_and(|slot| slot.partner == 0)
    }

    /// The send that a process waits for, if it is one that may wait for its receive.
    pub fn awaited_send<'a>(&self, state: &'a State, process: u32) -> Option<&'a Slot> {
        let member = state.member(process);
        match self.memo.op(member.local) {
            Op::Wait { slots, .. } if slots.len() == 1 && member.status == Status::Running => {
                let slot = state.slot(process, slots[0]);
                slot.filter(|slot| slot.may_wait)
            }
            _ => None,
        }
    }

    /// Whether nobody can do anything, unless there is room for what they send.
    /// `steps` are those enabled.
    pub fn is_blocked(&self, state: &State, steps: &[Step]) -> bool {
        let blocked = steps.iter().all(|&step| self.needs_room(state, step));
        blocked && !self.is_wrong(state)
    }
}
