//! The items of RuozhiBench-Gen's ballots, and where their answers go.

use super::Review;
use crate::record::{Question, Standing};
use crate::review::ballot::{KEEP, Step};
use crate::review::item::Content;
use crate::review::{Item, Value, Values};

/// What annotators see: the question as far as it is decided, the step's draft, and what the
/// self-checks found in it.
pub(super) fn item(review: Review, step: &Step, question: &Question) -> Item {
    let mut content = Content::new();
    let mut show = |key: &str, text: Option<&str>| {
        if let Some(text) = text {
            content.insert(key.to_owned(), Value::from(text));
        }
    };
    let english = question.question_en.as_deref();
    match review {
        Review::Screen | Review::Translation => show("question_zh", Some(&question.text)),
        Review::Irrationality => {
            show("question_en", english);
            show("question_zh", Some(&question.text));
        }
        Review::Category | Review::Pair => {
            show("question_en", english);
            show("question_zh", Some(&question.text));
            show("irrationality", question.irrationality.as_deref());
        }
    }
    if review == Review::Screen && !question.screen_reasons.is_empty() {
        content.insert("draft_reasons".to_owned(), Value::List(question.screen_reasons.clone()));
    }
    let flags = question.flags_of(review.place().1);
    if !flags.is_empty() {
        content.insert("flags".to_owned(), Value::List(flags));
    }
    Item::new(step, &question.id, content, draft(review, question))
}

/// The drafted answers; empty where nothing was drafted.
pub(super) fn draft(review: Review, question: &Question) -> Values {
    let mut values = Values::new();
    let mut text = |field: &str, text: &Option<String>| {
        if let Some(text) = text {
            values.set(field, text.as_str());
        }
    };
    match review {
        Review::Screen => match question.screen_draft.as_slice() {
            [] => {}
            [keep] if keep == KEEP => values.set("screen", KEEP),
            against => values.set("screen", against.to_vec()),
        },
        Review::Translation => text("question_en", &question.translation_draft),
        Review::Irrationality => text("irrationality", &question.irrationality_draft),
        Review::Category if question.category_draft.is_empty() => {}
        Review::Category => {
            let mut categories = question.category_draft.clone();
            categories.sort();
            values.set("categories", categories);
        }
        Review::Pair => {
            text("pair", &question.pair_draft);
            match (&question.pair_draft, question.pair_basis.is_empty()) {
                (Some(_), _) => values.set("pairing", "accept"),
                (None, false) => values.set("pairing", "none"),
                (None, true) => {}
            }
        }
    }
    values
}

/// The reasons of a rejection, where the answers are one.
pub(super) fn rejection(review: Review, values: &Values) -> Option<Vec<String>> {
    if review != Review::Screen {
        return None;
    }
    values.get("screen").and_then(Value::as_list).map(<[String]>::to_vec)
}

/// Puts the answers onto the question.
pub(super) fn apply(
    review: Review,
    question: &mut Question,
    values: &Values,
    standing: Standing,
    votes: Vec<String>,
) {
    let text = |field: &str| values.text(field).map(str::to_owned);
    let status = Some(standing.code().to_owned());
    let (stands, basis) = match review {
        Review::Screen => (&mut question.screen_status, &mut question.screen_basis),
        Review::Translation => {
            question.question_en = text("question_en");
            (&mut question.translation_status, &mut question.translation_basis)
        }
        Review::Irrationality => {
            question.irrationality = text("irrationality");
            (&mut question.irrationality_status, &mut question.irrationality_basis)
        }
        Review::Category => {
            let mut categories =
                values.get("categories").and_then(Value::as_list).map(<[String]>::to_vec).unwrap_or_default();
            categories.sort();
            question.categories = categories;
            (&mut question.category_status, &mut question.category_basis)
        }
        Review::Pair => {
            question.pair = text("pair").filter(|_| text("pairing").as_deref() != Some("none"));
            (&mut question.pair_status, &mut question.pair_basis)
        }
    };
    *stands = status;
    basis.extend(votes);
}

/// A step's draft as a ledger shows it.
pub(super) fn drafted(review: Review, question: &Question) -> Option<String> {
    let drafted = match review {
        Review::Screen => question.screen_draft.join("; "),
        Review::Translation => question.translation_draft.clone()?,
        Review::Irrationality => question.irrationality_draft.clone()?,
        Review::Category => question.category_draft.join("; "),
        Review::Pair => question.pair_draft.clone()?,
    };
    Some(drafted)
}

/// A step's decision as a ledger shows it.
pub(super) fn decided(review: Review, question: &Question) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".into());
    match review {
        Review::Screen => KEEP.into(),
        Review::Translation => text(&question.question_en),
        Review::Irrationality => text(&question.irrationality),
        Review::Category => question.categories.join("; "),
        Review::Pair => text(&question.pair),
    }
}
