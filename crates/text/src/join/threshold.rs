//! Thresholds and scores as ratios of integers, so that a tie is a tie.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A similarity as the ratio `num / den` of two counts of characters or n-grams, in 0..=1.
///
/// Scores compare as ratios: 1/2 equals 2/4.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// What the two sides share, in the metric's unit.
    pub num: u32,
    /// What it is out of; never 0.
    pub den: u32,
}

impl Score {
    /// The score of two equal, non-empty sides.
    pub const ONE: Score = Score { num: 1, den: 1 };
    /// The score of two sides that share nothing.
    pub const ZERO: Score = Score { num: 0, den: 1 };

    /// The ratio, rounded to a double: for printing, never for a decision.
    pub fn value(self) -> f64 {
        f64::from(self.num) / f64::from(self.den)
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u64::from(self.num) * u64::from(other.den);
        let right = u64::from(other.num) * u64::from(self.den);
        left.cmp(&right)
    }
}

/// A threshold in (0, 1], held as the exact ratio its decimal says: `0.8` is 4/5, so that 8
/// characters of 10 are *at* the threshold, and in.
///
/// ```
/// use riddlemill_text::join::Threshold;
/// let eighty: Threshold = "0.80".parse()?;
/// assert_eq!(eighty, Threshold::new(4, 5)?);
/// # Ok::<(), riddlemill_text::join::ThresholdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    num: u32,
    den: u32,
}

/// Why a threshold was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// Not a plain decimal.
    #[error("threshold `{0}` is not a decimal with at most 9 places, such as 0.8")]
    NotADecimal(String),
    /// Zero would pair every row with every row; above 1 nothing is.
    #[error("threshold {0} is outside (0, 1]")]
    OutOfRange(String),
}

impl Threshold {
    /// Only what is equal.
    pub const ONE: Threshold = Threshold { num: 1, den: 1 };

    /// The threshold `num / den`, reduced.
    pub fn new(num: u32, den: u32) -> Result<Self, ThresholdError> {
        if num == 0 || num > den {
            return Err(ThresholdError::OutOfRange(format!("{num}/{den}")));
        }
        let divisor = common_divisor(num, den);
        Ok(Self { num: num / divisor, den: den / divisor })
    }

    /// A ratio known to be one, as in a test.
    #[cfg(test)]
    pub(super) const fn of_ratio(num: u32, den: u32) -> Self {
        assert!(num > 0 && num <= den);
        Self { num, den }
    }

    /// Numerator of the reduced ratio.
    pub fn num(self) -> u32 {
        self.num
    }

    /// Denominator of the reduced ratio.
    pub fn den(self) -> u32 {
        self.den
    }

    /// Whether a score is at or over the threshold.
    pub fn admits(self, score: Score) -> bool {
        score >= Score { num: self.num, den: self.den }
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = || ThresholdError::NotADecimal(text.to_owned());
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + places.len() == 0 || !digits(whole) || !digits(places) || places.len() > 9 {
            return Err(refuse());
        }
        let den = 10u32.pow(places.len() as u32);
        let num: u64 = format!("{whole}{places}").parse().map_err(|_| refuse())?;
        u32::try_from(num)
            .ok()
            .and_then(|num| Self::new(num, den).ok())
            .ok_or_else(|| ThresholdError::OutOfRange(text.to_owned()))
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_ratios() {
        let ratio = |text: &str| text.parse::<Threshold>().map(|t| (t.num(), t.den()));
        assert_eq!(ratio("0.8"), Ok((4, 5)));
        assert_eq!(ratio(".85"), Ok((17, 20)));
        assert_eq!(ratio("1"), Ok((1, 1)));
        assert_eq!(ratio("1.000"), Ok((1, 1)));
        assert_eq!(ratio("0.333333333"), Ok((333_333_333, 1_000_000_000)));
    }

    #[test]
    fn what_is_no_threshold_is_refused() {
        for text in ["", ".", "-0.5", "0,8", "8e-1", "0.1234567891", "∞", " 0.8"] {
            assert!(matches!(text.parse::<Threshold>(), Err(ThresholdError::NotADecimal(_))), "{text}");
        }
        for text in ["0", "0.0", "1.1", "99999999999"] {
            assert!(matches!(text.parse::<Threshold>(), Err(ThresholdError::OutOfRange(_))), "{text}");
        }
    }

    #[test]
    fn a_tie_is_in_and_a_hair_less_is_out() {
        let t: Threshold = "0.8".parse().unwrap();
        assert!(t.admits(Score { num: 8, den: 10 }));
        assert!(!t.admits(Score { num: 799_999_999, den: 1_000_000_000 }));
        assert_eq!(Score { num: 1, den: 2 }, Score { num: 2, den: 4 });
        assert_eq!((Score { num: 3, den: 4 }.value(), t.to_string().as_str()), (0.75, "4/5"));
        assert_ne!(Score { num: 1, den: 2 }, Score { num: 2, den: 3 });
        assert!(Threshold::new(0, 4).is_err() && Threshold::new(5, 4).is_err());
        assert_eq!(Threshold::new(4, 4), Ok(Threshold::ONE));
    }
}
