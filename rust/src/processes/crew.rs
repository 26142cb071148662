//! Threads that explore parts of a tree of executions ahead of the first one.

use super::findings::Findings;
use super::memo::Memo;
use super::recorder::Recorder;
use super::world::World;
use crate::reduce::por::Team;

/// Makes worlds like the first one; all learn from each other.
pub struct Crew<'f, F> {
    /// `None`: there is one thread.
    memo: Option<Memo>,
    initial: Vec<(u32, bool)>,
    spins: u32,
    look: Recorder<'f>,
    findings: F,
}

impl<'f, F: Fn() -> Findings> Crew<'f, F> {
    pub fn new(world: &mut World, look: &Recorder<'f>, shared: bool, findings: F) -> Self {
        world.memo.share(shared);
        Crew {
            memo: shared.then(|| world.memo.copy()),
            initial: world.initial.clone(),
            spins: world.spins,
            look: look.ahead(findings()),
            findings,
        }
    }
}

impl<'f, F: Fn() -> Findings + Sync> Team<World, Recorder<'f>> for Crew<'f, F> {
    fn recruit(&self) -> Option<(World, Recorder<'f>)> {
        let world = World {
            memo: self.memo.as_ref()?.copy(),
            initial: self.initial.clone(),
            spins: self.spins,
            runs: 0,
        };
        Some((world, self.look.ahead((self.findings)())))
    }
}
