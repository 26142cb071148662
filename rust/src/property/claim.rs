//! A predicate and its parts: what `forall` and the like ask of one node is remembered by itself.
//!
//! "Exactly one of forty nodes leads" reads forty values, and nearly every state has its own
//! combination of them. But what a node's own value says of it is yes or no, and there are few
//! combinations of these. So a *part*, one function asked about one node, has a trie of its own;
//! the predicate's trie asks for the part and is answered by what that trie says.
//!
//! Invariant: a part tells what surrounds it nothing but yes or no. If it said more (`Said::More`:
//! a reason, or an exception), the predicate is noted to have read itself what the part read.

use rustc_hash::FxHashMap;

use super::trie::{self, Ask, Fickle, Query, Said, Trie};

/// Which function, and about which node.
pub type PartId = (u32, u32);

/// What one part read, and said.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    pub id: PartId,
    pub reads: Vec<(Ask, u64)>,
    pub said: Said,
}

/// What a predicate read, in order; `Ask::Part` is the place of one of `parts`.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Reads {
    pub own: Vec<(Ask, u64)>,
    pub parts: Vec<Part>,
}

impl Reads {
    /// Everything that was looked at in the state itself.
    pub fn all(&self) -> impl Iterator<Item = (&Query, u64)> {
        let parts = self.parts.iter().flat_map(|part| &part.reads);
        self.own
            .iter()
            .chain(parts)
            .filter_map(|(ask, answer)| match ask {
                Ask::State(query) => Some((query, *answer)),
                Ask::Part(_) => None,
            })
    }
}

/// What all threads know of one predicate.
#[derive(Default)]
pub struct Claim {
    whole: Trie,
    parts: Vec<Trie>,
    places: FxHashMap<PartId, u32>,
    /// Everything ever looked at, each once.
    queries: Vec<Query>,
}

impl Claim {
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// Whether the predicate was ever asked, and whether anything that it read ever differed.
    pub fn reads(&self) -> (bool, bool) {
        let (asked, forked) = self.whole.reads();
        (
            asked,
            forked || self.parts.iter().any(|part| part.reads().1),
        )
    }

    /// Remember what `reads` lead to.
    pub fn learn(&mut self, reads: &Reads, said: Said) -> Result<(), Fickle> {
        for (query, _) in reads.all() {
            if !self.queries.contains(query) {
                self.queries.push(query.clone());
            }
        }
        let mut places = Vec::with_capacity(reads.parts.len());
        for part in &reads.parts {
            let place = self.place(part.id);
            self.parts[place as usize].learn(&part.reads, part.said)?;
            places.push(place);
        }
        let placed = |(ask, answer): &(Ask, u64)| match ask {
            Ask::Part(at) => (Ask::Part(places[*at as usize]), *answer),
            Ask::State(_) => (ask.clone(), *answer),
        };
        let own: Vec<_> = reads.own.iter().map(placed).collect();
        self.whole.learn(&own, said)
    }

    fn place(&mut self, id: PartId) -> u32 {
        let next = self.parts.len() as u32;
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.parts.push(Trie::default());
        }
        place
    }
}

/// One thread's copy of a claim.
#[derive(Default)]
pub struct Mirror {
    whole: trie::Mirror,
    parts: Vec<trie::Mirror>,
    queries: Vec<Query>,
    pub interest: Interest,
}

impl Mirror {
    /// Everything ever looked at, each once.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// What the predicate says where `answer` tells what is there; `None` where nobody has been.
    #[inline]
    pub fn decide(&self, mut answer: impl FnMut(&Query) -> u64) -> Option<Said> {
        self.whole.decide(|ask| match ask {
            Ask::State(query) => Some(answer(query)),
            Ask::Part(place) => self.part(*place, &mut answer),
        })
    }

    /// What a part says. Apart from `decide`, whose loop is the hot one where there are no parts.
    #[inline(never)]
    fn part(&self, place: u32, answer: &mut impl FnMut(&Query) -> u64) -> Option<u64> {
        let said = self.parts[place as usize].decide(|ask| match ask {
            Ask::State(query) => Some(answer(query)),
            Ask::Part(_) => None, // a part has none
        });
        said.map(of_part)
    }

    /// Take over what `claim` has learnt since; true if there was anything.
    pub fn catch_up(&mut self, claim: &Claim) -> bool {
        let mut more = self.whole.catch_up(&claim.whole);
        self.parts
            .resize_with(claim.parts.len(), trie::Mirror::default);
        for (mirror, part) in self.parts.iter_mut().zip(&claim.parts) {
            more |= mirror.catch_up(part);
        }
        for query in &claim.queries[self.queries.len()..] {
            self.interest.add(query);
            self.queries.push(query.clone());
        }
        more
    }
}

/// What a part said, as an answer.
pub fn of_part(said: Said) -> u64 {
    said as u64
}

/// What a predicate has ever looked at, as far as a mirror knows.
#[derive(Default)]
pub struct Interest {
    /// Per node: the fields.
    pub fields: Vec<(u32, Vec<u32>)>,
    pub observers: Vec<u32>,
    /// Anything between the nodes: messages, streams, a partition.
    pub between: bool,
}

impl Interest {
    pub fn add(&mut self, query: &Query) {
        match query {
            Query::Messages(_) | Query::Count(_) => self.between = true,
            Query::Connection(_) | Query::Partition => self.between = true,
            Query::Observer(slot) if self.observers.contains(slot) => {}
            Query::Observer(slot) => self.observers.push(*slot),
            Query::Field { node, field } => {
                let known = self.fields.iter().position(|(known, _)| known == node);
                let at = known.unwrap_or_else(|| {
                    self.fields.push((*node, Vec::new()));
                    self.fields.len() - 1
                });
                if !self.fields[at].1.contains(field) {
                    self.fields[at].1.push(*field);
                }
            }
        }
    }
}
