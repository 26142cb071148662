//! The tasks of a state: what a delay can put off.
//!
//! A task is a message, a channel of an ordered network, a lane, one end of a connection, or one
//! thing that a node can start by itself. Of each at most one event is enabled, choices of its
//! handler aside. Faults are no tasks: they have a price of their own.
//!
//! Invariant: which tasks a state has, and where each stands, is a function of the state; the key
//! of a task is the same in every thread and process.

use pyo3::prelude::*;

use crate::services::effects::EffectRange;
use crate::services::expand::{Candidate, Effect, EventKind, Expander};
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::table::fingerprint::{CONNECTION, LOCAL, mix};
use crate::table::flat::{FlatMap, pair};

/// Where a task stands in its state: enough to list it, and it alone, again.
///
/// The lower bits are the position of a word, that of a connection times two plus its end, or a
/// number among all that the nodes can start by themselves.
#[derive(Clone, Copy)]
pub struct Address(pub u32);

const SEVERAL: u32 = 1 << 31;
const STREAM: u32 = 1 << 30;
const OWN: u32 = 1 << 29;
const PLACE: u32 = OWN - 1;

impl Address {
    /// Of what stands at `place`; `several`: choices make several events of it.
    pub fn of(place: u32, several: bool) -> Self {
        Address(place | if several { SEVERAL } else { 0 })
    }

    pub fn place(self) -> u32 {
        self.0 & PLACE
    }

    /// Whether choices of its handler make several events of it.
    pub fn is_several(self) -> bool {
        self.0 & SEVERAL != 0
    }
}

#[derive(Clone, Copy)]
pub struct Task {
    pub address: Address,
    pub key: u64,
    pub rank: u8,
    /// Of mail: between which nodes.
    pub ends: Option<(u32, u32)>,
    /// Whether somebody sent it; else it is news of a connection, or a node's own.
    pub is_message: bool,
    /// Whether it goes on where it stopped: a process.
    pub runs_on: bool,
}

/// Mail comes before what nodes do by themselves, and that before the passing of time.
const MAIL: u8 = 0;
const ACTION: u8 = 1;
const TIMER: u8 = 2;

/// Keys and ranks of tasks, learnt once; a scheduler of a user sees each task, and may rank it.
pub struct Names<'a> {
    user: Option<&'a Py<PyAny>>,
    /// By node and stimulus: where its key and rank stand in `known`.
    own: FlatMap,
    known: Vec<(u64, u8)>,
    /// By envelope, where a user ranks them.
    mail: FlatMap,
}

impl<'a> Names<'a> {
    pub fn new(user: Option<&'a Py<PyAny>>) -> Self {
        Names {
            user,
            own: FlatMap::default(),
            known: Vec::new(),
            mail: FlatMap::default(),
        }
    }

    /// The tasks of a state whose candidates are listed; gives whether some are faults.
    pub fn tasks(
        &mut self,
        expander: &mut Expander,
        (state, sum): (&[u32], u64),
        tasks: &mut Vec<Task>,
    ) -> PyResult<bool> {
        tasks.clear();
        let mut faults = false;
        for index in 0..expander.candidates.len() {
            let candidate = expander.candidates[index];
            if candidate.fingerprint == sum {
                continue; // a step that changes nothing leads nowhere
            }
            if expander.is_fault(&candidate) {
                faults = true;
                continue;
            }
            let task = self.task(expander, state, &candidate)?;
            match tasks.last_mut() {
                Some(last) if last.key == task.key => last.address.0 |= SEVERAL,
                _ => tasks.push(task),
            }
        }
        Ok(faults)
    }

    fn task(
        &mut self,
        expander: &mut Expander,
        state: &[u32],
        candidate: &Candidate,
    ) -> PyResult<Task> {
        let effect = expander.effects[candidate.effect];
        let word = candidate.word;
        let (address, ends) = match candidate.what {
            EventKind::Internal => {
                let mut place = 0;
                for &local in &state[..effect.node as usize] {
                    place += expander.internal(LocalId::of(local))?.len();
                }
                let own = expander.internal(LocalId::of(state[effect.node as usize]))?;
                (OWN | (place + own.place(candidate.effect)), None)
            }
            EventKind::Deliver => {
                let info = expander.mirror.envelopes[effect.origin as usize];
                (word, Some((info.source, info.to)))
            }
            what => {
                let (end, ends) = own_end(expander, state[word as usize], effect.node, what);
                (STREAM | word << 1 | end, Some(ends))
            }
        };
        let is_message = matches!(candidate.what, EventKind::Deliver | EventKind::Receive);
        let (key, rank) = match (candidate.what, ends) {
            (_, None) => self.own(expander, &effect)?,
            (EventKind::Deliver, _) => {
                let key = mail_key(expander, EnvelopeId::of(effect.origin));
                (key, self.mail(expander, &effect, key, "deliver")?)
            }
            (_, Some(ends)) => {
                let (key, what) = (
                    stream_key(ends),
                    if is_message { "receive" } else { "lost" },
                );
                (key, self.mail(expander, &effect, key, what)?)
            }
        };
        Ok(Task {
            address: Address(address),
            key,
            rank,
            ends,
            is_message,
            runs_on: false,
        })
    }

    /// The key and rank of what a node can start by itself.
    #[inline(always)]
    fn own(&mut self, expander: &Expander, effect: &Effect) -> PyResult<(u64, u8)> {
        match self.own.get(pair(effect.node, effect.origin)) {
            Some(known) => Ok(self.known[known as usize]),
            None => self.learn_own(expander, effect),
        }
    }

    #[cold]
    fn learn_own(&mut self, expander: &Expander, effect: &Effect) -> PyResult<(u64, u8)> {
        let shared = &expander.shared;
        let digest = shared.tables.lock().stimuli.get(effect.origin).digest;
        let key = mix(LOCAL, u64::from(effect.node), digest);
        let rank = Python::attach(|py| {
            let stimulus = shared.stimulus(py, StimulusId::of(effect.origin))?;
            if let Some(user) = self.user {
                let question = (key, effect.node, stimulus);
                return user.call_method1(py, "rank", question)?.extract(py);
            }
            let is_timer = stimulus.get_item(0)?.eq("timer")?;
            Ok::<u8, PyErr>(if is_timer { TIMER } else { ACTION })
        })?;
        let at = pair(effect.node, effect.origin);
        self.own.insert(at, self.known.len() as u64);
        self.known.push((key, rank));
        Ok((key, rank))
    }

    /// The rank of what is delivered to a node.
    #[inline(always)]
    fn mail(&mut self, expander: &Expander, effect: &Effect, key: u64, what: &str) -> PyResult<u8> {
        let Some(user) = self.user else {
            return Ok(MAIL);
        };
        let at = pair(effect.origin, u32::from(what == "deliver"));
        if let Some(known) = self.mail.get(at) {
            return Ok(known as u8);
        }
        let rank: u8 = Python::attach(|py| {
            let whole = expander.shared.message(py, EnvelopeId::of(effect.origin))?;
            let stimulus = (what, whole.get_item(0)?, whole.get_item(2)?);
            let question = (key, effect.node, stimulus);
            user.call_method1(py, "rank", question)?.extract(py)
        })?;
        self.mail.insert(at, u64::from(rank));
        Ok(rank)
    }

    /// The key of the task at `address` of a state.
    pub fn key(
        &mut self,
        expander: &mut Expander,
        state: &[u32],
        address: Address,
    ) -> PyResult<u64> {
        let place = address.place();
        if address.0 & OWN != 0 {
            let first = own_at(expander, state, place)?.iter().next();
            let effect = expander.effects[first.expect("the task was listed")];
            Ok(self.own(expander, &effect)?.0)
        } else if address.0 & STREAM != 0 {
            let (word, end) = (state[place as usize >> 1], place as usize & 1);
            let ends = expander.mirror.links[word as usize].link.ends;
            Ok(stream_key((ends[end], ends[1 - end])))
        } else {
            Ok(mail_key(expander, expander.envelope_at(state, place)))
        }
    }
}

/// The end of a connection that news at `node` comes from, and the nodes at it and at the other.
fn own_end(expander: &Expander, link: u32, node: u32, what: EventKind) -> (u32, (u32, u32)) {
    let link = &expander.mirror.links[link as usize].link;
    let own = link.end(node);
    let sender = what == EventKind::Receive && !link.is_loop();
    let end = if sender { 1 - own } else { own };
    (end as u32, (link.ends[end], link.ends[1 - end]))
}

/// The key of a message, or of the channel in which it keeps its order.
#[inline(always)]
pub fn mail_key(expander: &Expander, envelope: EnvelopeId) -> u64 {
    let network = expander.shared.layout.network;
    expander.mirror.flight().channel_key(network, envelope)
}

/// The key of the end, of a connection, that belongs to the first of two nodes.
#[inline(always)]
pub fn stream_key((own, other): (u32, u32)) -> u64 {
    mix(CONNECTION, u64::from(own), u64::from(other))
}

/// What stands at `place` among all that the nodes of a state can start by themselves, and all that
/// follows it of the same node.
fn own_at(expander: &mut Expander, state: &[u32], mut place: u32) -> PyResult<EffectRange> {
    for &local in &state[..expander.shared.layout.nodes] {
        let range = expander.internal(LocalId::of(local))?;
        if place < range.len() {
            return Ok(range.from(place));
        }
        place -= range.len();
    }
    unreachable!("an address belongs to its own state")
}

/// List the events of the task at `address`, likely ones first; none that changes nothing.
pub fn list_task(
    expander: &mut Expander,
    (state, sum): (&[u32], u64),
    address: Address,
) -> PyResult<()> {
    expander.candidates.clear();
    let place = address.place();
    if address.0 & OWN != 0 {
        let mut origin = None;
        for effect in own_at(expander, state, place)?.iter() {
            if *origin.get_or_insert(expander.effects[effect].origin)
                != expander.effects[effect].origin
            {
                break;
            }
            let own = (
                0,
                effect,
                crate::services::expand::NOWHERE,
                EventKind::Internal,
            );
            expander.push_candidate(state, sum, own)?;
        }
    } else if address.0 & STREAM != 0 {
        let (position, end) = (place >> 1, place as usize & 1);
        let link = expander.mirror.links[state[position as usize] as usize].link;
        expander.list_end(state, sum, (0, position), (&link, end))?;
    } else {
        expander.list_arrival(state, sum, (0, place))?;
    }
    expander
        .candidates
        .retain(|candidate| candidate.fingerprint != sum);
    if expander.candidates.len() > 1 {
        let odds = &expander.odds;
        let likely = |candidate: &Candidate| odds[candidate.effect.index()].calm;
        let listed = &mut expander.candidates;
        listed.sort_by_key(|candidate| std::cmp::Reverse(likely(candidate)));
    }
    Ok(())
}
