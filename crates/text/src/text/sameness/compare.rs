//! The verdict: the strongest predicate, reduced by vetoes.

use super::predicate::{Predicate, PredicateSpec, Predicates, Ratio, Verdict};
use super::prepared::{PreparedText, Shared, SharedWeights};
use super::vetoes::{self, Veto};
use super::{english, measures, order, other, replaced};
use riddlemill_record::Language;

/// What was measured, so that a reader can check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The measure of the deciding predicate's metric; without one, the overlap of [`Predicate::Reworded`].
    pub measure: Ratio,
    /// Lengths of the two folded texts in characters, the shorter first.
    pub chars: (usize, usize),
}

/// The outcome of comparing two texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    pub verdict: Verdict,
    /// The measure as a double in 0..=1: for printing and sorting, not a probability.
    pub score: f64,
    /// The predicate that decided, if one matched.
    pub predicate: Option<Predicate>,
    /// The veto that rejected or demoted the pair, if one did.
    pub veto: Option<Veto>,
    /// What was measured.
    pub evidence: Evidence,
}

/// Characters of a folded text, of English its words, up to which its wording is compared. No joke is as long, and the time
/// that two texts take grows with the product of their lengths.
pub const MOST_UNITS: usize = 4_000;

/// Whether a text, perhaps [tagged](crate::text::language::tag_language) with its language, is over [`MOST_UNITS`], so that only texts
/// that are identical to it, its beginning, or begin with it are found.
pub fn is_over_length(text: &str) -> bool {
    // No text has more units than bytes, and nearly all are short.
    text.len() > MOST_UNITS && PreparedText::new(text).len() > MOST_UNITS
}

/// Compares two texts. See [`compare_prepared`].
///
/// ```
/// # use riddlemill_text::text::sameness::{compare, Verdict};
/// assert_eq!(compare("鱼会淹死吗", "魚會淹死嗎？").verdict, Verdict::Same);
/// assert_eq!(compare("鱼会淹死吗", "鸟会恐高吗").verdict, Verdict::Different);
/// ```
pub fn compare(a: &str, b: &str) -> Comparison {
    compare_prepared(&PreparedText::new(a), &PreparedText::new(b))
}

/// Compares two prepared texts. Symmetric; a text that is not blank is the same as itself.
///
/// Of the matching predicates the one with the strongest verdict after vetoes decides; among equals the first
/// in the order of [`Predicate`]. A text over [`MOST_UNITS`] is compared as identical and by openings alone.
pub fn compare_prepared(a: &PreparedText, b: &PreparedText) -> Comparison {
    compare_among(a, b, Predicates::ALL, None)
}

/// [`compare_prepared`] if only these predicates can match, perhaps with the shared weights already known.
pub(crate) fn compare_among(
    a: &PreparedText,
    b: &PreparedText,
    among: Predicates,
    shared: Option<SharedWeights>,
) -> Comparison {
    let shared = Shared::new(a, b, shared);
    let chars = (a.len().min(b.len()), a.len().max(b.len()));
    let outcome = |verdict, predicate, veto, measure: Ratio| Comparison {
        verdict,
        score: measure.value(),
        predicate,
        veto,
        evidence: Evidence { measure, chars },
    };
    let mut best: Option<Comparison> = None;
    let holds = |predicate| {
        let own = a.language() == b.language() && holds_of(predicate, a.language());
        let cheap = matches!(predicate, Predicate::Identical | Predicate::Opening);
        among.has_predicate(predicate)
            && (own || predicate == Predicate::Identical)
            && (cheap || chars.1 <= MOST_UNITS)
    };
    for spec in all_predicates().iter().filter(|spec| holds(spec.predicate)) {
        let measure = match spec.predicate {
            Predicate::Identical => measures::measure_identical(a, b),
            Predicate::Opening => measures::measure_opening(a, b),
            Predicate::Near => measures::measure_near(a, b),
            Predicate::Sound => measures::measure_sound(a, b),
            Predicate::Reworded => measures::measure_reworded(shared),
        };
        let plain = spec.judge_measure(measure, length_in(a.language(), spec.predicate, chars.0));
        if plain == Verdict::Different {
            continue;
        }
        let (verdict, veto) = after_vetoes(spec.predicate, plain, a, b, shared);
        let found = outcome(verdict, Some(spec.predicate), veto, measure);
        if verdict == Verdict::Same {
            return found;
        }
        if best.is_none_or(|best| best.verdict < verdict) {
            best = Some(found);
        }
    }
    let overlap = || measures::overlap_ratio(shared.letter_weight(), shared.total_weights());
    best.unwrap_or_else(|| outcome(Verdict::Different, None, None, overlap()))
}

/// Whether a predicate is for texts of a language. All are for Chinese. The words of English have no tones and its spelling is
/// no sound; and which words of another language weigh much, nobody knows.
pub(crate) fn holds_of(predicate: Predicate, language: Language) -> bool {
    match language {
        Language::Zh => true,
        Language::En => predicate != Predicate::Sound,
        Language::Und => !matches!(predicate, Predicate::Sound | Predicate::Reworded),
    }
}

/// How many units a text needs where a Chinese one needs so many characters: a word of English is worth two.
pub(crate) fn least_units(chars: usize, language: Language) -> usize {
    if language == Language::En { chars.div_ceil(2) } else { chars }
}

/// The length of a text of so many units, as thresholds count it. One opening word says less than two Chinese characters.
fn length_in(language: Language, predicate: Predicate, units: usize) -> usize {
    if language == Language::En && predicate != Predicate::Opening { 2 * units } else { units }
}

/// A verdict reduced by vetoes. A part of a series is another text; any other veto takes one step.
fn after_vetoes(
    predicate: Predicate,
    verdict: Verdict,
    a: &PreparedText,
    b: &PreparedText,
    shared: Shared<'_>,
) -> (Verdict, Option<Veto>) {
    let veto = match predicate {
        Predicate::Identical => None,
        _ if vetoes::differ_in_signs(predicate, a, b) || vetoes::differ_in_symbols(a, b) => {
            Some(Veto::Number)
        }
        _ if a.language() == Language::En => english::find_veto(predicate, a, b),
        Predicate::Near if a.language() == Language::Und => other::find_veto(a, b),
        _ if vetoes::differ_in_issue(a, b) => return (Verdict::Different, Some(Veto::Series)),
        Predicate::Near | Predicate::Sound | Predicate::Reworded if vetoes::differ_in_negation(a, b) => {
            Some(Veto::Negation)
        }
        Predicate::Near | Predicate::Sound | Predicate::Reworded
            if vetoes::differ_in_number(a, b, shared) =>
        {
            Some(Veto::Number)
        }
        Predicate::Near | Predicate::Sound | Predicate::Reworded if order::differ_in_order(a, b) => {
            Some(Veto::Order)
        }
        Predicate::Opening => vetoes::is_compilation(a, b).then_some(Veto::Compilation),
        Predicate::Near | Predicate::Sound | Predicate::Reworded => {
            replaced::find_veto(a, b).or_else(|| find_frame_veto(predicate, a, b, shared))
        }
    };
    match (veto, verdict) {
        (None, verdict) => (verdict, None),
        (veto, Verdict::Same) => (Verdict::Borderline, veto),
        (veto, _) => (Verdict::Different, veto),
    }
}

/// The veto on two texts of Chinese that share a frame.
fn find_frame_veto(
    predicate: Predicate,
    a: &PreparedText,
    b: &PreparedText,
    shared: Shared<'_>,
) -> Option<Veto> {
    if predicate != Predicate::Sound && measures::names_another(a, b, shared) {
        return Some(Veto::Subject);
    }
    match predicate == Predicate::Reworded {
        true if vetoes::differ_in_subject(shared) => Some(Veto::Template),
        true if vetoes::is_compilation(a, b) => Some(Veto::Compilation),
        true => vetoes::share_only_place(a, b).then_some(Veto::Place),
        false => None,
    }
}

/// The veto on two texts, perhaps [tagged](crate::text::language::tag_language) with their languages, that some other measure, such
/// as embeddings, finds similar; symmetric.
pub fn find_veto(a: &str, b: &str) -> Option<Veto> {
    let (a, b) = (PreparedText::new(a), PreparedText::new(b));
    // No rule compares texts of two languages, or says what matters in an unknown one.
    if a.language() != b.language() || a.language() == Language::Und {
        return None;
    }
    after_vetoes(Predicate::Reworded, Verdict::Same, &a, &b, Shared::new(&a, &b, None)).1
}

/// All predicates. The pairs that are `Same` or `Borderline` are among the union of those that match one of
/// them; vetoes only remove pairs.
pub fn all_predicates() -> &'static [PredicateSpec] {
    &[measures::IDENTICAL, measures::OPENING, measures::NEAR, measures::SOUND, measures::REWORDED]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_alone_say_nothing() {
        for (a, b) in [("[人名]", "[人名]"), ("@[人名] [链接]", "@[人名] [链接]！"), ("[name]", "[name]")]
        {
            assert_eq!(compare(a, b).verdict, Verdict::Different, "{a} {b}");
        }
        assert_eq!(compare("[人名]为什么不会飞", "[人名]为什么不会飞？").verdict, Verdict::Same);
    }

    #[test]
    fn long_texts_are_compared_as_copies_and_beginnings() {
        let draw = |n: u32| char::from_u32(0x4E00 + n.wrapping_mul(2_654_435_761) % 3_000).unwrap();
        let text = |chars: u32| -> String { (0..chars).map(draw).collect() };
        let changed = |chars: u32| format!("鱼{}", text(chars));
        let short = MOST_UNITS as u32 - 1;
        assert_eq!(compare(&text(short), &changed(short)).predicate, Some(Predicate::Near));
        let long = 10 * MOST_UNITS as u32;
        assert!(is_over_length(&text(long)) && !is_over_length(&text(short)));
        assert_eq!(compare(&text(long), &changed(long)).verdict, Verdict::Different);
        assert_eq!(compare(&text(long), &format!("{}！", text(long))).predicate, Some(Predicate::Identical));
        let cut = compare(&text(long), &text(long / 2));
        assert_eq!((cut.verdict, cut.predicate), (Verdict::Same, Some(Predicate::Opening)));
    }
}
