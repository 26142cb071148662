//! A write-once register on single-decree Paxos, after Lamport, "Paxos Made Simple".
//!
//! A server that is asked to write leads a ballot of its own. What it would send to itself it
//! does at once. Only a server that knows the decision answers reads.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out, majority, model_peers};

use crate::register::Wire;

/// Round and leader: every ballot has one leader, and ballots are totally ordered.
type Ballot = (u32, Id);

/// A client's write: request, client, value.
type Write = (u64, Id, char);

type Vote = (Ballot, Write);

#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Talk {
    Ask(Ballot),
    Promise(Ballot, Option<Vote>),
    Propose(Ballot, Write),
    Agree(Ballot),
    Decide(Ballot, Write),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Memory {
    ballot: Ballot,
    vote: Option<Vote>,
    decided: bool,
    write: Option<Write>, // what this server wants, or has to, get decided
    promises: BTreeMap<Id, Option<Vote>>,
    agreed: BTreeSet<Id>,
}

pub struct Server {
    peers: Vec<Id>,
}

pub fn servers(count: usize) -> Vec<Server> {
    (0..count)
        .map(|index| Server {
            peers: model_peers(index, count),
        })
        .collect()
}

impl Server {
    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    fn tell_all(&self, out: &mut Out<Self>, talk: Talk) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(talk));
    }

    fn lead(&self, me: Id, memory: &mut Memory, write: Write, out: &mut Out<Self>) {
        memory.write = Some(write);
        memory.ballot = (memory.ballot.0 + 1, me);
        memory.promises = BTreeMap::from([(me, memory.vote)]);
        memory.agreed = BTreeSet::new();
        self.tell_all(out, Talk::Ask(memory.ballot));
    }

    fn promised(&self, me: Id, memory: &mut Memory, from: Id, vote: Option<Vote>) -> Option<Write> {
        memory.promises.insert(from, vote);
        if memory.promises.len() != self.quorum() {
            return None;
        }
        // A write that may already be decided is the one with the highest ballot of the quorum.
        let inherited = memory.promises.values().max().copied().flatten();
        let write = inherited.map(|(_, write)| write).or(memory.write)?;
        memory.write = Some(write);
        memory.vote = Some((memory.ballot, write));
        memory.agreed.insert(me);
        Some(write)
    }

    fn undecided(
        &self,
        me: Id,
        memory: &mut Cow<Memory>,
        source: Id,
        message: Wire<Talk>,
        out: &mut Out<Self>,
    ) {
        match message {
            RegisterMsg::Put(request, value) if memory.write.is_none() => {
                self.lead(me, memory.to_mut(), (request, source, value), out);
            }
            RegisterMsg::Internal(Talk::Ask(ballot)) if ballot > memory.ballot => {
                memory.to_mut().ballot = ballot;
                out.send(
                    source,
                    RegisterMsg::Internal(Talk::Promise(ballot, memory.vote)),
                );
            }
            RegisterMsg::Internal(Talk::Promise(ballot, vote)) if ballot == memory.ballot => {
                if let Some(write) = self.promised(me, memory.to_mut(), source, vote) {
                    self.tell_all(out, Talk::Propose(ballot, write));
                }
            }
            RegisterMsg::Internal(Talk::Propose(ballot, write)) if ballot >= memory.ballot => {
                let memory = memory.to_mut();
                memory.ballot = ballot;
                memory.vote = Some((ballot, write));
                out.send(source, RegisterMsg::Internal(Talk::Agree(ballot)));
            }
            RegisterMsg::Internal(Talk::Agree(ballot)) if ballot == memory.ballot => {
                let memory = memory.to_mut();
                memory.agreed.insert(source);
                if let (true, Some(write)) = (memory.agreed.len() == self.quorum(), memory.write) {
                    memory.decided = true;
                    self.tell_all(out, Talk::Decide(ballot, write));
                    out.send(write.1, RegisterMsg::PutOk(write.0));
                }
            }
            RegisterMsg::Internal(Talk::Decide(ballot, write)) => {
                let memory = memory.to_mut();
                memory.ballot = ballot;
                memory.vote = Some((ballot, write));
                memory.decided = true;
            }
            _ => {}
        }
    }
}

impl Actor for Server {
    type Msg = Wire<Talk>;
    type State = Memory;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> Memory {
        Memory {
            ballot: (0, Id::from(0)),
            vote: None,
            decided: false,
            write: None,
            promises: BTreeMap::new(),
            agreed: BTreeSet::new(),
        }
    }

    fn on_msg(
        &self,
        me: Id,
        memory: &mut Cow<Memory>,
        source: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match (memory.decided, memory.vote) {
            (true, Some((_, (_, _, value)))) => {
                if let RegisterMsg::Get(request) = message {
                    out.send(source, RegisterMsg::GetOk(request, value));
                }
            }
            _ => self.undecided(me, memory, source, message, out),
        }
    }
}
