//! What ends a command from outside of Python: its parent's end, and code that never lets go.

use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;

use crate::python::threads::missing;

/// End this process, at once, when the parent does, whatever ends that one.
#[pyfunction]
pub fn die_with(parent: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: sets one attribute of this process, and reads no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
    }
    #[cfg(not(target_os = "linux"))]
    std::thread::spawn(move || {
        while is_child_of(parent) {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        kill_self();
    });
    if !is_child_of(parent) {
        kill_self(); // it ended before we could ask
    }
}

fn is_child_of(parent: i32) -> bool {
    // SAFETY: always succeeds, and reads no memory of ours.
    unsafe { libc::getppid() == parent }
}

fn kill_self() {
    // SAFETY: ends this process, and nothing else.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

const LOOK_EVERY: Duration = Duration::from_millis(200);
const GRACE_SECONDS: f64 = 4.5; // what the watchdog in Python needs, which can name the error
const TO_DUMP: Duration = Duration::from_millis(500);
const EXIT_STUCK: i32 = 2;
/// A run may take so many times its limit where it neither works nor waits that long at a stretch:
/// then the machine has much else to do, and only a program that polls for ever goes on like that.
const WALL_TIMES: f64 = 30.0;

/// Ends the process when user code keeps the interpreter for too long.
///
/// The watchdog in Python ends code that lets others run now and then. This one needs nothing of
/// Python: where a regular expression or a huge power never lets go, it makes the stuck thread
/// write where it is, and ends the process.
///
/// It also measures the runs for both: see `Spent`.
#[pyclass(frozen)]
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    seconds: f64,
    way: Way,
    runs: Mutex<FxHashMap<u64, u64>>, // thread -> the number of the run it is in
    spent: Mutex<FxHashMap<u64, Spent>>, // thread -> what that run took
    over: Mutex<bool>,
    ended: Condvar,
}

/// How a process ends.
enum Way {
    /// There is a parent, which says what happened: it reads `descriptor`, and what the thread
    /// writes on `signal`, which `faulthandler` knows.
    Watched { descriptor: i32, signal: i32 },
    /// There is none: the text goes to standard error, and the thread aborts. Then `faulthandler`
    /// writes where it was.
    Alone { text: String },
}

#[pymethods]
impl Watchdog {
    /// Alone, with a text to say at the end.
    #[staticmethod]
    fn alone(seconds: f64, text: String) -> PyResult<Self> {
        Self::start(seconds, Way::Alone { text })
    }

    /// With a parent that reads `descriptor`.
    #[staticmethod]
    fn watched(seconds: f64, descriptor: i32, signal: i32) -> PyResult<Self> {
        Self::start(seconds, Way::Watched { descriptor, signal })
    }

    /// `function(*args)`: user code, watched while it runs.
    #[pyo3(signature = (run, function, *args))]
    fn call<'py>(
        &self,
        run: u64,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _running = Running::new(&self.shared, run);
        function.call1(args)
    }

    /// Thread, run, and the seconds that count against its limit, for each run that goes on.
    fn spent(&self) -> Vec<(u64, u64, f64)> {
        let spent = self.shared.spent.lock();
        spent
            .iter()
            .map(|(&thread, spent)| (thread, spent.run, spent.counted()))
            .collect()
    }

    /// Let the run that `thread` is in take as long as it likes.
    fn forget(&self, thread: u64) {
        self.shared.runs.lock().remove(&thread);
    }

    fn stop(&self) {
        *self.shared.over.lock() = true;
        self.shared.ended.notify_all();
    }
}

impl Watchdog {
    fn start(seconds: f64, way: Way) -> PyResult<Self> {
        let shared = Arc::new(Shared {
            seconds,
            way,
            runs: Mutex::default(),
            spent: Mutex::default(),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let looked_at = shared.clone();
        let named = Builder::new().name("presage-guard".into());
        match named.spawn(move || looked_at.look()) {
            Ok(_) => Ok(Self { shared }),
            Err(cause) => Err(missing(
                "the watchdog of handlers",
                &cause,
                "raise the limit",
            )),
        }
    }
}

/// A run on this thread. It ends with the call, whatever exception comes at whatever moment, so
/// that no thread which has ended is ever taken for a running one.
struct Running<'a> {
    shared: &'a Shared,
    thread: u64,
    outer: Option<u64>,
}

impl<'a> Running<'a> {
    fn new(shared: &'a Shared, run: u64) -> Self {
        // SAFETY: always succeeds, and reads no memory of ours.
        let thread = unsafe { libc::pthread_self() } as u64;
        let outer = shared.runs.lock().insert(thread, run);
        Running {
            shared,
            thread,
            outer,
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut runs = self.shared.runs.lock();
        match self.outer {
            Some(run) => runs.insert(self.thread, run),
            None => runs.remove(&self.thread),
        };
    }
}

impl Shared {
    fn look(&self) {
        let mut last = Instant::now();
        while self.goes_on() {
            // A machine that was asleep, or this process stopped, is not the code's doing.
            let passed = last.elapsed().min(2 * LOOK_EVERY).as_secs_f64();
            last = Instant::now();
            for (thread, run) in self.overdue(passed) {
                if self.dumped(thread, run) {
                    self.end();
                }
            }
        }
    }

    /// Count what passed; the runs that have to be ended from here.
    fn overdue(&self, passed: f64) -> Vec<(u64, u64)> {
        // No thread leaves its run, and so none ends, while this lock is held.
        let runs = self.runs.lock();
        let mut spent = self.spent.lock();
        spent.retain(|thread, spent| runs.get(thread) == Some(&spent.run));
        let mut overdue = Vec::new();
        for (&thread, &run) in runs.iter() {
            let worked = worked(thread);
            let spent = spent.entry(thread).or_insert(Spent::new(run, worked));
            spent.add(passed, worked);
            if spent.counted() >= self.seconds + GRACE_SECONDS {
                overdue.push((thread, run));
            }
        }
        overdue
    }

    /// Wait until it is time to look again; false when there is nothing more to look at.
    fn goes_on(&self) -> bool {
        let mut over = self.over.lock();
        if !*over {
            self.ended.wait_for(&mut over, LOOK_EVERY);
        }
        !*over
    }

    /// Let `thread` write where it is; whether it is still in `run` after that.
    fn dumped(&self, thread: u64, run: u64) -> bool {
        {
            let runs = self.runs.lock();
            if runs.get(&thread) != Some(&run) {
                return false;
            }
            let signal = match &self.way {
                Way::Watched { signal, .. } => *signal,
                Way::Alone { text } => {
                    write(libc::STDERR_FILENO, text);
                    libc::SIGABRT
                }
            };
            // SAFETY: the thread cannot leave its run, and so not end, while the lock is held.
            unsafe { libc::pthread_kill(thread as libc::pthread_t, signal) };
        }
        std::thread::sleep(TO_DUMP);
        self.runs.lock().get(&thread) == Some(&run)
    }

    /// End this process without a word but the one to the parent.
    fn end(&self) {
        match &self.way {
            Way::Watched { descriptor, .. } => {
                write(*descriptor, &format!("stuck {}\n", self.seconds));
                // SAFETY: ends the process, and reads no memory of ours.
                unsafe { libc::_exit(EXIT_STUCK) };
            }
            Way::Alone { .. } => std::process::abort(),
        }
    }
}

/// What one run took so far, of the processor and of the clock on the wall.
///
/// A busy machine lets a run wait for the processor, which is not the code's doing. So what counts
/// is the work of its thread, or for how long it has not worked at all: then it waits in C.
struct Spent {
    run: u64,
    before: Option<f64>, // work of the thread before this run was first seen
    last: Option<f64>,   // and when it was last seen
    idle: f64,           // seconds since it last worked
    wall: f64,
}

impl Spent {
    fn new(run: u64, worked: Option<f64>) -> Self {
        Spent {
            run,
            before: worked,
            last: worked,
            idle: 0.0,
            wall: 0.0,
        }
    }

    /// `passed` on the wall, and the thread has `worked` for so long since it began.
    fn add(&mut self, passed: f64, worked: Option<f64>) {
        self.wall += passed;
        self.idle = match worked == self.last {
            true => self.idle + passed,
            false => 0.0,
        };
        self.last = worked;
    }

    /// The seconds that count against the limit.
    fn counted(&self) -> f64 {
        match (self.before, self.last) {
            (Some(before), Some(last)) => {
                (last - before).max(self.idle).max(self.wall / WALL_TIMES)
            }
            _ => self.wall, // nobody tells
        }
    }
}

/// The seconds of the processor that a living thread has used; None where nobody tells.
#[cfg(target_os = "linux")]
fn worked(thread: u64) -> Option<f64> {
    let mut clock = 0;
    // SAFETY: `thread` is alive; writes to a local.
    if unsafe { libc::pthread_getcpuclockid(thread as libc::pthread_t, &raw mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a local.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (status == 0).then(|| time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

#[cfg(not(target_os = "linux"))]
fn worked(_: u64) -> Option<f64> {
    None
}

fn write(descriptor: i32, text: &str) {
    // SAFETY: reads a valid buffer.
    unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(looks: impl IntoIterator<Item = (f64, f64)>) -> f64 {
        let mut spent = Spent::new(1, Some(5.0));
        for (passed, worked) in looks {
            spent.add(passed, Some(worked));
        }
        spent.counted()
    }

    #[test]
    fn a_run_that_works_counts_what_it_works() {
        assert_eq!(
            spent((1..=10).map(|at| (0.2, 5.0 + f64::from(at) / 8.0))),
            1.25
        );
    }

    #[test]
    fn a_run_that_waits_for_the_processor_does_not_count_the_wait() {
        let looks = (1..=100).map(|at| (0.2, 5.0 + f64::from(at / 10) / 64.0));
        assert!(spent(looks) < 2.0);
    }

    #[test]
    fn a_run_that_waits_in_c_counts_all_of_it() {
        assert!((spent((0..50).map(|_| (0.2, 5.0))) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_run_that_polls_for_ever_is_overdue_in_the_end() {
        let looks = (1..=3000).map(|at| (0.2, 5.0 + f64::from(at) / 1e6));
        assert!((spent(looks) - 20.0).abs() < 1e-6);
    }

    #[test]
    fn without_clocks_of_threads_the_wall_counts() {
        let mut spent = Spent::new(1, None);
        spent.add(0.25, None);
        spent.add(0.25, None);
        assert_eq!(spent.counted(), 0.5);
    }

    #[test]
    fn a_thread_is_told_what_it_works() {
        // SAFETY: always succeeds, and reads no memory of ours.
        let thread = unsafe { libc::pthread_self() } as u64;
        let Some(before) = worked(thread) else { return };
        let started = Instant::now();
        while worked(thread) < Some(before + 0.01) {
            assert!(started.elapsed() < Duration::from_secs(60));
        }
    }
}
