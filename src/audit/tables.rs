//! `report`: the tables of RuozhiBench-Gen's paper, from the rows at the recipe's end, and what people
//! made of the drafts.

use serde::Serialize;

use crate::llm::parse::words;
use crate::recipe::Recipe;
use crate::record::{Question, Reason, State};
use crate::release::CATEGORIES;
use crate::stages::{Rows, Stage};
use crate::store::{Error, Manifest, StageReader, Workspace};

/// Tables 1 and 2, and the shares of the reviews.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tables {
    /// Questions at the end of the recipe.
    pub questions: usize,
    /// Of them, with a normal question beside them.
    pub with_pair: usize,
    /// Table 1: questions a category; a question may have several.
    pub categories: Vec<Category>,
    /// Table 2: words of the English questions.
    pub question_words: Option<Length>,
    /// Words of the analyses.
    pub irrationality_words: Option<Length>,
    /// Words of the pairs.
    pub pair_words: Option<Length>,
    /// What became of the drafts, a review a row.
    pub reviews: Vec<Reviewed>,
}

/// A row of table 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Category {
    /// From 1.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// How many questions have it.
    pub questions: usize,
}

/// How long texts are, in words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Length {
    /// The mean.
    pub average: f64,
    /// The longest.
    pub max: usize,
    /// The shortest.
    pub min: usize,
}

/// What people, or a sample in their place, made of a step's drafts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reviewed {
    /// The stage.
    pub stage: String,
    /// Taken as drafted, or decided without a draft, by people.
    pub confirmed: u64,
    /// Written anew by people.
    pub rewritten: u64,
    /// Taken as drafted by a sample's votes.
    pub sample_confirmed: u64,
    /// Written anew by a sample's votes.
    pub sample_rewritten: u64,
    /// On the draft for the time being.
    pub provisional: u64,
    /// Rejected.
    pub rejected: u64,
    /// Waiting for votes or a decision.
    pub held: u64,
}

impl Reviewed {
    /// The share that was written anew, people's and the sample's together; 319 of 677 translations in
    /// the paper.
    pub fn share_rewritten(&self) -> Option<f64> {
        let rewritten = self.rewritten + self.sample_rewritten;
        let all = rewritten + self.confirmed + self.sample_confirmed;
        (all > 0).then(|| rewritten as f64 / all as f64)
    }
}

/// The tables of what stands at a recipe's end; `None` where it makes no questions or did not get there.
///
/// # Errors
/// [`Error`] where a stage cannot be read.
pub fn tables(workspace: &Workspace, recipe: &'static Recipe) -> Result<Option<Tables>, Error> {
    let Some(last) = recipe.steps.last().filter(|_| recipe.rows() == Rows::Questions) else {
        return Ok(None);
    };
    let Some(reader) = StageReader::open(&workspace.stage(recipe.name, recipe.steps.len(), last.name))?
    else {
        return Ok(None);
    };
    let questions: Vec<Question> = reader.all("rows")?;
    let mut reviews = Vec::new();
    for (i, step) in recipe.steps.iter().enumerate() {
        if matches!(step.stage, Stage::Review(_))
            && let Some(manifest) = Manifest::read(&workspace.stage(recipe.name, i + 1, step.name))?
        {
            reviews.push(reviewed(&manifest));
        }
    }
    Ok(Some(of(&questions, reviews)))
}

fn of(questions: &[Question], reviews: Vec<Reviewed>) -> Tables {
    let has = |number: usize| {
        questions
            .iter()
            .filter(|question| question.categories.iter().any(|c| *c == number.to_string()))
            .count()
    };
    let category =
        |(at, name): (usize, &&'static str)| Category { number: at + 1, name, questions: has(at + 1) };
    let length = |text: fn(&Question) -> Option<&str>| length(questions.iter().filter_map(text).map(words));
    Tables {
        questions: questions.len(),
        with_pair: questions.iter().filter(|question| question.pair.is_some()).count(),
        categories: CATEGORIES.iter().enumerate().map(category).collect(),
        question_words: length(|question| question.question_en.as_deref()),
        irrationality_words: length(|question| question.irrationality.as_deref()),
        pair_words: length(|question| question.pair.as_deref()),
        reviews,
    }
}

fn length(lengths: impl Iterator<Item = usize>) -> Option<Length> {
    let lengths: Vec<usize> = lengths.collect();
    let (max, min) = (*lengths.iter().max()?, *lengths.iter().min()?);
    Some(Length { average: lengths.iter().sum::<usize>() as f64 / lengths.len() as f64, max, min })
}

fn reviewed(manifest: &Manifest) -> Reviewed {
    let counts = &manifest.counts;
    let so_many = |state: State, reason: Reason| {
        counts.reasons.get(&format!("{}/{}", state.code(), reason.code())).copied().unwrap_or(0)
    };
    Reviewed {
        stage: manifest.stage.clone(),
        confirmed: so_many(State::Changed, Reason::Confirmed),
        rewritten: so_many(State::Changed, Reason::Rewritten),
        sample_confirmed: so_many(State::Changed, Reason::SampleConfirmed),
        sample_rewritten: so_many(State::Changed, Reason::SampleRewritten),
        provisional: so_many(State::Changed, Reason::Provisional),
        rejected: so_many(State::Dropped, Reason::Rejected),
        held: counts.state(State::Held),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_count_in_each_of_their_categories() {
        let question = |categories: &[&str], english: &str, pair: Option<&str>| Question {
            categories: categories.iter().map(ToString::to_string).collect(),
            question_en: Some(english.into()),
            pair: pair.map(Into::into),
            ..Question::default()
        };
        let questions =
            [question(&["2", "3"], "Why do fish swim?", None), question(&["3"], "Why?", Some("How so?"))];
        let tables = of(&questions, Vec::new());
        let counts: Vec<usize> = tables.categories.iter().map(|c| c.questions).collect();
        assert_eq!(counts, [0, 1, 2, 0, 0, 0]);
        assert_eq!((tables.questions, tables.with_pair), (2, 1));
        assert_eq!(tables.question_words, Some(Length { average: 2.5, max: 4, min: 1 }));
        assert_eq!(tables.irrationality_words, None);
    }
}
