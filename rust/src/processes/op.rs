//! Operations: what a process asks of the world, in integers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::python::tables;

/// In a want: fits every number.
pub const ANY: i32 = -1;
/// No payload, no choice.
pub const NONE: i32 = -1;

pub type Key = [i32; 2];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Exit,
    Fail(i32),
    Send {
        mailbox: u32,
        payload: i32,
        key: Key,
        manner: Manner,
    },
    /// With a claim, at a mailbox of channels: see `channels.rs`.
    Recv {
        mailbox: u32,
        want: Key,
        claim: Option<i32>,
    },
    Wait {
        timeout: bool,
        slots: Box<[u32]>,
        guess: Guess,
    },
    Test(Box<[u32]>),
    Probe {
        blocking: bool,
        mailbox: u32,
        want: Key,
    },
    /// Wait until a message of the channel `claim` is there.
    Peek {
        mailbox: u32,
        want: Key,
        claim: i32,
        polled: bool,
    },
    /// Decide which channel a receive or probe is going to take its message from.
    Pick {
        mailbox: u32,
        want: Key,
        polls: bool,
    },
    /// Decide whether a test finds something, and which of so many.
    Poll(i32),
    Cancel(u32),
    Choose(i32),
    Sleep,
    Create {
        child: u32,
        local: u32,
        daemon: bool,
    },
    Join(u32),
    Kill(u32),
    Publish {
        key: i32,
        value: i32,
    },
}

/// How a send is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Complete for the sender at once.
    pub buffered: bool,
    /// Buffered, unless there is no room: then it may as well wait for its receive.
    pub may_wait: bool,
    /// To a mailbox of channels.
    pub channelled: bool,
}

/// What a wait was guessed to return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guess {
    /// It was said to be complete by a test that might have said otherwise.
    pub polled: bool,
    /// It might have waited for one of these instead, each complete if all its slots are.
    pub rivals: Box<[Box<[u32]>]>,
}

/// Whether a receive that wants `want` takes a send with `key`.
#[inline(always)]
pub fn fits(want: Key, key: Key) -> bool {
    (want[0] == ANY || want[0] == key[0]) && (want[1] == ANY || want[1] == key[1])
}

/// Whether some key fits both.
#[inline(always)]
pub fn overlap(one: Key, other: Key) -> bool {
    let meet = |at: usize| one[at] == ANY || other[at] == ANY || one[at] == other[at];
    meet(0) && meet(1)
}

/// Flags of a wait: the slot was guessed; a test said that it is complete.
const GUESSED: i64 = 2;
const POLLED: i64 = 4;

/// Lists of slots, each after its length.
fn groups(mut args: &[i64]) -> Option<Box<[Box<[u32]>]>> {
    let mut all = Vec::new();
    while let Some((&count, rest)) = args.split_first() {
        let (group, rest) = rest.split_at_checked(usize::try_from(count).ok()?)?;
        let group = group.iter().map(|&slot| u32::try_from(slot).ok());
        all.push(group.collect::<Option<Box<[u32]>>>()?);
        args = rest;
    }
    Some(all.into())
}

impl Op {
    /// From what Python says: a number and its arguments.
    pub fn read(code: usize, args: &[i64]) -> PyResult<Op> {
        let bad = || PyValueError::new_err(format!("operation {code} with {args:?} is unknown"));
        let small = |at: usize| i32::try_from(args[at]).map_err(|_| bad());
        let id = |at: usize| u32::try_from(args[at]).map_err(|_| bad());
        let key = |at: usize| PyResult::Ok([small(at)?, small(at + 1)?]);
        let slots = |from: usize| (from..args.len()).map(id).collect::<PyResult<Box<[u32]>>>();
        Ok(match (code, args.len()) {
            (tables::EXIT, 0) => Op::Exit,
            (tables::FAIL, 1) => Op::Fail(small(0)?),
            (tables::WAIT, 1..) if args[0] & GUESSED == 0 => Op::Wait {
                timeout: args[0] != 0,
                slots: slots(1)?,
                guess: Guess::default(),
            },
            (tables::TEST, _) => Op::Test(slots(0)?),
            (tables::PROBE, 4) => Op::Probe {
                blocking: args[0] != 0,
                mailbox: id(1)?,
                want: key(2)?,
            },
            (tables::CANCEL, 1) => Op::Cancel(id(0)?),
            (tables::CHOOSE, 1) => Op::Choose(small(0)?),
            (tables::SLEEP, 0) => Op::Sleep,
            (tables::CREATE, 2 | 3) => Op::Create {
                child: id(0)?,
                local: id(1)?,
                daemon: args.len() == 3 && args[2] != 0,
            },
            (tables::JOIN, 1) => Op::Join(id(0)?),
            (tables::KILL, 1) => Op::Kill(id(0)?),
            (tables::PUBLISH, 2) => Op::Publish {
                key: small(0)?,
                value: small(1)?,
            },
            _ => return Op::read_guessed(code, args),
        })
    }

    /// Posts, and what is made of guesses: see `guess.rs`.
    fn read_guessed(code: usize, args: &[i64]) -> PyResult<Op> {
        let bad = || PyValueError::new_err(format!("operation {code} with {args:?} is unknown"));
        let small = |at: usize| i32::try_from(args[at]).map_err(|_| bad());
        let id = |at: usize| u32::try_from(args[at]).map_err(|_| bad());
        let key = |at: usize| PyResult::Ok([small(at)?, small(at + 1)?]);
        Ok(match (code, args.len()) {
            (tables::SEND, 5) => Op::Send {
                mailbox: id(0)?,
                payload: small(1)?,
                key: key(2)?,
                manner: Manner {
                    buffered: args[4] & 1 != 0,
                    may_wait: args[4] & 2 != 0,
                    channelled: args[4] & 4 != 0,
                },
            },
            (tables::RECV, 3 | 4) => Op::Recv {
                mailbox: id(0)?,
                want: key(1)?,
                claim: (args.len() == 4).then(|| small(3)).transpose()?,
            },
            (tables::WAIT, 2..) => Op::Wait {
                timeout: false,
                slots: [id(1)?].into(),
                guess: Guess {
                    polled: args[0] & POLLED != 0,
                    rivals: groups(&args[2..]).ok_or_else(bad)?,
                },
            },
            (tables::PROBE, 6) => Op::Peek {
                mailbox: id(1)?,
                want: key(2)?,
                claim: small(4)?,
                polled: args[5] != 0,
            },
            (tables::PICK, 4) => Op::Pick {
                mailbox: id(0)?,
                want: key(1)?,
                polls: args[3] != 0,
            },
            (tables::POLL, 1) => Op::Poll(small(0)?),
            _ => return Err(bad()),
        })
    }
}
