//! Sequential processes that talk through mailboxes, explored on integers.
//!
//! Python runs a process once for each (local state, response); `memo.rs` remembers. All else, who
//! meets whom at a mailbox and in which orders, is done here: `world.rs` is the machine that the
//! explorers of `por` run; `bfs.rs` and `delay.rs` keep the states that they met (`met.rs`).

mod act;
mod bfs;
mod delay;
mod findings;
mod kernel;
mod label;
mod memo;
mod met;
mod op;
mod recorder;
mod state;
mod verify;
mod watch;
mod world;

pub use kernel::ProcessKernel;
