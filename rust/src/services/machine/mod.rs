//! Services, explored run by run: their events as steps of processes for the explorers of `por`.
//!
//! | process | its next step |
//! |---|---|
//! | a message (all its copies), a channel of an ordered network, or a lane | its delivery |
//! | a node | whatever it can start by itself, faults aside |
//! | the faults of a node, or of a connection | any of them that can happen now |
//! | a queue of a stream | the receiver takes its head |
//! | an end of a connection | its node hears that it is gone |
//!
//! All choices of one step depend on the same: what differs between them is joined in one label
//! (`label.rs`). Two steps depend on each other if they meet at one node, if one sends what the
//! other takes, if both are recorded by observers, if both are faults, or if one claims a
//! connection that the other uses (`wires.rs`).
//!
//! **Values, not nodes.** Two deliveries at one node are independent if neither changes a value
//! that the other can read or set (`touch.rs`), and they send no message in common. Each then does
//! the same after the other as before it, to the same values, with the same label. "Can set"
//! matters: one that sets a value to what it is changes nothing here, but would after the other.
//! Whatever else happens at a node depends on all its deliveries.
//!
//! A step may be possible or not: guards close, and what does nothing is left out. Say that each of
//! two deliveries alone disables a step. Were they independent, the proof below would have to undo
//! both to find it. So two deliveries that change anything on which the same kind of message
//! depends, or the node's own steps, are dependent. Two that change nothing never are. Where
//! messages stay, and where a fault may happen any number of times, whether a step does anything
//! depends on more than that, so there all of one node is dependent.
//!
//! **Losses** (drops and duplicates, of unordered networks and of datagrams beside lanes) are part
//! of the step that sends: see `losses.rs`.
//!
//! **Faults.** A fault changes its node and a budget, and does what its label says: a restart sends
//! and records. No other step reads what is left of these budgets. So a fault and a step elsewhere
//! are independent under the same conditions as two steps of two nodes. Two faults are dependent
//! always: the first may spend the budget of the second. Budgets of at least two do not help, since
//! two faults that commute there are ordered by a third.
//!
//! **Ends.** An execution is over when no process can step: nothing is left but faults that cannot
//! happen. One that stops where a fault is possible is the beginning of a longer one, and no class
//! of its own. But it may be at rest, and the execution explored of the class of the longer one
//! need not pass that state. Let C be the events before such a state, in some order of the class of
//! E, and f the first fault that C lacks. Faults have one order, so C lacks all from f on. If C
//! lacked another event that does not happen after f, it would lack a first one: this is no fault,
//! it is possible after C, and C is not at rest. So C is all of E that does not happen after f: one
//! state per fault, judged when E ends (`recorder.rs`).
//!
//! **Properties** that are judged in every state make no steps dependent. Any execution E is the
//! beginning of a longer one that ends. The events of E are a consistent cut of that one's class,
//! and all consistent cuts are beginnings of some order of it. So `always` and `sometimes` are
//! judged in all cuts of each execution explored, or in others that the property cannot tell from
//! them (`cuts.rs`). What `step` properties and exceptions say of a step depends on its node alone,
//! and each step of each class is explored.
//!
//! Where one execution has too many cuts for a property, two steps are dependent if both change
//! something that this property has ever read. Take any execution E, and the one explored of the
//! class of one that goes on from E: the steps of E that the property can see come first there
//! among all that it can see, in the same order. So after the last of these all that it has ever
//! read is as after E, it reads the same, and its verdict is the same. This needs "ever read" to be
//! known from the beginning: whenever such a property reads something new, the exploration begins
//! again. It also does when it is decided, since nothing depends on that one any more.
//!
//! **What a step is like depends on what came before at its node**: turned round, a race may let
//! the later step depend on others, or be another choice. Let w be what the level of i still owes,
//! and of all that is explored there take the p that w goes longest without depending on, so w = w'
//! q ... with p and q dependent. If q is the same after p as before it, the usual proof holds: the
//! race (p, q) is met in an execution that begins with p w' q, and its sequence begins with
//! something that w goes still longer without depending on, or with what w can begin with. If q is
//! another, or disabled, after p, then both happen at one node, or both are faults. The sequence is
//! then w' u q, where u is all else that does not happen after p. If q is the same after u, it is
//! done: what the sequence begins with is in w' or is q, and w can begin with it; or it is in u,
//! does not depend on w', and q is the same after it: back to the usual case. This is why a
//! sequence must hold *all* that does not happen after p (`Machine::labels_depend_on_order`), and
//! why a process that is disabled must be tried even if it never gets its turn
//! (`Machine::disabled_by`).
//!
//! Is q the same after u? If q can step after p, choose the execution p w' q ...: all that q
//! depends on comes after q there, so after p, and is not in u. If it cannot, u may hold what q
//! depends on. If q is no fault, p changes a value that q depends on; so does all that could make q
//! another, so that depends on p and is not in u. If q is a fault, it depends on the steps of its
//! node and on all faults; p is of one of these chains, and u may hold steps of the other: p spends
//! the budget and u lets the node fail, or the reverse. So for each such step e the sequence is
//! also made without what happens after e (`Machine::may_hide`). Let e be the first in u that
//! leaves q disabled. Without e the sequence ends in q, or in another step of its process if u has
//! earlier steps of that chain. One of these is then explored at the level: it goes as long as p
//! does without depending on w, and q can step after it: the case before.
//!
//! **Streams.** Let q be a step that a connection offers: it depends on two chains, its node's and
//! that of all that use the connection. Each process has one node, so what it offers later is on
//! the same chains, and the case in which q can step after p is as before. If p disables q, it is
//! of one chain or of both: it closes a guard at the node, or leaves nothing to be offered. Of the
//! chain that p is of, u holds nothing. Of the other it may hold steps that leave q's process
//! enabled: then the sequence ends in a step of it, and the level explores something that goes as
//! long as p without depending on w, and after which that process can step: the case before. Or it
//! holds one that does not: this is the case of a fault, and `may_hide` names these pairs. A fault
//! of a connection depends on the chain of this one and on all faults, as a fault of a node does.
//!
//! **In a queue** (`por::queue`) a step y that depends on f, and not on j, which is f after x, must
//! leave f as it is. At another node y changes nothing that f reads, unless both are faults; but
//! then y depends on j, too. At the same node y depends on j unless both are deliveries. Then y
//! changes no value that j can read or set. Which these are follows from the code, so they are
//! those that f can read or set.
//!
//! **Choices.** Fix how each step of each process turns out, for one execution: what is left of
//! the exploration is one of a deterministic system, as choices of one step sleep together.

mod cuts;
mod disabling;
mod events;
mod explore;
mod label;
mod losses;
mod notice;
mod order;
mod parts;
mod recorder;
mod state;
mod touch;
mod wires;

pub use explore::{Wanted, explore};
pub use losses::TooManyWays;
pub use parts::{Parts, TooManyCuts};
