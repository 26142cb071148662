//! Threads over shared variables, as a machine: counts that the literature gives.
//!
//! `lastzero` and `readers` are programs of "Source Sets: A Foundation for Optimal
//! Dynamic Partial Order Reduction", whose numbers of executions are known.

use super::{
    Counts, End, Machine, Pool, Reduction, Step, Team, Visitor, explore, explore_queued, serve,
};

#[derive(Clone, Copy, PartialEq, Eq)]
struct Access {
    thread: u32,
    variable: usize,
    writes: bool,
}

/// What a thread does next, given what it read so far: the variable, and what to write if anything.
type Program = fn(size: usize, thread: usize, read: &[i32]) -> Option<(usize, Option<i32>)>;

#[derive(Clone)]
struct Threads {
    size: usize,
    threads: usize,
    program: Program,
    /// Steps run.
    work: u64,
}

fn threads(program: Program, size: usize, threads: usize) -> Threads {
    Threads {
        size,
        threads,
        program,
        work: 0,
    }
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
    type Brief = ();

    fn brief(&self) {}

    fn adopt(&mut self, _brief: &()) -> Result<(), String> {
        Ok(())
    }

    fn work(&self) -> u64 {
        self.work
    }

    fn add_work(&mut self, steps: u64) {
        self.work += steps;
    }

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
        self.work += 1;
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
    counts: Counts,
    /// Every execution, in order.
    paths: Vec<Vec<Step>>,
}

impl Visitor<Threads> for Count {
    type Record = Count;

    fn hand_in(&mut self) -> Option<Count> {
        Some(std::mem::take(self))
    }

    fn accepts(&self, _: &Count) -> bool {
        true
    }

    fn absorb(&mut self, record: Count) -> Result<(), String> {
        self.counts.add(&record.counts);
        self.paths.extend(record.paths);
        Ok(())
    }

    fn enter(&mut self, _: &mut Threads, _: &Memory, path: &[Step]) -> Result<bool, String> {
        self.counts.enter(path);
        Ok(true)
    }

    fn end(
        &mut self,
        _: &mut Threads,
        _: &Memory,
        path: &[Step],
        how: End,
    ) -> Result<bool, String> {
        self.counts.end(how);
        self.paths.push(path.to_vec());
        Ok(true)
    }

    fn depth(&self) -> usize {
        usize::MAX
    }
}

const REDUCTIONS: [Reduction; 4] = [
    Reduction::Odpor,
    Reduction::Sdpor,
    Reduction::Dpor,
    Reduction::None,
];

impl Team<Threads, Count> for Threads {
    fn recruit(&self) -> Option<(Threads, Count)> {
        let machine = Threads {
            work: 0,
            ..self.clone()
        };
        Some((machine, Count::default()))
    }
}

/// What an exploration met, the steps it took, and the parts that others explored.
fn shared(machine: &Threads, reduction: Reduction, seed: Option<u64>) -> (Count, u64, u64) {
    let pool = Pool::new(machine, reduction, seed, true);
    let (mut own, mut count) = (machine.clone(), Count::default());
    std::thread::scope(|scope| {
        for _ in 0..if seed.is_none() { 3 } else { 0 } {
            scope.spawn(|| serve(&pool));
        }
        explore(&mut own, reduction, &mut count, Some(&pool)).unwrap();
        pool.close();
    });
    let collected = pool.collected.load(std::sync::atomic::Ordering::Relaxed);
    (count, own.work, collected)
}

/// Executions to the end and in vain: optimal, with source sets, with persistent sets.
fn counts(program: Program, size: usize, threads: usize) -> [(usize, usize); 3] {
    let mut machine = self::threads(program, size, threads);
    [Reduction::Odpor, Reduction::Sdpor, Reduction::Dpor].map(|reduction| {
        let mut count = Count::default();
        explore(&mut machine, reduction, &mut count, None).unwrap();
        (count.counts.traces as usize, count.counts.blocked as usize)
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
        let mut machine = self::threads(program, size, threads);
        let mut count = Count::default();
        explore_queued(&mut machine, &mut count).unwrap();
        assert_eq!(count.counts.traces, 64);
    }
}

#[test]
fn without_reduction_every_order_is_run() {
    let mut count = Count::default();
    explore(
        &mut threads(readers, 0, 4),
        Reduction::None,
        &mut count,
        None,
    )
    .unwrap();
    assert_eq!(count.counts.traces, 24);
}

fn compare(
    machine: &Threads,
    reduction: Reduction,
    seeds: impl Iterator<Item = Option<u64>>,
) -> u64 {
    let (mut own, mut alone) = (machine.clone(), Count::default());
    explore(&mut own, reduction, &mut alone, None).unwrap();
    let mut handed = 0;
    for seed in seeds {
        let (met, work, collected) = shared(machine, reduction, seed);
        assert_eq!(met.counts, alone.counts, "{reduction:?}, {seed:?}");
        assert_eq!(met.paths, alone.paths, "{reduction:?}, {seed:?}");
        assert_eq!(work, own.work, "{reduction:?}, {seed:?}");
        handed += collected;
    }
    handed
}

#[test]
fn parts_explored_ahead_are_those_that_one_thread_meets() {
    for reduction in REDUCTIONS {
        let mut handed = compare(&threads(lastzero, 3, 4), reduction, (0..20).map(Some));
        if reduction != Reduction::None {
            handed += compare(&threads(lastzero, 5, 6), reduction, (0..3).map(Some));
        }
        handed += compare(&threads(readers, 4, 5), reduction, (0..20).map(Some));
        assert!(handed > 40, "{reduction:?}: {handed}");
    }
}

#[test]
fn four_threads_explore_what_one_does() {
    for reduction in REDUCTIONS {
        let size = if reduction == Reduction::None { 3 } else { 6 };
        let machine = threads(lastzero, size, size + 1);
        compare(&machine, reduction, std::iter::repeat_n(None, 5));
    }
}
