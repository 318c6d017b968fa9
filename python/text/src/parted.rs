//! Dedup in parts, for rows that are spread over many machines: `riddlemill_text::offline::dedup::parted` over columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use rayon::prelude::*;
use riddlemill_record::{Language, Post, Witness};
use riddlemill_text::offline::dedup::parted::{
    self, CommonPairs, Heavy, KeyBlocks, Keyer, Measure, PairLine, PartStats, ResolveError, Share, StatError,
    decide_merges, heavy_of_blocks, pairs_of_blocks, rank_of,
};
use riddlemill_text::offline::dedup::{measure_witness, tagged_text};
use riddlemill_text::offline::settings;
use riddlemill_text::text::language::split_tag;

use crate::similarity_join::settings;
use crate::table::{Column, Compared, column, comparisons, doubles, strings, table};
use crate::texts::{Texts, same_length};
use crate::{words, work};

/// Dedup with certain settings: see the module's stub.
#[pyclass(frozen)]
pub(crate) struct PartedDedup {
    settings: settings::Dedup,
    measure: Measure,
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl PartedDedup {
    #[new]
    #[pyo3(signature = (metric, threshold, margin, keep, normalize, language))]
    fn new(
        metric: &str,
        threshold: Option<f64>,
        margin: f64,
        keep: &str,
        normalize: bool,
        language: Option<&str>,
    ) -> PyResult<PartedDedup> {
        // Without a language, that of each text is detected.
        let language = match language {
            Some(word) => {
                words::one_of("language", word, &["zh", "en", "und"]).map(|()| Language::from_code(word))?
            }
            None => None,
        };
        let common = settings(metric, threshold, keep, normalize, "zh")?;
        let settings = settings::Dedup { margin, language, ..common };
        Ok(PartedDedup { measure: Measure::new(&settings), settings })
    }

    fn ranks<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        texts: &Bound<'py, PyAny>,
        scores: Vec<Option<f64>>,
        times: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (ids, texts) = (Texts::from_arrow("ids", ids)?, Texts::from_arrow("texts", texts)?);
        let times = Texts::from_arrow("times", times)?;
        let lengths = [("ids", ids.len()), ("scores", scores.len()), ("times", times.len())];
        lengths.into_iter().try_for_each(|(name, rows)| same_length(name, rows, texts.len()))?;
        let (ids, texts, times) = (ids.each(), texts.each(), times.each());
        let ranks: Vec<String> = work::run(py, |_| {
            let rank = |row: usize| {
                let post = Post {
                    id: ids[row].unwrap_or_default().into(),
                    text: texts[row].unwrap_or_default().into(),
                    score: scores[row],
                    time: times[row].map(Into::into),
                    ..Post::default()
                };
                rank_of(&post, self.settings.keep)
            };
            (0..texts.len()).into_par_iter().map(rank).collect()
        })?;
        column(py, vec![strings(ranks.iter().map(|rank| Some(rank.as_str())))])
    }

    fn tagged<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        languages: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (texts, languages) =
            (Texts::from_arrow("texts", texts)?, Texts::from_arrow("languages", languages)?);
        same_length("languages", languages.len(), texts.len())?;
        let (texts, languages) = (texts.each(), languages.each());
        let tagged: Vec<String> = work::run(py, |_| {
            let tag = |(text, language): (&Option<&str>, &Option<&str>)| {
                let text = text.unwrap_or_default().to_owned();
                let post = Post { text, language: language.and_then(Language::from_code), ..Post::default() };
                tagged_text(&post, self.settings.language).into_owned()
            };
            texts.par_iter().zip(&languages).map(tag).collect()
        })?;
        column(py, vec![strings(tagged.iter().map(|text| Some(text.as_str())))])
    }

    fn untagged<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let texts = Texts::from_arrow("texts", texts)?;
        let bare = texts.each().into_iter().map(|text| text.map(|text| split_tag(text).1));
        column(py, vec![strings(bare)])
    }

    fn digests<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let texts = Texts::from_arrow("texts", texts)?;
        let texts = texts.each();
        let digests: Vec<Option<[u8; 16]>> = work::run(py, |_| {
            let digest = |text: &Option<&str>| Some(self.measure.digest_text((*text)?)?.to_be_bytes());
            texts.par_iter().map(digest).collect()
        })?;
        let digests: BinaryArray =
            digests.iter().map(|digest| digest.as_ref().map(|bytes| &bytes[..])).collect();
        column(py, vec![Arc::new(digests)])
    }

    fn count<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let texts = Texts::from_arrow("texts", texts)?;
        let texts = texts.each();
        let counts = work::run(py, |_| {
            let mut stats = PartStats::new(&self.measure);
            texts.iter().flatten().for_each(|text| stats.add(&self.measure, text));
            stats.to_bytes()
        })?;
        Ok(PyBytes::new(py, &counts))
    }

    fn add_counts<'py>(&self, py: Python<'py>, counts: Vec<PyBackedBytes>) -> PyResult<Bound<'py, PyBytes>> {
        let sum = work::run(py, |_| self.sum(&counts).map(|sum| sum.to_bytes()))?;
        Ok(PyBytes::new(py, &sum.map_err(wrong)?))
    }

    fn common_pairs<'py>(&self, py: Python<'py>, counts: PyBackedBytes) -> PyResult<Bound<'py, PyBytes>> {
        let common = work::run(py, |_| self.sum(&[counts]).map(|stats| stats.common_pairs().to_bytes()))?;
        Ok(PyBytes::new(py, &common.map_err(wrong)?))
    }

    fn keyer(&self, py: Python<'_>, counts: PyBackedBytes) -> PyResult<PartedKeys> {
        let keyer =
            work::run(py, |_| self.sum(&[counts]).map(|stats| Keyer::new(self.measure.clone(), &stats)))?;
        Ok(PartedKeys(keyer.map_err(wrong)?))
    }

    /// With `between`, only pairs of a row below it and one that is not: the rows of two sets.
    #[pyo3(signature = (blocks, between = None))]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        blocks: Vec<PyBackedBytes>,
        between: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let pairs = work::run(py, |_| {
            let mut pairs = pairs_of_blocks(&self.measure, &slices(&blocks))?;
            // The lower row is first.
            pairs.retain(|(a, b)| between.is_none_or(|first| *a < first && first <= *b));
            Ok::<_, parted::BlockError>(pairs)
        })?
        .map_err(wrong)?;
        let side = |of: fn(&(u64, u64)) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(pairs.iter().map(of)))
        };
        table(py, vec![vec![("a", side(|pair| pair.0)), ("b", side(|pair| pair.1))]])
    }

    fn heavy(&self, py: Python<'_>, blocks: Vec<PyBackedBytes>, most: u64) -> PyResult<Vec<(u8, u64, u64)>> {
        work::run(py, |_| heavy_of_blocks(&self.measure, &slices(&blocks), most))?.map_err(wrong)
    }

    fn compare<'py>(
        &self,
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        common: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyAny>> {
        let common = CommonPairs::from_bytes(&common).map_err(wrong)?;
        let (a, b) = (Texts::from_arrow("a", a)?, Texts::from_arrow("b", b)?);
        same_length("b", b.len(), a.len())?;
        let (a, b): (Vec<Option<&str>>, Vec<Option<&str>>) = (a.each(), b.each());
        let found: Vec<Option<(parted::Compared, Witness)>> = work::run(py, |_| {
            let pairs = || a.iter().zip(&b).map(|(a, b)| (a.unwrap_or_default(), b.unwrap_or_default()));
            let found = self.measure.compare_pairs(&common, pairs()).into_iter().zip(pairs());
            found
                .map(|(found, (a, b))| {
                    found.map(|found| (found, measure_witness(split_tag(a).1, split_tag(b).1)))
                })
                .collect()
        })?;
        let each = || found.iter().map(Option::as_ref);
        let figure =
            |of: fn(&Witness) -> f64| doubles(each().map(|found| found.map(|(_, figures)| of(figures))));
        let compared = |(found, _): &(parted::Compared, Witness)| Compared {
            verdict: if found.same { "same" } else { "borderline" },
            score: found.score,
            predicate: Some(found.predicate),
            veto: found.veto,
        };
        let mut columns = comparisons(each().map(|found| found.map(compared))).to_vec();
        columns.extend([
            ("levenshtein", figure(|figures| figures.levenshtein)),
            ("jaro_winkler", figure(|figures| figures.jaro_winkler)),
            ("sorensen_dice", figure(|figures| figures.sorensen_dice)),
        ]);
        table(py, vec![columns])
    }

    /// Batches are read one by one, and sorted within this many MiB and on disk.
    fn resolve<'py>(
        &self,
        py: Python<'py>,
        batches: &Bound<'py, PyAny>,
        folder: std::path::PathBuf,
        memory_mib: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let lines = batches.try_iter()?.flat_map(|batch| match batch.and_then(|batch| pair_lines(&batch)) {
            Ok(lines) => lines.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        let (mut rows, mut into, mut scores, mut predicates) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        decide_merges(lines, &folder, memory_mib << 20, |decision| {
            rows.push(row_in(&decision.id)?);
            into.push(row_in(&decision.into)?);
            scores.push(Some(decision.score));
            predicates.push(decision.predicate);
            Ok(())
        })
        .map_err(|error| match error {
            ResolveError::Take(error) => error,
            error @ ResolveError::Sort(_) => PyRuntimeError::new_err(error.to_string()),
        })?;
        let columns: Vec<Column> = vec![
            ("row", Arc::new(UInt64Array::from(rows))),
            ("into", Arc::new(UInt64Array::from(into))),
            ("score", doubles(scores)),
            ("predicate", strings(predicates.iter().map(Option::as_deref))),
        ];
        table(py, vec![columns])
    }
}

impl PartedDedup {
    fn sum(&self, counts: &[PyBackedBytes]) -> Result<PartStats, StatError> {
        let mut sum = PartStats::new(&self.measure);
        counts.iter().try_for_each(|counts| sum.add_bytes(counts)).map(|()| sum)
    }
}

fn slices(blocks: &[PyBackedBytes]) -> Vec<&[u8]> {
    blocks.iter().map(|block| &block[..]).collect()
}

/// Computes the keys of rows: see the module's stub.
#[pyclass(frozen)]
pub(crate) struct PartedKeys(Keyer);

#[pymethods]
impl PartedKeys {
    fn blocks<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<u64>,
        texts: &Bound<'py, PyAny>,
        lanes: u32,
        share: &str,
        heavy: Vec<(u8, u64, u32)>,
    ) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
        let share: Share = share.parse().map_err(wrong)?;
        let texts = Texts::from_arrow("texts", texts)?;
        same_length("rows", rows.len(), texts.len())?;
        let texts = texts.each();
        let heavy: Heavy =
            heavy.into_iter().map(|(kind, hash, shards)| ((kind, hash), shards)).collect::<BTreeMap<_, _>>();
        let blocks = work::run(py, |_| {
            let mut blocks = KeyBlocks::new(lanes, &heavy);
            for (row, text) in rows.iter().zip(&texts) {
                self.0.fill_blocks(*row, text.unwrap_or_default(), share, &mut blocks)?;
            }
            Ok::<Vec<_>, riddlemill_text::join::Uncounted>(blocks.finish().collect())
        })?;
        let blocks = blocks.map_err(wrong)?;
        Ok(blocks.into_iter().map(|(lane, block)| (lane, PyBytes::new(py, &block))).collect())
    }
}

/// Separates a row's number from its rank; sorts before any character of an id.
const ROW: char = '\u{1}';

fn row_in(id: &str) -> PyResult<u64> {
    let row = id.rsplit_once(ROW).and_then(|(_, row)| u64::from_str_radix(row, 16).ok());
    row.ok_or_else(|| PyRuntimeError::new_err("a rank without its row"))
}

/// The rows of a batch with the columns `from_rank`, `from`, `into_rank`, `into`, `verdict`, `score`, `predicate`.
fn pair_lines(batch: &Bound<'_, PyAny>) -> PyResult<Vec<PairLine>> {
    let batch: RecordBatch = batch.extract::<PyRecordBatch>()?.into_inner();
    let column = |name: &str, kind: DataType| -> PyResult<ArrayRef> {
        let column =
            batch.column_by_name(name).ok_or_else(|| wrong(format!("pairs have no column {name}")))?;
        cast(column, &kind).map_err(wrong)
    };
    let text = |name: &str| column(name, DataType::LargeUtf8);
    let (from_ranks, into_ranks) = (text("from_rank")?, text("into_rank")?);
    let (verdicts, predicates) = (text("verdict")?, text("predicate")?);
    let (from, into) = (column("from", DataType::UInt64)?, column("into", DataType::UInt64)?);
    let scores = column("score", DataType::Float64)?;
    let string = |column: &ArrayRef, row: usize| {
        column.is_valid(row).then(|| column.as_string::<i64>().value(row).to_owned())
    };
    let rank = |ranks: &ArrayRef, rows: &ArrayRef, row: usize| {
        let own = rows.as_primitive::<UInt64Type>().value(row);
        format!("{}{ROW}{own:016x}", string(ranks, row).unwrap_or_default())
    };
    let line = |row: usize| PairLine {
        from: rank(&from_ranks, &from, row),
        into: rank(&into_ranks, &into, row),
        verdict: string(&verdicts, row).unwrap_or_default(),
        predicate: string(&predicates, row),
        score: scores.is_valid(row).then(|| scores.as_primitive::<Float64Type>().value(row)),
        veto: None,
        levenshtein: None,
        jaro_winkler: None,
        sorensen_dice: None,
    };
    Ok((0..batch.num_rows()).map(line).collect())
}
