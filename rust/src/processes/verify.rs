//! Whether the relation of dependence holds, by trying: for tests.
//!
//! In every reachable state and for every two enabled steps that are held to be independent: both
//! orders are possible, lead to the same state, and each step keeps its label and its choices,
//! save for partners where `stale` says so.

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::label::Label;
use super::op::overlap;
use super::state::{Post, State};
use super::world::World;
use crate::reduce::por::{Machine, Step};

/// The pairs that are wrong, as text, and how many pairs were tried.
pub fn verify(world: &mut World, states: usize) -> PyResult<(Vec<String>, u64)> {
    let mut wrong = Vec::new();
    let mut tried = 0;
    let mut seen = FxHashSet::default();
    let mut todo = vec![world.start()?];
    let mut steps = Vec::new();
    while let Some(state) = todo.pop() {
        if !seen.insert(state.fingerprint()) || seen.len() > states {
            continue;
        }
        steps.clear();
        world.enabled(&state, &mut steps)?;
        for (at, &one) in steps.iter().enumerate() {
            for &other in steps[at + 1..].iter() {
                if one.process == other.process {
                    continue;
                }
                tried += 1;
                if let Some(complaint) = compare(world, &state, one, other)? {
                    wrong.push(complaint);
                }
            }
            let mut next = state.clone();
            world.run(&mut next, one)?;
            todo.push(next);
        }
    }
    Ok((wrong, tried))
}

fn compare(world: &mut World, state: &State, one: Step, other: Step) -> PyResult<Option<String>> {
    let (mut first, mut second) = (state.clone(), state.clone());
    let mine = world.run(&mut first, one)?;
    let its = world.run(&mut second, other)?;
    if world.dependent(&mine, &its) {
        return Ok(None);
    }
    let complaint = |what: &str| Ok(Some(format!("{what}: {mine:?} and {its:?}")));
    let (mut after_mine, mut after_its) = (Vec::new(), Vec::new());
    world.choices(&first, other.process, &mut after_mine)?;
    world.choices(state, other.process, &mut after_its)?;
    if after_mine != after_its {
        return complaint("other choices");
    }
    let its_then = world.run(&mut first, other)?;
    let mine_then = world.run(&mut second, one)?;
    if !same(world, &first, &second) {
        return complaint("other states");
    }
    let kept = |world: &World, before: &Label, then: &Label, ran: &Label| {
        before == then || world.stale(ran, before)
    };
    if !kept(world, &mine, &mine_then, &its) || !kept(world, &its, &its_then, &mine) {
        return complaint("other labels");
    }
    if world.dependent(&mine_then, &its) || world.dependent(&mine, &its_then) {
        return complaint("dependent the other way");
    }
    Ok(None)
}

/// Equal, but for the order of posts that nobody can tell apart.
fn same(world: &World, one: &State, other: &State) -> bool {
    tidy(world, one) == tidy(world, other)
}

/// The fingerprint with each post as far to the front as those it commutes with and that have
/// greater names let it: the least of all equivalent orders.
fn tidy(world: &World, state: &State) -> u64 {
    let commute = |one: &Post, other: &Post| {
        let bound = match one.send {
            true => world.memo.joins(one.mailbox, one.key, other.key),
            false => overlap(one.key, other.key),
        };
        one.mailbox == other.mailbox && one.send == other.send && !bound
    };
    let mut posts: Vec<Post> = Vec::new();
    for post in &state.posts {
        let free = posts.iter().rev().take_while(|known| commute(known, post));
        let from = posts.len() - free.count();
        let greater = posts[from..]
            .iter()
            .position(|known| known.post > post.post);
        posts.insert(greater.map_or(posts.len(), |at| from + at), *post);
    }
    let mut state = state.clone();
    state.posts = posts;
    state.fingerprint()
}
