//! What a property said, filed under the values it read.
//!
//! A predicate reads a few things of a world: a field here, the messages of one type there. The
//! answers lead from node to node, each node asking the next question, down to the verdict. A world
//! with the same relevant values follows the same path and needs no Python.
//!
//! Invariant: a node never changes once made, so a thread's mirror needs only the newest edges.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::flat::{FlatMap, pair};

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
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    Ask(Query),
    Verdict(bool),
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
    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    /// Remember that the answers in `reads` lead to `verdict`.
    pub fn learn(&mut self, reads: &[(Query, u64)], verdict: bool) -> Result<(), Fickle> {
        let mut wanted = reads.iter().map(|(query, _)| Node::Ask(query.clone()));
        let mut next = || wanted.next().unwrap_or(Node::Verdict(verdict));
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

/// One thread's copy of a trie. Ids are small, so edges under them fit the one-word map; only sums
/// over messages do not.
#[derive(Default)]
pub struct Mirror {
    nodes: Vec<Node>,
    edges: usize,
    by_id: FlatMap,
    by_sum: FxHashMap<(u32, u64), u32>,
}

impl Mirror {
    /// Follow the answers from the root; `None` where nobody has been.
    #[inline]
    pub fn decide(&self, mut answer: impl FnMut(&Query) -> u64) -> Option<bool> {
        let mut node = self.nodes.first()?;
        let mut at = 0;
        loop {
            match node {
                Node::Verdict(verdict) => return Some(*verdict),
                Node::Ask(query) => {
                    at = self.edge(at, answer(query))?;
                    node = &self.nodes[at as usize];
                }
            }
        }
    }

    #[inline(always)]
    fn edge(&self, from: u32, answer: u64) -> Option<u32> {
        match u32::try_from(answer) {
            Ok(id) => self.by_id.get(pair(from, id)).map(|to| to as u32),
            Err(_) => self.by_sum.get(&(from, answer)).copied(),
        }
    }

    /// Take over what `trie` has learnt since; true if there was anything.
    pub fn catch_up(&mut self, trie: &Trie) -> bool {
        let more = trie.nodes.len() > self.nodes.len();
        self.nodes
            .extend_from_slice(&trie.nodes[self.nodes.len()..]);
        for edge in &trie.edges[self.edges..] {
            match u32::try_from(edge.answer) {
                Ok(id) => self.by_id.insert(pair(edge.from, id), u64::from(edge.to)),
                Err(_) => {
                    self.by_sum.insert((edge.from, edge.answer), edge.to);
                }
            }
        }
        self.edges = trie.edges.len();
        more
    }
}

#[cfg(test)]
mod tests {
    use super::{Mirror, Query, Trie};

    fn field(field: u32) -> Query {
        Query::Field { node: 0, field }
    }

    #[test]
    fn a_learnt_path_is_followed_and_an_unknown_answer_is_not_guessed() {
        let mut trie = Trie::default();
        trie.learn(&[(field(0), 7), (field(1), 8)], true).unwrap();
        trie.learn(&[(field(0), 9)], false).unwrap();
        let mut mirror = Mirror::default();
        assert!(mirror.catch_up(&trie));
        assert!(!mirror.catch_up(&trie));
        let decide =
            |first, second| mirror.decide(|query| if *query == field(0) { first } else { second });
        assert_eq!(decide(7, 8), Some(true));
        assert_eq!(decide(9, 0), Some(false));
        assert_eq!(decide(7, 9), None);
        assert_eq!(decide(1, 8), None);
    }

    #[test]
    fn a_predicate_that_asks_something_else_after_the_same_answers_is_caught() {
        let mut trie = Trie::default();
        trie.learn(&[(field(0), 7), (field(1), 8)], true).unwrap();
        assert!(trie.learn(&[(field(1), 8)], true).is_err());
        assert!(trie.learn(&[(field(0), 7), (field(2), 8)], true).is_err());
        assert!(trie.learn(&[(field(0), 7)], true).is_err());
        assert!(trie.learn(&[(field(0), 7), (field(1), 8)], false).is_err());
    }
}
