//! Sequential processes that talk through mailboxes, explored on integers.
//!
//! Python runs a process once for each (local state, response); `memo.rs` remembers. All else, who
//! meets whom at a mailbox and in which orders, is done here: `world.rs` is the machine that the
//! explorers of `por` run. Mailboxes of channels are in `channels.rs`, what is guessed of them in
//! `guess.rs`, sends that lack room in `room.rs`. `bfs.rs` and `delay.rs` keep the
//! states that they met (`met.rs`).

mod act;
mod bfs;
mod channels;
mod crew;
mod delay;
mod findings;
mod guess;
mod kernel;
mod label;
mod memo;
mod met;
mod op;
mod recorder;
mod room;
mod state;
mod verify;
mod watch;
mod world;

pub use kernel::ProcessKernel;
