//! Statistics of a corpus in parts.

use super::StatLine;
use super::measure::{CommonPairs, Measure};
use crate::join::{Order, Stats};

/// How many rows of a part hold each token, for every join of a measure. Those of several parts add up to
/// those of the whole, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartStats(Vec<(&'static str, Stats)>);

/// A line that is not a count of this measure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatError {
    /// The measure has no such join.
    #[error(
        "statistics of {0:?}, which the measure does not use; count with the settings that keys are cut with"
    )]
    Join(String),
    /// No hex digits.
    #[error("{0:?} is not a token")]
    Token(String),
    /// Bytes of the wrong length.
    #[error("the bytes are not counts")]
    Damaged,
}

impl PartStats {
    /// Statistics of no rows.
    pub fn new(measure: &Measure) -> PartStats {
        PartStats(measure.joins.iter().map(|join| (join.of, Stats::new(join.query.metric))).collect())
    }

    /// Counts a row.
    pub fn add(&mut self, measure: &Measure, text: &str) {
        let read = measure.read_text(text);
        for (join, (_, stats)) in measure.joins.iter().zip(&mut self.0) {
            stats.add(&measure.view_text(join, &read));
        }
    }

    /// Adds a line of another part.
    ///
    /// # Errors
    /// [`StatError`] where it is of another measure, or damaged.
    pub fn add_line(&mut self, line: &StatLine) -> Result<(), StatError> {
        let (_, stats) = self
            .0
            .iter_mut()
            .find(|(of, _)| *of == line.stats)
            .ok_or_else(|| StatError::Join(line.stats.clone()))?;
        match &line.token {
            None => stats.add_rows(line.rows),
            Some(token) => {
                let number = u128::from_str_radix(token, 16).map_err(|_| StatError::Token(token.clone()))?;
                stats.add_holders(number, line.rows);
            }
        }
        Ok(())
    }

    /// Statistics of both parts together.
    #[must_use]
    pub fn merge(self, other: PartStats) -> PartStats {
        PartStats(self.0.into_iter().zip(other.0).map(|((of, a), (_, b))| (of, a.merge(b))).collect())
    }

    /// The lines of it, in an order that the counts decide.
    pub fn stat_lines(&self) -> impl Iterator<Item = StatLine> + '_ {
        self.0.iter().flat_map(|(of, stats)| {
            let rows = StatLine { stats: (*of).into(), token: None, rows: stats.rows() };
            let token =
                |(token, rows)| StatLine { stats: (*of).into(), token: Some(format!("{token:x}")), rows };
            std::iter::once(rows).chain(stats.sorted_holders().into_iter().map(token))
        })
    }

    /// The counts as bytes, for [`PartStats::add_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (of, stats) in &self.0 {
            let holders = stats.sorted_holders();
            bytes.extend((of.len() as u64).to_le_bytes());
            bytes.extend(of.as_bytes());
            bytes.extend(stats.rows().to_le_bytes());
            bytes.extend((holders.len() as u64).to_le_bytes());
            for (token, rows) in holders {
                bytes.extend(token.to_le_bytes());
                bytes.extend(rows.to_le_bytes());
            }
        }
        bytes
    }

    /// Adds the counts of another part.
    ///
    /// # Errors
    /// [`StatError`] where they are of another measure, or damaged.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Result<(), StatError> {
        let mut rest = bytes;
        for (of, stats) in &mut self.0 {
            let length = next_word(&mut rest)? as usize;
            let (name, after) = rest.split_at_checked(length).ok_or(StatError::Damaged)?;
            if name != of.as_bytes() {
                return Err(StatError::Join(String::from_utf8_lossy(name).into_owned()));
            }
            rest = after;
            stats.add_rows(next_word(&mut rest)?);
            for _ in 0..next_word(&mut rest)? {
                let token = u128::from(next_word(&mut rest)?) | u128::from(next_word(&mut rest)?) << 64;
                stats.add_holders(token, next_word(&mut rest)?);
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(StatError::Damaged) }
    }

    /// The bigrams that too many rows hold.
    pub fn common_pairs(&self) -> CommonPairs {
        CommonPairs::new(self.0.iter().flat_map(|(_, stats)| stats.common_pairs()))
    }

    pub(super) fn join_orders(&self, measure: &Measure) -> Vec<Order> {
        measure
            .joins
            .iter()
            .zip(&self.0)
            .map(|(join, (_, stats))| Order::new(stats, join.query.threshold))
            .collect()
    }
}

/// The next number.
fn next_word(bytes: &mut &[u8]) -> Result<u64, StatError> {
    let (word, rest) = bytes.split_first_chunk().ok_or(StatError::Damaged)?;
    *bytes = rest;
    Ok(u64::from_le_bytes(*word))
}
