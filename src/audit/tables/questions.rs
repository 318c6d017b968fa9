//! RuozhiBench-Gen: tables 1 and 2 of its paper.

use serde::Serialize;

use super::Reviewed;
use crate::llm::parse::words;
use crate::record::Question;

/// Tables 1 and 2, and the shares of the reviews.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionTables {
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

/// `names` are those of the categories, in the order of their numbers.
pub(super) fn tables(
    questions: &[Question],
    names: &[&'static str],
    reviews: Vec<Reviewed>,
) -> QuestionTables {
    let has = |number: usize| {
        questions
            .iter()
            .filter(|question| question.categories.iter().any(|c| *c == number.to_string()))
            .count()
    };
    let category =
        |(at, name): (usize, &&'static str)| Category { number: at + 1, name, questions: has(at + 1) };
    let length = |text: fn(&Question) -> Option<&str>| length(questions.iter().filter_map(text).map(words));
    QuestionTables {
        questions: questions.len(),
        with_pair: questions.iter().filter(|question| question.pair.is_some()).count(),
        categories: names.iter().enumerate().map(category).collect(),
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
        let names = crate::review::ballots::names("ruozhibench-gen", "categories");
        let tables = tables(&questions, &names, Vec::new());
        let counts: Vec<usize> = tables.categories.iter().map(|c| c.questions).collect();
        assert_eq!(counts, [0, 1, 2, 0, 0, 0]);
        assert_eq!((tables.questions, tables.with_pair), (2, 1));
        assert_eq!(tables.question_words, Some(Length { average: 2.5, max: 4, min: 1 }));
        assert_eq!(tables.irrationality_words, None);
    }
}
