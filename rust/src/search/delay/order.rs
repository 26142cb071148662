//! In which order the tasks of a state are tried: the scheduler.
//!
//! The order after a step follows from the order before it and from what the step did. Ranks come
//! first: what has a lower rank is tried before all else, so that time passes only where nothing
//! else can happen. A task that was put off goes to the back of its rank.

use super::agenda::Task;
use crate::table::fingerprint::scramble;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Run to completion: what a step has caused is next.
    RunToCompletion,
    /// What has waited longest is next.
    RoundRobin,
    /// A function of the state: replay and resumption agree.
    Random(u64),
    /// A user's: see `custom.rs`.
    Custom,
}

/// The step that led to a state, as schedulers see it.
pub struct Step<'a> {
    /// The keys of the tasks before it, in their order.
    pub before: &'a [u64],
    /// Which of them ran; those in front of it were put off. None: a fault happened.
    pub ran: Option<usize>,
    /// The keys of what was sent, in order.
    pub sent: &'a [u64],
    /// Before it, the state of a scheduler that has one; none in an initial state.
    pub state: Option<u32>,
}

/// Where a task stands relative to others; less is earlier.
pub type Place = (u8, u8, u64, u64);

impl Scheduler {
    /// Sort the tasks of the state with the fingerprint `sum`, which `step` led to.
    pub fn arrange(
        self,
        step: &Step<'_>,
        sum: u64,
        places: &mut Vec<(Place, Task)>,
        tasks: &mut [Task],
    ) {
        places.clear();
        for (index, task) in tasks.iter().enumerate() {
            places.push((self.place(step, sum, (index, task)), *task));
        }
        places.sort_unstable_by_key(|(place, _)| *place);
        for (task, (_, placed)) in tasks.iter_mut().zip(places) {
            *task = *placed;
        }
    }

    #[inline(always)]
    fn place(self, step: &Step<'_>, sum: u64, (index, task): (usize, &Task)) -> Place {
        let Task { key, rank, .. } = *task;
        if let Scheduler::Random(seed) = self {
            return (rank, 0, scramble(key ^ scramble(sum ^ seed)), key);
        }
        let (front, back) = match self {
            Scheduler::RunToCompletion => (1, 0),
            _ => (0, 1),
        };
        let goes_on = task.runs_on && self == Scheduler::RunToCompletion;
        let count = step.before.len();
        match (
            step.before.iter().position(|&known| known == key),
            task.ends,
        ) {
            (Some(at), _) if step.ran == Some(at) && !goes_on => (rank, 3, 0, key),
            (Some(at), _) => {
                let turned = (at + count - step.ran.unwrap_or(0)) % count;
                (rank, front, turned as u64, key)
            }
            (None, Some((source, to))) => {
                let sent = step
                    .sent
                    .iter()
                    .position(|&sent| task.is_message && sent == key);
                // What nobody just sent: news of a connection, mail that a partition held back.
                let ends = u64::from(source) << 32 | u64::from(to) | 1 << 63;
                (rank, back, sent.map_or(ends, |at| at as u64), key)
            }
            (None, None) => (rank, 2, index as u64, key),
        }
    }
}
