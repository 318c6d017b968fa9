//! Figures 4, 5 and 6: distribution of ratings, and scores of models.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Rating;

/// How often a judge gives each rating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Distribution {
    pub judge: String,
    /// The model whose answers are rated; `None` for all models.
    pub model: Option<String>,
    /// Whether the answers are to normal questions.
    pub normal: bool,
    /// How many ratings of 0, 1, 2, 3 and 4.
    pub counts: [u64; 5],
}

/// Counts by judge over all models (figure 6, diagonal), then by judge and model (figure 5).
pub fn distributions(ratings: &[Rating<'_>]) -> Vec<Distribution> {
    let mut counts: BTreeMap<(Option<&str>, &str, bool), [u64; 5]> = BTreeMap::new();
    for rating in ratings {
        for model in [None, Some(rating.model)] {
            let of = counts.entry((model, rating.judge, rating.normal)).or_default();
            if let Some(count) = of.get_mut(rating.rating as usize) {
                *count += 1;
            }
        }
    }
    let row = |((model, judge, normal), counts): ((Option<&str>, &str, bool), [u64; 5])| Distribution {
        judge: judge.into(),
        model: model.map(Into::into),
        normal,
        counts,
    };
    counts.into_iter().map(row).collect()
}

/// Score of a model in a category, from 0 to 100.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub model: String,
    /// The category; `None` for all questions.
    pub category: Option<String>,
    /// Questions it answered.
    pub questions: usize,
    /// The mean of its ratings times 25 (figure 4).
    pub score: f64,
}

/// Means over all judges by model and category. Models are sorted by their overall score, best first. A
/// question counts in each of its categories.
pub fn means<'a>(ratings: &[Rating<'_>], categories: impl Fn(&str) -> &'a [String]) -> Vec<Cell> {
    #[derive(Default)]
    struct Sum<'q> {
        sum: f64,
        n: f64,
        questions: BTreeSet<&'q str>,
    }
    let mut sums: BTreeMap<(&str, Option<&str>), Sum<'_>> = BTreeMap::new();
    for rating in ratings {
        let of = categories(rating.question).iter().map(|category| Some(category.as_str()));
        for category in std::iter::once(None).chain(of) {
            let sum = sums.entry((rating.model, category)).or_default();
            sum.sum += f64::from(rating.rating);
            sum.n += 1.0;
            sum.questions.insert(rating.question);
        }
    }
    let cell = |((model, category), sum): ((&str, Option<&str>), Sum<'_>)| Cell {
        model: model.into(),
        category: category.map(Into::into),
        questions: sum.questions.len(),
        score: 25.0 * sum.sum / sum.n,
    };
    let mut cells: Vec<Cell> = sums.into_iter().map(cell).collect();
    let whole: BTreeMap<String, f64> = cells
        .iter()
        .filter(|cell| cell.category.is_none())
        .map(|cell| (cell.model.clone(), cell.score))
        .collect();
    cells.sort_by(|a, b| {
        let by_score = whole[&b.model].total_cmp(&whole[&a.model]);
        by_score.then_with(|| a.model.cmp(&b.model)).then_with(|| a.category.cmp(&b.category))
    });
    cells
}
