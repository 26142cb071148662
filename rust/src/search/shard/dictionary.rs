//! What the ids of one process mean in another.
//!
//! A state is words, and its words are ids of the process that wrote it. Each sender tells each
//! receiver what its ids mean, once, in the order of their numbers; the receiver interns the same
//! and keeps the translation. After that, states travel as the words they are.

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::wire::{Packer, Unpacker, damaged};
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, QueueId};
use crate::services::streams::connection::{Link, LinkInfo};
use crate::services::tables::Tables;

/// How much of each table a receiver knows.
#[derive(Clone, Default)]
pub struct Known {
    classes: FxHashSet<String>,
    references: FxHashSet<String>,
    values: usize,
    messages: usize,
    locals: usize,
    nodes: usize,
    queues: usize,
    links: usize,
}

impl Known {
    /// Write what was added since the last time.
    pub fn write(&mut self, out: &mut Packer, shared: &Shared) {
        self.write_names(out, shared);
        let tables = shared.tables.lock();
        for (interner, known) in [
            (&tables.values, &mut self.values),
            (&tables.messages, &mut self.messages),
        ] {
            let items = interner.items();
            out.long((items.len() - *known) as u64);
            items[*known..]
                .iter()
                .for_each(|item| out.text(&item.bytes));
            *known = items.len();
        }
        out.long((tables.locals.len() - self.locals) as u64);
        let locals = tables.locals.iter().zip(&tables.ups).skip(self.locals);
        for (local, &up) in locals {
            let fields = shared.ghosts[local.node as usize].len();
            let start = local.row as usize;
            out.word(local.node);
            out.words(&tables.rows[start..start + fields]);
            out.word(u32::from(up));
        }
        self.locals = tables.locals.len();
        self.write_network(out, &tables);
    }

    fn write_names(&mut self, out: &mut Packer, shared: &Shared) {
        let (classes, references) = shared.codec.get().names();
        for (names, known) in [
            (classes, &mut self.classes),
            (references, &mut self.references),
        ] {
            let new = names.into_iter().filter(|name| !known.contains(name));
            let new: Vec<String> = new.collect();
            out.long(new.len() as u64);
            new.iter().for_each(|name| out.text(name.as_bytes()));
            known.extend(new);
        }
    }

    /// Queues, whose messages are linked from the newest back, and connections.
    fn write_network(&mut self, out: &mut Packer, tables: &Tables) {
        let nodes = tables.queues.tree();
        let count = nodes.len();
        out.long((count - self.nodes) as u64);
        for (before, message) in nodes.skip(self.nodes) {
            out.word(before);
            out.word(message.number());
        }
        self.nodes = count;
        let queues = &tables.queues.infos()[1..];
        out.long((queues.len() - self.queues) as u64);
        for queue in &queues[self.queues..] {
            out.word(queue.last());
            out.word(queue.len());
        }
        self.queues = queues.len();
        let links = &tables.links[1..];
        out.long((links.len() - self.links) as u64);
        for LinkInfo { link, .. } in &links[self.links..] {
            out.words(&link.ends);
            out.words(&link.queues.map(QueueId::number));
            out.word(u32::from(link.flags()));
        }
        self.links = links.len();
    }
}

/// Ids of this process by those of another.
pub struct Translation {
    values: Vec<u32>,
    messages: Vec<EnvelopeId>,
    locals: Vec<LocalId>,
    nodes: Vec<u32>,
    queues: Vec<QueueId>,
    links: Vec<u32>,
}

impl Default for Translation {
    fn default() -> Self {
        Translation {
            values: Vec::new(),
            messages: Vec::new(),
            locals: Vec::new(),
            nodes: vec![0],
            queues: vec![QueueId::EMPTY],
            links: vec![0],
        }
    }
}

fn of<Id: Copy>(ids: &[Id], old: u32) -> PyResult<Id> {
    ids.get(old as usize).copied().ok_or_else(damaged)
}

fn all<Id: Copy>(ids: &[Id], old: Vec<u32>) -> PyResult<Vec<Id>> {
    old.into_iter().map(|old| of(ids, old)).collect()
}

fn names(from: &mut Unpacker<'_>, known: &[String]) -> PyResult<Vec<String>> {
    let mut names = Vec::new();
    for _ in 0..from.long()? {
        let name = String::from_utf8(from.text()?.to_vec()).map_err(|_| damaged())?;
        if !known.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

impl Translation {
    /// Learn what was added since the last time. `host` has `restore(classes, references)`.
    pub fn read(
        &mut self,
        py: Python<'_>,
        from: &mut Unpacker<'_>,
        shared: &Shared,
        host: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let known = shared.codec.get().names();
        let classes = names(from, &known.0)?;
        let references = names(from, &known.1)?;
        if !classes.is_empty() || !references.is_empty() {
            host.call_method1("restore", (classes, references))?;
        }
        for _ in 0..from.long()? {
            self.values.push(shared.intern_value_bytes(from.text()?)?);
        }
        for _ in 0..from.long()? {
            self.messages.push(shared.envelope_of(py, from.text()?)?);
        }
        let mut tables = shared.tables.lock();
        for _ in 0..from.long()? {
            let node = from.word()? as usize;
            let row = all(&self.values, from.words()?)?;
            let ghosts = shared.ghosts.get(node).filter(|own| own.len() == row.len());
            let ghosts = ghosts.ok_or_else(damaged)?;
            let up = from.word()? != 0;
            self.locals.push(tables.local(node, &row, ghosts, up));
        }
        for _ in 0..from.long()? {
            let before = of(&self.nodes, from.word()?)?;
            let message = of(&self.messages, from.word()?)?;
            self.nodes.push(tables.queues.node(before, message));
        }
        for _ in 0..from.long()? {
            let last = of(&self.nodes, from.word()?)?;
            let queue = tables.queue_at(last, from.word()?);
            self.queues.push(queue.ok_or_else(damaged)?);
        }
        for _ in 0..from.long()? {
            let ends = <[u32; 2]>::try_from(from.words()?).map_err(|_| damaged())?;
            let queues = all(&self.queues, from.words()?)?;
            let queues = <[QueueId; 2]>::try_from(queues).map_err(|_| damaged())?;
            let flags = u8::try_from(from.word()?).map_err(|_| damaged())?;
            self.links.push(tables.link(Link::of(ends, queues, flags)));
        }
        Ok(())
    }

    /// A state in the ids of this process.
    pub fn state(&self, shared: &Shared, words: &mut [u32]) -> PyResult<()> {
        let layout = &shared.layout;
        if words.len() < layout.fixed {
            return Err(damaged());
        }
        let observed = layout.nodes + layout.observers;
        let first_link = layout.streams.unwrap_or(layout.fixed);
        for (position, word) in words.iter_mut().enumerate() {
            *word = match position {
                _ if position < layout.nodes => of(&self.locals, *word)?.number(),
                _ if position < observed => of(&self.values, *word)?,
                _ if position < first_link => *word, // a budget or a partition: a plain number
                _ if position < layout.fixed => of(&self.links, *word)?,
                _ if layout.network.is_queued() => of(&self.queues, *word)?.number(),
                _ => of(&self.messages, *word)?.number(),
            };
        }
        words[layout.fixed..].sort_unstable();
        Ok(())
    }
}
