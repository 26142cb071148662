//! A global state: where each process is, what it has posted, and what waits at the mailboxes.
//!
//! Flat vectors, so that copying one over another costs no allocation. Pending posts are sorted by
//! mailbox and kind, in the order of posting within: equal states are equal vectors, up to the
//! numbers of posts, which only tell posts of one execution apart.
//!
//! Invariant: no pending send fits a pending receive of its mailbox.

use super::channels::Records;
use super::op::{Key, NONE};
use crate::table::fingerprint::{nonzero, scramble};

/// The slot of a post whose owner has no use for it any more.
pub const DETACHED: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not created yet.
    Absent,
    Running,
    /// Killed, and still to take its last step.
    Dying,
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub local: u32,
    pub status: Status,
    pub daemon: bool,
    /// Tests in a row that found nothing, up to the limit; 0 without one.
    pub spins: u32,
    /// How much it has posted.
    pub posted: u32,
}

impl Member {
    pub const ABSENT: Member = Member {
        local: 0,
        status: Status::Absent,
        daemon: false,
        spins: 0,
        posted: 0,
    };

    pub fn over(&self) -> bool {
        matches!(self.status, Status::Done | Status::Failed)
    }

    /// Of a member where nothing is enabled: whether it waits in vain.
    pub fn stuck(&self) -> bool {
        !self.over() && !self.daemon && self.status != Status::Absent
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    Free,
    Send,
    Recv,
}

/// What a process holds of one of its posts.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub usage: Use,
    pub buffered: bool,
    /// Names of the post, and of the one it met; 0: none.
    pub post: u64,
    pub partner: u64,
    /// What a receive got.
    pub payload: i32,
    pub key: Key,
    /// Of a send, whether it may wait for its receive though it is buffered.
    pub may_wait: bool,
    /// Of a receive by channel: where, what it wants, and its channel.
    pub mailbox: u32,
    pub want: Key,
    pub claim: Option<i32>,
}

impl Slot {
    pub const FREE: Slot = Slot {
        usage: Use::Free,
        buffered: false,
        post: 0,
        partner: 0,
        payload: NONE,
        key: [0, 0],
        may_wait: false,
        mailbox: 0,
        want: [0, 0],
        claim: None,
    };

    /// What is held of a post that has met nobody.
    pub fn of(post: &Post) -> Slot {
        let usage = if post.send { Use::Send } else { Use::Recv };
        Slot {
            usage,
            buffered: post.buffered,
            post: post.post,
            may_wait: post.may_wait,
            mailbox: post.mailbox,
            want: post.key,
            claim: post.claim,
            ..Slot::FREE
        }
    }

    pub fn complete(&self) -> bool {
        self.partner != 0 || self.buffered
    }
}

/// A send or a receive that nothing has met.
#[derive(Clone, Copy, Debug)]
pub struct Post {
    pub mailbox: u32,
    pub send: bool,
    pub buffered: bool,
    pub owner: u32,
    pub slot: u32,
    pub post: u64,
    pub payload: i32,
    /// A send's key, a receive's want.
    pub key: Key,
    /// At a mailbox of channels: that of a send, or the one a receive is to take from.
    pub claim: Option<i32>,
    pub may_wait: bool,
    /// A send that a probe has found.
    pub seen: bool,
}

impl Post {
    /// Posts of one kind at one mailbox are in the order of posting, messages of each channel by
    /// themselves: who sent first to others does not tell states apart.
    fn order(&self) -> (u32, bool, i32) {
        let channel = if self.send { self.claim } else { None };
        (self.mailbox, self.send, channel.unwrap_or(0))
    }
}

#[derive(Default)]
pub struct State {
    pub members: Vec<Member>,
    /// `stride` for each member.
    pub slots: Vec<Slot>,
    pub stride: usize,
    pub posts: Vec<Post>,
    /// Sorted: process, key, value.
    pub published: Vec<(u32, i32, i32)>,
    /// Of mailboxes of channels. What is there follows from what each process did.
    pub records: Records,
    /// The process that the last step created. Not part of what tells states apart.
    pub born: Option<u32>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            members: self.members.clone(),
            slots: self.slots.clone(),
            stride: self.stride,
            posts: self.posts.clone(),
            published: self.published.clone(),
            records: self.records.clone(),
            born: self.born,
        }
    }

    fn clone_from(&mut self, from: &Self) {
        self.members.clone_from(&from.members);
        self.slots.clone_from(&from.slots);
        self.stride = from.stride;
        self.posts.clone_from(&from.posts);
        self.published.clone_from(&from.published);
        self.records.clone_from(&from.records);
        self.born = from.born;
    }
}

impl State {
    /// Of a state in which nothing is enabled: whether nobody failed, and nobody waits in vain.
    pub fn ended_well(&self) -> bool {
        let well = |member: &Member| member.status != Status::Failed && !member.stuck();
        self.members.iter().all(well)
    }

    pub fn member(&self, process: u32) -> Member {
        let member = self.members.get(process as usize);
        member.copied().unwrap_or(Member::ABSENT)
    }

    /// Make room for `process`.
    pub fn admit(&mut self, process: u32) -> &mut Member {
        let process = process as usize;
        if self.members.len() <= process {
            self.members.resize(process + 1, Member::ABSENT);
            let slots = self.members.len() * self.stride;
            self.slots.resize(slots, Slot::FREE);
        }
        &mut self.members[process]
    }

    pub fn slots_of(&self, process: u32) -> &[Slot] {
        let from = process as usize * self.stride;
        &self.slots[from..from + self.stride]
    }

    pub fn slot(&self, process: u32, slot: u32) -> Option<&Slot> {
        let slot = self.slots_of(process).get(slot as usize);
        slot.filter(|slot| slot.usage != Use::Free)
    }

    pub fn slot_mut(&mut self, process: u32, slot: u32) -> &mut Slot {
        &mut self.slots[process as usize * self.stride + slot as usize]
    }

    /// The smallest free slot of a process.
    pub fn free_slot(&mut self, process: u32) -> u32 {
        let free = |slot: &Slot| slot.usage == Use::Free;
        if let Some(at) = self.slots_of(process).iter().position(free) {
            return at as u32;
        }
        let stride = self.stride.max(1) * 2;
        let mut slots = vec![Slot::FREE; self.members.len() * stride];
        for (at, &slot) in self.slots.iter().enumerate() {
            slots[at / self.stride * stride + at % self.stride] = slot;
        }
        let found = self.stride as u32;
        (self.slots, self.stride) = (slots, stride);
        found
    }

    /// Queue a post behind those of its kind.
    pub fn queue(&mut self, post: Post) {
        let order = post.order();
        let at = self.posts.partition_point(|queued| queued.order() <= order);
        self.posts.insert(at, post);
    }

    /// The pending post in this slot.
    pub fn pending(&self, owner: u32, slot: u32) -> Option<usize> {
        let here = |post: &Post| post.owner == owner && post.slot == slot;
        self.posts.iter().position(here)
    }

    /// Forget what a process holds: it has ended, or waits for nothing more.
    pub fn release(&mut self, process: u32, withdraw: bool) {
        let from = process as usize * self.stride;
        self.slots[from..from + self.stride].fill(Slot::FREE);
        if withdraw {
            let stays =
                |post: &Post| post.owner != process || post.slot == DETACHED || post.buffered;
            self.posts.retain(stays);
        }
        for post in &mut self.posts {
            if post.owner == process {
                post.slot = DETACHED;
            }
        }
    }

    /// 64 bits that name the state. What tells equal states of different executions apart, the
    /// numbers of posts and the owners of what nobody waits for, does not go in.
    pub fn fingerprint(&self) -> u64 {
        let mut sum = 0x243f_6a88_85a3_08d3u64;
        let mut feed = |word: u64| sum = scramble(sum.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ word);
        for (at, member) in self.members.iter().enumerate() {
            if member.status == Status::Absent {
                continue;
            }
            feed(at as u64 | (member.status as u64) << 32 | (member.spins as u64) << 40);
            feed(member.local as u64);
            for (at, slot) in self.slots_of(at as u32).iter().enumerate() {
                if slot.usage != Use::Free {
                    let met = (slot.partner != 0) as u64;
                    let kind = slot.usage as u64 | met << 2 | (slot.buffered as u64) << 3;
                    feed(at as u64 | kind << 32 | 1 << 40);
                    feed(words(slot.payload, 0));
                    feed(words(slot.key[0], slot.key[1]));
                }
            }
        }
        for post in &self.posts {
            let kind = post.send as u64 | (post.buffered as u64) << 1;
            feed(post.mailbox as u64 | kind << 32 | 2 << 40);
            feed(words(post.key[0], post.key[1]));
            feed(words(post.payload, 0));
            if let Some(claim) = post.claim {
                feed(words(claim, post.may_wait as i32 | (post.seen as i32) << 1));
            }
            if post.slot != DETACHED {
                feed(post.owner as u64 | (post.slot as u64) << 32);
            }
        }
        for &(process, key, value) in &self.published {
            feed(process as u64 | 3 << 40);
            feed(words(key, value));
        }
        nonzero(sum)
    }
}

fn words(low: i32, high: i32) -> u64 {
    low as u32 as u64 | (high as u32 as u64) << 32
}
