//! How many calls a campaign may make, and what they may cost.

use super::super::spec::Limits;
use super::counts::CallCounts;

/// Tolerance for rounding errors in sums of prices, which must not cost the last call.
const ROUNDING: f64 = 1e-9;

/// Budgets of the whole campaign, retries included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Budget {
    calls: Option<u64>,
    money: Option<f64>,
    price: f64,
}

impl Budget {
    pub(in super::super) fn new(limits: &Limits, price: f64) -> Self {
        Self { calls: limits.calls, money: limits.money, price }
    }

    /// The price of a call.
    pub(super) fn price(&self) -> f64 {
        self.price
    }

    /// Whether one more call fits; else what to do.
    pub(super) fn check(&self, spent: &CallCounts) -> Result<(), String> {
        if let Some(calls) = self.calls
            && spent.calls >= calls
        {
            return Err(format!(
                "the budget of {calls} calls is spent; raise limits.calls and run the same \
                 command to resume"
            ));
        }
        if let Some(money) = self.money
            && self.price > 0.0
            && spent.money + self.price > money * (1.0 + ROUNDING) + ROUNDING
        {
            return Err(format!(
                "the budget of {money} is spent; raise limits.money and run the same command to \
                 resume"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many calls a budget allows, up to 5000.
    fn allowed(calls: Option<u64>, money: Option<f64>, price: f64) -> u64 {
        let budget = Budget::new(&Limits { calls, money, ..Limits::default() }, price);
        let mut spent = CallCounts::default();
        while spent.calls < 5000 && budget.check(&spent).is_ok() {
            spent.calls += 1;
            spent.money += price;
        }
        spent.calls
    }

    #[test]
    fn the_last_call_that_fits_is_made() {
        for (calls, money, price, wanted) in [
            (Some(3), None, 0.0, 3),
            (Some(0), None, 0.0, 0),
            (None, Some(1.0), 0.001, 1000),
            (None, Some(3.0), 0.0015, 2000),
            (None, Some(0.0049), 0.001, 4),
            (Some(7), Some(1.0), 0.1, 7),
            (Some(70), Some(1.0), 0.1, 10),
            (None, Some(0.0), 0.0, 5000),
            (None, None, 1.0, 5000),
        ] {
            assert_eq!(allowed(calls, money, price), wanted, "{calls:?} {money:?} {price}");
        }
    }
}
