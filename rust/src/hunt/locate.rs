//! The critical transition of a suspect: the step before which some walk recovers, and after which
//! none does (MaceMC's algorithm 3), made exact where what can still happen is finite.
//!
//! The place is doubled until no walk recovers, then bisected. Where the walks say that nothing
//! recovers, all that can follow is searched: a state that walks only seldom leave is found out.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::execution::Execution;
use super::monitor::Monitor;
use super::region::{Region, survey};
use super::suspect::Suspicion;
use super::walk::{End, Walker};
use super::{Hunt, patient};
use crate::search::EventId;
use crate::search::dice::Dice;
use crate::search::worker::Worker;

/// So many walks that recovered tell how long it takes.
const RECOVERED_ENOUGH: u64 = 20;
/// Before walks alone are believed, one in so many of them is taken again, so many times as long.
const DOUBT: usize = 10;
/// Of walks of which one in n recovers, so many times n miss it with a chance of 5 % only.
const SURE: u64 = 3;
/// The numbers of walks that are taken besides begin here.
const OTHERS: u64 = 1 << 32;

/// How hard to look.
#[derive(Clone, Copy, FromPyObject)]
pub struct Effort {
    /// Walks from each place.
    pub walks: u64,
    /// States that are searched to make sure that nothing recovers.
    pub region: usize,
    /// Places where the share of walks that recover is measured.
    pub samples: usize,
}

/// What was found out.
pub struct Located {
    /// The step after which nothing recovers; 0 if nothing ever does. `None`: not known (MaceMC's
    /// condition 2).
    pub critical: Option<usize>,
    /// How many states follow it, if it is certain that none of them recovers.
    pub states: Option<usize>,
    /// From how far along walks were seen to recover; the next place looked at.
    pub live: usize,
    pub tried: usize,
    /// The execution that recovers and has most in common with the suspect.
    pub alternate: Option<Vec<EventId>>,
    /// (steps taken, walks that recovered, walks).
    pub shares: Vec<(usize, u64, u64)>,
    /// How long walks were that did not recover.
    pub length: usize,
    /// How many of those from the critical place came to rest, of how many, after how many steps.
    pub rested: Rested,
    /// From the place that was tried only walks recovered that were longer than they may be.
    pub slow: bool,
    /// Whether there was time to find out.
    pub in_time: bool,
}

/// Walks that came to rest before they recovered, all walks, the most steps of one at rest.
pub type Rested = (u64, u64, usize);

pub struct Locator<'a, 'w> {
    pub hunt: &'a Hunt,
    pub worker: &'a mut Worker<'w>,
    pub walker: Walker,
    suspicion: &'a Suspicion,
    effort: Effort,
    /// The suspect after each of its steps.
    path: Vec<(Vec<u32>, u64)>,
    /// Walks have missed a way out: do not believe them alone any more.
    thorough: bool,
    /// How long the walks are of which each place gets its share.
    length: usize,
    /// How long they were when it was asked last whether longer ones recover.
    used: usize,
    /// How walks ended from places where none recovered.
    rested: FxHashMap<usize, Rested>,
    /// How many walks recovered, and after how many steps at the latest.
    recovered: (u64, usize),
    /// The best execution that recovered.
    alternate: Option<(usize, Vec<EventId>)>,
}

impl<'a, 'w> Locator<'a, 'w> {
    pub fn new(
        hunt: &'a Hunt,
        worker: &'a mut Worker<'w>,
        suspicion: &'a Suspicion,
        effort: Effort,
    ) -> PyResult<Self> {
        let mut execution = Execution::begin(worker.search, suspicion.start);
        worker.sync();
        let mut path = vec![(execution.words.clone(), execution.sum)];
        worker.expander.muted = 0;
        for event in &suspicion.events {
            let candidates =
                crate::services::path::listed(worker, &execution.words, execution.sum)?;
            let candidate = candidates
                .iter()
                .find(|candidate| worker.happened(candidate, &execution.words).same(event))
                .ok_or_else(crate::services::path::lost)?;
            execution.go(worker, candidate)?;
            path.push((execution.words.clone(), execution.sum));
        }
        Ok(Locator {
            hunt,
            worker,
            walker: Walker::default(),
            suspicion,
            effort,
            path,
            thorough: false,
            length: suspicion.length,
            used: 0,
            rested: FxHashMap::default(),
            recovered: (0, 0),
            alternate: None,
        })
    }

    /// Find the critical transition. `at_rest`: nothing likely is left to happen at the end.
    pub fn locate(mut self, at_rest: bool) -> PyResult<Located> {
        let end = self.path.len() - 1;
        let begun = self.share(0)?; // how long walks take that recover
        let mut low = match self.last_held()? {
            Some(place) => place,
            None if begun.1 > 0 => 0,
            None => return self.never_recovers(),
        };
        // Beyond half of a walk from the end, the suspect itself had too little time to recover.
        let most = match at_rest {
            true => end,
            false => end.saturating_sub(self.suspicion.length / 2),
        };
        loop {
            let Some(mut high) = self.double(&mut low, most, at_rest)? else {
                return self.located(None, None, (low, most.min(end)));
            };
            if !at_rest && self.length() == self.hunt.settings.walk_length {
                // They cannot be made longer later on, so better ask at once.
                match self.recovers_late(high)? {
                    Some(steps) if steps > self.used => return self.slow(low, high),
                    Some(_) => {
                        low = high;
                        continue;
                    }
                    None => (),
                }
            }
            self.bisect(&mut low, &mut high)?;
            if self.overlooked(low, high)? {
                low = high;
                continue;
            }
            match self.certain(high)? {
                // Walks hardly ever find the way out, but there is one.
                Region::Live(_) => (low, self.thorough) = (high, true),
                Region::Dead(states) => return self.located(Some(high), Some(states), (low, high)),
                Region::Unknown => match self.recovers_late(high)? {
                    None => return self.located(Some(high), None, (low, high)),
                    Some(steps) if steps <= self.used || self.lengthen() => low = high,
                    Some(_) => return self.slow(low, high),
                },
            }
        }
    }

    /// Bring two places together, of which walks recover from the first only.
    fn bisect(&mut self, low: &mut usize, high: &mut usize) -> PyResult<()> {
        while *high - *low > 1 {
            let middle = *low + (*high - *low) / 2;
            match self.recovers(middle)? {
                true => *low = middle,
                false => *high = middle,
            }
        }
        Ok(())
    }

    /// The first place found, beyond `low` and up to `most`, from which no walk recovers.
    fn double(&mut self, low: &mut usize, most: usize, at_rest: bool) -> PyResult<Option<usize>> {
        let (base, mut step) = (*low, 1);
        loop {
            let place = (base + step).min(most);
            if place <= *low {
                return Ok(None);
            }
            let dead = (at_rest && place == most) || !self.recovers(place)?;
            if dead {
                return Ok(Some(place));
            }
            *low = place;
            step *= 2;
        }
    }

    /// The last place at which the property holds.
    fn last_held(&mut self) -> PyResult<Option<usize>> {
        for (place, (words, _)) in self.path.iter().enumerate().rev() {
            let mirror = &self.worker.expander.mirror;
            if self
                .worker
                .judge
                .holds(self.suspicion.property, words, mirror)?
                != Some(false)
            {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Not even walks from the initial state recover.
    fn never_recovers(mut self) -> PyResult<Located> {
        match self.certain(0)? {
            Region::Dead(states) => self.located(Some(0), Some(states), (0, 0)),
            _ => self.located(None, None, (0, 0)),
        }
    }

    /// It is not known whether nothing recovers: longer walks do.
    fn slow(self, low: usize, high: usize) -> PyResult<Located> {
        let mut located = self.located(None, None, (low, high))?;
        located.slow = true;
        Ok(located)
    }

    /// How long a walk may be: what is enough by all that was seen, if enough was.
    fn length(&self) -> usize {
        match self.recovered.0 < RECOVERED_ENOUGH {
            true => self.length,
            false => patient(self.recovered.1, self.length),
        }
    }

    /// Walks were too short to tell; false if they may not be longer.
    fn lengthen(&mut self) -> bool {
        self.length = self.hunt.settings.walk_length;
        self.length() > self.used
    }

    /// Whether, where few walks recover before a place, some do after it: so few would be missed.
    fn overlooked(&mut self, low: usize, high: usize) -> PyResult<bool> {
        let (_, recovered, walks) = self.share(low)?;
        let enough = SURE * walks / recovered.max(1);
        for number in walks..enough {
            let length = self.length();
            if self.walk(high, number + OTHERS, length)?.0 == End::Live {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// After how many steps one of a few walks from a place recovers, much longer than the others.
    fn recovers_late(&mut self, place: usize) -> PyResult<Option<usize>> {
        self.used = self.length();
        let length = self.used.saturating_mul(DOUBT);
        let walks = self.effort.walks;
        for number in walks..walks + walks.div_ceil(DOUBT as u64) {
            let (end, steps) = self.walk(place, number, length)?;
            if end == End::Live {
                return Ok(Some(steps));
            }
        }
        Ok(None)
    }

    /// How many of the walks from a place recover.
    fn share(&mut self, place: usize) -> PyResult<(usize, u64, u64)> {
        let mut recovered = 0;
        for number in 0..self.effort.walks {
            let length = self.length();
            recovered += u64::from(self.walk(place, number, length)?.0 == End::Live);
        }
        Ok((place, recovered, self.effort.walks))
    }

    /// Whether any of the walks from a place recovers.
    pub fn recovers(&mut self, place: usize) -> PyResult<bool> {
        let mut rested: Rested = (0, self.effort.walks, 0);
        for number in 0..self.effort.walks {
            let length = self.length();
            match self.walk(place, number, length)? {
                (End::Live, _) => return Ok(true),
                (End::Rest, steps) => rested = (rested.0 + 1, rested.1, rested.2.max(steps)),
                _ => (),
            }
        }
        self.rested.insert(place, rested);
        Ok(self.thorough && matches!(self.certain(place)?, Region::Live(_)))
    }

    /// How one walk from a place ends, and after how many steps.
    fn walk(&mut self, place: usize, number: u64, length: usize) -> PyResult<(End, usize)> {
        self.worker.search.depth.store(place, Relaxed); // for who looks on
        let (words, sum) = self.path[place].clone();
        let mut execution = Execution {
            start: self.suspicion.start,
            events: Vec::new(),
            words,
            sum,
            before: Vec::new(),
        };
        let mut dice = Dice::new(self.worker.search.limits.seed ^ place as u64, number);
        let mut monitor = Monitor::begin(self.worker, &execution, &[self.suspicion.property])?;
        let watched = (&mut monitor, length);
        let worker = &mut *self.worker;
        let end = self
            .walker
            .calm(worker, self.hunt, &mut execution, &mut dice, watched)?;
        if end != End::Live {
            return Ok((end, execution.len()));
        }
        self.recovered = (self.recovered.0 + 1, self.recovered.1.max(execution.len()));
        let better = |known: &(usize, Vec<EventId>)| place > known.0;
        if self.alternate.as_ref().is_none_or(better) {
            let events = [&self.suspicion.events[..place], &execution.events].concat();
            self.alternate = Some((place, events));
        }
        Ok((end, execution.len()))
    }

    /// What all that can follow a place says.
    pub fn certain(&mut self, place: usize) -> PyResult<Region> {
        let (words, sum) = self.path[place].clone();
        let limits = (&self.hunt.settings.calm, self.effort.region);
        survey(self.worker, (&words, sum), self.suspicion.property, limits)
    }

    /// Measure the shares along the way, and put everything together.
    fn located(
        mut self,
        critical: Option<usize>,
        states: Option<usize>,
        (live, tried): (usize, usize),
    ) -> PyResult<Located> {
        let length = self.length();
        let in_time = !self.worker.search.stopping();
        let mut shares = Vec::new();
        for place in places(live, self.effort.samples) {
            let share = self.share(place)?;
            if self.worker.search.stopping() {
                break; // what was found out is known all the same
            }
            shares.push(share);
        }
        if let Some(critical) = critical {
            shares.push((critical, 0, self.effort.walks));
            shares.dedup_by_key(|share| share.0);
        }
        let rested = critical.and_then(|place| self.rested.get(&place).copied());
        Ok(Located {
            critical: critical.filter(|_| in_time),
            states,
            live,
            tried,
            alternate: self.alternate.map(|(_, events)| events),
            shares,
            length,
            rested: rested.unwrap_or_default(),
            slow: false,
            in_time,
        })
    }
}

/// Places from 0 to `last`, at most so many, closer together towards the end.
fn places(last: usize, samples: usize) -> Vec<usize> {
    let near = samples / 2;
    let mut places: Vec<usize> = (0..=last).rev().take(near).collect();
    let far = last.saturating_sub(near);
    let count = samples - near;
    places.extend((0..count).map(|at| far * at / count.max(1)));
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn the_last_places_are_all_looked_at_and_the_others_at_even_distances() {
        assert_eq!(places(3, 20), [0, 1, 2, 3]);
        assert_eq!(places(100, 10), [0, 19, 38, 57, 76, 96, 97, 98, 99, 100]);
        assert_eq!(places(0, 20), [0]);
    }
}
