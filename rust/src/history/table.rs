//! Histories as integers: per history the parts of its clients, per part operations and answers.
//!
//! A part is kept once, with its bytes, so a history is a few words. Where one came from, that is
//! kept until its monitor is known.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Need;
use super::monitor::{MonitorId, Monitors};
use super::shape::{Shapes, Written, WrittenPart};
use super::spec::{Open, Specs};
use crate::services::tables::Tables;
use crate::table::intern::Interner;
use crate::value::{IMMUTABLE, MUTABLE, Marks};

/// Other clients by number, each with the index of its last answered operation.
pub type SeenIds = Box<[(u32, u32)]>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    pub op: u32,
    pub result: u32,
    pub seen: SeenIds,
}

/// What one client did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub name: u32,
    pub done: Vec<Done>,
    pub pending: Option<(u32, SeenIds)>,
}

/// A part with its bytes, and what is known of them.
struct KnownPart {
    part: Part,
    bytes: Arc<[u8]>,
    marks: Marks,
}

/// What a record means to a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Record {
    Invoke(u32),
    Return(u32),
    Other,
}

/// Where the monitor of a history stands.
#[derive(Clone, Copy)]
pub enum Followed {
    Known(MonitorId),
    /// After these records, fed to the history of that place.
    Behind {
        place: u32,
        records: u32,
    },
    FromElsewhere,
}

pub struct Entry {
    pub spec: u32,
    pub real_time: bool,
    /// Where its parts begin in `listed`, and how many there are.
    parts: (u32, u32),
    pub followed: Followed,
}

/// Stands for a history that Python alone understands.
const FOREIGN: u32 = u32::MAX;

pub struct HistoryTable {
    names: Vec<Box<[u8]>>,
    parts: Vec<KnownPart>,
    part_ids: FxHashMap<Arc<[u8]>, u32>,
    pub entries: Vec<Entry>,
    listed: Vec<u32>,
    /// By the id of its value.
    places: FxHashMap<u32, u32>,
    records: FxHashMap<u32, Record>,
    pub specs: Specs,
    pub monitors: Monitors,
    bytes: Vec<u8>,
}

impl HistoryTable {
    /// `names` are those of the nodes, in their order.
    pub fn new(names: Vec<String>) -> Self {
        HistoryTable {
            names: names
                .into_iter()
                .map(|name| name.into_bytes().into())
                .collect(),
            parts: Vec::new(),
            part_ids: FxHashMap::default(),
            entries: Vec::new(),
            listed: Vec::new(),
            places: FxHashMap::default(),
            records: FxHashMap::default(),
            specs: Specs::default(),
            monitors: Monitors::default(),
            bytes: Vec::new(),
        }
    }

    /// The number of a client; others than nodes may be met in what comes from elsewhere.
    pub fn name(&mut self, name: &[u8]) -> u32 {
        let known = self.names.iter().position(|known| **known == *name);
        known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        }) as u32
    }

    pub fn learn_record(&mut self, id: u32, record: Record) {
        self.records.insert(id, record);
    }

    /// The part with these bytes.
    pub fn find_part(&self, bytes: &[u8]) -> Option<u32> {
        self.part_ids.get(bytes).copied()
    }

    /// The part that is written so.
    pub fn part(&mut self, shapes: &Shapes, values: &Interner, part: Part) -> u32 {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        shapes.write_part(&mut bytes, &self.written(values, &part));
        let known = self.find_part(&bytes);
        let id = known.unwrap_or_else(|| {
            let shared: Arc<[u8]> = bytes[..].into();
            let id = self.parts.len() as u32;
            self.part_ids.insert(shared.clone(), id);
            self.parts.push(KnownPart {
                marks: marks(values, &part),
                bytes: shared,
                part,
            });
            id
        });
        self.bytes = bytes;
        id
    }

    fn written<'t>(&'t self, values: &'t Interner, part: &Part) -> WrittenPart<'t> {
        let value = |id: u32| &values.get(id).bytes[1..];
        let name = |id: u32| &*self.names[id as usize];
        let operation = |op: u32, result: Option<u32>, seen: &SeenIds| Written {
            op: value(op),
            result: result.map(value),
            seen: seen.iter().map(|&(id, last)| (name(id), last)).collect(),
        };
        let done = |done: &Done| operation(done.op, Some(done.result), &done.seen);
        let pending = |(op, seen): &(u32, SeenIds)| operation(*op, None, seen);
        WrittenPart {
            name: name(part.name),
            done: part.done.iter().map(done).collect(),
            pending: part.pending.as_ref().map(pending),
        }
    }

    /// Remember a history that came from elsewhere; none if Python alone understands it.
    pub fn add(&mut self, value: u32, parts: Option<(u32, bool, Vec<u32>)>) {
        let known = parts.filter(|(_, _, parts)| self.is_sound(parts));
        let Some((spec, real_time, parts)) = known else {
            self.places.insert(value, FOREIGN);
            return;
        };
        self.enter(value, (spec, real_time), &parts, Followed::FromElsewhere);
    }

    /// Whether clients are sorted, and each has seen others of them only.
    fn is_sound(&self, parts: &[u32]) -> bool {
        let part = |id: &u32| &self.parts[*id as usize].part;
        let name = |id: &u32| &self.names[part(id).name as usize];
        let seen_by = |id: &u32| {
            let done = part(id).done.iter().map(|done| &done.seen);
            done.chain(part(id).pending.iter().map(|(_, seen)| seen))
        };
        let present = |client: u32| parts.iter().any(|id| part(id).name == client);
        let mut seen = parts.iter().flat_map(seen_by).flat_map(|seen| seen.iter());
        parts.is_sorted_by(|one, other| name(one) < name(other))
            && seen.all(|&(client, _)| present(client))
    }

    fn enter(&mut self, value: u32, kind: (u32, bool), parts: &[u32], followed: Followed) {
        let start = self.listed.len() as u32;
        self.listed.extend_from_slice(parts);
        self.places.insert(value, self.entries.len() as u32);
        self.entries.push(Entry {
            spec: kind.0,
            real_time: kind.1,
            parts: (start, parts.len() as u32),
            followed,
        });
    }

    fn listed(&self, entry: &Entry) -> &[u32] {
        let (start, count) = entry.parts;
        &self.listed[start as usize..(start + count) as usize]
    }

    pub fn parts_of(&self, entry: &Entry) -> Vec<&Part> {
        let listed = self.listed(entry).iter();
        listed.map(|id| &self.parts[*id as usize].part).collect()
    }

    /// The place of the history with that id.
    pub fn place(&self, value: u32) -> Result<u32, Open> {
        match self.places.get(&value) {
            None => Err(Open::Needs(Need::Parts(value))),
            Some(&FOREIGN) => Err(Open::Unclear),
            Some(&place) => Ok(place),
        }
    }

    pub fn record(&self, id: u32) -> Result<Record, Open> {
        let known = self.records.get(&id).copied();
        known.ok_or(Open::Needs(Need::Record(id)))
    }

    /// The history that `records` make of another one, by the ids of their values.
    pub fn observe(
        &mut self,
        shapes: &Shapes,
        tables: &mut Tables,
        (history, records): (u32, u32),
    ) -> Result<u32, Open> {
        let place = self.place(history)?;
        let entry = &self.entries[place as usize];
        let (kind, mut parts) = ((entry.spec, entry.real_time), self.listed(entry).to_vec());
        let sequence = tables.records[records as usize].clone();
        for &(node, record) in sequence.iter() {
            match self.record(record)? {
                Record::Other => (),
                Record::Invoke(op) => {
                    self.invoked(shapes, &tables.values, &mut parts, (kind.1, node, op))?;
                }
                Record::Return(value) => {
                    self.returned(shapes, &tables.values, &mut parts, (node, value))?;
                }
            }
        }
        let value = self.intern(shapes, &mut tables.values, kind, &parts);
        if !self.places.contains_key(&value) {
            self.enter(value, kind, &parts, Followed::Behind { place, records });
        }
        Ok(value)
    }

    fn intern(
        &mut self,
        shapes: &Shapes,
        values: &mut Interner,
        (spec, real_time): (u32, bool),
        parts: &[u32],
    ) -> u32 {
        let known = |id: &u32| &self.parts[*id as usize];
        let whole = parts.iter().map(|id| known(id).marks);
        let marks = whole.fold(values.get(spec).marks, both);
        self.bytes.clear();
        self.bytes
            .push(if marks.immutable { IMMUTABLE } else { MUTABLE });
        let kind = (&values.get(spec).bytes[1..], real_time);
        let bytes = parts.iter().map(|id| &*self.parts[*id as usize].bytes);
        shapes.write_history(&mut self.bytes, kind, bytes);
        values.intern(&self.bytes, marks).0
    }

    fn client(&self, parts: &[u32], name: u32) -> Result<usize, usize> {
        let wanted = &self.names[name as usize];
        parts.binary_search_by(|id| {
            let part = &self.parts[*id as usize].part;
            self.names[part.name as usize].cmp(wanted)
        })
    }

    fn invoked(
        &mut self,
        shapes: &Shapes,
        values: &Interner,
        parts: &mut Vec<u32>,
        (real_time, name, op): (bool, u32, u32),
    ) -> Result<(), Open> {
        let at = self.client(parts, name);
        let done = match at {
            Ok(at) => {
                let part = &self.parts[parts[at] as usize].part;
                if part.pending.is_some() {
                    return Err(Open::Unclear);
                }
                part.done.clone()
            }
            Err(_) => Vec::new(),
        };
        let seen = |id: &u32| {
            let part = &self.parts[*id as usize].part;
            let last = (part.done.len() as u32).checked_sub(1)?;
            (part.name != name).then_some((part.name, last))
        };
        let seen = match real_time {
            true => parts.iter().filter_map(seen).collect(),
            false => SeenIds::default(),
        };
        let pending = Some((op, seen));
        let part = Part {
            name,
            done,
            pending,
        };
        let part = self.part(shapes, values, part);
        match at {
            Ok(at) => parts[at] = part,
            Err(at) => parts.insert(at, part),
        }
        Ok(())
    }

    fn returned(
        &mut self,
        shapes: &Shapes,
        values: &Interner,
        parts: &mut [u32],
        (name, result): (u32, u32),
    ) -> Result<(), Open> {
        let at = self.client(parts, name).map_err(|_| Open::Unclear)?;
        let mut part = self.parts[parts[at] as usize].part.clone();
        let (op, seen) = part.pending.take().ok_or(Open::Unclear)?;
        part.done.push(Done { op, result, seen });
        parts[at] = self.part(shapes, values, part);
        Ok(())
    }
}

fn both(one: Marks, other: Marks) -> Marks {
    Marks {
        immutable: one.immutable && other.immutable,
        unordered: one.unordered || other.unordered,
    }
}

/// What is known of a part, from what is known of the values in it.
fn marks(values: &Interner, part: &Part) -> Marks {
    let done = part.done.iter().flat_map(|done| [done.op, done.result]);
    let ids = done.chain(part.pending.iter().map(|(op, _)| *op));
    let plain = Marks {
        immutable: true,
        unordered: false,
    };
    ids.map(|id| values.get(id).marks).fold(plain, both)
}
