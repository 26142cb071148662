//! One thread's own copy of the tables it reads on every transition.
//!
//! Ids are dense and never change their meaning, so a mirror is a set of plain vectors that only
//! grow. It is brought up to date before a thread works on states made by others, and after each
//! new thing the thread itself has learnt.

use crate::services::ids::EnvelopeId;
use crate::services::lanes::Lane;
use crate::services::layout::Layout;
use crate::services::queues::{Node, QueueInfo, newest_first};
use crate::services::streams::connection::LinkInfo;
use crate::services::tables::{ClassInfo, EnvelopeInfo, LocalInfo, Tables};

#[derive(Default)]
pub struct Mirror {
    pub locals: Vec<LocalInfo>,
    pub rows: Vec<u32>,
    pub ups: Vec<bool>,
    pub envelopes: Vec<EnvelopeInfo>,
    pub lanes: Vec<Lane>,
    pub nodes: Vec<Node>,
    pub queues: Vec<QueueInfo>,
    pub links: Vec<LinkInfo>,
    pub classes: Vec<ClassInfo>,
}

fn catch_up<T: Clone>(own: &mut Vec<T>, all: &[T]) {
    own.extend_from_slice(&all[own.len()..]);
}

impl Mirror {
    pub fn sync(&mut self, tables: &Tables) {
        catch_up(&mut self.locals, &tables.locals);
        catch_up(&mut self.rows, &tables.rows);
        catch_up(&mut self.ups, &tables.ups);
        catch_up(&mut self.envelopes, &tables.envelopes);
        catch_up(&mut self.lanes, &tables.lanes);
        catch_up(&mut self.nodes, tables.queues.nodes());
        catch_up(&mut self.queues, tables.queues.infos());
        catch_up(&mut self.links, &tables.links);
        catch_up(&mut self.classes, &tables.classes);
    }

    pub fn flight(&self) -> Flight<'_> {
        Flight {
            envelopes: &self.envelopes,
            lanes: &self.lanes,
            nodes: &self.nodes,
            queues: &self.queues,
            links: &self.links,
            classes: &self.classes,
        }
    }
}

/// What is needed to look at messages in flight, borrowed from a mirror or from the tables.
#[derive(Clone, Copy)]
pub struct Flight<'a> {
    pub envelopes: &'a [EnvelopeInfo],
    pub lanes: &'a [Lane],
    pub nodes: &'a [Node],
    pub queues: &'a [QueueInfo],
    pub links: &'a [LinkInfo],
    pub classes: &'a [ClassInfo],
}

impl Flight<'_> {
    pub fn is_of(&self, envelope: EnvelopeId, types: Option<&[usize]>) -> bool {
        let class = self.envelopes[envelope.index()].class;
        let mro = &self.classes[class as usize].mro;
        types.is_none_or(|types| types.iter().any(|class| mro.contains(class)))
    }

    /// Visit each envelope of these types that is on its way in `state`.
    pub fn visit(
        &self,
        layout: &Layout,
        state: &[u32],
        types: Option<&[usize]>,
        mut each: impl FnMut(EnvelopeId),
    ) {
        let mut of = |envelope: EnvelopeId| {
            if self.is_of(envelope, types) {
                each(envelope);
            }
        };
        let queued = |queue: u32| newest_first(self.nodes, self.queues[queue as usize]);
        for &word in layout.links(state).iter().filter(|&&word| word != 0) {
            let queues = self.links[word as usize].link.queues;
            let both = queues.iter().flat_map(|queue| queued(queue.number()));
            both.for_each(&mut of);
        }
        for &word in &state[layout.fixed..] {
            match layout.network.is_queued() {
                true => queued(word).for_each(&mut of),
                false => of(EnvelopeId::of(word)),
            }
        }
    }

    /// How many messages of some types are on their way.
    pub fn count(&self, layout: &Layout, state: &[u32], types: Option<&[usize]>) -> u64 {
        let mut count = 0;
        self.visit(layout, state, types, |_| count += 1);
        count
    }

    /// The messages of some types as one word: a sum, so that their order does not matter.
    pub fn answer(&self, layout: &Layout, state: &[u32], types: Option<&[usize]>) -> u64 {
        let mut sum = 0u64;
        self.visit(layout, state, types, |envelope| {
            sum = sum.wrapping_add(self.envelopes[envelope.index()].mix);
        });
        sum
    }
}
