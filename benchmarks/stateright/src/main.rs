//! Checks one model with Stateright and prints one line of JSON: the other side of `make bench`.
//!
//! `stateright-peer MODEL [key=value]... [--threads N] [--search bfs|dfs]`. Models and keys are
//! named like presage's shipped systems, and must give the same counts.

mod abd;
mod arguments;
mod paxos;
mod register;
mod single_copy;
mod two_phase_commit;

use std::process::ExitCode;
use std::time::Instant;

use stateright::{Checker, CheckerBuilder, Model};

use arguments::{Arguments, Search};

fn main() -> ExitCode {
    match Arguments::parse(std::env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("stateright-peer: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, String> {
    match arguments.model.as_str() {
        "two_phase_commit" => {
            arguments.allow(&["rms"])?;
            let rms = arguments.number("rms", 3)?;
            Ok(check(arguments, two_phase_commit::Transaction { rms }))
        }
        "paxos" => {
            arguments.allow(&["clients"])?;
            let servers = paxos::servers(3);
            let network = register::network("unordered")?;
            let clients = arguments.number("clients", 2)?;
            Ok(check(
                arguments,
                register::system(servers, clients, network),
            ))
        }
        "abd" => {
            arguments.allow(&["servers", "clients", "network"])?;
            let servers = abd::servers(arguments.number("servers", 2)?);
            let network = register::network(arguments.text("network", "unordered"))?;
            let clients = arguments.number("clients", 2)?;
            Ok(check(
                arguments,
                register::system(servers, clients, network),
            ))
        }
        "single_copy" => {
            arguments.allow(&["servers", "clients"])?;
            let servers = vec![single_copy::Server; arguments.number("servers", 1)?];
            let network = register::network("unordered")?;
            let clients = arguments.number("clients", 2)?;
            Ok(check(
                arguments,
                register::system(servers, clients, network),
            ))
        }
        other => Err(format!("no model `{other}`")),
    }
}

fn check<M>(arguments: &Arguments, model: M) -> String
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + std::hash::Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + std::fmt::Debug + PartialEq,
{
    let started = Instant::now();
    let builder: CheckerBuilder<M> = model.checker().threads(arguments.threads);
    match arguments.search {
        Search::Bfs => line(arguments, started, builder.spawn_bfs().join()),
        Search::Dfs => line(arguments, started, builder.spawn_dfs().join()),
    }
}

fn line<M>(arguments: &Arguments, started: Instant, checker: impl Checker<M>) -> String
where
    M: Model,
    M::State: Clone + std::fmt::Debug + std::hash::Hash + PartialEq,
    M::Action: Clone + std::fmt::Debug + PartialEq,
{
    let seconds = started.elapsed().as_secs_f64();
    checker.assert_properties();
    let (unique, generated) = (checker.unique_state_count(), checker.state_count());
    let (model, depth) = (&arguments.model, checker.max_depth());
    format!(
        "{{\"model\": \"{model}\", \"unique\": {unique}, \"generated\": {generated}, \
         \"depth\": {depth}, \"seconds\": {seconds:.6}}}"
    )
}
