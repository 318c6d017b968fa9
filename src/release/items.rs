//! The records at the ends of recipes as items of their sets. A record that lacks what every item has is
//! none yet.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{self, Opponent, Rating, Statuses};
use super::row::Row;
use crate::record::{Choice, CunningText, Joke, PostKind, Question, Standing};
use crate::review::ballots;
use crate::stages::import::source_kind;

/// The reviews that hold nothing, by name: what they left undecided makes no row provisional.
pub(super) type Optional = BTreeSet<&'static str>;

/// A status that a row's standing depends on; none decided by a review that is optional says nothing against it.
fn needed<'a>(status: &'a Option<String>, review: &str, optional: &Optional) -> Option<&'a str> {
    status.as_deref().or(optional.contains(review).then_some(Standing::Confirmed.code()))
}

/// A question of RuozhiBench-Gen, still without its number.
pub(super) fn question(question: Question, optional: &Optional) -> Option<layout::Question> {
    Some(layout::Question {
        index: 0,
        question_zh: question.text,
        question_en: question.question_en?,
        irrationality: question.irrationality?,
        pair: question.pair,
        categories: categories(&question.categories)?,
        source_id: question.id,
        source: question.source,
        licence: question.licence,
        statuses: Statuses {
            screen: question.screen_status,
            translation: question.translation_status,
            irrationality: question.irrationality_status,
            category: question.category_status,
            pair: question.pair_status,
            optional: optional.clone(),
        },
    })
}

/// An item of RuozhiBench-MC, with the number of its question.
pub(super) fn choice(choice: Choice, index: u64) -> Option<Row> {
    let rating = |((model, judge), rating): ((String, String), String)| {
        Some(Rating { model, judge, rating: rating.parse().ok()? })
    };
    let judged = choice.rating_models.into_iter().zip(choice.rating_judges).zip(choice.ratings);
    // The question is as sure as the item at the least.
    let standing = || Some(choice.standing.clone());
    let statuses = Statuses {
        screen: standing(),
        translation: standing(),
        irrationality: standing(),
        category: standing(),
        pair: None,
        optional: Optional::new(),
    };
    let question = layout::Question {
        index,
        question_zh: choice.text,
        question_en: choice.question_en,
        irrationality: choice.irrationality,
        pair: choice.pair,
        categories: categories(&choice.categories)?,
        source_id: choice.id,
        statuses,
        ..layout::Question::default()
    };
    let item = layout::Choice {
        question,
        good: (choice.good_model, choice.good),
        bad: (choice.bad_model, choice.bad),
        good_first: choice.good_first,
        ratings: judged.map(rating).collect::<Option<_>>()?,
    };
    Some(item.row())
}

/// A text of FLUB. That a model wrote its wrong answers is told, and no reason to doubt those a senior picked.
pub(super) fn text(text: CunningText, optional: &Optional) -> Option<Row> {
    let standing = Standing::least([
        needed(&text.clean_status, "clean", optional),
        needed(&text.type_status, "type", optional),
        needed(&text.explanation_status, "explanation", optional),
        needed(&text.wrong_status, "wrong", optional),
    ]);
    let kind = text.cunning_type.as_deref().and_then(|code| {
        let types = ballots::options("flub", "types");
        let found = types.iter().find(|kind| kind.code == code && code != "undefined");
        found.map(|kind| kind.label.zh.to_owned())
    });
    let wrong_from = match text.candidates_status.as_deref() {
        Some("confirmed") => "people",
        Some("synthetic") => "sample",
        _ => "model",
    };
    let item = layout::Cunning {
        text: text.text,
        is_question: text.is_question?,
        kind,
        explanation: text.explanation?,
        options: text.options.try_into().ok()?,
        answer: text.answer? as usize,
        wrong_from: wrong_from.into(),
        source_id: text.id,
        standing: standing.code().into(),
    };
    Some(item.row())
}

/// A joke of Chumor; `kinds` are those of the files that were imported.
pub(super) fn joke(joke: Joke, kinds: &BTreeMap<String, String>, optional: &Optional) -> Row {
    // Where no model explains it, nobody can prefer one: only settings that make opponents optional let it get here.
    let compared = !joke.opponents.is_empty();
    let preference = needed(&joke.preference_status, "preference", optional);
    let standing = Standing::least([
        needed(&joke.screen_status, "screen", optional),
        needed(&joke.explanation_status, "explanation", optional),
        if compared { preference } else { Some(Standing::Confirmed.code()) },
    ]);
    let of = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_default();
    let opponents = joke.opponents.iter().enumerate().map(|(at, model)| {
        let votes = of(&joke.votes, at);
        let count = |code: &str| votes.split(' ').filter(|vote| *vote == code).count() as u64;
        Opponent {
            model: model.clone(),
            explanation: of(&joke.opponent_explanations, at),
            human: count("human"),
            llm: count("llm"),
            equal: count("equal"),
            verdict: of(&joke.verdicts, at),
            errors: of(&joke.errors, at),
        }
    });
    let item = layout::Joke {
        opponents: opponents.collect(),
        source_kind: source_kind(kinds, joke.kind == PostKind::Numbered, &joke.source, &joke.file),
        source_id: joke.id.clone(),
        id: joke.id,
        joke: joke.text,
        explanation: joke.explanation.unwrap_or_default(),
        standing: standing.code().into(),
    };
    item.row()
}

/// Categories as numbers, ascending; none where there is none.
fn categories(codes: &[String]) -> Option<Vec<u64>> {
    let mut categories: Vec<u64> = codes.iter().filter_map(|code| code.parse().ok()).collect();
    categories.sort_unstable();
    (!categories.is_empty()).then_some(categories)
}
