//! The monitor and the search for an order, against each other, on random histories and specs.

use super::feed::events;
use super::monitor::{Event, Monitors, Opinion};
use super::order::Question;
use super::spec::{Applied, Specs};
use super::table::{Done, Part, SeenIds};
use crate::table::fingerprint::scramble;

const SPEC: u32 = 0;
const STATES: u64 = 4;
const OPS: u64 = 3;
const RESULTS: u64 = 2;

/// A source of small numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = scramble(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15));
        (self.0 >> 8) % limit
    }
}

/// Any finite spec: some operations are impossible in some states, and results 0 and 2 are equal.
fn spec(dice: &mut Dice) -> Specs {
    let mut specs = Specs::default();
    specs.learn_initial(SPEC, Some(0));
    for (state, op) in (0..STATES).flat_map(|state| (0..OPS).map(move |op| (state, op))) {
        let applied = match dice.below(5) {
            0 => Applied::Impossible,
            _ => Applied::To {
                state: dice.below(STATES) as u32,
                result: dice.below(RESULTS) as u32,
            },
        };
        specs.learn_applied((SPEC, state as u32, op as u32), applied);
    }
    for (answer, result) in (0..3).flat_map(|one| (0..3).map(move |other| (one, other))) {
        specs.learn_equal(answer, result, Some(answer % 2 == result % 2));
    }
    specs
}

/// What happens to some clients, and the history that they then have.
fn history(dice: &mut Dice) -> (Vec<Event>, Vec<Part>) {
    let clients = 1 + dice.below(4) as u32;
    let new = |name| Part {
        name,
        done: Vec::new(),
        pending: None,
    };
    let mut parts: Vec<Part> = (0..clients).map(new).collect();
    let mut happened = Vec::new();
    for _ in 0..dice.below(12) {
        let name = dice.below(u64::from(clients)) as u32;
        let seen = |part: &Part| {
            let last = (part.done.len() as u32).checked_sub(1)?;
            (part.name != name).then_some((part.name, last))
        };
        let seen: SeenIds = parts.iter().filter_map(seen).collect();
        let part = &mut parts[name as usize];
        match part.pending.take() {
            None => {
                let op = dice.below(OPS) as u32;
                part.pending = Some((op, seen));
                happened.push(Event::Invoke { name, op });
            }
            Some((op, seen)) => {
                let result = dice.below(RESULTS + 1) as u32;
                part.done.push(Done { op, result, seen });
                let value = result;
                happened.push(Event::Return { name, value });
            }
        }
    }
    parts.retain(|part| !part.done.is_empty() || part.pending.is_some());
    (happened, parts)
}

fn monitored(specs: &Specs, monitors: &mut Monitors, events: &[Event]) -> Opinion {
    let mut at = monitors.first(specs, SPEC).unwrap();
    for &event in events {
        at = monitors.step(specs, at, event).unwrap();
    }
    monitors.opinion(at)
}

#[test]
fn the_monitor_says_what_a_search_for_an_order_says() {
    let mut counts = [0; 2];
    for seed in 0..4_000 {
        let mut dice = Dice(seed);
        let specs = spec(&mut dice);
        let mut monitors = Monitors::default();
        let (happened, parts) = history(&mut dice);
        let question = Question {
            spec: SPEC,
            parts: parts.iter().collect(),
            real_time: true,
        };
        let ordered = question.has_order(&specs).unwrap();
        counts[usize::from(ordered)] += 1;
        let expected = match ordered {
            true => Opinion::Ordered,
            false => Opinion::Disordered,
        };
        let opinion = monitored(&specs, &mut monitors, &happened);
        assert_eq!(opinion, expected, "{seed}: {happened:?}");
        // The events in another order, in which they may have happened as well.
        let again = events(&question.parts).expect("it did happen");
        assert_eq!(again.len(), happened.len());
        let opinion = monitored(&specs, &mut monitors, &again);
        assert_eq!(opinion, expected, "{seed}: {again:?}");
    }
    assert!(counts.iter().all(|&count| count > 800), "{counts:?}");
}

#[test]
fn a_history_that_cannot_have_happened_has_no_events() {
    let done = |seen: &[(u32, u32)]| Done {
        op: 0,
        result: 0,
        seen: seen.into(),
    };
    let part = |name, seen: &[(u32, u32)]| Part {
        name,
        done: vec![done(seen)],
        pending: None,
    };
    // Each began after the other was answered.
    let (one, other) = (part(0, &[(1, 0)]), part(1, &[(0, 0)]));
    assert_eq!(events(&[&one, &other]), None);
    let alone = part(0, &[]);
    assert_eq!(
        events(&[&alone, &other]).map(|events| events.len()),
        Some(4)
    );
}

#[test]
fn too_many_configurations_leave_the_question_open() {
    let mut specs = Specs::default();
    specs.learn_initial(SPEC, Some(0));
    let clients = 12;
    // A counter: every order is fine, and all results differ.
    for state in 0..clients + 1 {
        let (next, result) = (state + 1, state);
        let applied = Applied::To {
            state: next,
            result,
        };
        specs.learn_applied((SPEC, state, 0), applied);
        (0..=clients).for_each(|answer| specs.learn_equal(answer, state, Some(answer == state)));
    }
    let mut monitors = Monitors::default();
    let mut happened: Vec<Event> = Vec::new();
    happened.extend((0..clients).map(|name| Event::Invoke { name, op: 0 }));
    happened.push(Event::Return { name: 0, value: 11 });
    assert_eq!(monitored(&specs, &mut monitors, &happened), Opinion::Open);
    happened.push(Event::Return { name: 1, value: 11 });
    assert_eq!(monitored(&specs, &mut monitors, &happened), Opinion::Open);
}
