//! Checkpoints: the progress of a search in a file, so that another process can go on.
//!
//! Between two chunks all threads pause and one writes (`save.rs`) what fits into the system's
//! buffers; while they work on, another thread waits for the disk and then gives the file its name.
//! So a process that is killed at any moment leaves a whole checkpoint or none.
//!
//! Invariant: what is written is what a search is between two batches: each state seen is either
//! expanded, or waits.

mod load;
mod open;
mod save;
mod wire;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::python::tables::StopReason;
use crate::search::Search;
use crate::search::frontier::{Frontier, Levels};
use crate::services::context::Kind;
use crate::services::path;
use open::{Signing, open};
use save::Status;
use wire::Out;

pub use open::{Inspected, inspect};

const MAGIC: &[u8] = b"presage-checkpoint\n";
const VERSION: u32 = 5;
/// Threads wait for checkpoints at most one part in so many of their time.
const SHARE: u32 = 20;

/// What the processes before this one did.
#[derive(Clone, Copy, Default)]
pub struct Earlier {
    pub states: u64,
    pub seconds: f64,
    pub handler_runs: u64,
    pub property_runs: u64,
}

/// A file on its way to the disk.
struct Pending {
    out: Out,
    states: usize,
    /// How long all threads waited for it.
    paused: Duration,
}

/// How a file fared: its states, and how long all threads waited for it.
type Closed = io::Result<(usize, Duration)>;

impl Pending {
    /// Complete the file, wait for the disk, and give it its name.
    fn close(mut self, errors: PyResult<Vec<u8>>, path: &Path) -> Closed {
        self.out.bytes(&errors.map_err(io::Error::other)?)?;
        self.out.close()?;
        fs::rename(unfinished(path), path)?;
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok((self.states, self.paused))
    }
}

struct State {
    began: Instant,
    next: Instant,
    pending: Option<Pending>,
    closing: Option<JoinHandle<Closed>>,
    written: u64,
    /// States in the last whole checkpoint.
    states: usize,
}

pub struct Checkpointer {
    path: PathBuf,
    header: Vec<u8>,
    interval: Duration,
    resume: bool,
    signing: Signing,
    /// Python's side: `errors`, `restore`, `recall`.
    host: Py<PyAny>,
    due: AtomicBool,
    state: Mutex<State>,
    _lock: File,
}

/// A place for checkpoints, held by this process alone as long as it lives.
#[pyclass(frozen)]
pub struct Checkpoint {
    pub inner: Arc<Checkpointer>,
}

#[pymethods]
impl Checkpoint {
    /// Raises `OSError` if nothing can be written beside `path`, or another process has it.
    #[new]
    fn new(
        path: PathBuf,
        header: Vec<u8>,
        seconds: f64,
        resume: bool,
        signing: Signing,
        host: Py<PyAny>,
    ) -> PyResult<Self> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.with_extension("lock"))?;
        lock.try_lock().map_err(io::Error::from)?; // it ends with the process
        let unfinished = unfinished(&path);
        fs::write(&unfinished, &header)?;
        fs::remove_file(&unfinished)?;
        let now = Instant::now();
        let interval = Duration::from_secs_f64(seconds);
        let inner = Arc::new(Checkpointer {
            path,
            header,
            interval,
            resume,
            signing,
            host,
            due: AtomicBool::new(false),
            state: Mutex::new(State {
                began: now,
                next: now + interval,
                pending: None,
                closing: None,
                written: 0,
                states: 0,
            }),
            _lock: lock,
        });
        Ok(Checkpoint { inner })
    }
}

fn unfinished(path: &Path) -> PathBuf {
    path.with_extension("unfinished")
}

impl Checkpointer {
    pub fn is_due(&self) -> bool {
        self.due.load(Relaxed)
    }

    pub fn resumes(&self) -> bool {
        self.resume
    }

    /// Whole checkpoints that this process has written.
    pub fn written(&self) -> u64 {
        self.state.lock().written
    }

    /// Called a few times a second by the thread that watches, with no lock held.
    pub fn tick(&self, search: &Search) {
        let mut state = self.state.lock();
        if state
            .closing
            .as_ref()
            .is_some_and(|closing| !closing.is_finished())
        {
            return;
        }
        self.collect(search, &mut state);
        let pending = state.pending.take();
        let due = pending.is_none() && Instant::now() >= state.next;
        drop(state);
        if let Some(pending) = pending {
            let started = self.close(pending);
            let mut state = self.state.lock();
            match started {
                Ok(closing) => state.closing = Some(closing),
                Err(error) => self.failed(search, &mut state, &error),
            }
        } else if due {
            self.due.store(true, Relaxed);
        }
    }

    /// Note how the file that was on its way fared, if there was one.
    fn collect(&self, search: &Search, state: &mut State) {
        let Some(closing) = state.closing.take() else {
            return;
        };
        let closed = closing.join();
        let closed = closed.unwrap_or_else(|_| Err(io::Error::other("a fault of presage")));
        self.fared(search, state, closed);
    }

    fn fared(&self, search: &Search, state: &mut State, closed: Closed) {
        match closed {
            Ok((states, paused)) => {
                state.written += 1;
                state.states = states;
                state.next = Instant::now() + self.interval.max(paused * SHARE);
            }
            Err(error) => self.failed(search, state, &error),
        }
    }

    fn failed(&self, search: &Search, state: &mut State, error: &io::Error) {
        let _ = fs::remove_file(unfinished(&self.path));
        state.next = Instant::now() + self.interval.max(Duration::from_secs(1));
        let last = match (state.written, self.resume) {
            (0, false) => "there is none to go on from".to_owned(),
            (0, true) => "the one it went on from is untouched".to_owned(),
            _ => format!("the last whole one has {} states", state.states),
        };
        search.note(format!(
            "a checkpoint could not be written to `{}`: {error}; {last}; usual cause: a full \
             disk, or a folder that was removed",
            self.path.display()
        ));
    }

    /// Complete the file in the background; an error if no thread can be started for that.
    fn close(&self, pending: Pending) -> io::Result<JoinHandle<Closed>> {
        let (errors, path) = (self.errors(), self.path.clone());
        let named = Builder::new().name("presage-checkpoint".into());
        named.spawn(move || pending.close(errors, &path))
    }

    /// Newer than the rest of the file, which does no harm: a property that cannot be judged
    /// somewhere will be found so again.
    fn errors(&self) -> PyResult<Vec<u8>> {
        Python::attach(|py| self.host.bind(py).call_method0("errors")?.extract())
    }

    /// Write what the search is now. No thread works meanwhile.
    fn write(&self, search: &Search, levels: &Levels, status: Status) {
        let begun = Instant::now();
        let mut state = self.state.lock();
        let seconds = search.earlier.lock().seconds + state.began.elapsed().as_secs_f64();
        let written = File::create(unfinished(&self.path)).and_then(|file| {
            let mut out = Out::new(file, self.signing.key());
            let subject = (search, levels);
            save::write(&mut out, &self.header, subject, (status, seconds))?;
            Ok(out)
        });
        match written {
            Ok(out) => {
                let (states, paused) = (search.seen.len(), begun.elapsed());
                let pending = Pending {
                    out,
                    states,
                    paused,
                };
                state.pending = Some(pending);
            }
            Err(error) => self.failed(search, &mut state, &error),
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        if let Some(closing) = self.state.get_mut().closing.take() {
            let _ = closing.join();
        }
    }
}

impl Search {
    #[inline]
    pub fn checkpoint_due(&self) -> bool {
        self.checkpoint.as_ref().is_some_and(|known| known.is_due())
    }

    /// All threads have paused, or the search stops: then the last checkpoint will do.
    pub fn write_checkpoint(&self, levels: &Levels) {
        if let Some(checkpoint) = &self.checkpoint {
            if !self.stopping() {
                checkpoint.write(self, levels, Status::Open);
            }
            checkpoint.due.store(false, Relaxed);
        }
    }
}

/// The frontier to begin with: that of the checkpoint, or an empty one.
pub fn resume(py: Python<'_>, search: &Search) -> PyResult<Frontier> {
    let Some(checkpoint) = search.checkpoint.as_ref().filter(|known| known.resume) else {
        return Ok(Frontier::default());
    };
    let (host, signing) = (checkpoint.host.bind(py), &checkpoint.signing);
    let read = open(&checkpoint.path, signing.key()).and_then(|(mut file, _)| {
        if !signing.accepts(&file) {
            return Err(PyValueError::new_err(("unsigned", "")));
        }
        let read = load::read(py, &mut file, search, host)?;
        let depth = search.depth.load(Relaxed);
        match depth > search.limits.depth as usize {
            true => Err(PyValueError::new_err(("depth", depth.to_string()))),
            false => Ok(read),
        }
    });
    // Python says what an error means for the user; it always raises.
    let (status, mut levels) = read.or_else(|error| {
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Err(error);
        }
        let value = error.clone_ref(py).into_value(py);
        host.call_method1("refuse", (value,)).and(Err(error))
    })?;
    load::judge_again(search, &levels)?;
    let violated = violated(search);
    // As when they were found: whatever ends this process, they are not lost.
    violated
        .iter()
        .for_each(|&property| path::hand_over(search, property));
    if !violated.is_empty() && !search.limits.keep_going {
        search.stop(StopReason::Violation);
        levels.over = true;
    }
    levels.over |= status == Status::Exhausted;
    levels.check_depth(search);
    search.check_states();
    checkpoint.state.lock().began = Instant::now();
    Ok(Frontier::resumed(levels))
}

/// The properties that the processes before this one found violated.
fn violated(search: &Search) -> Vec<usize> {
    let found = search.found.lock();
    let properties = found.iter().flatten().map(|found| found.property);
    let claims = |&at: &usize| search.shared.properties[at].kind != Kind::Sometimes;
    properties.filter(claims).collect()
}

/// What to say of an impossible path: the file's fault, if the search went on from one.
pub fn blamed(py: Python<'_>, search: &Search, error: PyErr) -> PyErr {
    let Some(checkpoint) = search.checkpoint.as_ref().filter(|known| known.resume) else {
        return error;
    };
    let damaged = PyValueError::new_err(("damaged", error.value(py).to_string()));
    let told = checkpoint
        .host
        .bind(py)
        .call_method1("refuse", (damaged.into_value(py),));
    told.err().unwrap_or(error)
}

/// Write the last checkpoint of a search that has ended.
pub fn conclude(py: Python<'_>, search: &Search, frontier: &Frontier) {
    let Some(checkpoint) = &search.checkpoint else {
        return;
    };
    let status = match search.driver.reason() {
        None if !search.cut.load(Relaxed) => Status::Exhausted,
        Some(StopReason::Violation) => Status::Violated,
        _ => Status::Open,
    };
    py.detach(|| {
        checkpoint.collect(search, &mut checkpoint.state.lock());
        checkpoint.write(search, &frontier.levels.lock(), status);
        let pending = checkpoint.state.lock().pending.take();
        if let Some(pending) = pending {
            let closed = pending.close(checkpoint.errors(), &checkpoint.path);
            checkpoint.fared(search, &mut checkpoint.state.lock(), closed);
        }
    });
}
