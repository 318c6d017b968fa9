//! Four options from an answer and its distractors, and the orders they are shown in (section 3.3).
//!
//! Normally the answer, two distractors and `None of above.` are shown. In a share of the groups lateral
//! thinking should fail: the third distractor replaces the answer, and `None of above.` is right. The paper
//! says "6% of the questions"; whole groups are drawn here, so that a group stays one puzzle in three forms.
//! `None of above.` is always last.

use crate::options::DrawStream;

/// The last option, as the published set writes it.
pub const NONE: &str = "None of above.";
/// The share of groups whose answer is replaced (section 3.3).
pub const REPLACED_SHARE: f64 = 0.06;

/// The options of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The right answer: the puzzle's, or [`NONE`].
    pub answer: String,
    /// The wrong ones; the third is [`NONE`] if the answer is the puzzle's.
    pub distractors: [String; 3],
    /// The puzzle's answer if [`NONE`] is right.
    pub original_answer: Option<String>,
    /// For each place shown: 0 the answer, 1 to 3 the distractors.
    pub order: [u64; 4],
}

/// Why an answer and its distractors do not give four options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// One says nothing.
    #[error("an option is empty")]
    Empty,
    /// These two read the same.
    #[error("two options read the same: {0:?} and {1:?}")]
    Same(String, String),
}

/// Whether a group's answer is replaced. Depends on the seed and the group alone.
pub fn is_replaced_group(seed: u64, group: &str, share: f64) -> bool {
    DrawStream::new(seed, "brainteaser none", group).draw_unit() < share
}

/// The options of a question with this answer and these distractors.
///
/// # Errors
/// [`OptionsError`] if they do not give four options.
pub fn build_options(
    answer: &str,
    distractors: [&str; 3],
    replaced: bool,
    seed: u64,
    id: &str,
) -> Result<Options, OptionsError> {
    let [first, second, third] = distractors;
    let (answer, last, original) = if replaced { (NONE, third, Some(answer)) } else { (answer, NONE, None) };
    let parts = [answer, first, second, last];
    // The replaced answer is compared too: an option that reads like it would be right after all.
    let all: Vec<&str> = parts.into_iter().chain(original).collect();
    for (at, part) in all.iter().enumerate() {
        if part.trim().is_empty() {
            return Err(OptionsError::Empty);
        }
        if let Some(same) =
            all[..at].iter().find(|other| super::words::word_key(other) == super::words::word_key(part))
        {
            return Err(OptionsError::Same((*same).to_owned(), (*part).to_owned()));
        }
    }
    // Only the places before `None of above.` are shuffled.
    let none = if replaced { 0 } else { 3 };
    let mut order: Vec<u64> = (0..4).filter(|part| *part != none).collect();
    let mut draw = DrawStream::new(seed, "brainteaser order", id);
    for place in (1..order.len()).rev() {
        order.swap(place, draw.draw_below(place + 1));
    }
    Ok(Options {
        answer: answer.into(),
        distractors: [first, second, last].map(Into::into),
        original_answer: original.map(Into::into),
        order: [order[0], order[1], order[2], none],
    })
}

/// The place of the right answer among the options shown, from 0.
pub fn place_of_right(order: &[u64; 4]) -> u64 {
    order.iter().position(|part| *part == 0).unwrap_or_default() as u64
}

/// The options as they are shown.
pub fn ordered_options(answer: &str, distractors: &[String; 3], order: &[u64; 4]) -> [String; 4] {
    let parts = [answer, &distractors[0], &distractors[1], &distractors[2]];
    order.map(|part| parts.get(part as usize).copied().unwrap_or_default().to_owned())
}

/// Whether a group is in the training part of a split that keeps groups together.
pub fn is_training_group(seed: u64, group: &str, share: f64) -> bool {
    DrawStream::new(seed, "brainteaser split", group).draw_unit() < share
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_what_the_published_ones_are(id in "[a-z0-9:]{1,12}", seed: u64, replaced: bool) {
            let made = build_options("Right.", ["One.", "Two.", "Three."], replaced, seed, &id).unwrap();
            let shown = ordered_options(&made.answer, &made.distractors, &made.order);
            let label = place_of_right(&made.order);
            prop_assert_eq!(&shown[label as usize], &made.answer);
            prop_assert_eq!(shown[3].as_str(), NONE);
            prop_assert_eq!(replaced, label == 3);
            prop_assert_eq!(replaced, made.answer == NONE);
            prop_assert_eq!(made.original_answer.is_some(), replaced);
            let mut places = made.order;
            places.sort_unstable();
            prop_assert_eq!(places, [0, 1, 2, 3]);
            prop_assert_eq!(build_options("Right.", ["One.", "Two.", "Three."], replaced, seed, &id).unwrap(), made);
        }
    }

    #[test]
    fn two_that_read_the_same_are_named() {
        let made = |second| build_options("Right.", ["One.", second, "Three."], false, 0, "id");
        let same = made("one").unwrap_err();
        assert_eq!(same.to_string(), "two options read the same: \"One.\" and \"one\"");
        assert_eq!(made(" "), Err(OptionsError::Empty));
    }

    #[test]
    fn six_in_a_hundred_groups_are_replaced() {
        let groups = 20_000;
        for seed in [0, 1, 99] {
            let drawn = (0..groups)
                .filter(|n| is_replaced_group(seed, &format!("riddle:{n}"), REPLACED_SHARE))
                .count() as f64;
            // Four standard deviations of the binomial distribution.
            let (mean, deviation) = (0.06 * f64::from(groups), (0.06 * 0.94 * f64::from(groups)).sqrt());
            assert!((drawn - mean).abs() < 4.0 * deviation, "{drawn} of {groups}");
        }
    }

    #[test]
    fn every_order_comes_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for n in 0..6000 {
            let made = build_options("A", ["b", "c", "d"], false, 7, &n.to_string()).unwrap();
            *counts.entry(made.order).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|n| (850..1150).contains(n)), "{counts:?}");
    }

    #[test]
    fn options_that_read_the_same_are_none() {
        assert!(build_options("A dog.", ["a dog", "c", "d"], false, 0, "x").is_err());
        assert!(
            build_options("A dog.", ["b", "c", "None of above"], false, 0, "x").is_ok(),
            "the third is not shown"
        );
        assert!(build_options("A dog.", ["b", "none of above", "d"], false, 0, "x").is_err());
        assert!(build_options("A dog.", ["b", " ", "d"], true, 0, "x").is_err());
        // A distractor that equals the hidden answer would be right after all.
        assert!(build_options("A dog.", ["a dog", "c", "d"], true, 0, "x").is_err());
    }
}
