//! The events of a history in an order in which they may have happened.
//!
//! A history that comes from a file, or from renaming nodes, has no history before it. What was
//! seen at each invocation tells how many answers of each other client had come by then.
//!
//! Invariant: an event is taken only if all others can still be where they say they were. So
//! nobody gets stuck with a history that ever happened; the order found is one that did, as far as
//! any client can tell.

use super::monitor::Event;
use super::table::{Part, SeenIds};

/// The events of these clients; none if no order of events has seen what they saw.
pub fn events(parts: &[&Part]) -> Option<Vec<Event>> {
    let mut feed = Feed {
        parts,
        invoked: vec![0; parts.len()],
        answered: vec![0; parts.len()],
        events: Vec::new(),
    };
    while feed.invoke() || feed.answer() {}
    let mut rest = parts.iter().zip(feed.invoked.iter().zip(&feed.answered));
    let complete = rest.all(|(part, (&invoked, &answered))| {
        answered == part.done.len()
            && invoked == part.done.len() + usize::from(part.pending.is_some())
    });
    complete.then_some(feed.events)
}

struct Feed<'p> {
    parts: &'p [&'p Part],
    /// Per client: how many operations were invoked, and answered.
    invoked: Vec<usize>,
    answered: Vec<usize>,
    events: Vec<Event>,
}

impl<'p> Feed<'p> {
    /// The operation that a client invokes next.
    fn next(&self, client: usize) -> Option<(u32, &'p SeenIds)> {
        let part = self.parts[client];
        match part.done.get(self.invoked[client]) {
            Some(done) => Some((done.op, &done.seen)),
            None if self.invoked[client] > part.done.len() => None,
            None => part.pending.as_ref().map(|(op, seen)| (*op, seen)),
        }
    }

    /// How many answers of `other` an operation saw.
    fn saw(&self, seen: &SeenIds, other: usize) -> usize {
        let name = self.parts[other].name;
        let seen = seen.iter().find(|(known, _)| *known == name);
        seen.map_or(0, |&(_, last)| last as usize + 1)
    }

    /// Let one client invoke that has seen exactly what was answered.
    fn invoke(&mut self) -> bool {
        for client in 0..self.parts.len() {
            if self.invoked[client] != self.answered[client] {
                continue;
            }
            let Some((op, seen)) = self.next(client) else {
                continue;
            };
            let mut others = (0..self.parts.len()).filter(|&other| other != client);
            if others.all(|other| self.saw(seen, other) == self.answered[other]) {
                let name = self.parts[client].name;
                self.events.push(Event::Invoke { name, op });
                self.invoked[client] += 1;
                return true;
            }
        }
        false
    }

    /// Let one client be answered, if whatever is still to be invoked has seen that.
    fn answer(&mut self) -> bool {
        for client in 0..self.parts.len() {
            let at = self.answered[client];
            let part = self.parts[client];
            if at == self.invoked[client] || at >= part.done.len() {
                continue;
            }
            let mut others = (0..self.parts.len()).filter(|&other| other != client);
            if others.all(|other| self.have_seen(other, client, at)) {
                let (name, value) = (part.name, part.done[at].result);
                self.events.push(Event::Return { name, value });
                self.answered[client] += 1;
                return true;
            }
        }
        false
    }

    /// Whether all that `other` has still to invoke has seen answer `at` of `client`.
    fn have_seen(&self, other: usize, client: usize, at: usize) -> bool {
        let part = self.parts[other];
        let done = part.done.iter().map(|done| &done.seen);
        let pending = part.pending.iter().map(|(_, seen)| seen);
        let mut rest = done.chain(pending).skip(self.invoked[other]);
        rest.all(|seen| self.saw(seen, client) > at)
    }
}
