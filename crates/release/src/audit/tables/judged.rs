//! Ratings of answers by judges: how far judges agree, how ratings are spread, and what models reach.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;
use riddlemill_benchmarks::figure::Judged;
use riddlemill_benchmarks::scope::{text, texts};
use riddlemill_benchmarks::{Expression, Trouble};

use super::Found;
use super::source::Records;
use crate::judges::{self, JudgePair, Measures, Rating};
use crate::text::decimals;

/// A rating read from a record.
struct Given {
    question: String,
    normal: bool,
    response: String,
    model: String,
    judge: String,
    repeat: u32,
    rating: u32,
}

/// The ratings of the records, each of a response; a judge's later ones are repeats.
fn given(judged: &Judged, records: &Records<'_>) -> Result<Vec<Given>, Trouble> {
    let [questions, normal, models, judges, ratings] =
        [&judged.question, &judged.normal, &judged.model, &judged.judges, &judged.ratings]
            .map(|of| records.values(of));
    let (questions, normal, models) = (questions?, normal?, models?);
    let (judges, ratings) = (judges?, ratings?);
    let mut found = Vec::new();
    let text_at = |values: &[Value], at: usize| values.get(at).and_then(text).unwrap_or_default();
    for (at, response) in records.ids().into_iter().enumerate() {
        let (judges, ratings) = (texts(&judges[at]), texts(&ratings[at]));
        for (place, (judge, rating)) in judges.iter().zip(&ratings).enumerate() {
            let Ok(rating) = rating.parse() else { continue };
            found.push(Given {
                question: text_at(&questions, at),
                normal: normal[at].is_true(),
                response: response.clone(),
                model: text_at(&models, at),
                judge: judge.clone(),
                repeat: judges[..place].iter().filter(|earlier| *earlier == judge).count() as u32,
                rating,
            });
        }
    }
    Ok(found)
}

fn rated(given: &[Given]) -> Vec<Rating<'_>> {
    given
        .iter()
        .map(|of| Rating {
            question: &of.question,
            normal: of.normal,
            response: &of.response,
            model: &of.model,
            judge: &of.judge,
            repeat: of.repeat,
            rating: of.rating,
        })
        .collect()
}

/// Every two judges.
pub(super) fn judge_pairs(judged: &Judged, records: &Records<'_>) -> Result<Found, Trouble> {
    let given = given(judged, records)?;
    let pairs = judges::judge_pairs(&rated(&given));
    let mut lines = String::new();
    if !pairs.is_empty() {
        let heads =
            ["Pearson", "difference", "2 or more apart, %"].map(|head| format!("{head:>19}")).join(" ");
        let below = format!("{:>9} {:>9} ", "single", "mean").repeat(3);
        lines.push_str(&format!("    {:<40} {heads}\n    {:<40} {}\n", "", "", below.trim_end()));
    }
    pairs.iter().for_each(|pair| lines.push_str(&pair_line(pair)));
    Ok(Found::new(pairs, lines))
}

fn pair_line(pair: &JudgePair) -> String {
    let number = |n: Option<f64>| n.map_or("-".to_owned(), |n| decimals(n, 3));
    let both = |of: fn(&Measures) -> Option<f64>| {
        format!("{:>9} {:>9}", number(of(&pair.individual)), number(of(&pair.mean)))
    };
    format!(
        "    {:<40} {} {} {}\n",
        pair.judges.join(" vs "),
        both(|measures| measures.pearson),
        both(|measures| measures.difference),
        both(|measures| measures.large_percent)
    )
}

/// How often each judge gives each rating: over all models, then by model.
pub(super) fn ratings(judged: &Judged, records: &Records<'_>) -> Result<Found, Trouble> {
    let given = given(judged, records)?;
    let spread = judges::distributions(&rated(&given));
    let line = |of: &judges::Distribution| {
        let counts: String = of.counts.iter().map(|count| format!(" {count:>5}")).collect();
        let asked = if of.normal { "normal" } else { "" };
        format!(
            "    {:<20} {:<20} {asked:<7}{counts}\n",
            of.judge,
            of.model.as_deref().unwrap_or("all models")
        )
    };
    let lines = spread.iter().map(line).collect();
    Ok(Found::new(spread, lines))
}

/// The scores of models on the questions that are items, over all and by part; `last` holds the questions. Others count in
/// neither, as in an evaluation of the set, which the papers' figures are. Where the items are not known, those are that have
/// a part.
pub(super) fn scores_by_part(
    judged: &Judged,
    records: &Records<'_>,
    parts: &Expression,
    last: &Records<'_>,
    items: Option<&BTreeSet<String>>,
) -> Result<Found, Trouble> {
    let of_question: BTreeMap<String, Vec<String>> =
        last.ids().into_iter().zip(last.values(parts)?.iter().map(texts)).collect();
    let is_item = |question: &str| match items {
        Some(items) => items.contains(question),
        None => of_question.get(question).is_some_and(|parts| !parts.is_empty()),
    };
    let mut given = given(judged, records)?;
    given.retain(|rating| is_item(&rating.question));
    let cells = judges::means(&rated(&given), |question| {
        of_question.get(question).map(Vec::as_slice).unwrap_or_default()
    });
    let mut lines = String::new();
    for of_model in cells.chunk_by(|one, next| one.model == next.model) {
        let scores: Vec<String> = of_model
            .iter()
            .map(|cell| format!("{} {:.2}", cell.category.as_deref().unwrap_or("all"), cell.score))
            .collect();
        lines.push_str(&format!("    {:<20} {}\n", of_model[0].model, scores.join("  ")));
    }
    Ok(Found::new(cells, lines))
}
