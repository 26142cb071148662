//! Two-phase commit as an abstract model.
//!
//! One manager and `rms` participants share a pool of announcements that nobody ever takes back,
//! so a participant may hear the same outcome again: a step that leads to the same state counts
//! as generated. After Gray and Lamport, "Consensus on Transaction Commit".

use std::collections::BTreeSet;

use stateright::{Model, Property};

pub struct Transaction {
    pub rms: usize,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Standing {
    Working,
    Ready,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    Open,
    Commit,
    Abort,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Announcement {
    Ready(usize),
    Commit,
    Abort,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    participants: Vec<Standing>,
    noted: Vec<bool>, // which announcements of readiness the manager has read
    outcome: Outcome,
    pool: BTreeSet<Announcement>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    Decide(Outcome),
    Note(usize),
    GetReady(usize),
    GiveUp(usize),
    Obey(usize, Standing),
}

impl Model for Transaction {
    type State = State;
    type Action = Move;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            participants: vec![Standing::Working; self.rms],
            noted: vec![false; self.rms],
            outcome: Outcome::Open,
            pool: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &State, moves: &mut Vec<Move>) {
        let open = state.outcome == Outcome::Open;
        let commit = state.pool.contains(&Announcement::Commit);
        let abort = state.pool.contains(&Announcement::Abort);
        if open {
            moves.push(Move::Decide(Outcome::Abort));
            if !state.noted.contains(&false) {
                moves.push(Move::Decide(Outcome::Commit));
            }
        }
        for (rm, standing) in state.participants.iter().enumerate() {
            if open && state.pool.contains(&Announcement::Ready(rm)) {
                moves.push(Move::Note(rm));
            }
            if *standing == Standing::Working {
                moves.extend([Move::GetReady(rm), Move::GiveUp(rm)]);
            }
            if commit {
                moves.push(Move::Obey(rm, Standing::Committed));
            }
            if abort {
                moves.push(Move::Obey(rm, Standing::Aborted));
            }
        }
    }

    fn next_state(&self, before: &State, chosen: Move) -> Option<State> {
        let mut after = before.clone();
        match chosen {
            Move::Decide(outcome) => {
                after.outcome = outcome;
                after.pool.insert(match outcome {
                    Outcome::Commit => Announcement::Commit,
                    _ => Announcement::Abort,
                });
            }
            Move::Note(rm) => after.noted[rm] = true,
            Move::GetReady(rm) => {
                after.participants[rm] = Standing::Ready;
                after.pool.insert(Announcement::Ready(rm));
            }
            Move::GiveUp(rm) => after.participants[rm] = Standing::Aborted,
            Move::Obey(rm, standing) => after.participants[rm] = standing,
        }
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("atomic", |_, state: &State| {
                !(state.participants.contains(&Standing::Committed)
                    && state.participants.contains(&Standing::Aborted))
            }),
            Property::sometimes("all commit", |_, state: &State| {
                state
                    .participants
                    .iter()
                    .all(|standing| *standing == Standing::Committed)
            }),
            Property::sometimes("all abort", |_, state: &State| {
                state
                    .participants
                    .iter()
                    .all(|standing| *standing == Standing::Aborted)
            }),
        ]
    }
}
