//! How judges rate, and how far they agree (RuozhiBench 3.2–3.4).
//!
//! A rating is a whole number from 0 to 4 (figures 12 and 13). Shares are percent throughout, unlike in the
//! paper's table 3, which mixes shares and percent.

mod means;
mod pairs;

pub use means::{Cell, Distribution, distributions, mean_of_judges, means};
pub use pairs::{JudgePair, Measures, judge_pairs};

/// The lowest and the highest rating.
pub const SCALE: std::ops::RangeInclusive<u32> = 0..=4;

/// One rating of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating<'a> {
    /// The question that was answered.
    pub question: &'a str,
    /// Whether it is the paired normal question.
    pub normal: bool,
    pub response: &'a str,
    /// The model that answered.
    pub model: &'a str,
    pub judge: &'a str,
    /// Which of the judge's ratings of this response it is, from 0.
    pub repeat: u32,
    /// 0 to 4.
    pub rating: u32,
}

#[cfg(test)]
mod tests;
