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
pub fn count_ratings(ratings: &[Rating<'_>]) -> Vec<Distribution> {
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
pub struct CategoryScore {
    pub model: String,
    /// The category; `None` for all questions.
    pub category: Option<String>,
    /// Questions it answered.
    pub questions: usize,
    /// The mean of the judges' mean ratings times 25 (figure 4).
    pub score: f64,
}

/// The mean of the judges' means, as figure 4 relates to figures 16 to 18: judges count equally, however many answers each of
/// them rated. `None` without judges, and if one of them has no mean.
pub fn mean_of_judges(means: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let means: Vec<f64> = means.into_iter().collect::<Option<_>>()?;
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

/// Scores by model and category ([`mean_of_judges`]). Models are sorted by their overall score, best first. A question counts
/// in each of its categories.
pub fn mean_scores<'a>(
    ratings: &[Rating<'_>],
    categories: impl Fn(&str) -> &'a [String],
) -> Vec<CategoryScore> {
    #[derive(Default)]
    struct Sum<'q> {
        /// The sum and the number of ratings by judge.
        judges: BTreeMap<&'q str, (f64, f64)>,
        questions: BTreeSet<&'q str>,
    }
    let mut sums: BTreeMap<(&str, Option<&str>), Sum<'_>> = BTreeMap::new();
    for rating in ratings {
        let of = categories(rating.question).iter().map(|category| Some(category.as_str()));
        for category in std::iter::once(None).chain(of) {
            let sum = sums.entry((rating.model, category)).or_default();
            let of_judge = sum.judges.entry(rating.judge).or_default();
            *of_judge = (of_judge.0 + f64::from(rating.rating), of_judge.1 + 1.0);
            sum.questions.insert(rating.question);
        }
    }
    let cell = |((model, category), sum): ((&str, Option<&str>), Sum<'_>)| {
        let score = mean_of_judges(sum.judges.values().map(|(sum, n)| Some(sum / n)))?;
        let (model, category) = (model.to_owned(), category.map(Into::into));
        Some(CategoryScore { model, category, questions: sum.questions.len(), score: 25.0 * score })
    };
    let mut cells: Vec<CategoryScore> = sums.into_iter().filter_map(cell).collect();
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
