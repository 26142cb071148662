//! The hot loop for plain systems: messages in a bag or a set, and no faults that happen to them.
//!
//! Most searches are of such systems. What `expand.rs` asks for every candidate is asked here
//! once for a batch (`is_plain`). A step that changes nothing is counted, and no candidate is
//! made of it: it leads nowhere, and in a network that keeps its messages it is a third of all
//! steps. Nor is one made of a step to where this thread was lately, as four of five others lead.
//!
//! Which of these a step is, a processor cannot guess. So `list_simple` has no branch for it: it
//! writes each step where the next candidate goes, and then that place is taken or not.
//!
//! Invariant: what is listed is what `Expander::list` lists, in the same order, without the steps
//! that change nothing and those to where the thread was lately. As long as no known step breaks a
//! property or is a fault, nobody has to look at those.

use pyo3::prelude::*;

use crate::python::tables::{DROP, DUPLICATE};
use crate::services::effects::EffectRange;
use crate::services::expand::{Candidate, EventKind, Expander, NOWHERE};
use crate::services::ids::{EffectId, EnvelopeId, LocalId};
use crate::services::layout::{Budget, Network};
use crate::services::rows::{Arrival, Rows, Simple};
use crate::services::tables::EnvelopeInfo;
use crate::table::fingerprint::nonzero;
use crate::table::recent::Recent;
use crate::table::slots::Lines;

/// The state that is listed, and what all its candidates have in common.
struct Source<'s> {
    fixed: usize,
    state: &'s [u32],
    fingerprint: u64,
    from: u32,
    network: Network,
    /// The messages in flight, a bit for each, modulo 64; where the network is a set.
    flying: u64,
    /// Where this thread was lately.
    sieve: Sieve<'s>,
}

/// Where a thread was lately, and where what it has not met will be looked up.
#[derive(Clone, Copy)]
pub struct Sieve<'s> {
    pub recent: &'s Recent,
    pub lines: Lines,
}

impl Source<'_> {
    fn candidate(&self, fingerprint: u64, effect: EffectId, word: u32) -> Candidate {
        Candidate {
            fingerprint,
            from: self.from,
            effect,
            word,
            what: match word {
                NOWHERE => EventKind::Internal,
                _ => EventKind::Deliver,
            },
        }
    }
}

/// A delivery that may become a candidate.
#[derive(Clone, Copy)]
pub struct Staged {
    fingerprint: u64,
    effect: EffectId,
    word: u32,
}

impl Staged {
    const NONE: Staged = Staged {
        fingerprint: 0,
        effect: EffectId::NONE,
        word: NOWHERE,
    };
}

/// How many steps a state has, and how many of them change nothing.
#[derive(Default)]
pub struct Tally {
    pub steps: u32,
    pub idle: u32,
}

impl Expander {
    /// Whether `list_plain` may be asked.
    pub fn is_plain(&self) -> bool {
        let layout = &self.shared.layout;
        let off = |fault: usize| layout.budgets[fault] == Budget::Off;
        let unruled = self.arrivals.is_none() && self.rule.is_none() && self.sealing.is_none();
        let elsewhere = layout.streams.is_some() || layout.partition.is_some();
        unruled
            && !elsewhere
            && layout.clocks.is_none()
            && !layout.network.is_queued()
            && off(DROP)
            && off(DUPLICATE)
            && !self.effects.are_eventful()
    }

    /// List the enabled events of `state` that lead elsewhere, and not to where the thread was;
    /// gives how many others there are, too. `None` if a step was met that breaks a property or is
    /// a fault: then nothing is listed, and the sieve holds what is not.
    pub fn list_plain(
        &mut self,
        sieve: Sieve<'_>,
        (state, fingerprint): (&[u32], u64),
        from: u32,
    ) -> PyResult<Option<Tally>> {
        let (first, layout) = (self.candidates.len(), &self.shared.layout);
        let (nodes, fixed, network) = (layout.nodes, layout.fixed, layout.network);
        let bit = |mask: u64, word: &u32| mask | 1 << (word % 64);
        let source = Source {
            fixed,
            state,
            fingerprint,
            from,
            network,
            flying: match network {
                Network::Duplicating => state[fixed..].iter().fold(0, bit),
                _ => 0,
            },
            sieve,
        };
        let mut tally = Tally::default();
        for &local in &state[..nodes] {
            let range = self.internal(LocalId::of(local))?;
            self.push_range(&source, range, (NOWHERE, 0), &mut tally)?;
        }
        match network {
            Network::Duplicating => self.list_mail::<true>(&source, &mut tally)?,
            _ => self.list_mail::<false>(&source, &mut tally)?,
        }
        if self.effects.are_eventful() {
            self.candidates.truncate(first);
            return Ok(None);
        }
        Ok(Some(tally))
    }

    /// List what messages do; `SET`: the network is one, and keeps them.
    #[inline(always)]
    fn list_mail<const SET: bool>(
        &mut self,
        source: &Source<'_>,
        tally: &mut Tally,
    ) -> PyResult<()> {
        let mut at = source.fixed;
        loop {
            at = self.list_simple::<SET>(source, at, tally);
            if at == source.state.len() {
                return Ok(());
            }
            let envelope = EnvelopeId::of(source.state[at]);
            let info = &self.mirror.envelopes[envelope.index()];
            let (to, taken) = (info.to as usize, if SET { 0 } else { info.mix });
            let range = self.delivery(LocalId::of(source.state[to]), envelope)?;
            self.push_range(source, range, (at as u32, taken), tally)?;
            at += 1;
        }
    }

    /// List the messages from `begin` on as long as what they do is known and simple; gives the
    /// place of the first that is not, or the end.
    #[inline(always)]
    fn list_simple<const SET: bool>(
        &mut self,
        source: &Source<'_>,
        begin: usize,
        tally: &mut Tally,
    ) -> usize {
        if self.staged.len() < source.state.len() {
            self.staged.resize(source.state.len(), Staged::NONE);
        }
        let steps = Steps {
            envelopes: &self.mirror.envelopes,
            rows: &self.deliveries,
            deltas: self.effects.deltas(),
        };
        let (end, count) = stage::<SET>(&steps, source, begin, tally, &mut self.staged);
        for one in &self.staged[..count] {
            source.sieve.lines.prefetch(nonzero(one.fingerprint));
            let listed = source.candidate(one.fingerprint, one.effect, one.word);
            self.candidates.push(listed);
        }
        end
    }

    /// Add candidates for effects of the message at `word`, which takes `taken` off the
    /// fingerprint.
    #[inline(always)] // two callers, both in the hot loop
    fn push_range(
        &mut self,
        source: &Source<'_>,
        range: EffectRange,
        (word, taken): (u32, u64),
        tally: &mut Tally,
    ) -> PyResult<()> {
        for id in range.iter() {
            let effect = &self.effects[id];
            let (records, sends, repeats) = (effect.records, effect.sends, effect.repeats);
            let mut delta = effect.delta.wrapping_sub(taken);
            if sends.1 != 0 && source.network == Network::Duplicating {
                delta = delta.wrapping_add(self.sent_delta(source, sends, repeats));
            }
            if records != 0 {
                delta = delta.wrapping_add(self.observers_delta(source.state, records)?);
            }
            tally.steps += 1;
            tally.idle += u32::from(delta == 0);
            let fingerprint = source.fingerprint.wrapping_add(delta);
            let key = nonzero(fingerprint);
            if delta != 0 && !source.sieve.recent.meet(key, true) {
                source.sieve.lines.prefetch(key);
                self.candidates
                    .push(source.candidate(fingerprint, id, word));
            }
        }
        Ok(())
    }

    /// What messages add to the fingerprint where the network is a set: those not yet in it do.
    #[inline(always)]
    fn sent_delta(&self, source: &Source<'_>, (start, count): (u32, u32), repeats: bool) -> u64 {
        let sends = &self.sends[start as usize..(start + count) as usize];
        let mut delta = 0u64;
        for (index, send) in sends.iter().enumerate() {
            let word = send.number();
            // With up to 64 messages in all, a bit is one message.
            let flying = source.flying >> (word % 64) & 1 != 0
                && (self.mirror.envelopes.len() <= 64
                    || source.state[source.fixed..].contains(&word));
            let repeated = repeats && sends[..index].contains(send);
            if !(flying || repeated) {
                delta = delta.wrapping_add(self.mirror.envelopes[word as usize].mix);
            }
        }
        delta
    }
}

/// What is known of steps.
struct Steps<'e> {
    envelopes: &'e [EnvelopeInfo],
    rows: &'e Rows,
    deltas: &'e [u64],
}

/// The messages from `begin` on that lead elsewhere, up to the first that is not simple; gives its
/// place, and how many there are. Not inlined: the loop needs all registers for itself.
#[inline(never)]
fn stage<const SET: bool>(
    steps: &Steps<'_>,
    source: &Source<'_>,
    begin: usize,
    tally: &mut Tally,
    staged: &mut [Staged],
) -> (usize, usize) {
    let (envelopes, rows, deltas) = (steps.envelopes, steps.rows, steps.deltas);
    let (state, recent, before) = (source.state, source.sieve.recent, source.fingerprint);
    let (mut count, mut happened, mut changed) = (0, 0, 0);
    let mut end = state.len();
    for (at, &word) in state.iter().enumerate().skip(begin) {
        if !SET && at > source.fixed && word == state[at - 1] {
            continue; // equal copies: delivering either gives the same state
        }
        let info = &envelopes[word as usize];
        let simple = rows.simple(Arrival {
            local: LocalId::of(state[info.to as usize]),
            envelope: EnvelopeId::of(word),
            place: info.place,
        });
        let Some(Simple { effect, happens }) = simple else {
            end = at;
            break;
        };
        let taken = if SET { 0 } else { info.mix };
        let known = deltas.get(effect.index()).copied().unwrap_or(0);
        // What does not happen asks for the same place as what changes nothing: not for another.
        let delta = if happens {
            known.wrapping_sub(taken)
        } else {
            0
        };
        let fingerprint = before.wrapping_add(delta);
        let changes = delta != 0;
        let met = recent.meet(nonzero(fingerprint), changes);
        staged[count] = Staged {
            fingerprint,
            effect,
            word: at as u32,
        };
        count += usize::from(changes & !met);
        happened += u32::from(happens);
        changed += u32::from(changes);
    }
    tally.steps += happened;
    tally.idle += happened - changed;
    (end, count)
}
