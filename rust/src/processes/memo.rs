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
//! Where several threads explore, each has a memo, and `Log` holds what any of them has learnt. A
//! thread that does not know something reads on there before it asks.
//!
//! A pair of keys is judged only once both have been sent; a want that joins no such pair changes
//! nothing that was judged before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::op::{ANY, Key, NONE, Op, fits};
use crate::python::turn;

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

/// One thing that was learnt.
#[derive(Clone)]
enum Learnt {
    /// What a process asks at a local state.
    Op(u32, Op),
    /// Where a response leads.
    Leads(u32, Response, u32),
    /// So many messages with a key were sent to a mailbox of channels.
    Sent(u32, Key, u32),
}

type Log = Arc<Mutex<Vec<Learnt>>>;

/// What has been sent to and asked of one mailbox.
#[derive(Default, Clone)]
struct Traffic {
    keys: Vec<Key>,
    wants: Vec<Key>,
    /// Somebody takes anything.
    any: bool,
    /// Of a mailbox of channels: the most messages with each key that were sent in an execution.
    most: Vec<(Key, u32)>,
}

pub struct Memo {
    bridge: Arc<Py<PyAny>>,
    ops: Vec<Option<Op>>,
    /// Per local state the first few responses, which nearly always are all; then the others.
    near: Vec<Vec<(Response, u32)>>,
    far: FxHashMap<(u32, Response), u32>,
    traffic: Vec<Traffic>,
    /// Some send may wait for want of room.
    pub may_wait: bool,
    /// Sends that were held to be independent are not.
    pub weakened: bool,
    /// More was sent by a channel than ever before: there is more to guess.
    pub grew: bool,
    /// How often the relation of dependence changed, or what there is to guess.
    pub changes: u64,
    /// How often Python ran a process, for any thread.
    asked: Arc<AtomicU64>,
    /// What other threads know, too, and how much of it is known here.
    log: Option<Log>,
    read: usize,
}

impl Memo {
    pub fn new(bridge: Py<PyAny>) -> Self {
        Memo {
            bridge: Arc::new(bridge),
            ops: Vec::new(),
            near: Vec::new(),
            far: FxHashMap::default(),
            traffic: Vec::new(),
            may_wait: false,
            weakened: false,
            grew: false,
            changes: 0,
            asked: Arc::default(),
            log: None,
            read: 0,
        }
    }

    pub fn asked(&self) -> u64 {
        self.asked.load(Relaxed)
    }

    /// From now on, copies and this one learn from each other, or there are none.
    pub fn share(&mut self, shared: bool) {
        (self.log, self.read) = (shared.then(Log::default), 0);
    }

    pub fn copy(&self) -> Self {
        Memo {
            bridge: self.bridge.clone(),
            ops: self.ops.clone(),
            near: self.near.clone(),
            far: self.far.clone(),
            traffic: self.traffic.clone(),
            may_wait: self.may_wait,
            weakened: false,
            grew: false,
            changes: self.changes,
            asked: self.asked.clone(),
            log: self.log.clone(),
            read: self.read,
        }
    }

    /// Learn what other threads have learnt; whether there was anything.
    pub fn catch_up(&mut self) -> bool {
        let Some(log) = &self.log else {
            return false;
        };
        let fresh: Vec<Learnt> = log.lock()[self.read..].to_vec();
        self.read += fresh.len();
        let some = !fresh.is_empty();
        fresh.into_iter().for_each(|learnt| self.apply(learnt));
        some
    }

    fn learn(&mut self, learnt: Learnt) {
        if let Some(log) = &self.log {
            let mut log = log.lock();
            log.push(learnt.clone());
            self.read = log.len();
        }
        self.apply(learnt);
    }

    fn apply(&mut self, learnt: Learnt) {
        match learnt {
            Learnt::Op(local, op) => self.learn_op(local, op),
            Learnt::Leads(local, response, then) => self.remember(local, response, then),
            Learnt::Sent(mailbox, key, sent) => self.raise(mailbox, key, sent),
        }
    }

    fn is_known(&self, local: u32) -> bool {
        matches!(self.ops.get(local as usize), Some(Some(_)))
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
        if self.is_known(local) || self.catch_up() && self.is_known(local) {
            return Ok(());
        }
        turn::wait()?;
        self.catch_up();
        if self.is_known(local) {
            return Ok(());
        }
        let (code, args): (usize, Vec<i64>) = Python::attach(|py| {
            let told = self.bridge.bind(py).call_method1("op", (local,))?;
            told.extract()
        })?;
        self.learn(Learnt::Op(local, Op::read(code, &args)?));
        Ok(())
    }

    /// Where a response leads.
    #[inline]
    pub fn advance(&mut self, local: u32, response: Response) -> PyResult<u32> {
        match self.known(local, response) {
            Some(known) => Ok(known),
            None => self.ask(local, response),
        }
    }

    #[inline]
    fn known(&self, local: u32, response: Response) -> Option<u32> {
        let near = self.near.get(local as usize);
        let near = near.map_or(&[][..], |near| near.as_slice());
        if let Some((_, known)) = near.iter().find(|(known, _)| *known == response) {
            return Some(*known);
        }
        self.far.get(&(local, response)).copied()
    }

    #[cold]
    fn ask(&mut self, local: u32, response: Response) -> PyResult<u32> {
        if self.catch_up()
            && let Some(known) = self.known(local, response)
        {
            return Ok(known);
        }
        turn::wait()?;
        if self.catch_up()
            && let Some(known) = self.known(local, response)
        {
            return Ok(known);
        }
        let Response {
            choice,
            payload,
            key: [first, second],
        } = response;
        self.asked.fetch_add(1, Relaxed);
        let told: Vec<(u32, usize, Vec<i64>)> = Python::attach(|py| {
            let asked = (local, choice, payload, first, second);
            let told = self.bridge.bind(py).call_method1("advance", asked)?;
            told.extract()
        })?;
        let (mut from, mut response, mut reached) = (local, response, None);
        for (then, code, args) in told {
            if !self.is_known(then) {
                self.learn(Learnt::Op(then, Op::read(code, &args)?));
            }
            self.learn(Learnt::Leads(from, response, then));
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

    fn learn_op(&mut self, local: u32, op: Op) {
        let local = local as usize;
        if self.ops.len() <= local {
            self.ops.resize(local + 1, None);
        }
        self.may_wait |= matches!(op, Op::Send { manner, .. } if manner.may_wait);
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
        self.changes += u64::from(weakened);
    }

    /// So many messages with a key were sent to a mailbox of channels.
    pub fn learn_sent(&mut self, mailbox: u32, key: Key, sent: u32) -> PyResult<()> {
        if self.has_sent(mailbox, key, sent) {
            return Ok(());
        }
        self.catch_up();
        if !self.has_sent(mailbox, key, sent) {
            turn::wait()?;
            self.catch_up();
        }
        if !self.has_sent(mailbox, key, sent) {
            self.learn(Learnt::Sent(mailbox, key, sent));
        }
        Ok(())
    }

    fn has_sent(&self, mailbox: u32, key: Key, sent: u32) -> bool {
        let most = self.most_sent(mailbox);
        let known = most.binary_search_by_key(&key, |known| known.0);
        known.is_ok_and(|at| most[at].1 >= sent)
    }

    fn raise(&mut self, mailbox: u32, key: Key, sent: u32) {
        let most = &mut self.at(mailbox).most;
        match most.binary_search_by_key(&key, |known| known.0) {
            Ok(at) => most[at].1 = most[at].1.max(sent),
            Err(at) => most.insert(at, (key, sent)),
        }
        self.grew = true;
        self.changes += 1;
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
