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

/// Ends the process when user code keeps the interpreter for too long.
///
/// The watchdog in Python ends code that lets others run now and then. This one needs nothing of
/// Python: where a regular expression or a huge power never lets go, it makes the stuck thread
/// write where it is, and ends the process.
#[pyclass(frozen)]
pub struct Watchdog {
    shared: Arc<Shared>,
}

struct Shared {
    seconds: f64,
    way: Way,
    runs: Mutex<FxHashMap<u64, u64>>, // thread -> the number of the run it is in
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
        let mut spent: FxHashMap<u64, (u64, f64)> = FxHashMap::default();
        let mut last = Instant::now();
        while self.goes_on() {
            // A machine that was asleep, or this process stopped, is not the code's doing.
            let passed = last.elapsed().min(2 * LOOK_EVERY).as_secs_f64();
            last = Instant::now();
            let runs = self.runs.lock().clone();
            spent.retain(|thread, (run, _)| runs.get(thread) == Some(run));
            for (thread, run) in runs {
                let (_, total) = spent.entry(thread).or_insert((run, 0.0));
                *total += passed;
                if *total >= self.seconds + GRACE_SECONDS && self.dumped(thread, run) {
                    self.end();
                }
            }
        }
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

fn write(descriptor: i32, text: &str) {
    // SAFETY: reads a valid buffer.
    unsafe { libc::write(descriptor, text.as_ptr().cast(), text.len()) };
}
