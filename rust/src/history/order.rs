//! An order of the operations of all clients, looked for depth first, as `props/order.py` does.
//!
//! Configurations are never tried twice, after Lowe, "Testing for linearizability", 2017.

use rustc_hash::FxHashSet;

use super::spec::{Open, Specs};
use super::table::Part;

/// The clients of one history.
pub struct Question<'t> {
    pub spec: u32,
    pub parts: Vec<&'t Part>,
    /// Whether what was seen at an invocation counts.
    pub real_time: bool,
}

impl Question<'_> {
    /// Whether an order explains every answer.
    pub fn has_order(&self, specs: &Specs) -> Result<bool, Open> {
        let clients = self.parts.len();
        // Per client how many of its operations are placed, then the state of the spec.
        let mut stack: Vec<u32> = vec![0; clients];
        stack.push(specs.initial(self.spec)?);
        let mut tried: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut here = vec![0; clients + 1];
        while stack.len() > clients {
            here.copy_from_slice(&stack[stack.len() - clients - 1..]);
            stack.truncate(stack.len() - clients - 1);
            if self.is_complete(&here) {
                return Ok(true);
            }
            for client in (0..clients).rev() {
                let Some(after) = self.placed(specs, &here, client)? else {
                    continue;
                };
                let mut next: Box<[u32]> = here[..].into();
                next[client] += 1;
                next[clients] = after;
                if !tried.contains(&next) {
                    stack.extend_from_slice(&next);
                    tried.insert(next);
                }
            }
        }
        Ok(false)
    }

    fn is_complete(&self, here: &[u32]) -> bool {
        let mut counts = self.parts.iter().zip(here);
        counts.all(|(part, &placed)| placed as usize >= part.done.len())
    }

    /// The state after the next operation of a client; none if it cannot come next.
    fn placed(&self, specs: &Specs, here: &[u32], client: usize) -> Result<Option<u32>, Open> {
        let part = self.parts[client];
        let at = here[client] as usize;
        let (op, result, seen) = match (part.done.get(at), &part.pending) {
            (Some(done), _) => (done.op, Some(done.result), &done.seen),
            (None, Some((op, seen))) if at == part.done.len() => (*op, None, seen),
            _ => return Ok(None),
        };
        if self.real_time && !seen.iter().all(|seen| self.is_placed(here, seen)) {
            return Ok(None);
        }
        let Some((after, given)) = specs.apply(self.spec, here[self.parts.len()], op)? else {
            return Ok(None);
        };
        let explained = match result {
            Some(answer) => specs.equal(answer, given)?,
            None => true,
        };
        Ok(explained.then_some(after))
    }

    fn is_placed(&self, here: &[u32], &(name, last): &(u32, u32)) -> bool {
        let other = self.parts.iter().position(|part| part.name == name);
        other.is_some_and(|other| here[other] > last)
    }
}
