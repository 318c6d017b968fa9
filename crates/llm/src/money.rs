//! Money in whole picodollars, so that sums over millions of attempts are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

const PICO: f64 = 1e12;

/// Tokens as the server counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of the prompt.
    pub prompt_tokens: u64,
    /// Of the answer, hidden reasoning included.
    pub completion_tokens: u64,
    /// Those of the prompt that came from the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those of the answer that are reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// An amount of US dollars, counted in 10⁻¹² dollars. A price of up to six decimals per million
/// tokens is a whole number of them per token; the range is ±9.2 million dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(i64);

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);
    /// More than any request can cost: a line that says so is damaged, or from somebody who would break a budget.
    const UNBELIEVABLE: Usd = Usd(100_000 * PICO as i64);
    /// The least that a server may state for a request, whatever was reserved.
    const STATED: Usd = Usd(10 * PICO as i64);
    /// How many times its reservation a request may cost by a server's own statement.
    const STATED_TIMES: i64 = 100;

    /// From dollars as a settings file writes them, rounded to the nearest picodollar.
    pub fn from_dollars(dollars: f64) -> Usd {
        Usd((dollars * PICO).round() as i64)
    }

    /// From picodollars.
    pub fn from_pico(pico: i64) -> Usd {
        Usd(pico)
    }

    /// In picodollars.
    pub fn in_picodollars(self) -> i64 {
        self.0
    }

    /// Whether a request can have cost this.
    pub(super) fn can_be(self) -> bool {
        (Usd::ZERO..=Usd::UNBELIEVABLE).contains(&self)
    }

    /// A charge read from a line, which may be somebody else's: one that no request can have cost counts as what was
    /// reserved for it.
    pub(super) fn believable_charge(self, reserved: Usd) -> Usd {
        match (self.can_be(), reserved.can_be()) {
            (true, _) => self,
            (false, true) => reserved,
            (false, false) => Usd::ZERO,
        }
    }

    /// A cost in dollars that a server states, if it can be one: finite, not negative, and within a bound that its
    /// reservation sets.
    pub(super) fn from_stated_cost(dollars: f64, reserved: Usd) -> Option<Usd> {
        let most = Usd(reserved.0.saturating_mul(Usd::STATED_TIMES)).max(Usd::STATED).min(Usd::UNBELIEVABLE);
        let within = dollars.is_finite() && dollars >= 0.0 && dollars <= most.in_dollars();
        within.then(|| Usd::from_dollars(dollars))
    }

    /// For quotes: in cents, except for very small amounts.
    pub fn in_cents(self) -> String {
        let dollars = self.in_dollars();
        if dollars < 0.1 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
    }

    /// In dollars, for display and reports; sums use the exact amounts.
    pub fn in_dollars(self) -> f64 {
        self.0 as f64 / PICO
    }
}

impl Add for Usd {
    type Output = Usd;
    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl Sub for Usd {
    type Output = Usd;
    fn sub(self, other: Usd) -> Usd {
        Usd(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Usd) {
        *self = *self + other;
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Usd>>(amounts: I) -> Usd {
        amounts.fold(Usd::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.in_dollars())
    }
}

/// An endpoint's price per token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    per_token_in: Usd,
    per_token_out: Usd,
    /// For the prompt's cached tokens.
    per_token_cached: Usd,
    /// For the answer's reasoning tokens.
    per_token_reasoning: Usd,
}

impl Price {
    /// The price of an endpoint declared free.
    pub const FREE: Price = Price {
        per_token_in: Usd::ZERO,
        per_token_out: Usd::ZERO,
        per_token_cached: Usd::ZERO,
        per_token_reasoning: Usd::ZERO,
    };

    /// From dollars per million prompt tokens and per million completion tokens. A fraction of a picodollar
    /// is rounded up: a cap must hold.
    pub fn per_million(dollars_in: f64, dollars_out: f64) -> Price {
        let (per_token_in, per_token_out) = (per_token(dollars_in), per_token(dollars_out));
        Price {
            per_token_in,
            per_token_out,
            per_token_cached: per_token_in,
            per_token_reasoning: per_token_out,
        }
    }

    /// With separate prices in dollars per million cached tokens and per million reasoning tokens, if given.
    pub fn with_rates(self, cached: Option<f64>, reasoning: Option<f64>) -> Price {
        Price {
            per_token_cached: cached.map_or(self.per_token_cached, per_token),
            per_token_reasoning: reasoning.map_or(self.per_token_reasoning, per_token),
            ..self
        }
    }

    /// The cost of this many prompt and completion tokens, without caching and reasoning.
    pub fn cost_of_tokens(self, prompt_tokens: u64, completion_tokens: u64) -> Usd {
        self.charge_for_usage(Usage { prompt_tokens, completion_tokens, ..Usage::default() })
    }

    /// The most that this many tokens may cost, of whatever kind.
    pub fn highest_cost(self, prompt_tokens: u64, completion_tokens: u64) -> Usd {
        let dear = Price {
            per_token_in: self.per_token_in.max(self.per_token_cached),
            per_token_out: self.per_token_out.max(self.per_token_reasoning),
            ..self
        };
        dear.cost_of_tokens(prompt_tokens, completion_tokens)
    }

    /// The least that this many prompt tokens may cost: all of them cached, if that is cheaper.
    pub fn lowest_cost(self, prompt_tokens: u64) -> Usd {
        Price { per_token_in: self.per_token_in.min(self.per_token_cached), ..self }
            .cost_of_tokens(prompt_tokens, 0)
    }

    /// The cost of a server's counts.
    pub fn charge_for_usage(self, usage: Usage) -> Usd {
        let Usage { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens } = usage;
        let part =
            |price: Usd, tokens: u64| price.0.saturating_mul(i64::try_from(tokens).unwrap_or(i64::MAX));
        let parts = [
            part(self.per_token_in, prompt_tokens.saturating_sub(cached_tokens)),
            part(self.per_token_cached, cached_tokens),
            part(self.per_token_out, completion_tokens.saturating_sub(reasoning_tokens)),
            part(self.per_token_reasoning, reasoning_tokens),
        ];
        Usd(parts.into_iter().fold(0, i64::saturating_add))
    }
}

fn per_token(dollars: f64) -> Usd {
    // The small subtrahend keeps a price such as 0.15, which no binary fraction equals, from being rounded
    // up.
    Usd((dollars * 1e6 - 1e-6).ceil().max(0.0) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_and_reasoning_have_prices_of_their_own() {
        let usage = Usage { prompt_tokens: 10, completion_tokens: 8, cached_tokens: 4, reasoning_tokens: 6 };
        let plain = Price::per_million(1.0, 4.0);
        assert_eq!(plain.charge_for_usage(usage), plain.cost_of_tokens(10, 8));
        let own = plain.with_rates(Some(0.25), Some(8.0));
        assert_eq!(
            own.charge_for_usage(usage).in_picodollars(),
            1_000_000 * 6 + 250_000 * 4 + 4_000_000 * 2 + 8_000_000 * 6
        );
        assert!(own.highest_cost(10, 8) >= own.charge_for_usage(usage));
        assert_eq!(own.highest_cost(10, 8).in_picodollars(), 10 * 1_000_000 + 8 * 8_000_000);
        assert_eq!(
            (own.lowest_cost(10).in_picodollars(), plain.lowest_cost(10)),
            (10 * 250_000, plain.cost_of_tokens(10, 0))
        );
    }

    #[test]
    fn prices_are_whole_picodollars() {
        let price = Price::per_million(0.15, 0.6);
        assert_eq!(price.cost_of_tokens(1_000_000, 0), Usd::from_dollars(0.15));
        assert_eq!(price.cost_of_tokens(0, 1_000_000), Usd::from_dollars(0.6));
        assert_eq!(price.cost_of_tokens(3, 2).in_picodollars(), 3 * 150_000 + 2 * 600_000);
    }

    #[test]
    fn a_part_of_a_picodollar_is_rounded_up() {
        assert_eq!(Price::per_million(0.000_000_5, 0.0).cost_of_tokens(1, 0).in_picodollars(), 1);
    }

    #[test]
    fn what_no_request_can_cost_is_not_believed() {
        let reserved = Usd::from_dollars(0.02);
        for wrong in [Usd(i64::MAX), Usd(i64::MIN), Usd(-1), Usd::from_dollars(1e300), Usd::from_dollars(1e7)]
        {
            assert_eq!(wrong.believable_charge(reserved), reserved, "{wrong}");
            assert_eq!(wrong.believable_charge(wrong), Usd::ZERO, "{wrong}");
        }
        assert_eq!(Usd::from_dollars(3.0).believable_charge(reserved), Usd::from_dollars(3.0));
        for wrong in [1e300, 1e7, 10.01, -0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Usd::from_stated_cost(wrong, reserved), None, "{wrong}");
        }
        assert_eq!(Usd::from_stated_cost(0.5, reserved), Some(Usd::from_dollars(0.5)));
        assert_eq!(Usd::from_stated_cost(0.5, Usd::ZERO), Some(Usd::from_dollars(0.5)), "of a free endpoint");
        assert_eq!(Usd::from_stated_cost(90.0, Usd::from_dollars(1.0)), Some(Usd::from_dollars(90.0)));
    }

    #[test]
    fn sums_saturate() {
        assert_eq!(
            Price::per_million(1e6, 1e6).cost_of_tokens(u64::MAX, u64::MAX).in_picodollars(),
            i64::MAX
        );
        assert_eq!((Usd(i64::MAX) + Usd(1)).in_picodollars(), i64::MAX);
    }

    #[test]
    fn bounds_are_believed_and_the_next_picodollar_is_not() {
        let top = Usd::UNBELIEVABLE;
        assert_eq!(top.in_picodollars(), 100_000_000_000_000_000, "a hundred thousand dollars");
        assert!(Usd::ZERO.can_be() && top.can_be());
        assert!(!Usd(top.0 + 1).can_be() && !Usd(-1).can_be());
        // What a server may state: ten dollars, or a hundred times what was reserved, and never what cannot be.
        let stated = |dollars: f64, reserved: f64| {
            Usd::from_stated_cost(dollars, Usd::from_dollars(reserved)).is_some()
        };
        assert!(stated(0.0, 0.0) && stated(10.0, 0.0) && !stated(10.000_001, 0.0));
        assert!(stated(10.0, 0.1) && !stated(10.000_001, 0.1));
        assert!(stated(200.0, 2.0) && !stated(200.01, 2.0));
        assert!(stated(100_000.0, 50_000.0) && !stated(100_001.0, 50_000.0));
    }

    #[test]
    fn amounts_are_added_taken_off_and_shown() {
        let (one, two) = (Usd::from_dollars(1.25), Usd::from_pico(500_000_000_000));
        assert_eq!((one + two).in_picodollars(), 1_750_000_000_000);
        assert_eq!((one - two).in_picodollars(), 750_000_000_000);
        assert_eq!((two - one).in_picodollars(), -750_000_000_000);
        assert_eq!((Usd(i64::MIN) - one).in_picodollars(), i64::MIN);
        let mut sum = one;
        sum += two;
        assert_eq!(sum, [one, two].into_iter().sum::<Usd>());
        assert_eq!((one.in_dollars(), Usd::from_dollars(-0.5).in_picodollars()), (1.25, -500_000_000_000));
        assert_eq!([one, two].map(|amount| amount.to_string()), ["$1.2500", "$0.5000"]);
        for (dollars, shown) in
            [(0.0123, "$0.0123"), (0.0999, "$0.0999"), (0.1, "$0.10"), (12.345_6, "$12.35")]
        {
            assert_eq!(Usd::from_dollars(dollars).in_cents(), shown);
        }
        assert_eq!(Usd::from_dollars(0.000_000_000_000_4), Usd::ZERO, "to the nearest picodollar");
    }

    #[test]
    fn counts_that_are_not_zero_are_written() {
        let usage = Usage { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 0, reasoning_tokens: 3 };
        let line = serde_json::to_string(&usage).unwrap();
        assert_eq!(line, r#"{"prompt_tokens":1,"completion_tokens":2,"reasoning_tokens":3}"#);
        assert_eq!(serde_json::from_str::<Usage>(&line).unwrap(), usage);
    }

    #[test]
    fn a_cheaper_kind_of_token_is_no_bound_of_the_dearer() {
        // Reasoning cheaper than the answer, cached tokens dearer than others.
        let odd = Price::per_million(1.0, 4.0).with_rates(Some(2.0), Some(3.0));
        assert_eq!(odd.highest_cost(10, 8).in_picodollars(), 10 * 2_000_000 + 8 * 4_000_000);
        assert_eq!(odd.lowest_cost(10).in_picodollars(), 10 * 1_000_000);
        assert_eq!(Price::FREE.highest_cost(u64::MAX, u64::MAX), Usd::ZERO);
        // More cached tokens than the prompt has, as no server should count.
        let usage = Usage { prompt_tokens: 1, completion_tokens: 1, cached_tokens: 5, reasoning_tokens: 5 };
        assert_eq!(odd.charge_for_usage(usage).in_picodollars(), 5 * 2_000_000 + 5 * 3_000_000);
    }

    proptest::proptest! {
        /// What is reserved is enough for whatever a server counts within it.
        #[test]
        fn a_reservation_covers_every_count(
            prices in proptest::array::uniform4(0.0f64..100.0),
            tokens in proptest::array::uniform4(0u64..1_000_000),
        ) {
            let [in_, out, cached, reasoning] = prices;
            let price = Price::per_million(in_, out).with_rates(Some(cached), Some(reasoning));
            let [prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens] = tokens;
            let usage = Usage {
                prompt_tokens,
                completion_tokens,
                cached_tokens: cached_tokens.min(prompt_tokens),
                reasoning_tokens: reasoning_tokens.min(completion_tokens),
            };
            let charge = price.charge_for_usage(usage);
            proptest::prop_assert!(charge <= price.highest_cost(prompt_tokens, completion_tokens));
            proptest::prop_assert!(charge >= price.lowest_cost(prompt_tokens));
        }
    }
}
