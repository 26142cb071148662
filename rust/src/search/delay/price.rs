//! What it costs to depart from the order of a scheduler.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Plan;
use super::agenda::Address;

/// The price of the task at a place in the order. Invariant: places further back cost no less, and
/// each at most one delay more than the place before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cost {
    /// The place itself.
    Position,
    /// As many delays as the place has binary digits.
    Log,
    /// One, wherever it stands.
    Deviation,
}

impl Cost {
    fn of(self, at: usize) -> u32 {
        match self {
            Cost::Position => at as u32,
            Cost::Log => usize::BITS - at.leading_zeros(),
            Cost::Deviation => u32::from(at > 0),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Prices {
    cost: Cost,
    choice: u32,
    fault: u32,
    commuting: u32,
}

/// When a departure is due: always at its price, or there only if its order with the first task
/// matters, and else later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    Any,
    Early,
    Late,
}

impl Prices {
    pub fn new(plan: &Plan) -> PyResult<Self> {
        let cost = match plan.cost.as_str() {
            "position" => Cost::Position,
            "log" => Cost::Log,
            "deviation" => Cost::Deviation,
            other => {
                let text = format!("no cost is called `{other}`");
                return Err(PyValueError::new_err(text));
            }
        };
        Ok(Prices {
            cost,
            choice: plan.choice,
            fault: plan.fault,
            commuting: plan.commuting,
        })
    }

    /// Of the likely branch of the task at a place in the order.
    pub fn likely(&self, at: usize) -> u32 {
        self.cost.of(at)
    }

    /// Of its other branches.
    pub fn unlikely(&self, at: usize) -> u32 {
        self.cost.of(at) + self.choice
    }

    /// Of a fault.
    pub fn fault(&self) -> u32 {
        self.fault
    }

    /// Which turn of a departure from the first task, if any, comes at an offset.
    pub fn turn(&self, price: u32, offset: u32) -> Option<Turn> {
        match self.commuting {
            0 => (price == offset).then_some(Turn::Any),
            _ if price == offset => Some(Turn::Early),
            more => (price + more == offset).then_some(Turn::Late),
        }
    }

    /// The most that lies between a price of a state and its next one.
    pub fn widest(&self) -> usize {
        let dearest = self.choice.max(self.fault).max(self.commuting);
        dearest.max(1) as usize
    }

    /// The first price, from `from` on, for which something can be done in a state.
    pub fn next(&self, addresses: &[u32], faults: bool, from: u32) -> Option<u32> {
        let likely = (0..addresses.len()).map(|at| self.likely(at));
        let several = addresses.iter().enumerate();
        let several = several.filter(|(_, address)| Address(**address).is_several());
        let unlikely = several.map(|(at, _)| self.unlikely(at));
        let faults = faults.then_some(self.fault);
        let early = likely.chain(unlikely).chain(faults);
        early
            .flat_map(|price| [price, price + self.commuting])
            .filter(|&price| price >= from)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_costs_at_most_one_delay_more_than_the_one_before() {
        for cost in [Cost::Position, Cost::Log, Cost::Deviation] {
            assert_eq!((cost.of(0), cost.of(1)), (0, 1));
            assert!((0..99).all(|at| cost.of(at + 1) - cost.of(at) <= 1));
        }
        let costs = [1, 2, 3, 4, 7, 8, 15, 16].map(|at| Cost::Log.of(at));
        assert_eq!(costs, [1, 2, 2, 3, 3, 4, 4, 5]);
    }
}
