//! What operations do to a state: who meets whom, what is returned, withdrawn, published.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::channels;
use super::label::{Kind, Label, Link};
use super::memo::Response;
use super::op::{Key, NONE, fits};
use super::state::{DETACHED, Post, Slot, State, Status};
use crate::reduce::por::Step;

/// The answer to what needs none.
pub const QUIET: Response = Response {
    choice: 0,
    payload: NONE,
    key: [0, 0],
};

pub fn chosen(choice: i32) -> Response {
    Response { choice, ..QUIET }
}

fn name(process: u32, number: u32) -> u64 {
    (process as u64) << 32 | number as u64
}

pub fn impossible(step: Step) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{step:?} was to be taken and is not enabled: an error of presage, please report it"
    ))
}

pub fn probe(process: u32, mailbox: u32, key: Key) -> Label {
    Label {
        mailbox,
        key,
        ..Label::of(process, Kind::Probe)
    }
}

pub fn aimed(process: u32, kind: Kind, target: u32) -> Label {
    Label {
        target,
        ..Label::of(process, kind)
    }
}

/// The first pending post of a kind that fits.
pub fn first(state: &State, mailbox: u32, send: bool, key: Key) -> Option<usize> {
    state.posts.iter().position(|post| {
        let (want, key) = match send {
            true => (key, post.key),
            false => (post.key, key),
        };
        post.mailbox == mailbox && post.send == send && fits(want, key)
    })
}

/// What a probe is answered.
pub fn seen(state: &State, mailbox: u32, want: Key) -> Response {
    first(state, mailbox, true, want).map_or(QUIET, |at| Response {
        choice: 1,
        payload: state.posts[at].payload,
        key: state.posts[at].key,
    })
}

fn lost(process: u32, slot: u32) -> PyErr {
    PyValueError::new_err(format!(
        "process {process} names slot {slot}, which is free"
    ))
}

/// Tell the places of those slots whose posts are complete; whether there are any.
pub fn complete(
    state: &State,
    process: u32,
    slots: &[u32],
    tell: &mut impl FnMut(i32),
) -> PyResult<bool> {
    let mut some = false;
    for (at, &slot) in slots.iter().enumerate() {
        let held = state.slot(process, slot);
        if held.ok_or_else(|| lost(process, slot))?.complete() {
            some = true;
            tell(at as i32);
        }
    }
    Ok(some)
}

/// Meet the first that fits, else wait at the mailbox. Gives also how many messages like this one
/// were sent by its channel.
pub fn post_it(state: &mut State, mut post: Post) -> (Label, u32) {
    let owner = post.owner;
    post.slot = state.free_slot(owner);
    state.members[owner as usize].posted += 1;
    post.post = name(owner, state.members[owner as usize].posted);
    let mut slot = Slot::of(&post);
    if post.claim.is_some() {
        return channels::post(state, post, slot);
    }
    match first(state, post.mailbox, !post.send, post.key) {
        None => state.queue(post),
        Some(at) => {
            let met = state.posts.remove(at);
            slot.partner = met.post;
            if !post.send {
                (slot.payload, slot.key) = (met.payload, met.key);
            }
            if met.slot != DETACHED {
                let its = state.slot_mut(met.owner, met.slot);
                its.partner = post.post;
                if post.send {
                    (its.payload, its.key) = (post.payload, post.key);
                }
            }
        }
    }
    *state.slot_mut(owner, post.slot) = slot;
    let kind = match post.send {
        true => Kind::Send,
        false => Kind::Recv,
    };
    let label = Label {
        mailbox: post.mailbox,
        key: post.key,
        link: (post.post, slot.partner),
        ..Label::of(owner, kind)
    };
    (label, 0)
}

/// Return one complete member, or give up. `none`: whether giving up is possible; `waits`: whether
/// it never is.
pub fn wait(
    state: &mut State,
    step: Step,
    slots: &[u32],
    (none, waits): (bool, bool),
) -> PyResult<(Label, Response)> {
    let Step { process, choice } = step;
    let mut label = Label::of(process, Kind::Wait);
    // Nobody notices when a buffered send is met: it was complete from the start.
    let notices = |&&slot: &&u32| state.slot(process, slot).is_some_and(|slot| !slot.buffered);
    let link = |&slot: &u32| {
        let slot = &state.slots_of(process)[slot as usize];
        (slot.post, slot.partner)
    };
    let mut links = slots.iter().filter(notices).map(link);
    label.link = links.next().unwrap_or((0, 0));
    let mut more: Vec<Link> = links.collect();
    let needed = state.records.needed(label.link.0);
    more.extend(needed.map(|on| (label.link.0, on)));
    label.more = (!more.is_empty()).then(|| more.into());
    label.only = waits && slots.len() == 1;
    if choice == NONE && none {
        return Ok((label, chosen(NONE)));
    }
    let slot = usize::try_from(choice).ok().and_then(|at| slots.get(at));
    let slot = *slot.ok_or_else(|| impossible(step))?;
    let held = *state
        .slot(process, slot)
        .ok_or_else(|| lost(process, slot))?;
    if !held.complete() {
        return Err(impossible(step));
    }
    if held.buffered
        && let Some(at) = state.pending(process, slot)
    {
        state.posts[at].slot = DETACHED;
    }
    *state.slot_mut(process, slot) = Slot::FREE;
    state.records.returned(&held);
    let response = Response {
        choice,
        payload: held.payload,
        key: held.key,
    };
    Ok((label, response))
}

pub fn cancel(state: &mut State, process: u32, slot: u32) -> PyResult<(Label, Response)> {
    let held = *state
        .slot(process, slot)
        .ok_or_else(|| lost(process, slot))?;
    // By channel, a post that is withdrawn may have stood in the way of any other.
    let by_channel = Label::of(process, Kind::Kill);
    let mut label = Label::of(process, Kind::CancelLate);
    label.link = (held.post, held.partner);
    if held.claim.is_some() && state.pending(process, slot).is_none() {
        return Ok((by_channel, QUIET));
    }
    let Some(at) = state.pending(process, slot) else {
        return Ok((label, QUIET));
    };
    let post = state.posts.remove(at);
    *state.slot_mut(process, slot) = Slot::FREE;
    if post.claim.is_some() {
        channels::settle(state, post.mailbox);
        return Ok((by_channel, chosen(1)));
    }
    label.kind = match post.send {
        true => Kind::CancelSend,
        false => Kind::CancelRecv,
    };
    (label.mailbox, label.key) = (post.mailbox, post.key);
    Ok((label, chosen(1)))
}

pub fn kill(state: &mut State, victim: u32) {
    if state.member(victim).status == Status::Running {
        state.release(victim, true);
        let member = &mut state.members[victim as usize];
        (member.status, member.local, member.spins) = (Status::Dying, 0, 0);
        channels::settle_all(state);
    }
}

pub fn publish(state: &mut State, process: u32, key: i32, value: i32) {
    let published = &mut state.published;
    match published.binary_search_by_key(&(process, key), |&(who, what, _)| (who, what)) {
        Ok(at) => published[at].2 = value,
        Err(at) => published.insert(at, (process, key, value)),
    }
}
