//! Veto: two parts of a series.
//!
//! What: each text has an issue number or a year that the other does not have: `第三期`, `(二)`, `5集`, `2021年`,
//! `19年度`, in digits or numerals. The pair is different. Why: the notices of a series differ only in the
//! number, but are not the same notice.
//!
//! Known problems: numbers without such a mark are ignored, since a retelling may change them.
//!
//! Example: `鱼缸清洗指南第三期` and `鱼缸清洗指南第2期`.

use super::Prepared;

pub(super) fn vetoes(a: &Prepared, b: &Prepared) -> bool {
    let lacks = |x: &[u32], y: &[u32]| x.iter().any(|n| y.binary_search(n).is_err());
    lacks(a.series(), b.series()) && lacks(b.series(), a.series())
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, Veto, compare};

    #[test]
    fn two_issues_are_different() {
        let pair = compare("鱼缸清洗指南第三期", "鱼缸清洗指南第2期");
        assert_eq!((pair.verdict, pair.veto), (Verdict::Different, Some(Veto::Series)));
        assert_eq!(compare("鱼缸清洗指南第三期", "鱼缸清洗指南第3期！").verdict, Verdict::Same);
        assert_eq!(compare("周末鱼缸清洗指南第三期", "周末鱼缸清洗指南").verdict, Verdict::Same);
    }
}
