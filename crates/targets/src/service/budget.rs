//! How much a campaign may ask and spend.

use super::ledger::Tally;
use super::spec::Manners;

/// Sums of prices are off by roundings, which must not cost the last call.
const ROUNDING: f64 = 1e-9;

/// Limits over the whole campaign, repeats included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Budget {
    calls: Option<u64>,
    money: Option<f64>,
    price: f64,
}

impl Budget {
    pub(super) fn new(manners: &Manners, price: f64) -> Self {
        Self { calls: manners.calls, money: manners.money, price }
    }

    /// What a call costs.
    pub(super) fn price(&self) -> f64 {
        self.price
    }

    /// Whether there is room for one more call; else what to do.
    pub(super) fn check(&self, spent: &Tally) -> Result<(), String> {
        if let Some(calls) = self.calls.filter(|&calls| spent.calls >= calls) {
            return Err(format!(
                "the budget of {calls} calls is spent; raise manners.calls and run again to go on"
            ));
        }
        let fits = |money: &f64| spent.money + self.price <= money * (1.0 + ROUNDING) + ROUNDING;
        match self.money.filter(|money| self.price > 0.0 && !fits(money)) {
            Some(money) => Err(format!(
                "the budget of {money} is spent; raise manners.money and run again to go on"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(calls: Option<u64>, money: Option<f64>, price: f64) -> u64 {
        let budget = Budget::new(&Manners { calls, money, ..Manners::default() }, price);
        let mut spent = Tally::default();
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
            assert_eq!(most(calls, money, price), wanted, "{calls:?} {money:?} {price}");
        }
    }
}
