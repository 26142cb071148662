//! A shared register on replicas, after Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in
//! Message-Passing Systems".
//!
//! The server that a client asks works in two rounds: it learns the newest version from a quorum,
//! then stores a version at a quorum: for a write a newer one, for a read the one it learned.
//! What it would send to itself it does at once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out, majority, model_peers};

use crate::register::{NOTHING, Wire};

/// Count and author: versions of two servers never tie.
type Version = (u64, Id);

#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Talk {
    Ask(u64),
    Tell(u64, Version, char),
    Store(u64, Version, char),
    Stored(u64),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Round {
    Idle,
    Learning {
        request: u64,
        client: Id,
        write: Option<char>,
        told: BTreeMap<Id, (Version, char)>,
    },
    Storing {
        request: u64,
        client: Id,
        read: Option<char>,
        stored: BTreeSet<Id>,
    },
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Replica {
    version: Version,
    value: char,
    round: Round,
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

impl Replica {
    fn keep_newer(&mut self, version: Version, value: char) {
        if version > self.version {
            self.version = version;
            self.value = value;
        }
    }

    fn awaits_tell(&self, wanted: u64) -> bool {
        matches!(self.round, Round::Learning { request, .. } if request == wanted)
    }

    fn awaits_stored(&self, wanted: u64, by: Id) -> bool {
        matches!(&self.round, Round::Storing { request, stored, .. }
            if *request == wanted && !stored.contains(&by))
    }
}

impl Server {
    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    fn tell_all(&self, out: &mut Out<Self>, talk: Talk) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(talk));
    }

    fn begin(
        &self,
        me: Id,
        replica: &mut Replica,
        (client, request, write): (Id, u64, Option<char>),
        out: &mut Out<Self>,
    ) {
        let told = BTreeMap::from([(me, (replica.version, replica.value))]);
        replica.round = Round::Learning {
            request,
            client,
            write,
            told,
        };
        self.tell_all(out, Talk::Ask(request));
    }

    fn told(
        &self,
        me: Id,
        replica: &mut Replica,
        (by, answer): (Id, (Version, char)),
        out: &mut Out<Self>,
    ) {
        let Round::Learning {
            request,
            client,
            write,
            told,
        } = &mut replica.round
        else {
            return;
        };
        told.insert(by, answer);
        if told.len() != self.quorum() {
            return;
        }
        let Some(&(newest, kept)) = told.values().max_by_key(|(version, _)| *version) else {
            return;
        };
        let (version, value, read) = match *write {
            Some(written) => ((newest.0 + 1, me), written, None),
            None => (newest, kept, Some(kept)),
        };
        let (request, client) = (*request, *client);
        replica.keep_newer(version, value);
        replica.round = Round::Storing {
            request,
            client,
            read,
            stored: BTreeSet::from([me]),
        };
        self.tell_all(out, Talk::Store(request, version, value));
    }

    fn stored(&self, replica: &mut Replica, by: Id, out: &mut Out<Self>) {
        let Round::Storing {
            request,
            client,
            read,
            stored,
        } = &mut replica.round
        else {
            return;
        };
        stored.insert(by);
        if stored.len() == self.quorum() {
            out.send(
                *client,
                match *read {
                    Some(value) => RegisterMsg::GetOk(*request, value),
                    None => RegisterMsg::PutOk(*request),
                },
            );
            replica.round = Round::Idle;
        }
    }
}

impl Actor for Server {
    type Msg = Wire<Talk>;
    type State = Replica;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, me: Id, _: &Option<()>, _: &mut Out<Self>) -> Replica {
        Replica {
            version: (0, me),
            value: NOTHING,
            round: Round::Idle,
        }
    }

    fn on_msg(
        &self,
        me: Id,
        replica: &mut Cow<Replica>,
        source: Id,
        message: Self::Msg,
        out: &mut Out<Self>,
    ) {
        match message {
            RegisterMsg::Put(request, value) if replica.round == Round::Idle => {
                self.begin(me, replica.to_mut(), (source, request, Some(value)), out);
            }
            RegisterMsg::Get(request) if replica.round == Round::Idle => {
                self.begin(me, replica.to_mut(), (source, request, None), out);
            }
            RegisterMsg::Internal(Talk::Ask(request)) => {
                let answer = Talk::Tell(request, replica.version, replica.value);
                out.send(source, RegisterMsg::Internal(answer));
            }
            RegisterMsg::Internal(Talk::Tell(request, version, value))
                if replica.awaits_tell(request) =>
            {
                self.told(me, replica.to_mut(), (source, (version, value)), out);
            }
            RegisterMsg::Internal(Talk::Store(request, version, value)) => {
                out.send(source, RegisterMsg::Internal(Talk::Stored(request)));
                if version > replica.version {
                    replica.to_mut().keep_newer(version, value);
                }
            }
            RegisterMsg::Internal(Talk::Stored(request))
                if replica.awaits_stored(request, source) =>
            {
                self.stored(replica.to_mut(), source, out);
            }
            _ => {}
        }
    }
}
