//! Chumor: winning rates (figure 1), agreement (section 3, appendix C), kinds of error (figure 3).

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Agreement, Reviewed};
use crate::record::{Joke, PostKind};
use crate::stages::import::source_kind;

/// The figures of sections 2 to 4.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JokeTables {
    /// Jokes at the end of the recipe.
    pub jokes: usize,
    /// Of them, from annual threads.
    pub annual: usize,
    /// Of them, from recommended threads.
    pub recommended: usize,
    /// Of them, from sources of other kinds.
    pub others: usize,
    /// The mean length of people's explanations in characters, 78 in the paper.
    pub explanation_chars: Option<f64>,
    /// What became of each opponent.
    pub opponents: Vec<Opponent>,
    /// Pairs of votes on all opponents that agree, 61.4 % in the paper.
    pub agreement: Option<Agreement>,
    /// What became of the drafts, a review a row.
    pub reviews: Vec<Reviewed>,
}

/// A model against people. Percent throughout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opponent {
    /// The model.
    pub model: String,
    /// Jokes that were voted on.
    pub jokes: usize,
    /// Where most prefer the person's explanation.
    pub human_wins: f64,
    /// Where most prefer the model's.
    pub llm_wins: f64,
    /// Where most find both as good.
    pub ties: f64,
    /// Where all voters differ.
    pub undecided: f64,
    /// Pairs of votes that agree (appendix C).
    pub agreement: Option<f64>,
    /// Explanations whose errors were looked at.
    pub judged: usize,
    /// Kinds of error, of the explanations that were looked at; one may show several.
    pub errors: Vec<ErrorShare>,
}

/// A kind of error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorShare {
    /// Its code on the ballot.
    pub code: String,
    /// Percent of the explanations that show it.
    pub percent: f64,
}

pub(super) fn tables(
    jokes: &[Joke],
    kinds: &BTreeMap<String, String>,
    agreement: Option<Agreement>,
    reviews: Vec<Reviewed>,
) -> JokeTables {
    let kind = |joke: &Joke| source_kind(kinds, joke.kind == PostKind::Numbered, &joke.source, &joke.file);
    let of_kind = |name: &str| jokes.iter().filter(|joke| kind(joke) == name).count();
    let (annual, recommended) = (of_kind("annual"), of_kind("recommended"));
    let lengths: Vec<usize> =
        jokes.iter().filter_map(|joke| Some(joke.explanation.as_ref()?.chars().count())).collect();
    let mut models: Vec<&String> = jokes.iter().flat_map(|joke| &joke.opponents).collect();
    models.sort();
    models.dedup();
    JokeTables {
        jokes: jokes.len(),
        annual,
        recommended,
        others: jokes.len() - annual - recommended,
        explanation_chars: (!lengths.is_empty())
            .then(|| lengths.iter().sum::<usize>() as f64 / lengths.len() as f64),
        opponents: models.into_iter().map(|model| opponent(jokes, model)).collect(),
        agreement,
        reviews,
    }
}

fn opponent(jokes: &[Joke], model: &str) -> Opponent {
    let places =
        jokes.iter().filter_map(|joke| Some((joke, joke.opponents.iter().position(|m| m == model)?)));
    let (mut verdicts, mut shares, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (joke, at) in places {
        verdicts.extend(joke.verdicts.get(at).filter(|verdict| !verdict.is_empty()));
        shares.extend(joke.votes.get(at).and_then(|votes| agreeing(votes)));
        errors.extend(joke.errors.get(at).filter(|errors| !errors.is_empty()));
    }
    let percent = |n: usize, of: usize| if of == 0 { 0.0 } else { 100.0 * n as f64 / of as f64 };
    let share =
        |code: &str| percent(verdicts.iter().filter(|verdict| *verdict == &code).count(), verdicts.len());
    let mut codes: Vec<&str> = errors.iter().flat_map(|errors| errors.split(' ')).collect();
    codes.sort_unstable();
    codes.dedup();
    let of_code = |code: &str| ErrorShare {
        code: code.into(),
        percent: percent(errors.iter().filter(|e| e.split(' ').any(|c| c == code)).count(), errors.len()),
    };
    Opponent {
        model: model.into(),
        jokes: verdicts.len(),
        human_wins: share("human"),
        llm_wins: share("llm"),
        ties: share("equal"),
        undecided: share("undecided"),
        agreement: (!shares.is_empty()).then(|| 100.0 * shares.iter().sum::<f64>() / shares.len() as f64),
        judged: errors.len(),
        errors: codes.into_iter().map(of_code).collect(),
    }
}

/// The share of pairs of votes that agree; none of fewer than two votes.
fn agreeing(votes: &str) -> Option<f64> {
    let votes: Vec<&str> = votes.split(' ').filter(|vote| !vote.is_empty()).collect();
    let pairs =
        votes.iter().enumerate().flat_map(|(at, one)| votes[at + 1..].iter().map(move |other| one == other));
    let (agree, all) = pairs.fold((0, 0), |(agree, all), same| (agree + u32::from(same), all + 1));
    (all > 0).then(|| f64::from(agree) / f64::from(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_jokes_that_were_voted_on() {
        let joke = |votes: &str, verdict: &str, errors: &str| Joke {
            opponents: vec!["m".into()],
            votes: vec![votes.into()],
            verdicts: vec![verdict.into()],
            errors: vec![errors.into()],
            explanation: Some("一二三四".into()),
            ..Joke::default()
        };
        let jokes = [
            joke("human human human", "human", "pun context"),
            joke("human human equal", "human", "none"),
            joke("human llm equal", "undecided", ""),
            joke("llm llm equal", "llm", ""),
        ];
        let tables = tables(&jokes, &BTreeMap::new(), None, Vec::new());
        let one = &tables.opponents[0];
        assert_eq!((one.human_wins, one.llm_wins, one.ties, one.undecided), (50.0, 25.0, 0.0, 25.0));
        // (1 + 1/3 + 0 + 1/3) / 4.
        assert!((one.agreement.unwrap() - 41.666_666).abs() < 1e-3);
        assert_eq!(one.judged, 2);
        assert_eq!(one.errors[2], ErrorShare { code: "pun".into(), percent: 50.0 });
        assert_eq!(tables.explanation_chars, Some(4.0));
    }
}
