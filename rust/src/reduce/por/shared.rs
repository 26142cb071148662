//! Threads over shared variables, as a machine: counts that the literature gives.
//!
//! `lastzero` and `readers` are programs of "Source Sets: A Foundation for Optimal
//! Dynamic Partial Order Reduction", whose numbers of executions are known.

use super::{End, Machine, Reduction, Step, Visitor, explore, explore_queued};

#[derive(Clone, Copy, PartialEq, Eq)]
struct Access {
    thread: u32,
    variable: usize,
    writes: bool,
}

/// What a thread does next, given what it read so far: the variable, and what to write if anything.
type Program = fn(size: usize, thread: usize, read: &[i32]) -> Option<(usize, Option<i32>)>;

struct Threads {
    size: usize,
    threads: usize,
    program: Program,
}

#[derive(Clone)]
struct Memory {
    variables: Vec<i32>,
    read: Vec<Vec<i32>>,
}

impl Machine for Threads {
    type State = Memory;
    type Label = Access;
    type Error = String;

    fn start(&mut self) -> Result<Memory, String> {
        Ok(Memory {
            variables: vec![0; self.size + 64],
            read: vec![Vec::new(); self.threads],
        })
    }

    fn enabled(&mut self, state: &Memory, into: &mut Vec<Step>) -> Result<(), String> {
        (0..self.threads as u32).try_for_each(|thread| self.choices(state, thread, into))
    }

    fn choices(
        &mut self,
        state: &Memory,
        process: u32,
        into: &mut Vec<Step>,
    ) -> Result<(), String> {
        let read = &state.read[process as usize];
        let next = (self.program)(self.size, process as usize, read);
        into.extend(next.map(|_| Step { process, choice: 0 }));
        Ok(())
    }

    fn run(&mut self, state: &mut Memory, step: Step) -> Result<Access, String> {
        let thread = step.process as usize;
        let next = (self.program)(self.size, thread, &state.read[thread]);
        let (variable, written) = next.ok_or("not enabled")?;
        let before = state.variables[variable];
        state.read[thread].push(before);
        state.variables[variable] = written.unwrap_or(before);
        Ok(Access {
            thread: step.process,
            variable,
            writes: written.is_some(),
        })
    }

    fn dependent(&self, one: &Access, other: &Access) -> bool {
        let meet = one.variable == other.variable && (one.writes || other.writes);
        one.thread == other.thread || meet
    }

    fn stale(&self, _ran: &Access, _label: &Access) -> bool {
        false
    }
}

#[derive(Default)]
struct Count {
    over: usize,
    asleep: usize,
}

impl Visitor<Threads> for Count {
    fn enter(&mut self, _: &mut Threads, _: &Memory, _: &[Step]) -> Result<bool, String> {
        Ok(true)
    }

    fn end(&mut self, _: &mut Threads, _: &Memory, _: &[Step], how: End) -> Result<bool, String> {
        match how {
            End::Over => self.over += 1,
            _ => self.asleep += 1,
        }
        Ok(true)
    }

    fn depth(&self) -> usize {
        usize::MAX
    }
}

/// Executions to the end and in vain: optimal, with source sets, with persistent sets.
fn counts(program: Program, size: usize, threads: usize) -> [(usize, usize); 3] {
    let mut machine = Threads {
        size,
        threads,
        program,
    };
    [Reduction::Odpor, Reduction::Sdpor, Reduction::Dpor].map(|reduction| {
        let mut count = Count::default();
        explore(&mut machine, reduction, &mut count).unwrap();
        (count.over, count.asleep)
    })
}

/// Thread 0 looks for the last zero from the end; thread i writes one more than variable i-1 to i.
fn lastzero(size: usize, thread: usize, read: &[i32]) -> Option<(usize, Option<i32>)> {
    match (thread, read) {
        (0, read) if read.last() == Some(&0) => None,
        (0, read) => Some((size - read.len(), None)),
        (_, []) => Some((thread - 1, None)),
        (_, [before]) => Some((thread, Some(before + 1))),
        _ => None,
    }
}

/// Thread 0 writes what all others read.
fn readers(_: usize, thread: usize, read: &[i32]) -> Option<(usize, Option<i32>)> {
    let written = (thread == 0).then_some(42);
    read.is_empty().then_some((0, written))
}

#[test]
fn last_zero_takes_as_many_executions_as_published() {
    let optimal = |size| counts(lastzero, size, size + 1)[0];
    assert_eq!(optimal(5), (64, 0));
    assert_eq!(optimal(8), (2usize.pow(6) * 11, 0));
}

#[test]
fn readers_see_the_write_or_not() {
    for size in [2, 8] {
        for (over, _) in counts(readers, size, size + 1) {
            assert_eq!(over, 2usize.pow(size as u32));
        }
    }
}

#[test]
fn simpler_sets_find_the_same_executions_and_begin_some_in_vain() {
    let [optimal, source, persistent] = counts(lastzero, 4, 5);
    assert_eq!(optimal.0, source.0);
    assert_eq!(optimal.0, persistent.0);
    assert!(source.1 > 0 && persistent.1 >= source.1);
}

#[test]
fn a_queue_of_reversals_meets_each_execution_once() {
    for (program, size, threads) in [(lastzero as Program, 5, 6), (readers, 6, 7)] {
        let mut machine = Threads {
            size,
            threads,
            program,
        };
        let mut count = Count::default();
        explore_queued(&mut machine, &mut count).unwrap();
        assert_eq!(count.over, 64);
    }
}

#[test]
fn without_reduction_every_order_is_run() {
    let (size, threads, program) = (0, 4, readers as Program);
    let mut machine = Threads {
        size,
        threads,
        program,
    };
    let mut count = Count::default();
    explore(&mut machine, Reduction::None, &mut count).unwrap();
    assert_eq!(count.over, 24);
}
