//! Veto: another number.
//!
//! What: each text has a number that the other lacks, in digits or in two numerals and more, and at most 15 % of the lighter
//! text by weight is not in the other. The pair is one step less similar. Why: `为什么3个和尚没水喝` asks something else of five
//! monks. A retelling in other words may change a number, too, and is no other joke for it.
//!
//! Known problems: a number in one numeral (`三`), which is mostly a part of a word.
//!
//! Example: `为什么1506号公路没有1507号公路长？` and `为什么1508号公路没有1509号公路长？`.

use super::prepared::Shared;
use super::{Prepared, Ratio, numbers};

pub(super) fn vetoes(a: &Prepared, b: &Prepared, shared: Shared<'_>) -> bool {
    numbers::differ(&a.chars, &b.chars)
        && Ratio::new(shared.letters(), shared.weights().0.max(1)) >= Ratio::new(85, 100)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, Veto, compare};

    #[test]
    fn another_number_is_borderline() {
        let pair = compare("为什么1506号公路没有1507号公路长？", "为什么1508号公路没有1509号公路长？");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Number)));
        let same = compare("朋友欠我12块钱，怎么才能让他还24块", "朋友欠我十二块钱，怎么才能让他还二十四块");
        assert_eq!(same.verdict, Verdict::Same, "{same:?}");
    }
}
