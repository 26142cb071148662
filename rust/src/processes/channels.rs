//! Mailboxes of channels: messages keep their order within a channel, and no other.
//!
//! A message comes by the channel that the first number of its key names. A receive takes the first
//! message of *some* channel that fits it. A message goes to the first receive that it fits. So a
//! receive meets a message if no earlier receive is pending that fits the message, and no earlier
//! message of the channel is pending that fits the receive. That is all that MPI promises (section
//! 3.5 of the standard, "Order").
//!
//! Which channel a receive takes from is guessed before it is posted: its `claim`. With claims, who
//! meets whom does not depend on the order of posts of different processes. A pair that may meet
//! stays the only one for both of its members until it has met. So posts are independent of each
//! other, and a step that returns a member depends on the posts that had to come before: the
//! two that met, and those that earlier receives have met which stood in the way (`Dep`).
//!
//! A guess may be wrong: see `guess.rs`.

use super::label::{Kind, Label};
use super::op::{Key, fits};
use super::state::{DETACHED, Post, Slot, State, Use};

/// A receive that its owner had not got back when the last one was posted there.
#[derive(Clone, Copy, Debug)]
struct Request {
    mailbox: u32,
    post: u64,
    want: Key,
    /// The message that it met, and its key; 0: none.
    partner: u64,
    key: Key,
}

/// That one post is complete needs that another was made, which it did not meet.
#[derive(Clone, Copy, Debug)]
struct Dep {
    mailbox: u32,
    of: u64,
    on: u64,
    is_send: bool,
}

/// How many messages with a key were sent to a mailbox, and how many its owner has got back.
#[derive(Clone, Copy, Debug)]
struct Tally {
    mailbox: u32,
    key: Key,
    sent: u32,
    taken: u32,
}

#[derive(Default)]
pub struct Records {
    requests: Vec<Request>,
    deps: Vec<Dep>,
    tallies: Vec<Tally>,
}

impl Clone for Records {
    fn clone(&self) -> Self {
        Records {
            requests: self.requests.clone(),
            deps: self.deps.clone(),
            tallies: self.tallies.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        self.requests.clone_from(&from.requests);
        self.deps.clone_from(&from.deps);
        self.tallies.clone_from(&from.tallies);
    }
}

impl Records {
    fn tally(&mut self, mailbox: u32, key: Key) -> &mut Tally {
        let here = |tally: &Tally| tally.mailbox == mailbox && tally.key == key;
        let at = self.tallies.iter().position(here).unwrap_or_else(|| {
            let (sent, taken) = (0, 0);
            self.tallies.push(Tally {
                mailbox,
                key,
                sent,
                taken,
            });
            self.tallies.len() - 1
        });
        &mut self.tallies[at]
    }

    /// How many messages with this key the owner of the mailbox has got back.
    pub fn taken(&self, mailbox: u32, key: Key) -> u32 {
        let here = |tally: &&Tally| tally.mailbox == mailbox && tally.key == key;
        self.tallies
            .iter()
            .find(here)
            .map_or(0, |tally| tally.taken)
    }

    /// The posts, besides its partner, that had to be made for a post to be complete.
    pub fn needed(&self, post: u64) -> impl Iterator<Item = u64> {
        let own = self.deps.iter().filter(move |dep| dep.of == post);
        own.map(|dep| dep.on)
    }

    /// A process has got a post back.
    pub fn returned(&mut self, slot: &Slot) {
        match (slot.usage, slot.claim) {
            (Use::Send, _) => self.deps.retain(|dep| dep.of != slot.post),
            (_, Some(_)) => self.tally(slot.mailbox, slot.key).taken += 1,
            _ => {}
        }
    }
}

/// Post by channel; gives the label, and how many such messages were sent there by now.
pub fn post(state: &mut State, post: Post, slot: Slot) -> (Label, u32) {
    let (owner, mailbox, number) = (post.owner, post.mailbox, post.post);
    let mut sent = 0;
    if post.send {
        let tally = state.records.tally(mailbox, post.key);
        tally.sent += 1;
        sent = tally.sent;
    } else {
        forget(state, owner, mailbox);
        state.records.requests.push(Request {
            mailbox,
            post: number,
            want: post.key,
            partner: 0,
            key: [0, 0],
        });
    }
    *state.slot_mut(owner, post.slot) = slot;
    state.queue(post);
    settle(state, mailbox);
    let label = Label {
        link: (number, 0),
        ..Label::of(owner, Kind::Post)
    };
    (label, sent)
}

/// What the owner has got back comes before all that it posts from now on.
fn forget(state: &mut State, owner: u32, mailbox: u32) {
    let from = owner as usize * state.stride;
    let slots = &state.slots[from..from + state.stride];
    let records = &mut state.records;
    let is_open = |post: u64| {
        let mut slots = slots.iter();
        slots.any(|slot| slot.usage == Use::Recv && slot.post == post)
    };
    records
        .requests
        .retain(|request| request.mailbox != mailbox || is_open(request.post));
    records
        .deps
        .retain(|dep| dep.mailbox != mailbox || dep.is_send || is_open(dep.of));
}

/// Let all meet that may.
pub fn settle(state: &mut State, mailbox: u32) {
    while let Some((request, message)) = pair(state, mailbox) {
        meet(state, request, message);
    }
}

/// Every mailbox of channels anew, after posts were taken away.
pub fn settle_all(state: &mut State) {
    let mut mailboxes: Vec<u32> = Vec::new();
    let channelled = state.posts.iter().filter(|post| post.claim.is_some());
    mailboxes.extend(channelled.map(|post| post.mailbox));
    mailboxes.dedup();
    for mailbox in mailboxes {
        settle(state, mailbox);
    }
}

/// Where pending receives of a mailbox begin and end, and its messages after them.
fn bounds(state: &State, mailbox: u32) -> (usize, usize, usize) {
    let posts = &state.posts;
    let from = posts.partition_point(|post| post.mailbox < mailbox);
    let mid = posts.partition_point(|post| (post.mailbox, post.send) < (mailbox, true));
    let to = posts.partition_point(|post| post.mailbox <= mailbox);
    (from, mid, to)
}

/// A receive and a message that may meet.
fn pair(state: &State, mailbox: u32) -> Option<(usize, usize)> {
    let (from, mid, to) = bounds(state, mailbox);
    let posts = &state.posts;
    (from..mid).find_map(|at| {
        let request = &posts[at];
        let message = (mid..to).find(|&message| {
            posts[message].claim == request.claim && fits(request.key, posts[message].key)
        })?;
        let earlier = |before: &Post| fits(before.key, posts[message].key);
        (!posts[from..at].iter().any(earlier)).then_some((at, message))
    })
}

fn meet(state: &mut State, request: usize, message: usize) {
    let sent = state.posts.remove(message); // behind the receives
    let asked = state.posts.remove(request);
    if asked.slot != DETACHED {
        let slot = state.slot_mut(asked.owner, asked.slot);
        (slot.partner, slot.payload, slot.key) = (sent.post, sent.payload, sent.key);
    }
    if sent.slot != DETACHED {
        state.slot_mut(sent.owner, sent.slot).partner = asked.post;
    }
    let mut on = Vec::new();
    for at in 0..state.records.requests.len() {
        let records = &mut state.records;
        let known = records.requests[at];
        if known.post == asked.post {
            (records.requests[at].partner, records.requests[at].key) = (sent.post, sent.key);
            break;
        }
        if known.mailbox == asked.mailbox && stood_before(&known, asked.key, &sent) {
            on.push(known.partner);
            on.extend(records.needed(known.post));
        }
    }
    on.sort_unstable();
    on.dedup();
    let waits = sent.slot != DETACHED && !sent.buffered;
    for on in on {
        for (of, is_send) in [(asked.post, false), (sent.post, true)] {
            if !is_send || waits {
                state.records.deps.push(Dep {
                    mailbox: asked.mailbox,
                    of,
                    on,
                    is_send,
                });
            }
        }
    }
}

/// Whether an earlier receive had to meet its message before a later one, which wants `want`, could
/// meet the one that was `sent`. Posts of one process have rising numbers.
fn stood_before(earlier: &Request, want: Key, sent: &Post) -> bool {
    let took_first = earlier.key[0] == sent.key[0] && earlier.partner < sent.post;
    let in_order = took_first && fits(want, earlier.key);
    earlier.partner != 0 && (fits(earlier.want, sent.key) || in_order)
}

/// The message that a probe of a channel finds: the first that fits, and that no receive is going
/// to take.
pub fn found(state: &State, mailbox: u32, want: Key, claim: Option<i32>) -> Option<usize> {
    let (from, mid, to) = bounds(state, mailbox);
    let posts = &state.posts;
    let fitting =
        |&at: &usize| (claim.is_none() || posts[at].claim == claim) && fits(want, posts[at].key);
    let is_free = |&at: &usize| {
        let mut requests = posts[from..mid].iter();
        !requests.any(|request| fits(request.key, posts[at].key))
    };
    match claim {
        Some(_) => (mid..to).find(fitting).filter(is_free),
        None => (mid..to).filter(fitting).find(is_free),
    }
}

/// What a probe that finds a message depends on: see `Label::link`.
pub fn probed(state: &State, process: u32, mailbox: u32, want: Key, message: usize) -> Label {
    const PROBE: u64 = u64::MAX;
    let sent = &state.posts[message];
    let mut more = Vec::new();
    for known in &state.records.requests {
        if known.mailbox == mailbox && stood_before(known, want, sent) {
            more.push((PROBE, known.partner));
            more.extend(state.records.needed(known.post).map(|on| (PROBE, on)));
        }
    }
    Label {
        link: (PROBE, sent.post),
        more: (!more.is_empty()).then(|| more.into()),
        only: true,
        ..Label::of(process, Kind::Wait)
    }
}

/// Whether some receive fits some message, whatever it claims.
pub fn could_meet(state: &State) -> bool {
    let channelled = |post: &&Post| !post.send && post.claim.is_some();
    state.posts.iter().filter(channelled).any(|request| {
        let (_, mid, to) = bounds(state, request.mailbox);
        let mut messages = state.posts[mid..to].iter();
        messages.any(|message| fits(request.key, message.key))
    })
}

/// Claims of a process at a mailbox that take messages which `want` would take, too.
pub fn claimed(state: &State, process: u32, mailbox: u32, want: Key, channel: i32) -> u32 {
    let same = |slot: &&Slot| {
        slot.usage == Use::Recv
            && slot.mailbox == mailbox
            && slot.claim == Some(channel)
            && slot.want[1] == want[1]
    };
    state.slots_of(process).iter().filter(same).count() as u32
}

/// Whether a probe of this process has found a message that fits.
pub fn was_seen(state: &State, mailbox: u32, want: Key) -> bool {
    let (_, mid, to) = bounds(state, mailbox);
    let mut messages = state.posts[mid..to].iter();
    messages.any(|message| message.seen && fits(want, message.key))
}
