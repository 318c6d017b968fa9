//! How similar a text is to one that somebody partly remembers.

use std::collections::BTreeSet;

use crate::text::normalise::{Fold, fold};

/// Smallest relevant share of common character pairs.
const LEAST: f64 = 0.5;

/// A text to search for, folded once.
pub(super) struct Likeness {
    folded: String,
    pairs: BTreeSet<(char, char)>,
}

impl Likeness {
    pub(super) fn to(text: &str) -> Likeness {
        let folded = fold(text, Fold::KEY);
        Likeness { pairs: pairs(&folded), folded }
    }

    /// 0.5 to 1 if the text, or a part of it, is similar to the wanted one. Half of the figure is the share
    /// of the wanted text's character pairs that it contains, half the Dice coefficient of both, so that of
    /// two texts that contain all of them the shorter one comes first.
    pub(super) fn score(&self, text: &str) -> Option<f64> {
        let other = fold(text, Fold::KEY);
        if self.folded == other {
            return Some(1.0);
        }
        // A single character has no pairs.
        if self.pairs.is_empty() {
            return (!self.folded.is_empty() && other.contains(&self.folded)).then_some(LEAST);
        }
        let theirs = pairs(&other);
        let common = self.pairs.intersection(&theirs).count() as f64;
        let share = common / self.pairs.len() as f64;
        let dice = 2.0 * common / (self.pairs.len() + theirs.len()) as f64;
        (share >= LEAST).then_some((share + dice) / 2.0)
    }
}

fn pairs(text: &str) -> BTreeSet<(char, char)> {
    text.chars().zip(text.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_finds_the_whole_and_the_nearer_one_scores_more() {
        let likeness = Likeness::to("冰箱里的灯");
        let near = likeness.score("冰箱里的燈，怕黑吗").unwrap();
        let far = likeness.score("冰箱里的灯在门关上以后是不是一个人偷偷地亮着呢").unwrap();
        assert!(near > far && far > 0.4);
        assert_eq!(likeness.score("冰箱里的灯？"), Some(1.0));
        assert_eq!(likeness.score("雨伞怕不怕淋雨"), None);
        assert!(Likeness::to("灯").score("关灯").is_some());
    }
}
