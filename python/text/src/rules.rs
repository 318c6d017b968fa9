//! Rules that decide text by text.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use riddlemill_record::Post;
use riddlemill_text::join::Watch;
use riddlemill_text::offline::{self, Anonymise, Lists, RowOutcome, kind_of, settings};
use riddlemill_text::text::normalise::{Fold, fold};
use riddlemill_text::text::{english, interrogative};

use crate::table::{Column, Decisions, ROWS, column, doubles, strings, table, whole};
use crate::texts::{Texts, arrays, has_arrow, is_missing, same_length};
use crate::{words, work};

/// Makes batches of this many rows each, on all threads, in order; one empty batch if there are no rows.
fn batches<Batch: Send>(
    py: Python<'_>,
    rows: usize,
    make: impl Fn(&mut dyn Iterator<Item = usize>) -> Batch + Sync + Send,
) -> PyResult<Vec<Batch>> {
    work::run(py, |stop| {
        let starts: Vec<usize> = (0..rows.max(1)).step_by(ROWS).collect();
        // A text can take milliseconds. What is short of rows after Ctrl-C reaches nobody.
        let batch =
            |start: usize| make(&mut (start..rows.min(start + ROWS)).take_while(|_| !stop.is_stopped()));
        starts.into_par_iter().map(batch).collect()
    })
}

/// The texts of posts, cleaned: see the module's stub.
#[pyfunction]
#[pyo3(signature = (contents, titles, kind, language, join))]
pub(crate) fn clean<'py>(
    py: Python<'py>,
    contents: &Bound<'py, PyAny>,
    titles: Option<&Bound<'py, PyAny>>,
    kind: Option<&str>,
    language: &str,
    join: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let join = words::chosen("join", join, settings::Join::NAMES, settings::Join::from_name)?;
    if let Some(kind) = kind {
        words::one_of("kind", kind, &["plain", "thread", "numbered"])?;
    }
    let settings = settings::Clean { join, language: Some(words::language(language)?) };
    let contents = Texts::from_arrow("contents", contents)?;
    let titles = Texts::beside("titles", titles, contents.len())?;
    let (texts, titles) = (contents.each(), titles.as_ref().map(Texts::each));
    let made = batches(py, texts.len(), |rows| {
        let mut decisions = Decisions::new(ROWS, true);
        let (mut scores, mut numbers) = (Vec::new(), Vec::new());
        for row in rows {
            let title = titles.as_ref().and_then(|titles| titles[row]);
            let post = Post {
                kind: kind_of(kind, title.is_some()),
                title: title.map(str::to_owned),
                content: texts[row].map(str::to_owned),
                ..Post::default()
            };
            let decided = RowOutcome::from(offline::clean_post(post, &settings));
            decisions.append(&decided, decided.row.as_ref().map(|post| post.text.as_str()));
            scores.push(decided.row.as_ref().and_then(|post| post.score));
            numbers.push(decided.row.as_ref().and_then(|post| post.number));
        }
        let mut columns = decisions.finish();
        columns.extend([("score", doubles(scores)), ("number", whole(numbers))]);
        columns
    })?;
    table(py, made)
}

/// Whether texts are questions, by which rule and on what evidence: see the module's stub.
#[pyfunction]
pub(crate) fn judge<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    language: &str,
    evidence: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let of_english = words::language(language)? == settings::Language::En;
    let texts = Texts::from_arrow("texts", texts)?;
    let texts = texts.each();
    let judge = |text: &str| match of_english {
        true => english::find_question(text),
        false => {
            let judged = interrogative::judge_text(text);
            (judged.is_question, judged.rule.code(), judged.evidence)
        }
    };
    let made = batches(py, texts.len(), |rows| {
        let judged: Vec<_> = rows.map(|row| texts[row].map(judge)).collect();
        let mut asks = BooleanBuilder::new();
        judged.iter().for_each(|judged| asks.append_option(judged.as_ref().map(|(asks, ..)| *asks)));
        let mut columns: Vec<Column> = vec![("is_question", Arc::new(asks.finish()))];
        if evidence {
            let rules = judged.iter().map(|judged| judged.as_ref().map(|(_, rule, _)| *rule));
            let grounds = judged.iter().map(|judged| judged.as_ref().map(|(.., ground)| ground.as_str()));
            let grounds = grounds.map(|ground| ground.filter(|ground| !ground.is_empty()));
            columns.extend([("reason", strings(rules)), ("evidence", strings(grounds))]);
        }
        columns
    })?;
    if evidence {
        return table(py, made);
    }
    column(py, made.into_iter().flatten().map(|(_, asks)| asks).collect())
}

/// The texts without personal data: see the module's stub.
#[pyfunction]
pub(crate) fn anonymise<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    mentions: Option<&Bound<'py, PyAny>>,
    actions: [String; 5],
    policy: Vec<String>,
    language: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let [links, names, contacts, identity, addresses] = actions;
    let treatment = |name: &str, word: String| {
        words::chosen(name, &word, settings::Treatment::NAMES, settings::Treatment::from_name)
    };
    let (links, names) = (treatment("links", links)?, treatment("names", names)?);
    let (contacts, identity) = (treatment("contacts", contacts)?, treatment("identity", identity)?);
    let addresses = treatment("addresses", addresses)?;
    let language = Some(words::language(language)?);
    let lists = Lists::read_lists(&policy, |name| {
        let hint = "\"builtin\", or paths of lists, a term a line";
        std::fs::read_to_string(name).map_err(|error| {
            PyOSError::new_err(format!("policy: cannot read the list {name:?}: {error}\n  hint: {hint}"))
        })
    })?;
    let settings = settings::Anonymise { links, names, contacts, identity, addresses, policy, language };
    let stage = Anonymise::new(&settings, &lists)
        .map_err(|error| PyValueError::new_err(format!("policy: {error}")))?;
    let texts = Texts::from_arrow("texts", texts)?;
    let texts = texts.each();
    let mentions = mentions.map(|given| lists_of("mentions", given)).transpose()?;
    if let Some(mentions) = &mentions {
        same_length("mentions", mentions.len(), texts.len())?;
    }
    let made = batches(py, texts.len(), |rows| {
        let mut decisions = Decisions::new(ROWS, true);
        for row in rows {
            let text = texts[row].unwrap_or_default().to_owned();
            let mentions = mentions.as_ref().map(|all| all[row].clone()).unwrap_or_default();
            let decided = RowOutcome::from(stage.anonymise_post(Post { text, mentions, ..Post::default() }));
            decisions.append(&decided, decided.row.as_ref().map(|post| post.text.as_str()));
        }
        decisions.finish()
    })?;
    table(py, made)
}

/// Lists of texts, one list for each row.
fn lists_of(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<String>>> {
    let mut lists = Vec::new();
    if !has_arrow(given)? {
        for item in given.try_iter()? {
            let item = item?;
            lists.push(if is_missing(&item) { Vec::new() } else { item.extract()? });
        }
        return Ok(lists);
    }
    for chunk in arrays(given)? {
        let wrong =
            |error| PyTypeError::new_err(format!("{name} is not a column of lists of texts: {error}"));
        let kind = DataType::LargeList(Arc::new(arrow_schema::Field::new("item", DataType::Utf8, true)));
        let chunk = arrow_cast::cast(&chunk, &kind).map_err(wrong)?;
        chunk.to_data().validate_full().map_err(wrong)?;
        for list in chunk.as_list::<i64>().iter() {
            let texts = list.iter().flat_map(|list| {
                list.as_string::<i32>().iter().flatten().map(str::to_owned).collect::<Vec<_>>()
            });
            lists.push(texts.collect());
        }
    }
    Ok(lists)
}

/// Which texts the filter keeps: see the module's stub.
#[pyfunction]
#[pyo3(signature = (texts, images, questions, min_chars, max_chars, forum, language))]
#[expect(clippy::too_many_arguments, reason = "a setting each; Python names them")]
pub(crate) fn filter<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    images: Option<Vec<u64>>,
    questions: bool,
    min_chars: usize,
    max_chars: usize,
    forum: bool,
    language: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let language = Some(words::language(language)?);
    let settings = settings::Filter { questions, min_chars, max_chars, forum, language };
    let texts = Texts::from_arrow("texts", texts)?;
    let texts = texts.each();
    if let Some(images) = &images {
        same_length("images", images.len(), texts.len())?;
    }
    let made = batches(py, texts.len(), |rows| {
        let mut decisions = Decisions::new(ROWS, false);
        for row in rows {
            let text = texts[row].unwrap_or_default().to_owned();
            let images = images.as_ref().map_or(0, |images| images[row]);
            decisions.append(
                &RowOutcome::from(offline::filter_post(Post { text, images, ..Post::default() }, &settings)),
                None,
            );
        }
        decisions.finish()
    })?;
    table(py, made)
}

/// The texts normalised for comparison: see the module's stub.
#[pyfunction]
pub(crate) fn normalize<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    folds: [bool; 6],
) -> PyResult<Bound<'py, PyAny>> {
    let [width, case, script, whitespace, punctuation, variants] = folds;
    let how = Fold { width, case, script, whitespace, punctuation, variants };
    let texts = Texts::from_arrow("texts", texts)?;
    let texts = texts.each();
    let made = batches(py, texts.len(), |rows| {
        let mut folded = StringBuilder::new();
        rows.for_each(|row| folded.append_option(texts[row].map(|text| fold(text, how))));
        Arc::new(folded.finish()) as ArrayRef
    })?;
    column(py, made)
}
