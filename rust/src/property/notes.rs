//! What a predicate reads, noted down while it runs.

use super::claim::{Part, PartId, Reads, of_part};
use super::trie::{Ask, Said};

#[derive(Default)]
pub struct Notes {
    pub reads: Reads,
    /// The part that runs, and what it has read.
    open: Option<(PartId, Vec<(Ask, u64)>)>,
}

impl Notes {
    /// A question asked twice has the same answer, so the second one leads nowhere new.
    pub fn add(&mut self, ask: Ask, answer: u64) {
        let reads = match &mut self.open {
            Some((_, reads)) => reads,
            None => &mut self.reads.own,
        };
        if !reads.iter().any(|(known, _)| *known == ask) {
            reads.push((ask, answer));
        }
    }

    /// From now on a part reads; false if one does already, of which this is a part.
    pub fn begin(&mut self, id: PartId) -> bool {
        let begins = self.open.is_none();
        if begins {
            self.open = Some((id, Vec::new()));
        }
        begins
    }

    /// The part that began has said something. If that was more than yes or no, what it read is
    /// noted as read by the predicate, too: what follows may depend on all of it.
    pub fn end(&mut self, said: Said) {
        let Some((id, reads)) = self.open.take() else {
            return;
        };
        let known = self.reads.parts.iter().position(|part| part.id == id);
        let place = known.unwrap_or(self.reads.parts.len());
        self.add(Ask::Part(place as u32), of_part(said));
        if said == Said::More {
            for (ask, answer) in &reads {
                self.add(ask.clone(), *answer);
            }
        }
        if known.is_none() {
            self.reads.parts.push(Part { id, reads, said });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;
    use crate::property::claim::{Claim, Mirror, Reads};
    use crate::property::trie::{Ask, Query, Said};
    use crate::table::fingerprint::scramble;

    const FIELDS: u64 = 6;
    const VALUES: u64 = 3;

    fn field(at: u64) -> Query {
        Query::Field {
            node: at as u32,
            field: 0,
        }
    }

    fn mixed(parts: &[u64]) -> u64 {
        parts
            .iter()
            .fold(7, |sum, part| scramble(sum ^ scramble(*part)))
    }

    /// A predicate made of a number: reads, asks parts, and depends on all that these tell it.
    struct Predicate {
        seed: u64,
        with_parts: bool,
    }

    impl Predicate {
        fn run(&self, state: &[u64]) -> (bool, Reads) {
            let mut notes = Notes::default();
            let first = mixed(&[self.seed]) % FIELDS;
            let mut sum = read(&mut notes, state, first);
            for node in 0..FIELDS {
                let function = mixed(&[self.seed, node / 2]) & 0xffff;
                if self.with_parts {
                    assert!(notes.begin((function as u32, node as u32)));
                    assert!(!notes.begin((9, 9)), "a part has no parts");
                }
                let (said, why) = part(&mut notes, state, function, node);
                notes.end(said);
                sum = mixed(&[sum, said as u64, why]);
                if sum.is_multiple_of(7) {
                    break;
                }
                if sum.is_multiple_of(5) {
                    sum = mixed(&[sum, read(&mut notes, state, sum % FIELDS)]);
                }
            }
            (sum.is_multiple_of(2), notes.reads)
        }
    }

    fn read(notes: &mut Notes, state: &[u64], at: u64) -> u64 {
        notes.add(Ask::State(field(at)), state[at as usize]);
        state[at as usize]
    }

    /// What a function says of a node: yes, no, or a reason.
    fn part(notes: &mut Notes, state: &[u64], function: u64, node: u64) -> (Said, u64) {
        let mut sum = mixed(&[function, read(notes, state, node)]);
        if sum.is_multiple_of(3) {
            sum = mixed(&[sum, read(notes, state, sum % FIELDS)]);
        }
        match scramble(sum) % 8 {
            0 | 1 => (Said::More, sum),
            2..5 => (Said::Holds, 0),
            _ => (Said::Fails, 0),
        }
    }

    /// How often a predicate had to be run, in so many states; each verdict is compared.
    fn runs(predicate: &Predicate, states: u64) -> usize {
        let (mut claim, mut mirror, mut runs) = (Claim::default(), Mirror::default(), 0);
        for number in 0..states {
            let value = |at| mixed(&[predicate.seed, number, at]) % VALUES;
            let state: Vec<u64> = (0..FIELDS).map(value).collect();
            let (verdict, reads) = predicate.run(&state);
            let answer = |query: &Query| match query {
                Query::Field { node, .. } => state[*node as usize],
                _ => unreachable!(),
            };
            if mirror.decide(answer).is_none() {
                runs += 1;
                claim.learn(&reads, verdict.into()).unwrap();
                assert!(mirror.catch_up(&claim));
                let known = reads
                    .all()
                    .all(|(query, _)| claim.queries().contains(query));
                assert!(known && mirror.queries() == claim.queries());
            }
            assert_eq!(
                mirror.decide(answer),
                Some(verdict.into()),
                "{}",
                predicate.seed
            );
        }
        runs
    }

    #[test]
    fn parts_say_what_the_whole_would_and_spare_runs() {
        let (mut plain, mut spared) = (0, 0);
        for seed in 0..300 {
            let with_parts = |with_parts| runs(&Predicate { seed, with_parts }, 400);
            plain += with_parts(false);
            spared += with_parts(true);
        }
        assert!(spared * 3 < plain * 2, "{spared} of {plain}");
    }

    #[test]
    fn a_part_that_says_something_else_after_the_same_reads_is_caught() {
        let run = |said| {
            let mut notes = Notes::default();
            notes.begin((0, 0));
            notes.add(Ask::State(field(0)), 1);
            notes.end(said);
            notes.reads
        };
        let mut claim = Claim::default();
        claim.learn(&run(Said::Holds), Said::Holds).unwrap();
        claim.learn(&run(Said::Holds), Said::Holds).unwrap();
        assert!(claim.learn(&run(Said::Fails), Said::Holds).is_err());
        assert!(claim.learn(&run(Said::More), Said::Holds).is_err());
    }
}
