//! Every pass ends when it is stopped, at whatever state, and otherwise says what it always says.

use std::cell::Cell;

use super::fair::{Fair, Fairness};
use super::lasso::Walk;
use super::pass::Pass;
use super::patience::{Cut, Patience};
use super::reachability::{Reachability, Survey};
use super::space::{Edge, NOBODY, Space};
use crate::python::tables::StopReason;
use crate::search::driver::Driven;

const UNITS: u32 = 3;

/// A ring of rings: three components that are left by a unit which no fair cycle may ignore.
fn space() -> Space {
    let mut space = Space::with_room(1, (0, 0));
    let edges: [&[(u32, u32)]; 9] = [
        &[(1, 0), (3, 2)],
        &[(2, 0)],
        &[(0, 1)],
        &[(4, 0), (6, 2)],
        &[(5, 0)],
        &[(3, 1)],
        &[(7, 0)],
        &[(8, 1)],
        &[(6, 0)],
    ];
    for state in 0..edges.len() as u64 {
        space.ids.insert(state + 1);
        space.push(state + 1, NOBODY);
    }
    for listed in edges {
        for &(target, unit) in listed {
            space.edge(true, Edge { target, unit });
        }
        space.close();
    }
    space.units = UNITS as usize;
    space
}

/// What `pass` gives if it may ask so many times.
fn within<T>(times: u32, pass: impl Fn(&Patience<'_>) -> Result<T, Cut>) -> Result<T, Cut> {
    let left = Cell::new(times);
    let stopping = || match left.get() {
        0 => true,
        more => {
            left.set(more - 1);
            false
        }
    };
    pass(&Patience::new(1, &stopping))
}

/// How often `pass` asks before it ends; whenever it is stopped before, it says nothing.
fn asks<T: PartialEq + std::fmt::Debug>(
    pass: impl Fn(&Patience<'_>) -> Result<T, Cut>,
    expected: &T,
) -> u32 {
    let mut times = 0;
    loop {
        match within(times, &pass) {
            Err(Cut) => times += 1,
            Ok(result) => {
                assert_eq!(&result, expected);
                return times;
            }
        }
    }
}

fn lasso(space: &Space, fairness: Fairness, patience: &Patience<'_>) -> Result<Vec<u32>, Cut> {
    let survey = Survey::of(space, 0, patience)?;
    let witness = Fair::new(space, fairness).nearest(&survey.cyclic, patience)?;
    let Some(witness) = witness else {
        return Ok(Vec::new());
    };
    let walk = Walk::around(space, fairness, &witness, patience)?;
    Ok(walk.iter().map(|taken| taken.state).collect())
}

#[test]
fn each_pass_can_be_stopped_at_every_state() {
    let space = space();
    let states = space.len() as u32;
    assert!(asks(|patience| space.rest(0, patience), &None) >= states);
    let dead = |patience: &Patience<'_>| {
        let survey = Survey::of(&space, 0, patience)?;
        Ok(survey.count(Reachability::Dead))
    };
    let survey = asks(dead, &space.len());
    assert!(survey >= 2 * states);
    let critical =
        |patience: &Patience<'_>| Survey::of(&space, 0, patience)?.critical(&space, patience);
    assert_eq!(asks(critical, &0), survey + states);
    for (fairness, around) in [
        (Fairness::Nothing, [0, 1, 2]),
        (Fairness::Weak, [0, 1, 2]),
        (Fairness::Strong, [6, 7, 8]),
    ] {
        let asked = asks(
            |patience| lasso(&space, fairness, patience),
            &around.to_vec(),
        );
        // Of the strong one: tallies of all states, the cut of what is unfair, the way round.
        let least = match fairness {
            Fairness::Nothing => survey + 3,
            Fairness::Weak => survey + 3 + 3,
            Fairness::Strong => survey + states + 6 + 3,
        };
        assert!(asked >= least, "{fairness:?}: {asked} < {least}");
    }
}

#[test]
fn a_pass_asks_at_the_first_state_and_then_once_in_so_many() {
    let asked = Cell::new(0);
    let stopping = || {
        asked.set(asked.get() + 1);
        false
    };
    let patience = Patience::new(100, &stopping);
    for _ in 0..1_001 {
        assert_eq!(patience.ask(), Ok(()));
    }
    assert_eq!(asked.get(), 11);
}

#[test]
fn a_pass_that_would_take_more_memory_than_is_left_does_not_begin() {
    let refused = |memory, bytes| Pass::new(None, memory, bytes).driver().reason();
    assert_eq!(refused(1, 0), Some(StopReason::Memory));
    assert_eq!(refused(1 << 40, 1 << 50), None);
    assert_eq!(refused(1 << 40, 1 << 62), Some(StopReason::Memory));
}

#[test]
fn of_several_fair_components_the_nearest_is_the_witness() {
    let space = space();
    let components: [Box<[u32]>; 3] = [[8, 7, 6], [0, 1, 2], [3, 4, 5]].map(Box::from);
    let stopping = || false;
    let patience = Patience::new(1, &stopping);
    for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let cyclic: Vec<_> = order
            .iter()
            .map(|&at: &usize| components[at].clone())
            .collect();
        let fair = Fair::new(&space, Fairness::Weak);
        let witness = fair.nearest(&cyclic, &patience).unwrap().unwrap();
        assert_eq!(witness.states, [0, 1, 2]);
    }
}

/// Two states go round; in one of them a unit is enabled that leads out, and never back.
#[test]
fn strong_fairness_looks_for_a_cycle_in_what_is_left_of_a_component() {
    let mut space = Space::with_room(1, (0, 0));
    for key in 1..=3 {
        space.ids.insert(key);
        space.push(key, NOBODY);
    }
    let edges: [&[(u32, u32)]; 3] = [&[(1, 0), (2, 1)], &[(0, 0), (1, 0)], &[]];
    for listed in edges {
        for &(target, unit) in listed {
            space.edge(true, Edge { target, unit });
        }
        space.close();
    }
    space.units = 2;
    let stopping = || false;
    let patience = Patience::new(1, &stopping);
    for (fairness, states) in [(Fairness::Weak, &[0, 1][..]), (Fairness::Strong, &[1])] {
        let cyclic: [Box<[u32]>; 1] = [Box::from([0, 1])];
        let witness = Fair::new(&space, fairness).nearest(&cyclic, &patience);
        assert_eq!(witness.unwrap().unwrap().states, states);
    }
}
