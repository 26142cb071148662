//! Queues of messages: each distinct one is a small integer, and none is ever copied.
//!
//! Messages stand on a tree: a node is a message behind those of the node before it. A queue is the
//! last few messages on the way to a node, so one that is longer or shorter by a message shares all
//! others with it. Queues are found by digest and length, then compared message by message.
//!
//! Invariant: equal queues have equal ids, and unequal ones do not, whatever their digests are.

use rustc_hash::FxHashMap;

use crate::services::ids::{EnvelopeId, QueueId};
use crate::services::tables::Tables;
use crate::table::flat::pair;
use crate::table::rolling::Rolling;

/// A message behind others.
#[derive(Clone, Copy)]
pub struct Node {
    before: u32,
    /// A node further back, so that any number of steps back is a few jumps.
    jump: u32,
    /// How many messages there are up to here.
    depth: u32,
    message: EnvelopeId,
}

#[derive(Clone, Copy)]
pub struct QueueInfo {
    rolling: Rolling,
    /// What it adds to a fingerprint as a channel of the network.
    pub mix: u64,
    /// The same without its head.
    pub rest: u64,
    last: u32,
    pub head: EnvelopeId,
}

impl QueueInfo {
    #[inline(always)]
    pub fn rolling(&self) -> Rolling {
        self.rolling
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.rolling.len
    }

    /// The node of its last message.
    pub fn last(&self) -> u32 {
        self.last
    }
}

/// The messages of a queue, the newest first.
pub fn newest_first(nodes: &[Node], queue: QueueInfo) -> impl Iterator<Item = EnvelopeId> {
    let mut at = queue.last;
    (0..queue.len()).map(move |_| {
        let node = nodes[at as usize];
        at = node.before;
        node.message
    })
}

type Key = (u64, u32, u32);

pub struct Queues {
    /// From index 1; 0 is what stands before all messages.
    nodes: Vec<Node>,
    /// (node, message) to the node of the message behind it.
    behind: FxHashMap<u64, u32>,
    /// From index 1; 0 is the empty one.
    infos: Vec<QueueInfo>,
    /// (digest, length, number) to the queue; those alike are numbered.
    ids: FxHashMap<Key, QueueId>,
}

impl Default for Queues {
    fn default() -> Self {
        let nothing = EnvelopeId::of(0);
        let root = Node {
            before: 0,
            jump: 0,
            depth: 0,
            message: nothing,
        };
        let empty = QueueInfo {
            rolling: Rolling::default(),
            mix: 0,
            rest: 0,
            last: 0,
            head: nothing,
        };
        Queues {
            nodes: vec![root],
            behind: FxHashMap::default(),
            infos: vec![empty],
            ids: FxHashMap::default(),
        }
    }
}

impl Queues {
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn infos(&self) -> &[QueueInfo] {
        &self.infos
    }

    pub fn get(&self, queue: QueueId) -> QueueInfo {
        self.infos[queue.index()]
    }

    /// What each node holds, and which stands before it, in the order of their numbers.
    pub fn tree(&self) -> impl ExactSizeIterator<Item = (u32, EnvelopeId)> {
        self.nodes[1..]
            .iter()
            .map(|node| (node.before, node.message))
    }

    /// The node of `message` behind `before`.
    pub fn node(&mut self, before: u32, message: EnvelopeId) -> u32 {
        let nodes = &mut self.nodes;
        let key = pair(before, message.number());
        *self.behind.entry(key).or_insert_with(|| {
            let depth = |node: u32| nodes[node as usize].depth;
            let jump = nodes[before as usize].jump;
            let further = nodes[jump as usize].jump;
            // As in a skew binary number: two jumps of the same length become one.
            let even = depth(before) - depth(jump) == depth(jump) - depth(further);
            let node = Node {
                before,
                jump: if even { further } else { before },
                depth: depth(before) + 1,
                message,
            };
            nodes.push(node);
            (nodes.len() - 1) as u32
        })
    }

    /// The node on the way to `at` that has this depth.
    fn at_depth(&self, mut at: u32, depth: u32) -> Node {
        loop {
            let node = self.nodes[at as usize];
            if node.depth == depth {
                return node;
            }
            let jump = self.nodes[node.jump as usize];
            at = match jump.depth >= depth {
                true => node.jump,
                false => node.before,
            };
        }
    }

    /// Whether the last `len` messages on the ways to two nodes are the same.
    fn alike(&self, mut one: u32, mut other: u32, len: u32) -> bool {
        for _ in 0..len {
            if one == other {
                return true;
            }
            let (a, b) = (self.nodes[one as usize], self.nodes[other as usize]);
            if a.message != b.message {
                return false;
            }
            (one, other) = (a.before, b.before);
        }
        true
    }

    /// The queue with this digest whose last node `is` right, or the key of a new one.
    fn find(&self, rolling: Rolling, is: impl Fn(&Self, u32) -> bool) -> Result<QueueId, Key> {
        if rolling.len == 0 {
            return Ok(QueueId::EMPTY);
        }
        let mut key = (rolling.sum, rolling.len, 0);
        while let Some(&id) = self.ids.get(&key) {
            if is(self, self.get(id).last) {
                return Ok(id);
            }
            key.2 += 1;
        }
        Err(key)
    }

    /// The queue of the last messages on the way to `last`, of which this is the digest; and
    /// whether it is new.
    fn intern(&mut self, last: u32, rolling: Rolling) -> (QueueId, bool) {
        let key = match self.find(rolling, |it, known| it.alike(known, last, rolling.len)) {
            Ok(id) => return (id, false),
            Err(key) => key,
        };
        let first = self.nodes[last as usize].depth + 1 - rolling.len;
        let id = QueueId::of(self.infos.len() as u32);
        self.infos.push(QueueInfo {
            rolling,
            mix: rolling.share(),
            rest: 0, // not known here: see `intern_queue`
            last,
            head: self.at_depth(last, first).message,
        });
        self.ids.insert(key, id);
        (id, true)
    }
}

impl Tables {
    fn digest(&self, message: EnvelopeId) -> u64 {
        self.envelopes[message.index()].mix
    }

    fn intern_queue(&mut self, last: u32, rolling: Rolling) -> QueueId {
        let (id, new) = self.queues.intern(last, rolling);
        if new && rolling.len > 0 {
            let info = &mut self.queues.infos[id.index()];
            let message = self.envelopes[info.head.index()];
            if rolling.len > 1 {
                info.rest = rolling.popped(message.mix).share();
            } else if message.alone {
                info.mix = message.mix;
            }
        }
        id
    }

    /// The queue that holds these messages, oldest first.
    pub fn queue(&mut self, messages: &[EnvelopeId]) -> QueueId {
        let last = messages
            .iter()
            .fold(0, |last, &message| self.queues.node(last, message));
        self.queue_at(last, messages.len() as u32)
            .expect("the tree has all of them")
    }

    /// The queue of the last `len` messages on the way to a node; none if there are fewer.
    pub fn queue_at(&mut self, last: u32, len: u32) -> Option<QueueId> {
        if self.queues.nodes[last as usize].depth < len {
            return None;
        }
        let whole = QueueInfo {
            rolling: Rolling { sum: 0, len },
            last,
            ..self.queues.infos[0]
        };
        let mut messages: Vec<_> = newest_first(&self.queues.nodes, whole).collect();
        messages.reverse();
        let digests = messages.iter().map(|&message| self.digest(message));
        let rolling = digests.collect();
        Some(self.intern_queue(last, rolling))
    }

    /// The messages of a queue, oldest first.
    pub fn queued(&self, queue: QueueId) -> Vec<EnvelopeId> {
        let newest = newest_first(&self.queues.nodes, self.queues.get(queue));
        let mut messages: Vec<_> = newest.collect();
        messages.reverse();
        messages
    }

    /// The queue with `message` at its end.
    pub fn pushed(&mut self, queue: QueueId, message: EnvelopeId) -> QueueId {
        let info = self.queues.get(queue);
        let rolling = info.rolling.pushed(self.digest(message));
        let known = self.queues.find(rolling, |queues, last| {
            let last = queues.nodes[last as usize];
            last.message == message && queues.alike(last.before, info.last, info.len())
        });
        known.unwrap_or_else(|_| {
            let last = self.queues.node(info.last, message);
            self.intern_queue(last, rolling)
        })
    }

    /// The queue without its head.
    pub fn popped(&mut self, queue: QueueId) -> QueueId {
        let info = self.queues.get(queue);
        self.intern_queue(info.last, info.rolling.popped(self.digest(info.head)))
    }

    /// The queue whose head stands there twice.
    pub fn doubled(&mut self, queue: QueueId) -> QueueId {
        let mut messages = self.queued(queue);
        messages.insert(0, messages[0]);
        self.queue(&messages)
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::{Queues, newest_first};
    use crate::services::ids::{EnvelopeId, QueueId};
    use crate::table::fingerprint::scramble;
    use crate::table::rolling::Rolling;

    /// What messages do, step by step, with digests of so many bits.
    fn compare(bits: u32, messages: u64) {
        let (mut queues, mut known) = (Queues::default(), FxHashMap::default());
        let (mut id, mut held) = (QueueId::EMPTY, Vec::<EnvelopeId>::new());
        for step in 0..3_000u64 {
            let chance = scramble(step ^ messages << 32);
            let last = queues.get(id).last;
            let last = match chance % 16 {
                0 => {
                    held.insert(0, EnvelopeId::of((chance >> 32) as u32 % messages as u32));
                    held.iter().fold(0, |last, &held| queues.node(last, held))
                }
                1..8 => {
                    held.push(EnvelopeId::of((chance >> 32) as u32 % messages as u32));
                    queues.node(last, held[held.len() - 1])
                }
                _ if held.is_empty() => continue,
                _ => {
                    held.remove(0);
                    last
                }
            };
            let digests = held.iter().map(|held| scramble(u64::from(*held)));
            let mut rolling: Rolling = digests.collect();
            rolling.sum &= (1 << bits) - 1;
            id = queues.intern(last, rolling).0;
            assert_eq!(*known.entry(held.clone()).or_insert(id), id);
            let info = queues.get(id);
            let mut found: Vec<_> = newest_first(queues.nodes(), info).collect();
            found.reverse();
            assert_eq!(found, held);
            assert_eq!(!held.is_empty(), id != QueueId::EMPTY);
            assert!(held.first().is_none_or(|&head| head == info.head));
        }
        assert_eq!(queues.infos().len(), known.len());
    }

    #[test]
    fn equal_queues_are_one_and_others_are_not() {
        for messages in [1, 2, 5, 1000] {
            compare(63, messages);
        }
    }

    #[test]
    fn queues_whose_digests_collide_are_told_apart() {
        compare(0, 2);
        compare(2, 3);
    }
}
