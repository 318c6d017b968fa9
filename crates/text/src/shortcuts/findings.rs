//! Which figures exceed a limit.

use serde::Serialize;

use super::{RuleShare, Shortcuts};
use crate::text::count_with_noun;

/// Limits on how well answers may be guessed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuessLimits {
    /// How far the lower end of a rule's interval may be above chance: the classifier, the longest and the
    /// shortest option, the most and the least overlap.
    pub above_chance: f64,
    /// Positions of right options less likely than this count as not random.
    pub position_p: f64,
    /// Options of an item that are nearly equal.
    pub near_equal: usize,
    /// Options that occur in several items.
    pub reused: usize,
}

/// A figure that exceeds its limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which figure it is: `positions`, `longest`, `shortest`, `most`, `least`, `baseline`, `near_equal` or
    /// `reused`.
    pub figure: &'static str,
    /// What was found, with its figure and limit.
    pub what: String,
    /// What could be done about it; nothing is done automatically.
    pub fix: &'static str,
    /// The items it concerns; empty if it is about the whole set.
    pub items: Vec<String>,
}

/// The figures that exceed their limits.
pub fn list_findings(figures: &Shortcuts, limits: &GuessLimits) -> Vec<Finding> {
    let mut found = Vec::new();
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let bar = |share: RuleShare| share.chance + limits.above_chance;
    if figures.positions.p < limits.position_p {
        found.push(Finding {
            figure: "positions",
            what: format!(
                "the right options are {:?} times in each place (p {:.4}, limit {})",
                figures.positions.counts, figures.positions.p, limits.position_p
            ),
            fix: "another options.seed changes every order",
            items: Vec::new(),
        });
    }
    let rules = [
        (
            "longest",
            "the longest option",
            figures.lengths.longest,
            "let people lengthen wrong options or shorten right ones",
        ),
        (
            "shortest",
            "the shortest option",
            figures.lengths.shortest,
            "let people lengthen right options or shorten wrong ones",
        ),
        (
            "most",
            "the option nearest to the question's words",
            figures.overlap.most,
            "let people rewrite wrong options in the words of their question",
        ),
        (
            "least",
            "the option farthest from the question's words",
            figures.overlap.least,
            "let people rewrite right options in the words of their question",
        ),
    ];
    for (figure, rule, share, fix) in rules {
        if share.low > bar(share) {
            let what = format!("{rule} is right in {} (limit {})", percent(share.value), percent(bar(share)));
            found.push(Finding { figure, what, fix, items: Vec::new() });
        }
    }
    if let Some(baseline) =
        figures.baseline.as_ref().filter(|baseline| baseline.accuracy.low > bar(baseline.accuracy))
    {
        found.push(Finding {
            figure: "baseline",
            what: format!(
                "a classifier of the options alone is right in {} (limit {})",
                percent(baseline.accuracy.value),
                percent(bar(baseline.accuracy))
            ),
            fix: "have people look at the items it guessed, or rewrite their wrong options",
            items: baseline.guessed.clone(),
        });
    }
    if figures.near_equal.len() > limits.near_equal {
        found.push(Finding {
            figure: "near_equal",
            what: format!(
                "{} of options with hardly a difference (limit {})",
                count_with_noun(figures.near_equal.len() as u64, "pair"),
                limits.near_equal
            ),
            fix: "pick another wrong option",
            items: collect_ids(figures.near_equal.iter().map(|near| &near.id)),
        });
    }
    if figures.reused.len() > limits.reused {
        let of = figures.reused.iter().flat_map(|reused| reused.right.iter().chain(&reused.wrong));
        found.push(Finding {
            figure: "reused",
            what: format!(
                "{} in several items (limit {})",
                count_with_noun(figures.reused.len() as u64, "option"),
                limits.reused
            ),
            fix: "pick another option in all items but one",
            items: collect_ids(of),
        });
    }
    found
}

fn collect_ids<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut ids: Vec<String> = ids.cloned().collect();
    ids.sort();
    ids.dedup();
    ids
}
