//! What is known of the processes: what each asks at a local state, and where a response leads.
//!
//! A process is a deterministic function of the responses it got, so Python runs it once for each
//! (local state, response); all else happens here, on integers.
//!
//! Also which wants there are at each mailbox. Two sends to one mailbox with different keys are
//! independent as long as no receive or probe can take either. Wants come to light as processes
//! run, so a relation used so far may turn out too weak: `weakened` then asks for a new beginning.
//!
//! Why that is sound. Let W be the wants known at the end of an exploration during which the
//! relation did not change, and let P' be the program in which a process stops where it would ask
//! for a want outside W. The relation is valid for P', and as such a local state was never met the
//! exploration was one of P', and covers P'. Suppose the real program has an execution that asks
//! for a want outside W, and take a shortest: all before its last step is an execution of P', which
//! some explored one contains, with the same responses for each process. So the local state that
//! asks for the new want was met, and its want is in W. Hence P' is the program.
//!
//! Likewise the most messages with each key that were sent to a mailbox of channels in one
//! execution. A receive is guessed to take a message that is among so many. If more come to light,
//! `grew` asks for a new beginning. P' is then the program in which a process stops where it would
//! send more.
//!
//! A pair of keys is judged only once both have been sent; a want that joins no such pair changes
//! nothing that was judged before.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::op::{ANY, Key, NONE, Op, fits};

/// How many responses to one local state are searched through one by one.
const NEAR: usize = 12;

/// What an operation is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Response {
    pub choice: i32,
    pub payload: i32,
    pub key: Key,
}

/// What an operation is answered that tells its process nothing.
pub const SILENT: Response = Response {
    choice: 0,
    payload: NONE,
    key: [0, 0],
};

/// What has been sent to and asked of one mailbox.
#[derive(Default)]
struct Traffic {
    keys: Vec<Key>,
    wants: Vec<Key>,
    /// Somebody takes anything.
    any: bool,
    /// Of a mailbox of channels: the most messages with each key that were sent in an execution.
    most: Vec<(Key, u32)>,
}

pub struct Memo {
    bridge: Py<PyAny>,
    ops: Vec<Option<Op>>,
    /// Per local state the first few responses, which nearly always are all; then the others.
    near: Vec<Vec<(Response, u32)>>,
    far: FxHashMap<(u32, Response), u32>,
    traffic: Vec<Traffic>,
    /// Sends that were held to be independent are not.
    pub weakened: bool,
    /// More was sent by a channel than ever before: there is more to guess.
    pub grew: bool,
    /// How often Python ran a process.
    pub asked: u64,
}

impl Memo {
    pub fn new(bridge: Py<PyAny>) -> Self {
        Memo {
            bridge,
            ops: Vec::new(),
            near: Vec::new(),
            far: FxHashMap::default(),
            traffic: Vec::new(),
            weakened: false,
            grew: false,
            asked: 0,
        }
    }

    /// What a process asks at a local state that was met before.
    #[inline(always)]
    pub fn op(&self, local: u32) -> &Op {
        self.ops[local as usize]
            .as_ref()
            .expect("met before it is asked for")
    }

    /// Meet a local state in which a process begins.
    pub fn begin(&mut self, local: u32) -> PyResult<()> {
        if matches!(self.ops.get(local as usize), Some(Some(_))) {
            return Ok(());
        }
        let (code, args): (usize, Vec<i64>) = Python::attach(|py| {
            let told = self.bridge.bind(py).call_method1("op", (local,))?;
            told.extract()
        })?;
        self.learn(local, Op::read(code, &args)?);
        Ok(())
    }

    /// Where a response leads.
    #[inline]
    pub fn advance(&mut self, local: u32, response: Response) -> PyResult<u32> {
        let near = self.near.get(local as usize);
        let near = near.map_or(&[][..], |near| near.as_slice());
        if let Some((_, known)) = near.iter().find(|(known, _)| *known == response) {
            return Ok(*known);
        }
        match self.far.get(&(local, response)) {
            Some(&known) => Ok(known),
            None => self.ask(local, response),
        }
    }

    #[cold]
    fn ask(&mut self, local: u32, response: Response) -> PyResult<u32> {
        let Response {
            choice,
            payload,
            key: [first, second],
        } = response;
        self.asked += 1;
        let told: Vec<(u32, usize, Vec<i64>)> = Python::attach(|py| {
            let asked = (local, choice, payload, first, second);
            let told = self.bridge.bind(py).call_method1("advance", asked)?;
            told.extract()
        })?;
        let (mut from, mut response, mut reached) = (local, response, None);
        for (then, code, args) in told {
            if !matches!(self.ops.get(then as usize), Some(Some(_))) {
                self.learn(then, Op::read(code, &args)?);
            }
            self.remember(from, response, then);
            reached.get_or_insert(then);
            (from, response) = (then, SILENT);
        }
        let nowhere = || PyValueError::new_err("`advance` gave no local state");
        reached.ok_or_else(nowhere)
    }

    fn remember(&mut self, local: u32, response: Response, then: u32) {
        if self.near.len() <= local as usize {
            self.near.resize(local as usize + 1, Vec::new());
        }
        let near = &mut self.near[local as usize];
        match near.len() < NEAR {
            true => near.push((response, then)),
            false => {
                self.far.insert((local, response), then);
            }
        }
    }

    fn learn(&mut self, local: u32, op: Op) {
        let local = local as usize;
        if self.ops.len() <= local {
            self.ops.resize(local + 1, None);
        }
        match op {
            Op::Send {
                mailbox,
                key,
                manner,
                ..
            } if !manner.channelled => {
                let keys = &mut self.at(mailbox).keys;
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            Op::Recv {
                mailbox,
                want,
                claim: None,
            }
            | Op::Probe { mailbox, want, .. } => self.learn_want(mailbox, want),
            _ => {}
        }
        self.ops[local] = Some(op);
    }

    fn learn_want(&mut self, mailbox: u32, want: Key) {
        let traffic = self.at(mailbox);
        if traffic.any || traffic.wants.contains(&want) {
            return;
        }
        let taken = |key: &&Key| fits(want, **key);
        let taken: Vec<Key> = traffic.keys.iter().filter(taken).copied().collect();
        let joined = |one: &Key| taken.iter().any(|other| !traffic.joins(*one, *other));
        let weakened = taken.iter().any(joined);
        traffic.any |= want == [ANY, ANY];
        traffic.wants.push(want);
        self.weakened |= weakened;
    }

    /// So many messages with a key were sent to a mailbox of channels.
    pub fn learn_sent(&mut self, mailbox: u32, key: Key, sent: u32) {
        let most = &mut self.at(mailbox).most;
        let known = match most.binary_search_by_key(&key, |known| known.0) {
            Ok(at) => &mut most[at].1,
            Err(at) => {
                most.insert(at, (key, 0));
                &mut most[at].1
            }
        };
        if *known < sent {
            *known = sent;
            self.grew = true;
        }
    }

    /// Keys of messages to a mailbox of channels, sorted, and the most that were sent with each.
    pub fn most_sent(&self, mailbox: u32) -> &[(Key, u32)] {
        let traffic = self.traffic.get(mailbox as usize);
        traffic.map_or(&[], |traffic| &traffic.most)
    }

    fn at(&mut self, mailbox: u32) -> &mut Traffic {
        let mailbox = mailbox as usize;
        if self.traffic.len() <= mailbox {
            self.traffic.resize_with(mailbox + 1, Traffic::default);
        }
        &mut self.traffic[mailbox]
    }

    /// Whether somebody may take either of two sends to a mailbox.
    #[inline]
    pub fn joins(&self, mailbox: u32, one: Key, other: Key) -> bool {
        one == other || self.traffic[mailbox as usize].joins(one, other)
    }
}

impl Traffic {
    fn joins(&self, one: Key, other: Key) -> bool {
        let either = |&want: &Key| fits(want, one) && fits(want, other);
        one == other || self.any || self.wants.iter().any(either)
    }
}
