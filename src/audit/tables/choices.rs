//! RuozhiBench-MC: judges (table 3, figures 5 and 6), means (figure 4), what was drawn (figures 14 and 15),
//! and what may be guessed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::judges::{Cell, Distribution, JudgePair, Rating, distributions, judge_pairs, means};
use crate::record::{Choice, Response};
use crate::shortcuts::{Item, Shortcuts, measure};

/// The figures of sections 3 and 4.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoiceTables {
    /// Items at the end of the recipe.
    pub items: usize,
    /// Items whose pair is the highest and the lowest, for want of a wider one.
    pub fallback: usize,
    /// Rated answers to trick questions.
    pub responses: usize,
    /// Rated answers to normal questions.
    pub normal_responses: usize,
    /// Table 3, on answers to trick questions.
    pub judges: Vec<JudgePair>,
    /// Table 3, on answers to normal questions.
    pub judges_normal: Vec<JudgePair>,
    /// Figures 5 and 6: how each judge's ratings are spread.
    pub ratings: Vec<Distribution>,
    /// Figure 4: the means of models by category, from 0 to 100.
    pub means: Vec<Cell>,
    /// Figure 14: good and bad answers by model.
    pub drawn: Vec<Drawn>,
    /// Figure 15: how far good and bad are apart.
    pub gaps: Vec<GapBar>,
    /// What may be guessed from the two answers.
    pub shortcuts: Option<Shortcuts>,
}

/// How often a model's answers were drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drawn {
    /// The model.
    pub model: String,
    /// As the good answer.
    pub good: usize,
    /// As the bad one.
    pub bad: usize,
}

/// Items by the gap between their answers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GapBar {
    /// More than this.
    pub over: f64,
    /// Up to this.
    pub to: f64,
    /// How many items.
    pub items: usize,
}

pub(super) fn tables(choices: &[Choice], responses: &[Response], seed: u64) -> ChoiceTables {
    let ratings: Vec<Rating<'_>> = responses.iter().flat_map(ratings).collect();
    let (normal, tricky): (Vec<Rating<'_>>, Vec<Rating<'_>>) =
        ratings.iter().partition(|rating| rating.normal);
    let categories: BTreeMap<&str, &[String]> =
        choices.iter().map(|choice| (choice.id.as_str(), choice.categories.as_slice())).collect();
    let options: Vec<[String; 2]> = choices.iter().map(options).collect();
    let items: Vec<Item<'_>> = choices
        .iter()
        .zip(&options)
        .map(|(choice, options)| Item {
            id: &choice.id,
            group: &choice.id,
            question: &choice.question_en,
            options,
            gold: usize::from(!choice.good_first),
        })
        .collect();
    let count = |normal: bool| responses.iter().filter(|response| response.normal == normal).count();
    ChoiceTables {
        items: choices.len(),
        fallback: choices.iter().filter(|choice| choice.pairs == 0).count(),
        responses: count(false),
        normal_responses: count(true),
        judges: judge_pairs(&tricky),
        judges_normal: judge_pairs(&normal),
        ratings: distributions(&ratings),
        means: means(&tricky, |question| categories.get(question).copied().unwrap_or_default()),
        drawn: drawn(choices),
        gaps: gaps(choices),
        shortcuts: measure(&items, &[], seed),
    }
}

/// The ratings of a response; a judge's later ones are repeats.
fn ratings(response: &Response) -> impl Iterator<Item = Rating<'_>> {
    response.judges.iter().zip(&response.ratings).enumerate().filter_map(|(at, (judge, rating))| {
        let repeat = response.judges[..at].iter().filter(|earlier| *earlier == judge).count() as u32;
        Some(Rating {
            question: &response.question,
            normal: response.normal,
            response: &response.id,
            model: &response.model,
            judge,
            repeat,
            rating: rating.parse().ok()?,
        })
    })
}

/// The two answers as they are shown first.
fn options(choice: &Choice) -> [String; 2] {
    let both = [choice.good.clone(), choice.bad.clone()];
    if choice.good_first { both } else { [both[1].clone(), both[0].clone()] }
}

fn drawn(choices: &[Choice]) -> Vec<Drawn> {
    let mut by_model: BTreeMap<&str, Drawn> = BTreeMap::new();
    for choice in choices {
        by_model.entry(&choice.good_model).or_default().good += 1;
        by_model.entry(&choice.bad_model).or_default().bad += 1;
    }
    by_model.into_iter().map(|(model, drawn)| Drawn { model: model.into(), ..drawn }).collect()
}

/// Bars half a point wide, from nothing to the whole scale.
fn gaps(choices: &[Choice]) -> Vec<GapBar> {
    let bar = |at: u32| {
        let (over, to) = (f64::from(at) / 2.0, f64::from(at + 1) / 2.0);
        // The least bit keeps a third and two thirds from falling beside a whole number.
        let inside = |choice: &&Choice| choice.gap > over + 1e-9 && choice.gap <= to + 1e-9;
        GapBar { over, to, items: choices.iter().filter(inside).count() }
    };
    (0..8).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_counted_by_model_and_gap() {
        let choice = |good: &str, bad: &str, gap: f64, pairs| Choice {
            id: format!("{good}{bad}{gap}"),
            good_model: good.into(),
            bad_model: bad.into(),
            good: format!("good of {good}"),
            bad: format!("bad of {bad}"),
            gap,
            pairs,
            ..Choice::default()
        };
        let tables =
            tables(&[choice("m", "n", 2.5, 3), choice("m", "o", 4.0, 1), choice("n", "m", 2.0, 0)], &[], 1);
        assert_eq!((tables.items, tables.fallback), (3, 1));
        assert_eq!(tables.drawn[0], Drawn { model: "m".into(), good: 2, bad: 1 });
        let bars: Vec<usize> = tables.gaps.iter().map(|bar| bar.items).collect();
        assert_eq!(bars, [0, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!(tables.shortcuts.unwrap().positions.counts, [0, 3]);
    }

    #[test]
    fn later_ratings_of_a_judge_are_repeats() {
        let response = Response {
            judges: ["a", "b", "a"].map(String::from).to_vec(),
            ratings: ["1", "2", "3"].map(String::from).to_vec(),
            ..Response::default()
        };
        let read: Vec<(&str, u32, u32)> = ratings(&response).map(|r| (r.judge, r.repeat, r.rating)).collect();
        assert_eq!(read, [("a", 0, 1), ("b", 0, 2), ("a", 1, 3)]);
    }
}
