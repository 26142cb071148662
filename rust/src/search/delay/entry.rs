//! How a state waits: its words, the addresses of its tasks in order, and how far they are done.

/// The words at the end of an entry.
#[derive(Clone, Copy)]
pub struct Rest {
    pub depth: u32,
    /// What to do next, as delays since its first visit.
    pub offset: u32,
    /// Twice the number of its tasks, and 1 more if faults are possible.
    size: u32,
    /// The state of a scheduler that has one.
    pub scheduler: u32,
}

const WORDS: usize = 4;

impl Rest {
    /// Of a state that was never visited.
    pub fn new(depth: u32, tasks: usize, faults: bool, scheduler: u32) -> Self {
        Rest {
            depth,
            offset: 0,
            size: (tasks as u32) << 1 | u32::from(faults),
            scheduler,
        }
    }

    /// The parts of an entry: the state, and the addresses of its tasks.
    pub fn of(entry: &[u32]) -> (&[u32], &[u32], Self) {
        let (words, last) = entry.split_at(entry.len() - WORDS);
        let rest = Rest {
            depth: last[0],
            offset: last[1],
            size: last[2],
            scheduler: last[3],
        };
        let tasks = rest.size as usize >> 1;
        let (state, addresses) = words.split_at(words.len() - tasks);
        (state, addresses, rest)
    }

    /// Write an entry, to be gone on with at `offset`.
    pub fn write(self, state: &[u32], addresses: &[u32], offset: u32, out: &mut Vec<u32>) {
        out.extend_from_slice(state);
        out.extend_from_slice(addresses);
        out.extend_from_slice(&[self.depth, offset, self.size, self.scheduler]);
    }

    /// Let an entry that was written go on at `offset`.
    pub fn go_on(offset: u32, entry: &mut [u32]) {
        let last = entry.len() - WORDS;
        entry[last + 1] = offset;
    }

    pub fn has_faults(self) -> bool {
        self.size & 1 == 1
    }
}
