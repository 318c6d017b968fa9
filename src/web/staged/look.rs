//! A stage that somebody looks at.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use polars::prelude::Column;
use rayon::prelude::*;
use serde::Serialize;

use super::frames::{Frames, LEDGER, TEXT, texts};
use super::index::{Index, NONE, chars, ids, named};
use super::query::{Query, Sort};
use crate::recipe::{Recipe, Step};
use crate::record::Entry;
use crate::store::{Error, StageReader, Workspace, from_frame, part_columns};

/// Bytes of indexes that are kept.
const BUDGET: usize = 160 << 20;
/// Answers to queries that are kept; paging asks the same again.
const ANSWERS: usize = 16;

/// A record that entered a stage, as a page shows it.
#[derive(Clone, Debug, Serialize)]
pub(in crate::web) struct Record {
    #[serde(flatten)]
    pub(in crate::web) entry: Entry,
    /// Its text as it entered, else as it left.
    pub(in crate::web) text: Option<String>,
}

/// By stage and query: the records that fit, and when they were last asked for.
type Answers = HashMap<(String, Query), (Arc<Vec<u32>>, u64)>;

/// Stages that were looked at.
#[derive(Default)]
pub(in crate::web) struct Stages {
    frames: Frames,
    indexes: Mutex<Vec<(String, Arc<Index>)>>,
    answers: Mutex<Answers>,
    clock: std::sync::atomic::AtomicU64,
}

/// A stage with its inputs and its index.
pub(in crate::web) struct Looking<'s> {
    stages: &'s Stages,
    pub(in crate::web) stage: StageReader,
    inputs: Vec<StageReader>,
    index: Arc<Index>,
    key: String,
}

impl Stages {
    /// Opens a stage; `None` where it was not made.
    pub(in crate::web) fn open(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Option<Looking<'_>>, Error> {
        // An input may stand in another recipe.
        let open = |name: &str| match recipe.input(name) {
            Some((of, number, step)) => StageReader::open(&workspace.stage(of.name, number, step.name)),
            None => Ok(None),
        };
        let Some(stage) = open(step.name)? else { return Ok(None) };
        let inputs: Vec<StageReader> =
            step.inputs.iter().filter_map(|input| open(input).transpose()).collect::<Result<_, _>>()?;
        let hash = |reader: &StageReader, table: &str| reader.table(table).hash;
        let key = [hash(&stage, "ledger"), hash(&stage, "rows")]
            .into_iter()
            .chain(inputs.iter().map(|input| hash(input, "rows")))
            .collect::<Vec<_>>()
            .join(" ");
        let index = self.index(&key, &stage, &inputs)?;
        Ok(Some(Looking { stages: self, stage, inputs, index, key }))
    }

    fn index(&self, key: &str, stage: &StageReader, inputs: &[StageReader]) -> Result<Arc<Index>, Error> {
        let held = || self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut held = held();
            if let Some(at) = held.iter().position(|(known, _)| known == key) {
                let found = held.remove(at);
                held.push(found);
                return Ok(held[held.len() - 1].1.clone());
            }
        }
        let index = Arc::new(Index::build(stage, inputs)?);
        let mut held = held();
        held.push((key.to_string(), index.clone()));
        while held.len() > 1 && held.iter().map(|(_, index)| index.bytes()).sum::<usize>() > BUDGET {
            held.remove(0);
        }
        Ok(index)
    }

    fn answer(
        &self,
        key: (String, Query),
        find: impl FnOnce() -> Result<Vec<u32>, Error>,
    ) -> Result<Arc<Vec<u32>>, Error> {
        let now = self.clock.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let held = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, used)) = held().get_mut(&key) {
            *used = now;
            return Ok(found.clone());
        }
        let found = Arc::new(find()?);
        let mut held = held();
        held.insert(key, (found.clone(), now));
        if held.len() > ANSWERS
            && let Some(oldest) = held.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone())
        {
            held.remove(&oldest);
        }
        Ok(found)
    }
}

impl Looking<'_> {
    /// How many records entered.
    pub(in crate::web) fn len(&self) -> usize {
        self.index.kind.len()
    }

    /// A page of the records that a query lets through, and how many there are.
    pub(in crate::web) fn page(
        &self,
        query: &Query,
        from: usize,
        count: usize,
    ) -> Result<(Vec<Record>, usize), Error> {
        if query.is_all() {
            let places: Vec<u32> = (from..(from + count).min(self.len())).map(|at| at as u32).collect();
            return Ok((self.records(&places)?, self.len()));
        }
        let found = self.stages.answer((self.key.clone(), query.clone()), || self.find(query))?;
        let end = (from + count).min(found.len());
        Ok((self.records(&found[from.min(end)..end])?, found.len()))
    }

    fn find(&self, query: &Query) -> Result<Vec<u32>, Error> {
        let index = &self.index;
        let fits: Vec<bool> = index
            .kinds
            .iter()
            .map(|(outcome, reason)| {
                (query.outcome.is_empty() || *outcome == query.outcome)
                    && (query.reason.is_empty() || reason.as_deref() == Some(query.reason.as_str()))
            })
            .collect();
        let mut found: Vec<u32> = (0..self.len() as u32)
            .into_par_iter()
            .filter(|at| fits[usize::from(index.kind[*at as usize])])
            .collect();
        if let Some(finder) = query.finder() {
            let mut before = Vec::new();
            for input in &self.inputs {
                before.append(&mut self.matches(input, &finder)?);
            }
            let after = self.matches(&self.stage, &finder)?;
            let hit = |rows: &[bool], row: u32| row != NONE && rows.get(row as usize) == Some(&true);
            found.retain(|at| {
                hit(&before, index.entered[*at as usize]) || hit(&after, index.left[*at as usize])
            });
        }
        if query.min > 0 || query.max > 0 {
            let chars = self.chars()?;
            let max = if query.max == 0 { u32::MAX } else { query.max };
            found.retain(|at| (query.min..=max).contains(&chars[*at as usize]));
        }
        match query.sort {
            Sort::Entered => {}
            Sort::Longest => {
                let chars = self.chars()?;
                found.par_sort_by_key(|at| std::cmp::Reverse(chars[*at as usize]));
            }
            Sort::Shortest => {
                let chars = self.chars()?;
                found.par_sort_by_key(|at| chars[*at as usize]);
            }
            Sort::Score => {
                let scores = self.scores()?;
                found.par_sort_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
            }
        }
        Ok(found)
    }

    fn matches(&self, stage: &StageReader, finder: &regex::Regex) -> Result<Vec<bool>, Error> {
        let parts = stage.table("rows").parts.len();
        let hits: Vec<Result<Vec<bool>, Error>> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let frame = self.stages.frames.get(stage, "rows", part, TEXT)?;
                let column = |name: &str| {
                    let column = frame.column(name).and_then(Column::str);
                    column.map_err(|e| Error::stale_file(&stage.place().join("rows"), e))
                };
                let hit = |text: Option<&str>| text.is_some_and(|text| finder.is_match(text));
                let texts = texts(&frame).map_err(|e| Error::stale_file(&stage.place().join("rows"), e))?;
                let ids = column("id")?;
                Ok(texts.iter().zip(ids.iter()).map(|(text, id)| hit(text) || hit(id)).collect())
            })
            .collect();
        Ok(hits.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// The record of an id, as it entered.
    pub(in crate::web) fn record_of(&self, id: &str) -> Result<Option<Record>, Error> {
        let by_id = match self.index.by_id.get() {
            Some(known) => known.clone(),
            None => {
                let mut by_id: Vec<(u64, u32)> = ids(&self.stage, "ledger")?.into_iter().zip(0..).collect();
                by_id.par_sort_unstable();
                self.index.by_id.get_or_init(|| Arc::new(by_id)).clone()
            }
        };
        let hash = named(id);
        let first = by_id.partition_point(|(known, _)| *known < hash);
        for (_, at) in by_id[first..].iter().take_while(|(known, _)| *known == hash) {
            let record = self.record(*at as usize)?;
            if record.entry.id == id {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Characters of each record's text, in the order of the ledger; 0 where it has none.
    pub(in crate::web) fn chars(&self) -> Result<Arc<Vec<u32>>, Error> {
        if let Some(known) = self.index.chars.get() {
            return Ok(known.clone());
        }
        let frames = &self.stages.frames;
        let mut before = Vec::new();
        for input in &self.inputs {
            before.append(&mut chars(frames, input)?);
        }
        // Import reads no rows: its records are as long as what they became.
        let after = if before.is_empty() { chars(frames, &self.stage)? } else { Vec::new() };
        let of = |rows: &[u32], row: u32| rows.get(row as usize).copied();
        let lengths = (0..self.len())
            .map(|at| of(&before, self.index.entered[at]).or_else(|| of(&after, self.index.left[at])))
            .map(Option::unwrap_or_default)
            .collect();
        Ok(self.index.chars.get_or_init(|| Arc::new(lengths)).clone())
    }

    fn scores(&self) -> Result<Arc<Vec<f32>>, Error> {
        if let Some(known) = self.index.scores.get() {
            return Ok(known.clone());
        }
        let mut scores = Vec::with_capacity(self.len());
        for part in 0..self.stage.table("ledger").parts.len() {
            let frame = part_columns(&self.stage, "ledger", part, &["score"])?;
            let column = frame.column("score").and_then(Column::f64);
            let column = column.map_err(|e| Error::stale_file(&self.stage.place().join("ledger"), e))?;
            scores.extend(column.iter().map(|score| score.unwrap_or(-1.0) as f32));
        }
        Ok(self.index.scores.get_or_init(|| Arc::new(scores)).clone())
    }

    /// How many records there are of each length, up to `most` characters, by what became of them: the
    /// last place holds all longer ones.
    pub(in crate::web) fn lengths(&self, most: usize) -> Result<BTreeMap<String, Vec<u64>>, Error> {
        let chars = self.chars()?;
        let mut lengths: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut by_kind = vec![vec![0; most + 1]; self.index.kinds.len()];
        for (kind, chars) in self.index.kind.iter().zip(chars.iter()) {
            by_kind[usize::from(*kind)][(*chars as usize).min(most)] += 1;
        }
        for ((outcome, _), counts) in self.index.kinds.iter().zip(by_kind) {
            let sums = lengths.entry(outcome.clone()).or_insert_with(|| vec![0; most + 1]);
            sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        Ok(lengths)
    }

    fn records(&self, places: &[u32]) -> Result<Vec<Record>, Error> {
        places.iter().map(|at| self.record(*at as usize)).collect()
    }

    fn record(&self, at: usize) -> Result<Record, Error> {
        let (part, row) = place(&self.stage, "ledger", at);
        let frame = self.stages.frames.get(&self.stage, "ledger", part, LEDGER)?;
        let entries: Vec<Entry> = from_frame(&frame.slice(row as i64, 1))
            .map_err(|e| Error::stale_file(&self.stage.place().join("ledger"), e))?;
        let entry = entries.into_iter().next().unwrap_or_default();
        let text = match self.entered_text(self.index.entered[at])? {
            Some(text) => Some(text),
            None => self.text(&self.stage, self.index.left[at])?,
        };
        Ok(Record { entry, text })
    }

    fn entered_text(&self, mut row: u32) -> Result<Option<String>, Error> {
        if row == NONE {
            return Ok(None);
        }
        for input in &self.inputs {
            let rows = input.table("rows").rows as u32;
            if row < rows {
                return self.text(input, row);
            }
            row -= rows;
        }
        Ok(None)
    }

    fn text(&self, stage: &StageReader, row: u32) -> Result<Option<String>, Error> {
        if row == NONE {
            return Ok(None);
        }
        let (part, row) = place(stage, "rows", row as usize);
        let frame = self.stages.frames.get(stage, "rows", part, TEXT)?;
        let texts = texts(&frame).map_err(|e| Error::stale_file(&stage.place().join("rows"), e))?;
        Ok(texts.get(row).map(str::to_string))
    }
}

/// The part of a table that holds a row, and the row's place in it.
fn place(stage: &StageReader, table: &str, mut row: usize) -> (usize, usize) {
    let parts = stage.manifest().tables.get(table).map(|t| t.parts.as_slice()).unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        if row < part.rows as usize {
            return (number, row);
        }
        row -= part.rows as usize;
    }
    (parts.len(), row)
}
