//! A ballot on the screen: what a page shows of an item, and how it asks.

use serde::Serialize;
use serde_json::{Value as Whatever, json};

use crate::review::answers;
use crate::review::ballot::{Choice, Field, KEEP, Kind, Label};
use crate::review::{Annotator, Item, Value, Vote};
use crate::web::desk::{Board, Place, Seen, own};
use crate::web::words::{Language, word};

/// An item with its questions.
#[derive(Serialize)]
pub(super) struct Shown {
    id: String,
    hash: String,
    base: String,
    content: Vec<(String, Vec<String>)>,
    fields: Vec<Asks>,
    why: Vec<String>,
    voted: bool,
}

/// A field as the page asks it.
#[derive(Serialize)]
struct Asks {
    name: &'static str,
    label: &'static str,
    /// `one`, `several`, `text`.
    kind: &'static str,
    required: bool,
    min: usize,
    max: usize,
    options: Vec<Whatever>,
    /// What stands in a text.
    text: String,
    /// The drafted text that an edit is held against.
    draft: Option<String>,
    /// The field and answers that ask for this one.
    when: Option<(&'static str, Vec<&'static str>)>,
}

/// A label in the language of the page.
pub(super) fn said(language: Language, label: Label) -> &'static str {
    match language {
        Language::En => label.en,
        Language::Zh => label.zh,
    }
}

/// What somebody sees of an item in a round.
pub(super) fn on_screen(
    board: &Board,
    place: Place<'_>,
    person: &Annotator,
    seen: Seen,
    language: Language,
) -> Shown {
    let Seen { item, why } = seen;
    let step = &place.ballot.step;
    let own = own(board, place, &item.id, &person.name);
    let drafts = step.shows_drafts(place.round);
    let shown = |(key, value): (&String, &Value)| {
        let label =
            step.shows.iter().find(|(known, _)| known == key).map(|(_, label)| said(language, *label));
        // What a draft's own checks found is part of the draft.
        let of_draft = matches!(key.as_str(), "flags" | "draft_reasons");
        if of_draft && !drafts {
            return None;
        }
        let name = label.map(str::to_string).unwrap_or_else(|| content_name(language, key));
        let texts = match value {
            Value::List(several) => several.clone(),
            one => vec![one.to_string()],
        };
        Some((name, texts))
    };
    Shown {
        hash: item.sheet_hash(),
        base: own.map(|vote| vote.id.to_string()).unwrap_or_default(),
        content: item.content.iter().filter_map(shown).collect(),
        fields: step
            .form(place.round)
            .iter()
            .map(|field| asks(field, &item, own, drafts, language))
            .collect(),
        voted: own.is_some(),
        why,
        id: item.id,
    }
}

fn content_name(language: Language, key: &str) -> String {
    let (kind, field) = key.split_once('.').unwrap_or(("", key));
    match kind {
        "votes" => format!("{} · {field}", word(language, "votes_on").unwrap_or("votes")),
        "review" => format!("{} · {field}", word(language, "review_on").unwrap_or("review")),
        _ => word(language, key).map_or_else(|| key.replace('_', " "), str::to_string),
    }
}

fn asks(field: &Field, item: &Item, own: Option<&Vote>, drafts: bool, language: Language) -> Asks {
    let draft = item.draft.get(field.name).filter(|_| drafts);
    // A drafted text is there to be edited. A drafted choice is only marked as such: who has to press a
    // key has looked.
    let text = matches!(field.kind, Kind::Text | Kind::Edited { .. });
    let standing = own.map_or(draft.filter(|_| text), |vote| vote.values.get(field.name));
    let marked: Vec<String> = match standing {
        Some(Value::List(codes)) => codes.clone(),
        Some(value) => vec![answers::write(field, item, value)],
        None => Vec::new(),
    };
    let option = |code: &str, label: &str, definition: &str| {
        let on = marked.iter().any(|marked| marked == code);
        let drafted = draft.is_some_and(|draft| match draft {
            Value::List(codes) => codes.iter().any(|drafted| drafted == code),
            value => answers::write(field, item, value) == code,
        });
        json!({ "code": code, "label": label, "definition": definition, "on": on, "drafted": drafted })
    };
    let choice = |c: &Choice| option(c.code, said(language, c.label), said(language, c.definition));
    let plain = |code: String| option(&code, &code, "");
    let words = |key: &str| word(language, key).unwrap_or_default();
    let (kind, min, max, options) = match &field.kind {
        Kind::Choice(options) => ("one", 1, 1, options.iter().map(choice).collect()),
        Kind::Choices { options, min, max } => ("several", *min, *max, options.iter().map(choice).collect()),
        Kind::Keep { reasons } => {
            let mut options = vec![option(KEEP, words("keep_it"), words("keep_about"))];
            options.extend(reasons.iter().map(choice));
            ("several", 1, reasons.len(), options)
        }
        Kind::Pick { k, from } => {
            let candidates = item.content.get(*from).and_then(Value::as_list).unwrap_or_default();
            let number = |(at, text): (usize, &String)| option(&(at + 1).to_string(), text, "");
            ("several", *k, *k, candidates.iter().enumerate().map(number).collect())
        }
        Kind::Score { min, max } => ("one", 1, 1, (*min..=*max).map(|n| plain(n.to_string())).collect()),
        Kind::Preference { tie, .. } => {
            let side = |n: &str, key: &str| option(n, words(key), "");
            ("one", 1, 1, vec![side("1", "side_1"), side("2", "side_2"), choice(tie)])
        }
        Kind::Text | Kind::Edited { .. } => ("text", 0, 0, Vec::new()),
    };
    Asks {
        name: field.name,
        label: said(language, field.label),
        kind,
        required: field.required,
        min,
        max,
        options,
        text: standing.map(Value::to_string).filter(|_| kind == "text").unwrap_or_default(),
        draft: draft.map(Value::to_string).filter(|_| kind == "text"),
        when: field.when.map(|when| (when.field, when.write.to_vec())),
    }
}
