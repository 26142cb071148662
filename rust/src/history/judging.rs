//! The verdict on a history: by its monitor, or by looking for an order.
//!
//! The monitor of a history is that of the one before it, a few events further on.

use super::Claimed;
use super::feed::events;
use super::monitor::{Event, MonitorId, Opinion};
use super::order::Question;
use super::spec::Open;
use super::table::{Followed, HistoryTable, Record};
use crate::services::tables::Tables;

impl HistoryTable {
    /// Whether there is an order of the operations of a history.
    pub fn is_ordered(
        &mut self,
        tables: &Tables,
        history: u32,
        claimed: Claimed,
    ) -> Result<bool, Open> {
        let place = self.place(history)?;
        let entry = &self.entries[place as usize];
        if claimed.real_time && !entry.real_time {
            return Err(Open::Unclear);
        }
        if claimed.real_time {
            let monitor = self.monitor(tables, place)?;
            match self.monitors.opinion(monitor) {
                Opinion::Ordered => return Ok(true),
                Opinion::Disordered => return Ok(false),
                Opinion::Open => (),
            }
        }
        let entry = &self.entries[place as usize];
        let question = Question {
            spec: entry.spec,
            parts: self.parts_of(entry),
            real_time: claimed.real_time,
        };
        question.has_order(&self.specs)
    }

    /// The monitor after a history: one step further than that of the one before it.
    fn monitor(&mut self, tables: &Tables, place: u32) -> Result<MonitorId, Open> {
        let mut path = vec![place];
        let mut monitor = loop {
            let entry = &self.entries[path[path.len() - 1] as usize];
            match entry.followed {
                Followed::Known(monitor) => {
                    path.pop();
                    break monitor;
                }
                Followed::Behind { place, .. } => path.push(place),
                Followed::FromElsewhere => {
                    break self.monitors.first(&self.specs, entry.spec)?;
                }
            }
        };
        while let Some(place) = path.pop() {
            for event in self.events(tables, place)? {
                monitor = self.monitors.step(&self.specs, monitor, event)?;
            }
            self.entries[place as usize].followed = Followed::Known(monitor);
        }
        Ok(monitor)
    }

    /// What happened between a history and the one before it.
    fn events(&self, tables: &Tables, place: u32) -> Result<Vec<Event>, Open> {
        let entry = &self.entries[place as usize];
        let Followed::Behind { records, .. } = entry.followed else {
            return events(&self.parts_of(entry)).ok_or(Open::Unclear);
        };
        let mut events = Vec::new();
        for &(name, record) in tables.records[records as usize].iter() {
            match self.record(record)? {
                Record::Invoke(op) => events.push(Event::Invoke { name, op }),
                Record::Return(value) => events.push(Event::Return { name, value }),
                Record::Other => (),
            }
        }
        Ok(events)
    }
}
