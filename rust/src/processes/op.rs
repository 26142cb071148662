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
        buffered: bool,
    },
    Recv {
        mailbox: u32,
        want: Key,
    },
    Wait {
        timeout: bool,
        slots: Box<[u32]>,
    },
    Test(Box<[u32]>),
    Probe {
        blocking: bool,
        mailbox: u32,
        want: Key,
    },
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
            (tables::SEND, 5) => Op::Send {
                mailbox: id(0)?,
                payload: small(1)?,
                key: key(2)?,
                buffered: args[4] != 0,
            },
            (tables::RECV, 3) => Op::Recv {
                mailbox: id(0)?,
                want: key(1)?,
            },
            (tables::WAIT, 1..) => Op::Wait {
                timeout: args[0] != 0,
                slots: slots(1)?,
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
            _ => return Err(bad()),
        })
    }
}
