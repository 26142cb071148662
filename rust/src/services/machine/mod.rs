//! Services, explored run by run: their events as steps of processes for the explorers of `por`.
//!
//! | process | its next step |
//! |---|---|
//! | a message (all its copies), or a channel of an ordered network | its delivery |
//! | a node | whatever it can start by itself, faults aside |
//! | the faults | any fault of a node that its budget allows |
//!
//! All choices of one step depend on the same: what differs between them is joined in one label
//! (`label.rs`). Two steps depend on each other if they happen at one node, if one sends what the
//! other takes, if both are recorded by observers, if both change what one property looks at, or
//! if one is a fault.
//!
//! **Losses** (drops and duplicates, of unordered networks) are part of the step that sends: see
//! `losses.rs`.
//!
//! **Faults.** One process for all, which depends on everything. It can always step as long as any
//! budget is left: where no fault is possible it gives up, for good, which changes nothing. So
//! nobody disables it. It need not be told to do nothing: an execution without a fault is the
//! beginning of one whose fault comes last, and properties are judged at every step.
//!
//! **Properties.** Let two steps be dependent if both change something that one `always` or
//! `sometimes` property has ever read. Take any execution E, and the one explored of the class of
//! one that goes on from E: the steps of E that the property can see come first there among all
//! that it can see, in the same order. So after the last of these all that it has ever read is as
//! after E, it reads the same, and its verdict is the same. This needs "ever read" to be known from
//! the beginning: whenever a property reads something new, the exploration begins again. It also
//! does when a property is decided, since nothing depends on that one any more.
//!
//! **What a step is like depends on what came before at its node**: turned round, a race may let
//! the later step depend on others, or be another choice. Let w be what the level of i still owes,
//! and of all that is explored there take the p that w goes longest without depending on, so w =
//! w' q ... with p and q dependent. If q is the same after p as before it, the usual proof holds:
//! the race (p, q) is met in an execution that begins with p w' q, and its sequence begins with
//! something that w goes still longer without depending on, or with what w can begin with. If q is
//! another, or disabled, after p, then both happen at one node, or p is a fault. The sequence is
//! then w' u q, where u is all else that does not happen after p: nothing at that node, and no
//! fault. What it begins with is in w' or is q, and w can begin with it; or it is in u, does not
//! depend on w', and q is the same after it: back to the usual case. This is why a sequence must
//! hold *all* that does not happen after p (`Machine::labels_depend_on_order`), and why a process
//! that is disabled must be tried even if it never gets its turn (`Machine::disabled_by`).
//!
//! **Choices.** Fix how each step of each process turns out, for one execution: what is left of
//! the exploration is one of a deterministic system, as choices of one step sleep together.

mod events;
mod explore;
mod label;
mod losses;
mod notice;
mod recorder;
mod state;

pub use explore::{Wanted, explore};
pub use losses::TooManyWays;
