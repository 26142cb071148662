//! What a property said, filed under the values it read.
//!
//! A predicate reads a few things of a world: a field here, the messages of one type there. The
//! answers lead from node to node, each node asking the next question, down to the verdict. A world
//! with the same relevant values follows the same path and needs no Python.
//!
//! Invariant: a node never changes once made, so a thread's mirror needs only the newest edges.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::table::flat::{FlatMap, pair};

/// One thing a predicate can look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Query {
    Field {
        node: u32,
        field: u32,
    },
    Observer(u32),
    /// Messages in flight of these types (by address), or of all types.
    Messages(Option<Arc<[usize]>>),
    /// How many of them there are.
    Count(Option<Arc<[usize]>>),
    /// The stream between two nodes, by its place.
    Connection(u32),
    /// The partition in force.
    Partition,
}

/// What leads a path on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// What is there.
    State(Query),
    /// What a part of the predicate says, by its place: see `claim.rs`.
    Part(u32),
}

/// Where a path ends: what a predicate, or a part of one, said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    Fails,
    Holds,
    /// Of a part: more than yes or no. Of a predicate: nothing, as it needs a node that holds no
    /// state here; of another world it may say more.
    More,
}

impl Said {
    /// None where it is neither yes nor no.
    pub fn holds(self) -> Option<bool> {
        match self {
            Said::Fails => Some(false),
            Said::Holds => Some(true),
            Said::More => None,
        }
    }
}

impl From<bool> for Said {
    fn from(holds: bool) -> Self {
        if holds { Said::Holds } else { Said::Fails }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    Ask(Ask),
    Said(Said),
}

#[derive(Clone, Copy)]
pub struct Edge {
    from: u32,
    answer: u64,
    to: u32,
}

/// The shared trie keeps its edges in order of arrival; mirrors copy the tail they lack.
#[derive(Default)]
pub struct Trie {
    nodes: Vec<Node>, // the first one is the root
    edges: Vec<Edge>,
    index: FxHashMap<(u32, u64), u32>,
}

/// The same values led a predicate to ask different things.
#[derive(Debug)]
pub struct Fickle;

impl Trie {
    /// Whether the predicate was ever asked, and whether anything that it read ever differed.
    pub fn reads(&self) -> (bool, bool) {
        // Nodes are numbered as they come: one path without a fork is 0, 1, 2, ...
        let mut edges = self.edges.iter().enumerate();
        let forked = edges.any(|(at, edge)| edge.from as usize != at);
        (!self.nodes.is_empty(), forked)
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Remember what the answers in `reads` lead to.
    pub fn learn(&mut self, reads: &[(Ask, u64)], said: Said) -> Result<(), Fickle> {
        let mut wanted = reads.iter().map(|(ask, _)| Node::Ask(ask.clone()));
        let mut next = || wanted.next().unwrap_or(Node::Said(said));
        if self.nodes.is_empty() {
            let root = next();
            self.push(root);
        } else if self.nodes[0] != next() {
            return Err(Fickle);
        }
        let mut at = 0;
        for &(_, answer) in reads {
            let node = next();
            at = match self.index.get(&(at, answer)) {
                Some(&known) if self.nodes[known as usize] == node => known,
                Some(_) => return Err(Fickle),
                None => {
                    let to = self.push(node);
                    self.index.insert((at, answer), to);
                    self.edges.push(Edge {
                        from: at,
                        answer,
                        to,
                    });
                    to
                }
            };
        }
        Ok(())
    }
}

/// Where an edge leads: to a node by its index, or to the end.
type Target = u32;
const HOLDS: Target = u32::MAX;
const FAILS: Target = u32::MAX - 1;
const MORE: Target = u32::MAX - 2;

/// A question with its first few answers at hand: most fields have few values, and one cache line
/// then answers what a hash table would need two for.
#[derive(Clone, Copy)]
struct Question {
    ask: u32,
    used: u32,
    answers: [(u32, Target); NEAR],
}

const NEAR: usize = 4;

/// One thread's copy of a trie.
#[derive(Default)]
pub struct Mirror {
    questions: Vec<Question>,
    asks: Vec<Ask>,
    /// For each node of the shared trie, what stands for it here.
    targets: Vec<Target>,
    edges: usize,
    /// Further answers, and those that are sums over messages: they do not fit in 32 bits.
    by_id: FlatMap,
    by_sum: FxHashMap<(u32, u64), Target>,
}

impl Mirror {
    /// Follow the answers from the root; `None` where nobody has been, or there is no answer.
    #[inline]
    pub fn decide(&self, mut answer: impl FnMut(&Ask) -> Option<u64>) -> Option<Said> {
        let mut at = *self.targets.first()?;
        while at < MORE {
            let question = &self.questions[at as usize];
            let answer = answer(&self.asks[question.ask as usize])?;
            at = self.edge(at, question, answer)?;
        }
        Some(match at {
            HOLDS => Said::Holds,
            FAILS => Said::Fails,
            _ => Said::More,
        })
    }

    #[inline(always)]
    fn edge(&self, at: u32, question: &Question, answer: u64) -> Option<Target> {
        let Ok(id) = u32::try_from(answer) else {
            return self.by_sum.get(&(at, answer)).copied();
        };
        let near = &question.answers[..(question.used as usize).min(NEAR)];
        let found = near.iter().find(|(known, _)| *known == id);
        if found.is_none() && question.used as usize > NEAR {
            return self.by_id.get(pair(at, id)).map(|to| to as Target);
        }
        found.map(|(_, to)| *to)
    }

    /// Take over what `trie` has learnt since; true if there was anything.
    pub fn catch_up(&mut self, trie: &Trie) -> bool {
        let more = trie.nodes.len() > self.targets.len();
        for node in &trie.nodes[self.targets.len()..] {
            let target = match node {
                Node::Said(Said::Holds) => HOLDS,
                Node::Said(Said::Fails) => FAILS,
                Node::Said(Said::More) => MORE,
                Node::Ask(ask) => self.ask(ask),
            };
            self.targets.push(target);
        }
        for edge in &trie.edges[self.edges..] {
            let from = self.targets[edge.from as usize];
            self.link(from, edge.answer, self.targets[edge.to as usize]);
        }
        self.edges = trie.edges.len();
        more
    }

    fn ask(&mut self, ask: &Ask) -> Target {
        let known = self.asks.iter().position(|known| known == ask);
        let ask = known.unwrap_or_else(|| {
            self.asks.push(ask.clone());
            self.asks.len() - 1
        });
        self.questions.push(Question {
            ask: ask as u32,
            used: 0,
            answers: [(0, 0); NEAR],
        });
        (self.questions.len() - 1) as Target
    }

    fn link(&mut self, from: Target, answer: u64, to: Target) {
        let question = &mut self.questions[from as usize];
        match u32::try_from(answer) {
            Err(_) => {
                self.by_sum.insert((from, answer), to);
            }
            Ok(id) => {
                match question.answers.get_mut(question.used as usize) {
                    Some(near) => *near = (id, to),
                    None => self.by_id.insert(pair(from, id), u64::from(to)),
                }
                question.used += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ask, Mirror, Query, Said, Trie};

    fn field(field: u32) -> Ask {
        Ask::State(Query::Field { node: 0, field })
    }

    #[test]
    fn a_learnt_path_is_followed_and_an_unknown_answer_is_not_guessed() {
        let mut trie = Trie::default();
        trie.learn(&[(field(0), 7), (field(1), 8)], Said::Holds)
            .unwrap();
        trie.learn(&[(field(0), 9)], Said::Fails).unwrap();
        let mut mirror = Mirror::default();
        assert!(mirror.catch_up(&trie));
        assert!(!mirror.catch_up(&trie));
        let decide = |first, second| {
            mirror.decide(|ask| Some(if *ask == field(0) { first } else { second }))
        };
        assert_eq!(decide(7, 8), Some(Said::Holds));
        assert_eq!(decide(9, 0), Some(Said::Fails));
        assert_eq!(decide(7, 9), None);
        assert_eq!(decide(1, 8), None);
    }

    #[test]
    fn many_answers_and_large_ones_are_all_found() {
        let mut trie = Trie::default();
        let answers = (0..50).chain((0..50).map(|n| u64::MAX - n));
        for answer in answers.clone() {
            trie.learn(&[(field(0), answer)], (answer % 3 == 0).into())
                .unwrap();
        }
        let mut mirror = Mirror::default();
        assert!(mirror.catch_up(&trie));
        for answer in answers {
            assert_eq!(
                mirror.decide(|_| Some(answer)),
                Some((answer % 3 == 0).into())
            );
        }
        assert_eq!(mirror.decide(|_| Some(50)), None);
        assert_eq!(mirror.decide(|_| Some(u64::MAX - 50)), None);
    }

    #[test]
    fn a_predicate_that_asks_something_else_after_the_same_answers_is_caught() {
        let mut trie = Trie::default();
        trie.learn(&[(field(0), 7), (field(1), 8)], Said::Holds)
            .unwrap();
        assert!(trie.learn(&[(field(1), 8)], Said::Holds).is_err());
        assert!(
            trie.learn(&[(field(0), 7), (field(2), 8)], Said::Holds)
                .is_err()
        );
        assert!(trie.learn(&[(field(0), 7)], Said::Holds).is_err());
        assert!(
            trie.learn(&[(field(0), 7), (field(1), 8)], Said::Fails)
                .is_err()
        );
    }
}
