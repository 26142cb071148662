//! A state of an execution, and where its processes and messages are found.

use crate::python::tables::{CRASH, DROP, DUPLICATE};
use crate::search::EventId;
use crate::services::ids::{EnvelopeId, LocalId, QueueId};
use crate::services::layout::{Budget, Layout, Network};
use crate::services::mirror::Mirror;
use crate::services::streams::connection::Link;

/// Keys of queues of streams begin here, above those of messages and channels.
const STREAMS: u32 = 1 << 31;

pub struct State {
    pub words: Vec<u32>,
    pub sum: u64,
    /// Per message or channel that was taken from: how often. Sorted.
    taken: Vec<(u32, u32)>,
    /// The process that stepped here, and the events that were its step.
    pub by: u32,
    pub last: Option<EventId>,
    pub lost: Vec<EventId>,
    /// Room for the words of the next state.
    pub spare: Vec<u32>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            words: self.words.clone(),
            sum: self.sum,
            taken: self.taken.clone(),
            by: self.by,
            last: self.last,
            lost: self.lost.clone(),
            spare: Vec::new(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
        self.taken.clone_from(&other.taken);
        self.lost.clone_from(&other.lost);
        (self.sum, self.by, self.last) = (other.sum, other.by, other.last);
    }
}

impl State {
    pub fn new(words: Vec<u32>, sum: u64) -> Self {
        State {
            words,
            sum,
            taken: Vec::new(),
            by: u32::MAX,
            last: None,
            lost: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub fn taken(&self, key: u32) -> u32 {
        let found = self.taken.binary_search_by_key(&key, |(known, _)| *known);
        found.map_or(0, |at| self.taken[at].1)
    }

    pub fn local(&self, node: u32) -> LocalId {
        LocalId::of(self.words[node as usize])
    }

    /// Count that one was taken.
    pub fn take(&mut self, key: u32) {
        match self.taken.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(at) => self.taken[at].1 += 1,
            Err(at) => self.taken.insert(at, (key, 1)),
        }
    }
}

/// What a process has to do with a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// The second node receives what the first has sent.
    Receive(u32, u32),
    /// The first node hears that its connection to the second is gone.
    News(u32, u32),
    /// A fault of the connection in this place.
    Fault(u32),
}

/// What of the layout matters here. Processes: the nodes, the faults of each node, those of
/// connections, then messages or channels.
pub struct Terrain {
    pub nodes: u32,
    pub fixed: usize,
    pub network: Network,
    /// Faults of nodes that there may be.
    pub faults: Vec<usize>,
    /// The first word of the connections, if there are any.
    pub streams: Option<usize>,
    /// The processes before messages and channels.
    base: u32,
}

impl Terrain {
    pub fn new(layout: &Layout) -> Self {
        let of_nodes = |fault: &usize| *fault != DROP && *fault != DUPLICATE;
        let may = |fault: &usize| layout.budgets[*fault] != Budget::Off;
        let faults = CRASH..layout.budgets.len();
        let nodes = layout.nodes as u32;
        let wires = layout.streams.map_or(0, |_| 2 * nodes * nodes);
        let links = (layout.fixed - layout.streams.unwrap_or(layout.fixed)) as u32;
        Terrain {
            nodes,
            fixed: layout.fixed,
            network: layout.network,
            faults: faults.filter(of_nodes).filter(may).collect(),
            streams: layout.streams,
            base: 2 * nodes + wires + links,
        }
    }

    /// The message or channel that a process is; `None` for those of nodes and connections.
    pub fn key(&self, process: u32) -> Option<u32> {
        process.checked_sub(self.base)
    }

    pub fn process_of(&self, key: u32) -> u32 {
        self.base + key
    }

    /// What a process has to do with a connection, if anything.
    pub fn wire(&self, process: u32) -> Option<Wire> {
        let number = process.checked_sub(2 * self.nodes)?;
        let (pairs, pair) = (self.nodes * self.nodes, number % (self.nodes * self.nodes));
        let (one, other) = (pair / self.nodes, pair % self.nodes);
        match number / pairs {
            _ if process >= self.base => None,
            0 => Some(Wire::Receive(one, other)),
            1 => Some(Wire::News(one, other)),
            _ => Some(Wire::Fault(number - 2 * pairs)),
        }
    }

    pub fn process_of_wire(&self, wire: Wire) -> u32 {
        let pairs = self.nodes * self.nodes;
        2 * self.nodes
            + match wire {
                Wire::Receive(source, to) => source * self.nodes + to,
                Wire::News(node, peer) => pairs + node * self.nodes + peer,
                Wire::Fault(slot) => 2 * pairs + slot,
            }
    }

    /// Whether the steps of a process are faults.
    pub fn is_fault(&self, process: u32) -> bool {
        let of_link = matches!(self.wire(process), Some(Wire::Fault(_)));
        of_link || self.stricken(process).is_some()
    }

    /// The queue of a stream, among messages and channels.
    pub fn key_of_queue(&self, source: u32, to: u32) -> u32 {
        STREAMS | (source * self.nodes + to)
    }

    /// The sender and the receiver of what is in a queue of a stream.
    pub fn queue(&self, key: u32) -> Option<(u32, u32)> {
        let pair = key.checked_sub(STREAMS).filter(|_| key != u32::MAX)?;
        Some((pair / self.nodes, pair % self.nodes))
    }

    /// The connection of two nodes; `None` if they have never spoken.
    pub fn link<'m>(
        &self,
        mirror: &'m Mirror,
        words: &[u32],
        ends: (u32, u32),
    ) -> Option<&'m Link> {
        let word = words[self.streams? + Layout::slot(ends.0, ends.1)];
        (word != 0).then(|| &mirror.links[word as usize].link)
    }

    /// The node whose faults a process is.
    pub fn stricken(&self, process: u32) -> Option<u32> {
        let node = process.checked_sub(self.nodes);
        node.filter(|node| *node < self.nodes)
    }

    pub fn faults_of(&self, node: u32) -> u32 {
        self.nodes + node
    }

    /// The message that a word of the network delivers next.
    pub fn envelope(&self, mirror: &Mirror, word: u32) -> EnvelopeId {
        match self.network.is_queued() {
            true => mirror.queues[word as usize].head,
            false => EnvelopeId::of(word),
        }
    }

    pub fn key_of(&self, mirror: &Mirror, word: u32) -> u32 {
        self.key_of_envelope(mirror, self.envelope(mirror, word))
    }

    pub fn key_of_envelope(&self, mirror: &Mirror, envelope: EnvelopeId) -> u32 {
        match self.network {
            Network::Ordered => {
                let info = mirror.envelopes[envelope.index()];
                info.source * self.nodes + info.to
            }
            Network::Lanes => mirror.lanes[envelope.index()].channel.number(),
            Network::Unordered | Network::Duplicating => envelope.number(),
        }
    }

    /// Who gets this message, or what is in this channel.
    pub fn receiver(&self, mirror: &Mirror, key: u32) -> u32 {
        match self.network {
            Network::Ordered => key % self.nodes,
            // A lane is called after one of its messages.
            _ => mirror.envelopes[key as usize].to,
        }
    }

    /// Whether this is a message of which any copy may be next; else it is a channel.
    pub fn is_message(&self, mirror: &Mirror, key: u32) -> bool {
        match self.network {
            Network::Ordered => false,
            Network::Lanes => mirror.lanes[key as usize].name.is_none(),
            Network::Unordered | Network::Duplicating => true,
        }
    }

    /// Where the network of a state has this message or channel.
    pub fn find(&self, mirror: &Mirror, words: &[u32], key: u32) -> Option<usize> {
        let here = |&at: &usize| self.key_of(mirror, words[at]) == key;
        (self.fixed..words.len()).find(here)
    }

    /// How many copies were sent up to now, or messages through the channel. Where messages stay,
    /// only the first copy counts: it is what deliveries need.
    pub fn sent(&self, mirror: &Mirror, state: &State, key: u32) -> u32 {
        if let Some((source, to)) = self.queue(key) {
            let link = self.link(mirror, &state.words, (source, to));
            let queue = link.map_or(QueueId::EMPTY, |link| link.queues[link.end(source)]);
            return state.taken(key) + mirror.queues[queue.index()].len();
        }
        let network = state.words[self.fixed..].iter();
        let here = network.filter(|&&word| self.key_of(mirror, word) == key);
        let flying: u32 = match self.network.is_queued() {
            true => here.map(|&word| mirror.queues[word as usize].len()).sum(),
            false => here.count() as u32,
        };
        match self.network {
            Network::Duplicating => flying,
            _ => state.taken(key) + flying,
        }
    }

    /// What is still on its way to `node` in `last`, or was taken since `before`.
    pub fn due<'s>(
        &'s self,
        mirror: &'s Mirror,
        before: &'s State,
        last: &'s State,
        node: u32,
    ) -> impl Iterator<Item = u32> + 's {
        let to = move |key: u32| self.receiver(mirror, key);
        let taken = last.taken.iter();
        let taken = taken.filter(|(key, times)| *key < STREAMS && *times > before.taken(*key));
        let flying = last.words[self.fixed..].iter();
        let flying = flying.map(move |&word| self.key_of(mirror, word));
        let all = taken.map(|(key, _)| *key).chain(flying);
        all.filter(move |&key| to(key) == node)
    }
}
