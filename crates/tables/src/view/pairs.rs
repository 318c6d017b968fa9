//! The order of a stage's pairs: sixteen bytes each.

use polars::prelude::{Column, DataFrame, PolarsResult};
use rayon::prelude::*;

use crate::{Error, StageReader, part_columns};

/// Which pairs a page shows, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct PairQuery<'q> {
    /// Only pairs with a score less than this.
    pub below: f64,
    /// Only pairs with this verdict.
    pub verdict: Option<&'q str>,
    /// From the lowest score up instead of from the highest down.
    pub lowest: bool,
}

/// Pairs by their score, highest first.
pub(super) struct Pairs {
    /// The verdicts that occur.
    verdicts: Vec<String>,
    /// Score, index of the verdict, row; at equal scores in the order of the rows.
    order: Vec<(f64, u16, u32)>,
}

impl Pairs {
    pub(super) fn read(stage: &StageReader) -> Result<Pairs, Error> {
        let mut pairs = Pairs { verdicts: Vec::new(), order: Vec::new() };
        for part in 0..stage.table("pairs").parts.len() {
            let frame = part_columns(stage, "pairs", part, &["score", "verdict"])?;
            pairs.add(&frame).map_err(|e| Error::stale_file(&stage.place().join("pairs"), e))?;
        }
        // The sort is stable, so that pairs with equal scores keep the order of the rows.
        pairs.order.par_sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(pairs)
    }

    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let verdicts = frame.column("verdict").and_then(Column::str)?;
        for (score, verdict) in frame.column("score").and_then(Column::f64)?.iter().zip(verdicts.iter()) {
            let verdict = verdict.unwrap_or_default();
            let known = self.verdicts.iter().position(|known| known == verdict).unwrap_or_else(|| {
                self.verdicts.push(verdict.to_string());
                self.verdicts.len() - 1
            });
            self.order.push((score.unwrap_or_default(), known as u16, self.order.len() as u32));
        }
        Ok(())
    }

    /// A page of the rows that match a query, and their total number.
    pub(super) fn page(&self, query: PairQuery<'_>, from: usize, count: usize) -> (Vec<u32>, usize) {
        let PairQuery { below, verdict, lowest } = query;
        let first = self.order.partition_point(|(score, ..)| *score >= below);
        // An unknown verdict matches no pair, whereas a missing one matches all.
        let wanted = verdict.map(|verdict| self.verdicts.iter().position(|known| known == verdict));
        let fits = |place: u16| wanted.is_none_or(|wanted| wanted == Some(usize::from(place)));
        let mut rows: Vec<u32> = self.order[first..]
            .iter()
            .filter(|(_, verdict, _)| fits(*verdict))
            .map(|(.., row)| *row)
            .collect();
        if lowest {
            rows.reverse();
        }
        (rows.iter().skip(from).take(count).copied().collect(), rows.len())
    }

    pub(super) fn bytes(&self) -> usize {
        self.order.len() * size_of::<(f64, u16, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_from_a_score_downwards() {
        let pairs = Pairs {
            verdicts: vec!["same".into(), "borderline".into()],
            order: vec![(0.9, 0, 2), (0.8, 1, 0), (0.8, 0, 3), (0.6, 1, 1)],
        };
        let all = PairQuery { below: 1.1, verdict: None, lowest: false };
        assert_eq!(pairs.page(all, 0, 2), (vec![2, 0], 4));
        assert_eq!(pairs.page(PairQuery { below: 0.9, ..all }, 1, 9), (vec![3, 1], 3));
        let borderline = PairQuery { verdict: Some("borderline"), lowest: true, ..all };
        assert_eq!(pairs.page(borderline, 0, 9), (vec![1, 0], 2));
        assert_eq!(pairs.page(PairQuery { verdict: Some("neither"), ..all }, 0, 9), (vec![], 0));
    }
}
