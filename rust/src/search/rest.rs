//! States from which nothing but a fault leads on: what must hold there, and that none is sealed.

use pyo3::prelude::*;

use super::Route;
use super::worker::{Stored, Worker};
use crate::services::context::Kind;
use crate::table::fingerprint::nonzero;

impl Worker<'_> {
    /// Judge what must hold where the system has come to rest.
    pub fn check_rest(&mut self, state: Stored<'_>, length: u32) -> PyResult<()> {
        let key = nonzero(state.sum);
        self.check_rest_by(state.words, length, || Route::Seen(key, None))
    }

    pub fn check_rest_by(
        &mut self,
        words: &[u32],
        length: u32,
        route: impl Fn() -> Route,
    ) -> PyResult<()> {
        if self.check_sealed(words, length, &route)? {
            return Ok(());
        }
        for property in 0..self.search.shared.properties.len() {
            if self.search.shared.properties[property].kind == Kind::AtRest {
                self.check_rest_of(property, words, length, &route)?;
            }
        }
        Ok(())
    }

    /// Report a state that nothing leads out of because it is sealed; true if it is.
    pub fn check_sealed(
        &mut self,
        words: &[u32],
        length: u32,
        route: impl Fn() -> Route,
    ) -> PyResult<bool> {
        let seal = self.expander.seal(words)?;
        if let Some(condition) = seal {
            self.found(condition, length, route());
        }
        Ok(seal.is_some())
    }

    pub fn check_rest_of(
        &mut self,
        property: usize,
        words: &[u32],
        length: u32,
        route: impl Fn() -> Route,
    ) -> PyResult<()> {
        if self.judge(property, words)? == Some(false) {
            self.found(property, length, route());
        }
        Ok(())
    }
}
