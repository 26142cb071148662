//! The world of processes as a machine: which steps are enabled, and what they do.

use pyo3::prelude::*;

use super::act::{
    QUIET, aimed, cancel, chosen, complete, first, impossible, kill, post_it, probe, publish, seen,
    wait,
};
use super::label::{self, Kind, Label};
use super::memo::{Memo, Response};
use super::op::{Manner, NONE, Op};
use super::state::{DETACHED, Member, Post, State, Status};
use crate::reduce::por::{Machine, Step};

pub struct World {
    pub memo: Memo,
    /// Local states and whether each is a daemon.
    pub initial: Vec<(u32, bool)>,
    /// After so many tests in a row that found nothing, a test waits; 0: never.
    pub spins: u32,
    /// Steps run, those of race analysis too.
    pub runs: u64,
}

impl Machine for World {
    type State = State;
    type Label = Label;
    type Error = PyErr;
    type Brief = ();

    fn brief(&self) {}

    fn adopt(&mut self, _brief: &()) -> PyResult<()> {
        self.memo.catch_up();
        (self.memo.weakened, self.memo.grew) = (false, false);
        Ok(())
    }

    fn version(&self) -> u64 {
        self.memo.changes
    }

    fn work(&self) -> u64 {
        self.runs
    }

    fn add_work(&mut self, steps: u64) {
        self.runs += steps;
    }

    fn start(&mut self) -> PyResult<State> {
        let mut state = State {
            stride: 2,
            ..State::default()
        };
        for at in 0..self.initial.len() {
            let (local, daemon) = self.initial[at];
            self.begin(&mut state, at as u32, local, daemon)?;
        }
        Ok(state)
    }

    fn enabled(&mut self, state: &State, into: &mut Vec<Step>) -> PyResult<()> {
        (0..state.members.len()).try_for_each(|at| self.choices(state, at as u32, into))
    }

    fn enabled_until(
        &mut self,
        state: &State,
        into: &mut Vec<Step>,
        awake: impl Fn(Step) -> bool,
    ) -> PyResult<()> {
        for at in 0..state.members.len() {
            let before = into.len();
            self.choices(state, at as u32, into)?;
            if into[before..].iter().any(|&step| awake(step)) {
                break;
            }
        }
        Ok(())
    }

    fn choices(&mut self, state: &State, process: u32, into: &mut Vec<Step>) -> PyResult<()> {
        let member = state.member(process);
        let mut add = |choice| into.push(Step { process, choice });
        match member.status {
            Status::Running => {}
            Status::Dying => {
                add(0);
                return Ok(());
            }
            _ => return Ok(()),
        }
        match self.memo.op(member.local) {
            Op::Wait { timeout, slots, .. } => {
                complete(state, process, slots, &mut add)?;
                if *timeout {
                    add(NONE);
                }
            }
            Op::Test(slots) => {
                if !complete(state, process, slots, &mut add)? && !self.waits(&member) {
                    add(NONE);
                }
            }
            Op::Probe {
                blocking,
                mailbox,
                want,
            } => {
                let waits = *blocking || self.waits(&member);
                if !waits || first(state, *mailbox, true, *want).is_some() {
                    add(0);
                }
            }
            Op::Peek { .. } | Op::Pick { .. } | Op::Poll(_) => {
                self.guesses(state, process, &mut add)
            }
            Op::Join(other) if !state.member(*other).over() => {}
            Op::Choose(n) => (0..*n).for_each(add),
            _ => add(0),
        }
        Ok(())
    }

    fn run(&mut self, state: &mut State, step: Step) -> PyResult<Label> {
        self.runs += 1;
        state.born = None;
        let Step { process, choice } = step;
        let member = state.member(process);
        if member.status == Status::Dying {
            state.members[process as usize].status = Status::Done;
            return Ok(Label::of(process, Kind::Own));
        }
        if member.status != Status::Running {
            return Err(impossible(step));
        }
        let (label, response) = self.act(state, step, member)?;
        // One that killed itself does not come to hear of it.
        if state.members[process as usize].status == Status::Running {
            let spins = self.spun(&member, choice, response);
            let local = self.memo.advance(member.local, response)?;
            self.arrive(state, process, local);
            state.members[process as usize].spins = spins;
        }
        Ok(label)
    }

    #[inline]
    fn dependent(&self, one: &Label, other: &Label) -> bool {
        label::dependent(&self.memo, one, other)
    }

    fn stale(&self, ran: &Label, label: &Label) -> bool {
        label::stale(ran, label)
    }

    fn enables(&self, first: &Label, later: &Label) -> bool {
        label::enables(first, later)
    }

    /// A probe that waits can be disabled: somebody else receives what it would have seen.
    fn can_be_disabled(&self, label: &Label) -> bool {
        label.kind == Kind::Probe
    }

    fn waiting(&mut self, state: &State, into: &mut Vec<(u32, Label)>) {
        for (at, member) in state.members.iter().enumerate() {
            if member.status != Status::Running {
                continue;
            }
            if let Op::Probe { mailbox, want, .. } = *self.memo.op(member.local)
                && first(state, mailbox, true, want).is_none()
            {
                into.push((at as u32, probe(at as u32, mailbox, want)));
            }
        }
    }
}

impl World {
    fn begin(&mut self, state: &mut State, at: u32, local: u32, daemon: bool) -> PyResult<()> {
        self.memo.begin(local)?;
        state.admit(at).daemon = daemon;
        self.arrive(state, at, local);
        Ok(())
    }

    /// A process comes to a local state.
    fn arrive(&self, state: &mut State, process: u32, local: u32) {
        let status = match self.memo.op(local) {
            Op::Exit => Status::Done,
            Op::Fail(_) => Status::Failed,
            _ => Status::Running,
        };
        let member = &mut state.members[process as usize];
        (member.local, member.status) = (local, status);
        if status != Status::Running {
            state.release(process, false);
        }
    }

    /// Whether a process has tested in vain so often that its next test must find something.
    pub fn waits(&self, member: &Member) -> bool {
        self.spins > 0 && member.spins >= self.spins
    }

    /// Whether `mover` is about to test once more, and would not have been let do so in vain.
    pub fn has_spun(&self, state: &State, mover: u32) -> bool {
        let member = state.member(mover);
        member.status == Status::Running
            && self.waits(&member)
            && matches!(
                self.memo.op(member.local),
                Op::Test(_) | Op::Probe { .. } | Op::Poll(_) | Op::Pick { polls: true, .. }
            )
    }

    fn spun(&self, member: &Member, choice: i32, response: Response) -> u32 {
        match self.memo.op(member.local) {
            _ if self.spins == 0 => 0,
            Op::Sleep => member.spins,
            // It must find something, and waits for that.
            Op::Poll(_) | Op::Pick { polls: true, .. } if self.waits(member) => member.spins,
            Op::Test(_) | Op::Poll(_) if choice == NONE => member.spins + 1,
            Op::Pick { polls: true, .. } if choice == NONE => member.spins + 1,
            Op::Probe { .. } if response.choice == 0 => member.spins + 1,
            _ => 0,
        }
    }

    /// The send or receive that a process asks for, not yet numbered.
    fn post(&self, owner: u32, local: u32) -> Post {
        let post = |mailbox, send, key, claim| Post {
            mailbox,
            send,
            buffered: false,
            owner,
            slot: DETACHED,
            post: 0,
            payload: NONE,
            key,
            claim,
            may_wait: false,
            seen: false,
        };
        match *self.memo.op(local) {
            Op::Send {
                mailbox,
                payload,
                key,
                manner,
            } => {
                let Manner {
                    buffered,
                    may_wait,
                    channelled,
                } = manner;
                Post {
                    buffered,
                    may_wait,
                    payload,
                    ..post(mailbox, true, key, channelled.then_some(key[0]))
                }
            }
            Op::Recv {
                mailbox,
                want,
                claim,
            } => post(mailbox, false, want, claim),
            ref op => unreachable!("{op:?} posts nothing"),
        }
    }

    fn posted(&mut self, state: &mut State, step: Step) -> PyResult<Label> {
        let local = state.member(step.process).local;
        let post = self.post(step.process, local);
        let (label, sent) = post_it(state, post);
        if sent > 0 {
            self.memo.learn_sent(post.mailbox, post.key, sent)?;
        }
        Ok(label)
    }

    /// Do what the process asks; what others can tell of it, and what it is answered.
    fn act(
        &mut self,
        state: &mut State,
        step: Step,
        member: Member,
    ) -> PyResult<(Label, Response)> {
        let Step { process, choice } = step;
        let own = Label::of(process, Kind::Own);
        Ok(match *self.memo.op(member.local) {
            Op::Send { .. } | Op::Recv { .. } => (self.posted(state, step)?, QUIET),
            Op::Peek { .. } => self.peek(state, step)?,
            Op::Pick { .. } | Op::Poll(_) => (own, chosen(choice)),
            Op::Wait {
                timeout, ref slots, ..
            } => wait(state, step, slots, (timeout, !timeout))?,
            Op::Test(ref slots) => {
                let none = !complete(state, process, slots, &mut |_| {})?;
                wait(state, step, slots, (none, false))?
            }
            Op::Probe { mailbox, want, .. } => {
                let response = seen(state, mailbox, want);
                (probe(process, mailbox, want), response)
            }
            Op::Cancel(slot) => cancel(state, process, slot)?,
            Op::Choose(n) if (0..n).contains(&choice) => (own, chosen(choice)),
            Op::Sleep => (own, QUIET),
            Op::Create {
                child,
                local,
                daemon,
            } => {
                self.begin(state, child, local, daemon)?;
                state.born = Some(child);
                (aimed(process, Kind::Create, child), QUIET)
            }
            Op::Join(other) if state.member(other).over() => {
                (aimed(process, Kind::Join, other), QUIET)
            }
            Op::Kill(victim) => {
                kill(state, victim);
                (Label::of(process, Kind::Kill), QUIET)
            }
            Op::Publish { key, value } => {
                publish(state, process, key, value);
                (Label::of(process, Kind::Publish), QUIET)
            }
            _ => return Err(impossible(step)),
        })
    }
}
