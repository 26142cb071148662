//! What the register systems share: clients that write and then read, and a recorded history
//! that must be linearizable.

use stateright::Expectation;
use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, Network};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;

/// What travels between clients and servers; `P` is what servers say among themselves.
pub type Wire<P> = RegisterMsg<u64, char, P>;

type History = LinearizabilityTester<Id, Register<char>>;
type System<S> = ActorModel<RegisterActor<S>, (), History>;

/// What a register holds before anyone writes.
pub const NOTHING: char = '\0';

/// `servers` first, then `clients` clients, each with one write followed by one read.
pub fn system<S, P>(servers: Vec<S>, clients: usize, network: Network<Wire<P>>) -> System<S>
where
    S: Actor<Msg = Wire<P>>,
    S::Timer: Ord,
    P: Clone + std::fmt::Debug + Eq + std::hash::Hash + Ord,
{
    let server_count = servers.len();
    ActorModel::new((), History::new(Register(NOTHING)))
        .actors(servers.into_iter().map(RegisterActor::Server))
        .actors((0..clients).map(|_| RegisterActor::Client {
            put_count: 1,
            server_count,
        }))
        .init_network(network)
        .record_msg_out(RegisterMsg::record_invocations)
        .record_msg_in(RegisterMsg::record_returns)
        .property(Expectation::Always, "linearizable", |_, state| {
            state.history.serialized_history().is_some()
        })
        .property(Expectation::Sometimes, "value chosen", |_, state| {
            let mut messages = state
                .network
                .iter_deliverable()
                .map(|envelope| envelope.msg);
            messages.any(|m| matches!(m, RegisterMsg::GetOk(_, value) if *value != NOTHING))
        })
}

pub fn network<P>(name: &str) -> Result<Network<Wire<P>>, String>
where
    P: Eq + std::hash::Hash,
{
    match name {
        "unordered" => Ok(Network::new_unordered_nonduplicating([])),
        "ordered" => Ok(Network::new_ordered([])),
        other => Err(format!("no network `{other}`: `unordered` or `ordered`")),
    }
}
