//! Veto: the same frame about something else.
//!
//! What: more than 15 % of the lighter text by weight is not in the other, the shared characters are
//! contiguous (the overlap of neighbours is at least 3/4 of that of characters), and the overlap of
//! characters is under 0.77. The pair is one step less similar.
//!
//! Why: a retelling changes a little everywhere, which breaks up neighbours all over the text; a template
//! keeps its frame literally and changes a word, which leaves neighbours whole. At equal overlap of
//! characters the neighbours distinguish the two.
//!
//! Known problems: a faithful copy with one long word replaced looks like a template.
//!
//! Example: `每天喝一杯牛奶的人变成了奶牛` and `每天喝一杯咖啡的人变成了猫头鹰`.

use super::Ratio;
use super::prepared::Shared;
use super::reworded::overlap;

/// From this overlap on too much is shared for another joke.
const ALIKE: Ratio = Ratio::new(77, 100);

pub(super) fn vetoes(shared: Shared<'_>) -> bool {
    let chars = overlap(shared.letters(), shared.weights());
    if chars >= ALIKE {
        return false;
    }
    let lighter = shared.weights().0.max(1);
    let mostly_covered = Ratio::new(shared.letters(), lighter) >= Ratio::new(85, 100);
    let pairs = overlap(shared.pairs(), shared.weights_of_pairs());
    let together = Ratio::new(4 * pairs.num, pairs.den) >= Ratio::new(3 * chars.num, chars.den);
    !mostly_covered && together
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, compare};

    #[test]
    fn another_subject_is_another_joke() {
        let pair = compare("每天喝一杯牛奶的人变成了奶牛", "每天喝一杯咖啡的人变成了猫头鹰");
        assert_ne!(pair.verdict, Verdict::Same);
    }

    #[test]
    fn a_retelling_is_not_a_template() {
        let pair =
            compare("鱼在水里游了一辈子，为什么从来不洗澡？", "为什么鱼从不洗澡，明明一辈子都在水里游");
        assert_eq!(pair.verdict, Verdict::Same);
    }
}
