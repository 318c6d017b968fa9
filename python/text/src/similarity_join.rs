//! What is alike: two texts, all pairs of many, and which of them are kept.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, UInt32Builder};
use arrow_array::{ArrayRef, UInt32Array};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use riddlemill_record::{Outcome, Post};
use riddlemill_text::join::{self, DiskError, Metric, Spill, Watch};
use riddlemill_text::offline::dedup::{self as rules, Across, SimilarPair, row_pairs};
use riddlemill_text::offline::settings::{DedupMetric, Keep};
use riddlemill_text::offline::{RowOutcome, settings};
use riddlemill_text::text::language::tag_language;
use riddlemill_text::text::normalise::{Fold, fold};
use riddlemill_text::text::sameness::{self, Predicate, Verdict};

use crate::table::{Column, Compared, Decisions, column, comparisons, doubles, table};
use crate::texts::{Texts, same_length};
use crate::{words, work};

/// Pairs of one batch.
const PAIRS: usize = 1 << 16;

/// The similarity of two columns of texts, row by row: see the module's stub.
#[pyfunction]
pub(crate) fn similarity<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    metric: &str,
    normalize: bool,
) -> PyResult<Bound<'py, PyAny>> {
    words::one_of("metric", metric, DedupMetric::NAMES)?;
    let metric = match metric {
        "indel" => Some(Metric::Indel),
        "levenshtein" => Some(Metric::Levenshtein),
        "jaccard" => Some(Metric::Jaccard { n: 2 }),
        _ => None,
    }
    .map_or(if metric == "exact" { Measure::Exact } else { Measure::Default }, Measure::One);
    let score = |a: &str, b: &str| match metric {
        Measure::Default => sameness::compare(a, b).score,
        Measure::Exact => f64::from(u8::from(read(a, normalize) == read(b, normalize) && !a.is_empty())),
        Measure::One(metric) => {
            join::plain_similarity(metric, &read(a, normalize), &read(b, normalize)).value()
        }
    };
    let (a, b) = (Texts::from_arrow("a", a)?, Texts::from_arrow("b", b)?);
    same_length("b", b.len(), a.len())?;
    let (a, b) = (a.each(), b.each());
    let scores: Vec<Option<f64>> = work::run(py, |stop| {
        let each =
            |(a, b): (&Option<&str>, &Option<&str>)| (!stop.is_stopped()).then_some(score((*a)?, (*b)?));
        a.par_iter().zip(&b).map(each).collect()
    })?;
    column(py, vec![doubles(scores)])
}

enum Measure {
    Default,
    Exact,
    One(Metric),
}

fn read(text: &str, normalize: bool) -> String {
    if normalize { fold(text, Fold::KEY) } else { text.to_owned() }
}

/// The default similarity with what decided, row by row: see the module's stub.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (a, b) = (Texts::from_arrow("a", a)?, Texts::from_arrow("b", b)?);
    same_length("b", b.len(), a.len())?;
    let (a, b) = (a.each(), b.each());
    let found: Vec<Option<sameness::Comparison>> = work::run(py, |stop| {
        let each = |(a, b): (&Option<&str>, &Option<&str>)| {
            (!stop.is_stopped()).then_some(sameness::compare((*a)?, (*b)?))
        };
        a.par_iter().zip(&b).map(each).collect()
    })?;
    let mut duplicate = BooleanBuilder::new();
    found.iter().for_each(|found| duplicate.append_option(found.map(|found| found.verdict == Verdict::Same)));
    let compared = |found: &sameness::Comparison| Compared {
        verdict: found.verdict.name(),
        score: found.score,
        predicate: found.predicate.map(Predicate::name),
        veto: found.veto.map(|veto| veto.name()),
    };
    let mut columns: Vec<Column> = vec![("duplicate", Arc::new(duplicate.finish()))];
    columns.extend(comparisons(found.iter().map(|found| found.as_ref().map(compared))));
    table(py, vec![columns])
}

/// The settings of a join.
pub(crate) fn settings(
    metric: &str,
    threshold: Option<f64>,
    keep: &str,
    normalize: bool,
    language: &str,
) -> PyResult<settings::Dedup> {
    let metric = words::chosen("metric", metric, DedupMetric::NAMES, DedupMetric::from_name)?;
    let keep = words::chosen("keep", keep, Keep::NAMES, Keep::from_name)?;
    let language = words::language(language)?;
    if threshold.is_some() && metric == DedupMetric::Default {
        let hint = "name a metric, such as \"indel\", or leave the threshold out";
        return Err(PyValueError::new_err(format!(
            "the default similarity has thresholds of its own\n  hint: {hint}"
        )));
    }
    let standard = settings::Dedup::default();
    let threshold = threshold.map_or(Ok(standard.threshold), words::threshold)?;
    // Borderline pairs are asked of a run.
    Ok(settings::Dedup {
        metric,
        threshold,
        margin: 0.0,
        keep,
        normalize,
        language: Some(language),
        ..standard
    })
}

/// Every pair over a threshold, among the texts or between them and others: see the module's stub.
#[pyfunction]
#[pyo3(signature = (texts, others, threshold, metric, normalize, language, borderline, max_pairs, on_disk, memory_mib))]
#[expect(clippy::too_many_arguments, reason = "a setting each; Python names them")]
pub(crate) fn similar_pairs<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    others: Option<&Bound<'py, PyAny>>,
    threshold: Option<f64>,
    metric: &str,
    normalize: bool,
    language: &str,
    borderline: bool,
    max_pairs: u64,
    on_disk: Option<PathBuf>,
    memory_mib: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = settings(metric, threshold, "longest", normalize, language)?;
    let language = words::language(language)?;
    let texts = Texts::from_arrow("texts", texts)?;
    let others = others.map(|others| Texts::from_arrow("others", others)).transpose()?;
    rows_fit(texts.len() + others.as_ref().map_or(0, Texts::len))?;
    let others = others.as_ref().map(|others| tagged_texts(others, language));
    let texts = tagged_texts(&texts, language);
    let found = work::run(py, |stop| {
        let spill =
            on_disk.as_deref().map(|folder| Spill { folder, memory: memory_mib << 20, texts: texts.len() });
        Joined::find(&texts, others.as_deref(), &settings, spill, borderline, stop)
    })?
    .map_err(|error| match error {
        // Ctrl-C is raised before anybody sees this.
        DiskError::Stopped => PyRuntimeError::new_err("stopped"),
        error => PyOSError::new_err(format!(
            "on_disk: {error}\n  hint: name a folder with room, or leave on_disk out"
        )),
    })?;
    let count = found.count();
    if count > max_pairs {
        let hint = "dedup merges equal texts first; or set max_pairs";
        return Err(PyValueError::new_err(format!(
            "there are {count} pairs, over {max_pairs}\n  hint: {hint}"
        )));
    }
    let batches = work::run(py, |_| match &found {
        Joined::Within(groups, pairs) => pair_batches(row_pairs(groups, pairs)),
        Joined::Across(across) => pair_batches(across.row_pairs()),
    })?;
    table(py, batches)
}

/// Texts of one language, empty where they are missing.
fn tagged_texts(texts: &Texts, language: settings::Language) -> Vec<Cow<'_, str>> {
    texts.each().into_iter().map(|text| tag_language(text.unwrap_or_default(), language)).collect()
}

/// What a join found.
enum Joined {
    /// Among the texts themselves.
    Within(Vec<Vec<u32>>, Vec<SimilarPair>),
    /// Between two columns.
    Across(Across),
}

impl Joined {
    fn find(
        texts: &[Cow<'_, str>],
        others: Option<&[Cow<'_, str>]>,
        settings: &settings::Dedup,
        spill: Option<Spill<'_>>,
        borderline: bool,
        stop: &dyn Watch,
    ) -> Result<Joined, DiskError> {
        Ok(match others {
            None => {
                let (groups, mut pairs) = match spill {
                    None => rules::similar_pairs(&borrowed(texts), settings, stop),
                    Some(spill) => {
                        let (groups, pairs) = rules::similar_pairs_on_disk(texts, settings, spill, stop)?;
                        (groups, pairs.into_memory()?)
                    }
                };
                pairs.retain(|like| like.same || borderline);
                Joined::Within(groups, pairs)
            }
            Some(others) => {
                let mut across = match spill {
                    None => rules::similar_across(&borrowed(texts), &borrowed(others), settings, stop),
                    Some(spill) => rules::similar_across_on_disk(texts, others, settings, spill, stop)?,
                };
                if !borderline {
                    across.only_same();
                }
                Joined::Across(across)
            }
        })
    }

    fn count(&self) -> u64 {
        match self {
            Joined::Within(groups, pairs) => pairs_of(groups, pairs),
            Joined::Across(across) => across.count_pairs(),
        }
    }
}

fn borrowed<'t>(texts: &'t [Cow<'_, str>]) -> Vec<&'t str> {
    texts.iter().map(AsRef::as_ref).collect()
}

fn pair_batches<'a>(found: impl Iterator<Item = (u32, u32, Option<&'a SimilarPair>)>) -> Vec<Vec<Column>> {
    let (mut batches, mut pairs) = (Vec::new(), Vec::with_capacity(PAIRS));
    for pair in found {
        pairs.push(pair);
        if pairs.len() == PAIRS {
            batches.push(pair_columns(&pairs));
            pairs.clear();
        }
    }
    // Without any pair there is an empty batch, which says what columns there would be.
    if !pairs.is_empty() || batches.is_empty() {
        batches.push(pair_columns(&pairs));
    }
    batches
}

/// How many pairs of rows there are.
fn pairs_of(groups: &[Vec<u32>], similar_pairs: &[SimilarPair]) -> u64 {
    let size = |group: u32| groups[group as usize].len() as u64;
    let within: u64 = groups.iter().map(|rows| rows.len() as u64 * (rows.len() as u64 - 1) / 2).sum();
    within + similar_pairs.iter().map(|like| size(like.a) * size(like.b)).sum::<u64>()
}

fn pair_columns(pairs: &[(u32, u32, Option<&SimilarPair>)]) -> Vec<Column> {
    let side = |of: fn(&(u32, u32, Option<&SimilarPair>)) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(pairs.iter().map(of)))
    };
    let compared = |(.., like): &(u32, u32, Option<&SimilarPair>)| {
        let identical = (true, 1.0, Predicate::Identical.name(), None);
        let (same, score, predicate, veto) =
            like.map_or(identical, |like| (like.same, like.score, like.predicate, like.veto));
        let verdict = if same { "same" } else { "borderline" };
        Some(Compared { verdict, score, predicate: Some(predicate), veto })
    };
    let [verdict, score, predicate, veto] = comparisons(pairs.iter().map(compared));
    vec![("a", side(|pair| pair.0)), ("b", side(|pair| pair.1)), score, verdict, predicate, veto]
}

/// Rows are numbered in 32 bits.
fn rows_fit(rows: usize) -> PyResult<()> {
    match u32::try_from(rows) {
        Ok(_) => Ok(()),
        Err(_) => Err(PyValueError::new_err(format!("{rows} texts are too many for one call"))),
    }
}

/// Which texts are kept, and what the others are merged into: see the module's stub.
#[pyfunction]
#[pyo3(signature = (texts, ids, scores, times, metric, threshold, keep, normalize, language))]
#[expect(clippy::too_many_arguments, reason = "a setting each; Python names them")]
pub(crate) fn dedup<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    ids: Option<&Bound<'py, PyAny>>,
    scores: Option<Vec<Option<f64>>>,
    times: Option<&Bound<'py, PyAny>>,
    metric: &str,
    threshold: Option<f64>,
    keep: &str,
    normalize: bool,
    language: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = settings(metric, threshold, keep, normalize, language)?;
    let texts = Texts::from_arrow("texts", texts)?;
    rows_fit(texts.len())?;
    let ids = Texts::beside("ids", ids, texts.len())?;
    let times = Texts::beside("times", times, texts.len())?;
    if let Some(scores) = &scores {
        same_length("scores", scores.len(), texts.len())?;
    }
    let (texts, ids, times) = (texts.each(), ids.as_ref().map(Texts::each), times.as_ref().map(Texts::each));
    if let Some(row) = ids.as_ref().and_then(|ids| ids.iter().position(Option::is_none)) {
        return Err(PyValueError::new_err(format!("ids[{row}] is missing")));
    }
    let outcomes = work::run(py, |stop| {
        // Ties go to the smaller id; without ids, to the earlier row.
        let id = |row: usize| match &ids {
            Some(ids) => ids[row].unwrap_or_default().to_owned(),
            None => format!("{row:012}"),
        };
        let post = |(row, text): (usize, &Option<&str>)| Post {
            id: id(row),
            text: text.unwrap_or_default().to_owned(),
            score: scores.as_ref().and_then(|scores| scores[row]),
            time: times.as_ref().and_then(|times| times[row].map(str::to_owned)),
            ..Post::default()
        };
        let posts: Vec<Post> = texts.par_iter().enumerate().map(post).collect();
        let gone = rules::Found::among_posts(&posts, &settings, stop).merged_rows();
        let outcome = |(post, gone): (&Post, Option<(usize, Option<rules::Keeper>)>)| match gone {
            Some((into, keeper)) => (Some(into as u32), rules::merged_post(post, &posts[into], keeper)),
            None => (None, Outcome::Kept(Post::default())),
        };
        posts.par_iter().zip(gone).map(outcome).collect::<Vec<_>>()
    })?;
    let mut decisions = Decisions::new(outcomes.len(), false);
    let (mut into, mut figures) = (UInt32Builder::new(), Vec::with_capacity(outcomes.len()));
    for (row, outcome) in outcomes {
        figures.push(match &outcome {
            Outcome::Merged { score, .. } => Some(*score),
            _ => None,
        });
        into.append_option(row);
        decisions.append(&RowOutcome::from(outcome), None);
    }
    let mut columns: Vec<Column> = vec![("into", Arc::new(into.finish())), ("score", doubles(figures))];
    columns.extend(decisions.finish());
    table(py, vec![columns])
}
