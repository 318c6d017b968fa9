//! One stage's decisions on loose rows: reads JSON objects and writes them with the decisions added.
//! It reads only the settings of a workspace and writes nothing.

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::{Anonymise, clean_post, filter_post};
use crate::config::sections;
use riddlemill_record::{Language, Outcome, Post, Reason};
use riddlemill_tables::{LedgerRecord, LedgerRecordError, Plain};
use riddlemill_text::join::Watch;
use riddlemill_text::offline::{RowOutcome, asks_in, dedup, kind_of};
use riddlemill_text::text::interrogative::{self, Notion};
use riddlemill_text::text::language::{detect, tag_language};
use riddlemill_text::text::sameness::{Predicate, Verdict, compare};

/// A JSON object.
pub type RowObject = Map<String, Value>;

/// What can be applied to rows one by one.
#[derive(Debug)]
pub enum Applied {
    /// `title`, `content` or `text` to `text`.
    Clean(sections::Clean),
    /// `text` to `text`.
    Anonymise(Box<Anonymise>),
    /// `text`, kept or dropped.
    Filter(sections::Filter),
    /// `text` to `is_question`, by sense, and `is_question_by_form`; in the language that the settings state.
    Interrogative(Option<Language>),
    /// `a` and `b` to `duplicate`, `verdict` and `score`; in the language that the settings state.
    Similarity(Option<Language>),
}

/// Applies a stage to a row. Fields that it does not know pass through; `outcome`, `reason` and
/// `evidence` are always there.
pub fn apply_stage(applied: &Applied, mut row: RowObject) -> RowObject {
    match applied {
        Applied::Clean(settings) => apply_to_post(row, |post| clean_post(post, settings)),
        Applied::Anonymise(stage) => apply_to_post(row, |post| stage.anonymise_post(post)),
        Applied::Filter(settings) => apply_to_post(row, |post| filter_post(post, settings)),
        Applied::Interrogative(stated) => {
            let content = text_of_field(&row, "text").unwrap_or_default();
            let language = stated_language(&row).or(*stated).unwrap_or_else(|| detect(content).language);
            let (asks, rule, evidence) = asks_in(content, language);
            // English and others have one notion, by marks and by the order of words.
            let by_form = match language {
                Language::Zh => interrogative::judge_by(content, Notion::Form).is_question,
                Language::En | Language::Und => asks,
            };
            row.insert("is_question".into(), asks.into());
            row.insert("is_question_by_form".into(), by_form.into());
            set_outcome(&mut row, "kept", Some(rule), Some(evidence));
            row
        }
        Applied::Similarity(stated) => {
            let (a, b) =
                (text_of_field(&row, "a").unwrap_or_default(), text_of_field(&row, "b").unwrap_or_default());
            let (of_a, of_b) = languages_of_pair(stated_language(&row).or(*stated), a, b);
            let found = compare(&tag_language(a, of_a), &tag_language(b, of_b));
            let same = found.verdict == Verdict::Same;
            row.insert("duplicate".into(), same.into());
            row.insert("verdict".into(), found.verdict.name().into());
            row.insert("score".into(), json!(found.score));
            let evidence = found.veto.map(|veto| format!("veto {}", veto.name()));
            set_outcome(
                &mut row,
                if same { "merged" } else { "kept" },
                found.predicate.map(Predicate::name),
                evidence,
            );
            row
        }
    }
}

/// A stage's decision on a post, complete, as written into a ledger record.
pub fn decide_post(applied: &Applied, post: Post) -> Option<Outcome<Post>> {
    match applied {
        Applied::Clean(settings) => Some(clean_post(post, settings)),
        Applied::Anonymise(stage) => Some(stage.anonymise_post(post)),
        Applied::Filter(settings) => Some(filter_post(post, settings)),
        Applied::Interrogative(_) | Applied::Similarity(_) => None,
    }
}

/// The posts on a line: the rows of a ledger record, or the one that the line is. An id that is a
/// number goes by its digits.
///
/// # Errors
/// [`LedgerRecordError`] where it is neither, or a post has no id.
pub fn posts_of(line: &[u8]) -> Result<Vec<Post>, LedgerRecordError> {
    let posts = match has_entry(line)? {
        true => LedgerRecord::<Post>::parse_line(line)?.rows,
        false => vec![parse_plain_post(line)?],
    };
    match posts.iter().find(|post| post.id.is_empty() || post.id.contains(char::is_control)) {
        Some(post) if post.id.is_empty() => Err(LedgerRecordError::Unreadable("a row needs an `id`".into())),
        Some(post) => {
            Err(LedgerRecordError::Unreadable(format!("the id {:?} holds a control character", post.id)))
        }
        None => Ok(posts),
    }
}

/// Whether a line is a ledger record; those that this program wrote are recognised by their beginning.
fn has_entry(line: &[u8]) -> Result<bool, LedgerRecordError> {
    #[derive(Deserialize)]
    struct Entry {
        entry: Option<IgnoredAny>,
    }
    let read =
        || serde_json::from_slice::<Entry>(line).map_err(|e| LedgerRecordError::Unreadable(e.to_string()));
    Ok(line.starts_with(b"{\"entry\":") || read()?.entry.is_some())
}

fn parse_plain_post(line: &[u8]) -> Result<Post, LedgerRecordError> {
    serde_json::from_slice(line)
        .map(|Plain(post)| post)
        .map_err(|e| LedgerRecordError::Unreadable(e.to_string()))
}

/// Why a line is not a row.
#[derive(Debug, thiserror::Error)]
pub enum RowParseError {
    /// It is not a JSON object.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Its id would be changed by the conversion.
    #[error("the id {0} is a number beyond 64 bits and would be rounded; write it as a text")]
    Id(f64),
}

/// The row on a line.
///
/// # Errors
/// [`RowParseError`].
pub fn row_of(line: &[u8]) -> Result<RowObject, RowParseError> {
    let row: RowObject = match serde_json::from_slice(line) {
        Ok(row) => row,
        // A mark of byte order before it, or what Python and JavaScript write for JSON.
        Err(error) => match std::str::from_utf8(line) {
            Ok(text) => riddlemill_text::notation::from_str(text)?,
            Err(_) => return Err(error.into()),
        },
    };
    match row.get("id").filter(|id| id.is_f64()).and_then(Value::as_f64) {
        // serde_json reads a whole number beyond 64 bits as a rounded float.
        Some(id) if id.abs() >= 2f64.powi(63) => Err(RowParseError::Id(id)),
        _ => Ok(row),
    }
}

/// The row for a line that is not a JSON object.
pub fn unreadable_row(line: u64, error: &str) -> RowObject {
    let mut row = RowObject::new();
    row.insert("line".into(), line.into());
    set_outcome(&mut row, "failed", Some(Reason::Unreadable.code()), Some(error.into()));
    row
}

fn apply_to_post(mut row: RowObject, decide: impl Fn(Post) -> Outcome<Post>) -> RowObject {
    let own = |field: &str| text_of_field(&row, field).map(str::to_string);
    let (title, content, whole) = (own("title"), own("content"), own("text"));
    let kind = kind_of(own("kind").as_deref(), title.is_some());
    let mentions = row.get("names").and_then(Value::as_array).into_iter().flatten();
    let parts = [title.as_deref(), content.as_deref().or(whole.as_deref().filter(|_| title.is_none()))];
    let post = Post {
        kind,
        text: whole.clone().unwrap_or_else(|| parts.into_iter().flatten().collect::<Vec<_>>().join("\n")),
        content: content.or_else(|| whole.filter(|_| title.is_none())),
        title,
        mentions: mentions.filter_map(|n| n.as_str().map(str::to_string)).collect(),
        language: stated_language(&row),
        ..Post::default()
    };
    let RowOutcome { row: post, outcome, reason, evidence } = RowOutcome::from(decide(post));
    if let Some(post) = post {
        row.insert("text".into(), post.text.into());
        for (field, value) in
            [("score", post.score.map(Value::from)), ("number", post.number.map(Value::from))]
        {
            if let Some(value) = value {
                row.insert(field.into(), value);
            }
        }
    }
    set_outcome(&mut row, outcome, reason, evidence);
    row
}

/// The languages of two loose texts: the one that is stated, else as detected. What is too little to tell is taken for the
/// language of the other.
fn languages_of_pair(stated: Option<Language>, a: &str, b: &str) -> (Language, Language) {
    if let Some(stated) = stated {
        return (stated, stated);
    }
    match (detect(a).language, detect(b).language) {
        (Language::Und, other) | (other, Language::Und) => (other, other),
        found => found,
    }
}

/// The language that a row states.
fn stated_language(row: &RowObject) -> Option<Language> {
    Language::from_code(text_of_field(row, "language")?)
}

fn text_of_field<'a>(row: &'a RowObject, field: &str) -> Option<&'a str> {
    row.get(field).and_then(Value::as_str)
}

fn set_outcome(row: &mut RowObject, outcome: &str, reason: Option<&str>, evidence: Option<String>) {
    row.entry("id").or_insert(Value::Null);
    row.insert("outcome".into(), outcome.into());
    row.insert("reason".into(), reason.map_or(Value::Null, Value::from));
    row.insert("evidence".into(), evidence.filter(|e| !e.is_empty()).map_or(Value::Null, Value::from));
}

/// Removes duplicates among rows with `text`: each gets `into` (the id of the row it is the same as, as
/// given, or null) and `score`. A row without an id is known by its number, from 1. `each_pair` sees every
/// pair at or over the threshold: the two ids as given, the earlier row's first, and their score. `watch` hears how far
/// the join is.
///
/// With rows to hold them `against`, each row also gets `resembles` (the id of the one of those that it is
/// most like, or null) and `resembles_score`.
pub fn apply_dedup(
    rows: Vec<RowObject>,
    settings: &sections::Dedup,
    against: Option<&[RowObject]>,
    watch: &dyn Watch,
    mut each_pair: impl FnMut(&Value, &Value, f64),
) -> Vec<RowObject> {
    let posts: Vec<Post> = rows.par_iter().enumerate().map(|(i, row)| loose_post(row, i)).collect();
    let ids: Vec<Value> = rows.iter().enumerate().map(|(i, row)| id_of(row, i)).collect();
    let outcomes = dedup::dedup_posts(&posts, settings, watch, |a, b, similar| {
        if similar.is_none_or(|like| like.same) {
            each_pair(&ids[a as usize], &ids[b as usize], similar.map_or(1.0, |like| like.score));
        }
    });
    let mut rows: Vec<RowObject> = rows
        .into_par_iter()
        .zip(outcomes)
        .enumerate()
        .map(|(i, (row, outcome))| {
            let into = outcome.map(|outcome| {
                let id = match &outcome {
                    Outcome::Merged { into, .. } => into.parse::<usize>().ok().and_then(|i| ids.get(i)),
                    _ => None,
                };
                (id.cloned().unwrap_or_default(), outcome)
            });
            row_after_dedup(row, ids[i].clone(), into)
        })
        .collect();
    if let Some(others) = against {
        // As dedup reads them: with their languages, stated or detected.
        let other_posts: Vec<Post> =
            others.par_iter().enumerate().map(|(i, row)| loose_post(row, i)).collect();
        let tagged = |posts: &[Post]| -> Vec<String> {
            posts.par_iter().map(|post| dedup::tagged_text(post, settings.language).into_owned()).collect()
        };
        let (texts, other_texts) = (tagged(&posts), tagged(&other_posts));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let other_texts: Vec<&str> = other_texts.iter().map(String::as_str).collect();
        let found = dedup::find_resemblances(&texts, &other_texts, settings);
        for (row, found) in rows.iter_mut().zip(found) {
            let id = found.map(|f| id_of(&others[f.other as usize], f.other as usize));
            row.insert("resembles".into(), id.unwrap_or_default());
            row.insert("resembles_score".into(), json!(found.map(|f| f.score)));
        }
    }
    rows
}

/// A row as the post that dedup sees. Its id is its padded place, so that ties go to the earlier row.
pub(super) fn loose_post(row: &RowObject, place: usize) -> Post {
    Post {
        id: format!("{place:012}"),
        text: text_of_field(row, "text").unwrap_or_default().to_string(),
        score: row.get("score").and_then(Value::as_f64),
        time: text_of_field(row, "time").map(str::to_string),
        language: stated_language(row),
        ..Post::default()
    }
}

/// The id of a row as given; without one, its number.
pub(super) fn id_of(row: &RowObject, place: usize) -> Value {
    row.get("id").filter(|id| !id.is_null()).cloned().unwrap_or_else(|| (place + 1).into())
}

/// A row with the decision of dedup: kept, or the id of the row that it is merged into and why.
pub(super) fn row_after_dedup(
    mut row: RowObject,
    id: Value,
    into: Option<(Value, Outcome<Post>)>,
) -> RowObject {
    row.insert("id".into(), id);
    match into {
        Some((into, Outcome::Merged { reason, score, evidence, .. })) => {
            row.insert("into".into(), into);
            row.insert("score".into(), json!(score));
            set_outcome(&mut row, "merged", Some(reason.code()), Some(evidence));
        }
        _ => {
            row.insert("into".into(), Value::Null);
            row.insert("score".into(), Value::Null);
            set_outcome(&mut row, "kept", None, None);
        }
    }
    row
}
