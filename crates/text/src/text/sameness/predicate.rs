//! The predicates as data: what an exact join needs to find every pair that gets a verdict.

use super::prepared::BagToken;

/// Whether two posts tell the same joke, in order of increasing similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Two jokes.
    Different,
    /// A person must decide; both are kept until then.
    Borderline,
    /// One joke: one of the two posts is merged into the other.
    Same,
}

impl Verdict {
    /// The name in ledgers and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Different => "different",
            Verdict::Borderline => "borderline",
            Verdict::Same => "same",
        }
    }
}

/// Why a pair gets a verdict, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Predicate {
    /// The same text, ignoring punctuation, width, script and case.
    Identical,
    /// One text is the beginning of the other.
    Opening,
    /// The same characters in the same order, apart from a few.
    Near,
    /// The same syllables in the same order, apart from a few.
    Sound,
    /// The weighty characters are the same, whatever their order.
    Reworded,
}

impl Predicate {
    /// Every predicate, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Identical, Self::Opening, Self::Near, Self::Sound, Self::Reworded];

    /// The name in ledgers and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Predicate::Identical => "identical",
            Predicate::Opening => "opening",
            Predicate::Near => "near",
            Predicate::Sound => "sound",
            Predicate::Reworded => "reworded",
        }
    }

    /// What it says of two texts, as a sentence.
    pub const fn definition(self) -> &'static str {
        match self {
            Predicate::Identical => "The texts are the same but for punctuation, width, script and case.",
            Predicate::Opening => "One text is the opening of the other.",
            Predicate::Near => "The texts have the same characters in the same order, apart from a few.",
            Predicate::Sound => {
                "The texts sound alike: the same syllables in the same order, apart from a few."
            }
            Predicate::Reworded => {
                "The texts say the same in other words: those that weigh most are in both."
            }
        }
    }

    /// The one that the evidence of a merge begins with: `opening; levenshtein 0.5926`.
    pub fn of_evidence(evidence: &str) -> Option<Predicate> {
        let (name, _) = evidence.split_once("; ")?;
        Self::ALL.into_iter().find(|predicate| predicate.name() == name)
    }
}

/// A set of predicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Predicates(u8);

impl Predicates {
    /// All there are.
    pub const ALL: Self = Self(!0);

    /// This one alone.
    pub const fn of_one(predicate: Predicate) -> Self {
        Self(1 << predicate as u8)
    }

    /// Those of either set.
    #[must_use]
    pub const fn union_with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These but for one.
    #[must_use]
    pub const fn without(self, predicate: Predicate) -> Self {
        Self(self.0 & !Self::of_one(predicate).0)
    }

    /// Whether this one is among them.
    pub const fn has_predicate(self, predicate: Predicate) -> bool {
        self.0 & Self::of_one(predicate).0 != 0
    }

    /// As a number, for files.
    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// Of a number from [`Predicates::to_bits`].
    pub const fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// A ratio of two integers. Compared as a ratio: 1/2 equals 2/4.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// Numerator.
    pub num: u64,
    /// Denominator, never 0.
    pub den: u64,
}

impl Ratio {
    /// `num / den`; `den` must not be 0.
    pub const fn new(num: u64, den: u64) -> Self {
        Self { num, den }
    }

    /// As a double: for printing, never for a decision.
    pub fn value(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        cross(self.num, other.den).cmp(&cross(other.num, self.den))
    }
}

/// The part of a text that a predicate compares.
#[derive(Clone, Copy, Debug)]
pub enum TextView {
    /// A string.
    Text(fn(&str) -> String),
    /// A weighted bag of characters, in rising order of symbol.
    Bag(fn(&str) -> Vec<BagToken>),
}

/// How two views are compared. Sizes are in characters of the view; the weight of a bag is the sum
/// of count times weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewMetric {
    /// 1 if the views are equal and not empty, else 0.
    Equal,
    /// |shorter| / |longer| if the shorter is a prefix of the longer, else 0.
    Prefix,
    /// 2·LCS / (|a| + |b|), with LCS the longest common subsequence.
    Indel,
    /// shared / (toward·lighter + (1 − toward)·heavier), all three weights of bags: between
    /// containment (toward = 1) and Dice (toward = 1/2).
    Overlap {
        /// How far the lighter bag decides.
        toward: Ratio,
    },
}

/// A condition that every pair of the predicate meets. An index may use any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The views are equal.
    SameView,
    /// The shorter view is a prefix of the longer.
    PrefixOfOther,
    /// |shorter| / |longer| is at least this.
    LengthRatio(Ratio),
    /// Lighter total weight / heavier total weight is at least this.
    WeightRatio(Ratio),
    /// A common subsequence of at least this part of |a| + |b|; hence as many common characters, counted with
    /// repetitions.
    CommonSubsequence(Ratio),
    /// Shared weight of at least this part of the lighter bag: so the pair shares one of the rarest
    /// characters of the lighter bag that outweigh the rest of it.
    SharedOfLighter(Ratio),
    /// Shared weight of at least this part of the heavier bag; likewise.
    SharedOfHeavier(Ratio),
    /// Weight of shared bigrams (of the folded text, a pair weighing as much as its two
    /// characters) of at least this part of the text whose pairs weigh less. So the two have at
    /// least two neighbouring characters in common.
    SharedPairsOfLighter(Ratio),
}

/// One predicate: a view, a metric and two thresholds.
#[derive(Clone, Copy, Debug)]
pub struct PredicateSpec {
    /// Which one.
    pub predicate: Predicate,
    /// What is compared.
    pub view: TextView,
    /// How.
    pub metric: ViewMetric,
    /// From this measure on a pair is at least borderline, before vetoes.
    pub borderline: Ratio,
    /// From this measure on a pair is the same, before vetoes.
    pub same: Ratio,
    /// The shorter folded text must have this many characters for a borderline pair.
    pub least_chars: usize,
    /// The shorter folded text must have this many characters for a pair to be the same.
    pub least_chars_same: usize,
    /// Further conditions that every pair of the predicate meets.
    pub needs: &'static [Need],
}

impl PredicateSpec {
    /// The verdict for a measure and a length, before vetoes.
    pub(super) fn judge_measure(&self, measure: Ratio, chars: usize) -> Verdict {
        if chars < self.least_chars || measure < self.borderline {
            Verdict::Different
        } else if chars < self.least_chars_same || measure < self.same {
            Verdict::Borderline
        } else {
            Verdict::Same
        }
    }
}
