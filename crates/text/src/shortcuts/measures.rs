//! The figures of a set's options: their lengths and form, their places, and what they share with each other and with the question.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{Item, RuleShare, guess_credit};
use crate::text::normalise::{Fold, fold};

/// An option stands out if it is at least this many times as long as every other option, or every other as
/// it.
const APART: f64 = 1.3;

/// A feature that only the right option has, or lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// It is by far the longest.
    Longest,
    /// It is by far the shortest.
    Shortest,
    /// It alone quotes the text.
    Quotes,
    /// All but it quote the text.
    QuotesNot,
    /// It alone is written in several sentences.
    Sentences,
    /// All but it are written in several sentences.
    SentencesNot,
    /// It alone ends with a full stop, or alone does not.
    Stop,
}

impl Cue {
    /// A description in English and in Chinese.
    pub fn descriptions(self) -> (&'static str, &'static str) {
        match self {
            Cue::Longest => ("the right option is by far the longest", "正确选项明显最长"),
            Cue::Shortest => ("the right option is by far the shortest", "正确选项明显最短"),
            Cue::Quotes => ("only the right option quotes", "只有正确选项使用了引号"),
            Cue::QuotesNot => ("only the right option does not quote", "只有正确选项没有使用引号"),
            Cue::Sentences => ("only the right option has several sentences", "只有正确选项由多句组成"),
            Cue::SentencesNot => ("only the right option is one sentence", "只有正确选项是一句话"),
            Cue::Stop => (
                "only the right option ends, or does not end, with a full stop",
                "只有正确选项的句末标点与其他选项不同",
            ),
        }
    }
}

/// The features that give the right option away among these; empty if there are none.
///
/// Features of one item's options that give the right one away: its length, and how it is written.
pub fn find_cues(right: &str, wrong: &[&str]) -> Vec<Cue> {
    if wrong.is_empty() {
        return Vec::new();
    }
    let length = |text: &str| text.trim().chars().count() as f64;
    let lengths = || wrong.iter().map(|text| length(text));
    let (shortest, longest) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
    let alone = |has: fn(&str) -> bool| has(right) && !wrong.iter().any(|text| has(text));
    let lacks = |has: fn(&str) -> bool| !has(right) && wrong.iter().all(|text| has(text));
    let found = [
        (length(right) >= APART * longest, Cue::Longest),
        (length(right) * APART <= shortest, Cue::Shortest),
        (alone(has_quotes), Cue::Quotes),
        (lacks(has_quotes), Cue::QuotesNot),
        (alone(has_several_sentences), Cue::Sentences),
        (lacks(has_several_sentences), Cue::SentencesNot),
        (alone(has_end_mark) || lacks(has_end_mark), Cue::Stop),
    ];
    found.into_iter().filter(|(holds, _)| *holds).map(|(_, tell)| tell).collect()
}

fn has_quotes(text: &str) -> bool {
    text.contains(['“', '”', '"', '「', '『', '‘'])
}

fn has_several_sentences(text: &str) -> bool {
    let ends = |c: &char| matches!(c, '。' | '！' | '？' | '!' | '?' | '；');
    text.trim().trim_end_matches(|c| ends(&c)).chars().any(|c| ends(&c))
}

fn has_end_mark(text: &str) -> bool {
    text.trim_end().ends_with(['。', '.', '！', '!', '？', '?', '”'])
}

/// The right options by their length among the options of their item.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lengths {
    /// How many right options are the longest, the second longest …; options of equal length share a rank in
    /// parts.
    pub ranks: Vec<f64>,
    /// Pearson's chi-square against a uniform distribution.
    pub chi_square: f64,
    /// The probability of ranks at least this uneven if length says nothing.
    pub p: f64,
    /// The rule of taking the longest option.
    pub longest: RuleShare,
    /// The rule of taking the shortest option.
    pub shortest: RuleShare,
}

/// Ranks the right options by length.
///
/// The length of right options compared with the others, in characters.
pub fn measure_lengths(items: &[Item<'_>]) -> Lengths {
    let options = items.first().map_or(0, |item| item.options.len());
    let mut ranks = vec![0.0; options];
    let (mut longest, mut shortest) = (0.0, 0.0);
    for item in items {
        let lengths: Vec<f64> = item.options.iter().map(|text| text.chars().count() as f64).collect();
        let Some(&gold) = lengths.get(item.gold) else { continue };
        let longer = lengths.iter().filter(|length| **length > gold).count();
        let equal = lengths.iter().filter(|length| **length == gold).count();
        for rank in ranks.iter_mut().skip(longer).take(equal) {
            *rank += 1.0 / equal as f64;
        }
        longest += guess_credit(&lengths, item.gold);
        shortest += guess_credit(&lengths.iter().map(|length| -length).collect::<Vec<_>>(), item.gold);
    }
    let (chi_square, p) = uniformity_test(&ranks);
    let share = |right| RuleShare::new(right, items.len(), options);
    Lengths { ranks, chi_square, p, longest: share(longest), shortest: share(shortest) }
}

/// From this similarity on, two options say the same to most readers: one edit in ten characters.
const ALIKE: f64 = 0.9;

/// Two options of an item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearEqual {
    /// The item.
    pub id: String,
    /// The indices of the two.
    pub places: (usize, usize),
    /// Whether one of them is the right one.
    pub with_right: bool,
    /// Their normalized Levenshtein similarity after folding; 1 if they are equal after folding.
    pub likeness: f64,
}

/// Every such pair, in the order of the items.
///
/// Nearly equal options of one item: a reader cannot tell which of the two is right.
pub fn near_equal(items: &[Item<'_>]) -> Vec<NearEqual> {
    let mut found = Vec::new();
    for item in items {
        let folded: Vec<String> = item.options.iter().map(|text| fold(text, Fold::KEY)).collect();
        for (second, text) in folded.iter().enumerate() {
            for (first, other) in folded[..second].iter().enumerate() {
                let likeness = match item.options[first] == item.options[second] {
                    true => 1.0,
                    // Folding two options of punctuation alone leaves nothing to compare.
                    false if text.is_empty() || other.is_empty() => 0.0,
                    false => strsim::normalized_levenshtein(other, text),
                };
                if likeness >= ALIKE {
                    let with_right = first == item.gold || second == item.gold;
                    found.push(NearEqual {
                        id: item.id.into(),
                        places: (first, second),
                        with_right,
                        likeness,
                    });
                }
            }
        }
    }
    found
}

/// Character pairs of the options that are in the question too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OptionOverlap {
    /// The mean share of a right option's pairs.
    pub right: f64,
    /// The mean share of a wrong option's pairs.
    pub wrong: f64,
    /// The rule of taking the option that shares most.
    pub most: RuleShare,
    /// The rule of taking the option that shares least.
    pub least: RuleShare,
}

/// Compares options with their questions, ignoring width, case and punctuation.
///
/// What options share with their question.
pub fn measure_overlap(items: &[Item<'_>]) -> OptionOverlap {
    let options = items.first().map_or(0, |item| item.options.len());
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    let (mut most, mut least) = (0.0, 0.0);
    for item in items {
        let asked = char_pairs(item.question);
        let shares: Vec<f64> =
            item.options.iter().map(|option| shared_part(&char_pairs(option), &asked)).collect();
        for (at, share) in shares.iter().enumerate() {
            if at == item.gold { right.push(*share) } else { wrong.push(*share) }
        }
        most += guess_credit(&shares, item.gold);
        least += guess_credit(&shares.iter().map(|share| -share).collect::<Vec<_>>(), item.gold);
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let share = |credits| RuleShare::new(credits, items.len(), options);
    OptionOverlap { right: mean(&right), wrong: mean(&wrong), most: share(most), least: share(least) }
}

fn char_pairs(text: &str) -> BTreeSet<(char, char)> {
    let folded = fold(text, Fold::KEY);
    folded.chars().zip(folded.chars().skip(1)).collect()
}

fn shared_part(of: &BTreeSet<(char, char)>, with: &BTreeSet<(char, char)>) -> f64 {
    of.intersection(with).count() as f64 / of.len().max(1) as f64
}

/// Right options by place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Positions {
    /// How many right options are at each position.
    pub counts: Vec<u64>,
    /// Pearson's chi-square against a uniform distribution.
    pub chi_square: f64,
    /// The probability of counts at least this uneven if positions are drawn.
    pub p: f64,
}

/// Counts the positions. All items have as many options as the first. Options at the `fixed` positions are
/// not drawn: they are counted, but left out of the test.
///
/// Positions of the right options.
pub fn count_positions(items: &[Item<'_>], fixed: &[usize]) -> Positions {
    let mut counts = vec![0; items.first().map_or(0, |item| item.options.len())];
    for item in items {
        if let Some(count) = counts.get_mut(item.gold) {
            *count += 1;
        }
    }
    let drawn = counts.iter().enumerate().filter(|(at, _)| !fixed.contains(at));
    let (chi_square, p) = uniformity_test(&drawn.map(|(_, count)| *count as f64).collect::<Vec<_>>());
    Positions { counts, chi_square, p }
}

/// Chi-square of counts against equal ones, and its p-value.
pub(super) fn uniformity_test(counts: &[f64]) -> (f64, f64) {
    let expected = counts.iter().sum::<f64>() / counts.len().max(1) as f64;
    if counts.len() < 2 || expected <= 0.0 {
        return (0.0, 1.0);
    }
    let chi_square = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    let p = ChiSquared::new((counts.len() - 1) as f64).map_or(1.0, |of| of.sf(chi_square));
    (chi_square, p)
}

/// An option of several items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reused {
    /// The text, as it is first written.
    pub text: String,
    /// The items where it is right.
    pub right: Vec<String>,
    /// The items where it is wrong.
    pub wrong: Vec<String>,
}

/// Every option that is in items of more than one group, ignoring width, case and punctuation; options meant
/// for every item are left out.
///
/// Options that occur in several items: knowing one item helps with the others. Items of one group share
/// theirs by design, as a puzzle and its rephrasing do.
pub fn find_reused(items: &[Item<'_>], apart: &[&str]) -> Vec<Reused> {
    let mut by_text: BTreeMap<String, Reused> = BTreeMap::new();
    for item in items {
        for (at, text) in item.options.iter().enumerate() {
            if apart.contains(&text.as_str()) {
                continue;
            }
            let folded = fold(text, Fold::KEY);
            let key = if folded.is_empty() { text.clone() } else { folded };
            let entry = by_text.entry(key).or_insert_with(|| Reused {
                text: text.clone(),
                right: Vec::new(),
                wrong: Vec::new(),
            });
            let list = if at == item.gold { &mut entry.right } else { &mut entry.wrong };
            if list.last().is_none_or(|last| last != item.id) {
                list.push(item.id.to_owned());
            }
        }
    }
    let group_of: BTreeMap<&str, &str> = items.iter().map(|item| (item.id, item.group)).collect();
    let several = |reused: &Reused| {
        let ids = reused.right.iter().chain(&reused.wrong);
        ids.filter_map(|id| group_of.get(id.as_str())).collect::<BTreeSet<_>>().len() > 1
    };
    by_text.into_values().filter(several).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_right_option_has_is_reported() {
        let right = "“意思”在两处不是一个意思。前一处是含义，后一处是心意。";
        let found = find_cues(right, &["因为送礼很贵", "因为他很小气", "因为天气不好"]);
        assert_eq!(found, [Cue::Longest, Cue::Quotes, Cue::Sentences, Cue::Stop]);
        let similar = ["“意思”指的是礼物的价钱。送得越贵越有面子。", "“意思”是说话人不高兴。他想走了。"];
        assert_eq!(find_cues(right, &similar), []);
        assert_eq!(find_cues("不能。", &["可以，因为鱼会口渴。", "可以，因为水是湿的。"]), [Cue::Shortest]);
        assert_eq!(find_cues("不能。", &[]), []);
    }
}
