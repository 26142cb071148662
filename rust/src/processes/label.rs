//! What a step did, as far as others can tell, and which steps depend on each other.
//!
//! The rules, for steps of different processes:
//!
//! | | depends on |
//! |---|---|
//! | Send | Sends to the mailbox, if some receive or probe there may take either |
//! | Recv | Recvs at the mailbox whose wants overlap |
//! | Wait, Test | posts that complete any of their members, the one returned or not |
//! | Probe | Sends that fit, and Recvs whose wants overlap |
//! | Cancel | the post that completed its own first; if it was in time, posts it could have met |
//! | Post, at a mailbox of channels | waits for what it completes: see `channels.rs` |
//! | Create, Join | all that the child, or the one waited for, does |
//! | Publish | Publish: properties see all that is published at once |
//! | Kill | everything |
//! | Choose, Sleep, and the last step of the killed | nothing but the above |
//!
//! A Send and a Recv are independent: which came first at a mailbox changes neither who meets whom
//! nor what anybody sees. But their labels do change, as the second to come is the one that knows
//! its partner: see `stale`.

use super::memo::Memo;
use super::op::{Key, fits, overlap};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Send,
    Recv,
    /// Either, at a mailbox of channels.
    Post,
    /// Also tests, and probes of channels.
    Wait,
    Probe,
    /// Of a send, or of a receive, in time.
    CancelSend,
    CancelRecv,
    /// Came too late, and changed nothing.
    CancelLate,
    Create,
    Join,
    Kill,
    Publish,
    /// What nobody else notices.
    Own,
}

/// A post and the one it met; 0: none.
pub type Link = (u64, u64);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub process: u32,
    pub kind: Kind,
    /// Of posts, probes and cancels.
    pub mailbox: u32,
    pub key: Key,
    /// The child of a Create, the one a Join waits for.
    pub target: u32,
    pub link: Link,
    /// Further members of a wait.
    pub more: Option<Box<[Link]>>,
    /// A wait for this member alone.
    pub only: bool,
}

impl Label {
    pub fn of(process: u32, kind: Kind) -> Self {
        Label {
            process,
            kind,
            mailbox: 0,
            key: [0, 0],
            target: u32::MAX,
            link: (0, 0),
            more: None,
            only: false,
        }
    }

    /// Whether a post completed, or completes, one of this step's members.
    fn met_by(&self, post: &Label) -> bool {
        let (own, partner) = post.link;
        let met = |&(member, by): &Link| member != 0 && (member == partner || by == own);
        let more = || self.more.iter().flatten().any(met);
        met(&self.link) || more()
    }
}

/// Per kind, the kinds that it may depend on at all, as bits: most pairs need no further look.
const PEERS: [u32; Kind::Own as usize + 1] = {
    const fn bits(kinds: &[Kind]) -> u32 {
        let (mut bits, mut at) = (0, 0);
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u32;
            at += 1;
        }
        bits
    }
    use Kind::*;
    let always = bits(&[Kill, Create, Join]);
    let mut peers = [always; Own as usize + 1];
    peers[Send as usize] |= bits(&[Send, Wait, Probe, CancelRecv, CancelLate]);
    peers[Recv as usize] |= bits(&[Recv, Wait, Probe, CancelSend, CancelLate]);
    peers[Post as usize] |= bits(&[Wait]);
    peers[Wait as usize] |= bits(&[Send, Recv, Post]);
    peers[Probe as usize] |= bits(&[Send, Recv, CancelSend]);
    peers[CancelSend as usize] |= bits(&[Recv, Probe]);
    peers[CancelRecv as usize] |= bits(&[Send]);
    peers[CancelLate as usize] |= bits(&[Send, Recv]);
    peers[Publish as usize] |= bits(&[Publish]);
    peers[Create as usize] = u32::MAX;
    peers[Join as usize] = u32::MAX;
    peers[Kill as usize] = u32::MAX;
    peers
};

/// Most pairs end at the first look, which is why only that is inlined.
#[inline(always)]
pub fn dependent(memo: &Memo, one: &Label, other: &Label) -> bool {
    let may = PEERS[one.kind as usize] >> other.kind as u32 & 1 == 1;
    one.process == other.process || may && either_way(memo, one, other)
}

#[inline(never)]
fn either_way(memo: &Memo, one: &Label, other: &Label) -> bool {
    one_way(memo, one, other) || one_way(memo, other, one)
}

/// The rules of the table, each written once.
#[inline(always)]
fn one_way(memo: &Memo, one: &Label, other: &Label) -> bool {
    let here = one.mailbox == other.mailbox;
    match (one.kind, other.kind) {
        (Kind::Kill, _) | (Kind::Publish, Kind::Publish) => true,
        (Kind::Send, Kind::Send) => here && memo.joins(one.mailbox, one.key, other.key),
        (Kind::Recv, Kind::Recv) => here && overlap(one.key, other.key),
        (Kind::Wait | Kind::CancelLate, Kind::Send | Kind::Recv) => one.met_by(other),
        (Kind::Wait, Kind::Post) => one.met_by(other),
        (Kind::Probe, Kind::Send | Kind::CancelSend) => here && fits(one.key, other.key),
        (Kind::Probe, Kind::Recv) => here && overlap(one.key, other.key),
        (Kind::CancelSend, Kind::Recv) => here && fits(other.key, one.key),
        (Kind::CancelRecv, Kind::Send) => here && fits(one.key, other.key),
        (Kind::Create, Kind::Join) => one.target == other.target || one.target == other.process,
        (Kind::Create | Kind::Join, _) => one.target == other.process,
        _ => false,
    }
}

/// Whether `first`, a race with `later`, is what that one had to wait for.
#[inline]
pub fn enables(first: &Label, later: &Label) -> bool {
    match later.kind {
        Kind::Wait => later.only && first.kind != Kind::Kill,
        Kind::Join => first.process == later.target && first.kind != Kind::Kill,
        _ => first.kind == Kind::Create && first.target == later.process,
    }
}

/// Whether `label` is another once `ran`, which is independent, has run: the one that comes second
/// knows its partner. Where either has met somebody already, the other changes nothing for it.
#[inline]
pub fn stale(ran: &Label, label: &Label) -> bool {
    let apart = ran.link.1 == 0 && label.link.1 == 0 && ran.mailbox == label.mailbox;
    apart
        && match (ran.kind, label.kind) {
            (Kind::Send, Kind::Recv) => fits(label.key, ran.key),
            (Kind::Recv, Kind::Send) => fits(ran.key, label.key),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Label, PEERS, stale};

    #[test]
    fn kinds_that_may_depend_do_so_both_ways() {
        for (one, bits) in PEERS.iter().enumerate() {
            for (other, its) in PEERS.iter().enumerate() {
                assert_eq!(bits >> other & 1, its >> one & 1, "{one} and {other}");
            }
        }
        assert_eq!(PEERS[Kind::Send as usize] >> Kind::Recv as u32 & 1, 0);
    }

    #[test]
    fn a_post_is_another_only_after_one_that_it_would_meet() {
        let post = |process, kind, mailbox, partner| Label {
            mailbox,
            key: [0, 7],
            link: (u64::from(process) + 1, partner),
            ..Label::of(process, kind)
        };
        let send = post(0, Kind::Send, 3, 0);
        let cases = [
            (post(1, Kind::Recv, 3, 0), true),
            (post(1, Kind::Recv, 4, 0), false), // another mailbox
            (post(1, Kind::Recv, 3, 9), false), // it has met somebody else
            (post(1, Kind::Send, 3, 0), false),
        ];
        for (other, expected) in cases {
            assert_eq!(stale(&send, &other), expected, "{other:?}");
            assert_eq!(stale(&other, &send), expected, "{other:?}");
        }
        let wants_another_tag = Label {
            key: [0, 8],
            ..post(1, Kind::Recv, 3, 0)
        };
        assert!(!stale(&send, &wants_another_tag));
        assert!(!stale(&wants_another_tag, &send));
    }
}
