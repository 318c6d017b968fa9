//! A stage opened for viewing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use polars::prelude::Column;
use rayon::prelude::*;
use serde::Serialize;

use riddlemill_record::{Entry, Typed};

use super::Views;
use super::index::{Index, NONE, count_chars, each_row};
use super::query::{Finder, PairQuery, Query, Sort};
use super::rows::{NEAR, read_entries, read_rows, texts_of};
use super::small_cache::{TEXT, texts_of_frame};
use crate::{Error, StageReader};

/// A record that entered a stage, for pages.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Its entry in the ledger.
    #[serde(flatten)]
    pub entry: Entry,
    /// Its text as it entered, else as it left.
    pub text: Option<String>,
}

/// A record and those merged into it.
pub struct Cluster {
    /// The record that was kept.
    pub keeper: Record,
    /// Those merged into it, in the order of the ledger.
    pub members: Vec<Record>,
    /// How many were merged into it; `members` may have fewer.
    pub merged: usize,
}

/// A stage with its inputs and its index.
pub struct StageView<'s> {
    views: &'s Views,
    pub stage: StageReader,
    inputs: Vec<StageReader>,
    index: Arc<Index>,
    key: String,
}

impl<'s> StageView<'s> {
    pub(super) fn new(
        views: &'s Views,
        stage: StageReader,
        inputs: Vec<StageReader>,
        index: Arc<Index>,
        key: String,
    ) -> StageView<'s> {
        StageView { views, stage, inputs, index, key }
    }
}

impl StageView<'_> {
    /// How many records entered.
    #[expect(clippy::len_without_is_empty, reason = "a count, not a collection")]
    pub fn len(&self) -> usize {
        self.index.kind.len()
    }

    /// A page of the records that match a query, and their total number.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn records_page(
        &self,
        query: &Query,
        from: usize,
        count: usize,
    ) -> Result<(Vec<Record>, usize), Error> {
        if query.is_all() {
            let places: Vec<u32> = (from..(from + count).min(self.len())).map(|at| at as u32).collect();
            return Ok((self.read_records(&places)?, self.len()));
        }
        let found = self.views.cached_answer(&self.key, query, || self.find_records(query))?;
        let end = (from + count).min(found.len());
        Ok((self.read_records(&found[from.min(end)..end])?, found.len()))
    }

    fn find_records(&self, query: &Query) -> Result<Vec<u32>, Error> {
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
        if let Some(finder) = query.build_finder() {
            // Ids consist of these characters only.
            let names = query.words.trim().bytes().all(|byte| byte.is_ascii_graphic());
            let mut before = Vec::new();
            for input in &self.inputs {
                before.append(&mut self.match_rows(input, &finder, names)?);
            }
            // A kept record's text is unchanged.
            let kept: Vec<bool> = index.kinds.iter().map(|(state, _)| state == "kept").collect();
            let other = |at: u32| {
                index.left[at as usize] != NONE
                    && (index.entered[at as usize] == NONE || !kept[usize::from(index.kind[at as usize])])
            };
            let after = match found.par_iter().any(|at| other(*at)) {
                true => self.match_rows(&self.stage, &finder, names)?,
                false => Vec::new(),
            };
            let hit = |rows: &[bool], row: u32| row != NONE && rows.get(row as usize) == Some(&true);
            found.retain(|at| {
                hit(&before, index.entered[*at as usize]) || hit(&after, index.left[*at as usize])
            });
        }
        if query.min > 0 || query.max > 0 {
            let chars = self.count_chars()?;
            let max = if query.max == 0 { u32::MAX } else { query.max };
            found.retain(|at| (query.min..=max).contains(&chars[*at as usize]));
        }
        match query.sort {
            Sort::Entered => {}
            Sort::Longest => {
                let chars = self.count_chars()?;
                found.par_sort_by_key(|at| std::cmp::Reverse(chars[*at as usize]));
            }
            Sort::Shortest => {
                let chars = self.count_chars()?;
                found.par_sort_by_key(|at| chars[*at as usize]);
            }
            Sort::Lowest => {
                let scores = self.read_scores()?;
                // Records without a score come last.
                let key =
                    |at: &u32| Some(scores[*at as usize]).filter(|s| *s >= 0.0).unwrap_or(f32::INFINITY);
                found.par_sort_by(|a, b| key(a).total_cmp(&key(b)));
            }
            Sort::Score => {
                let scores = self.read_scores()?;
                found.par_sort_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
            }
        }
        Ok(found)
    }

    /// Which rows of a stage contain the words, in text or id.
    fn match_rows(&self, stage: &StageReader, finder: &Finder, names: bool) -> Result<Vec<bool>, Error> {
        let columns: &[&str] = if names { &["id", "text", "question"] } else { TEXT };
        each_row(stage, "rows", columns, |frame| {
            // A copy, so that threads do not wait for each other.
            let finder = finder.clone();
            let hit = |text: Option<&str>| text.is_some_and(|text| finder.is_in(text));
            if !names {
                return Ok(texts_of_frame(frame)?.iter().map(hit).collect());
            }
            let ids = frame.column("id").and_then(Column::str)?;
            Ok(texts_of_frame(frame)?.iter().zip(ids.iter()).map(|(text, id)| hit(text) || hit(id)).collect())
        })
    }

    /// The record with an id, as it entered.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn record_of(&self, id: &str) -> Result<Option<Record>, Error> {
        let records = self.read_records(&self.index.names.places_of_ids(&[id], &[]))?;
        Ok(records.into_iter().find(|record| record.entry.id == id))
    }

    /// A page of the clusters, largest first: the keeper, at most the requested number of members, and their
    /// total number.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn clusters_page(
        &self,
        from: usize,
        count: usize,
        most: usize,
    ) -> Result<(Vec<Cluster>, usize), Error> {
        let clusters = self.index.clusters();
        let page = &clusters[from.min(clusters.len())..(from + count).min(clusters.len())];
        let shown = |(keeper, members): &(u32, Vec<u32>)| {
            std::iter::once(*keeper).chain(members.iter().take(most).copied()).collect::<Vec<u32>>()
        };
        let mut records = self.read_records(&page.iter().flat_map(shown).collect::<Vec<u32>>())?.into_iter();
        let cluster = |(_, members): &(u32, Vec<u32>)| {
            let keeper = records.next()?;
            let shown = records.by_ref().take(members.len().min(most)).collect();
            Some(Cluster { keeper, members: shown, merged: members.len() })
        };
        Ok((page.iter().filter_map(cluster).collect(), clusters.len()))
    }

    /// How many records are in a state.
    pub fn in_state(&self, state: &str) -> usize {
        self.index.in_state(state).count()
    }

    /// A page of the pairs that match a query, and their total number.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn pairs_page<P: Typed + Default + Send>(
        &self,
        query: PairQuery<'_>,
        from: usize,
        count: usize,
    ) -> Result<(Vec<P>, usize), Error> {
        let pairs = self.views.compared_pairs(&self.stage)?;
        let (places, all) = pairs.select_page(query, from, count);
        Ok((read_rows(&self.views.frames, &self.stage, "pairs", NEAR, &places)?, all))
    }

    /// The texts of several ids, as they entered.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn texts_of(&self, ids: &[&str]) -> Result<HashMap<String, String>, Error> {
        let records = self.read_records(&self.index.names.places_of_ids(ids, &[]))?;
        Ok(records.into_iter().filter_map(|record| Some((record.entry.id, record.text?))).collect())
    }

    /// Characters of each record's text, in the order of the ledger; 0 without a text.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn count_chars(&self) -> Result<Arc<Vec<u32>>, Error> {
        if let Some(known) = self.index.chars.get() {
            return Ok(known.clone());
        }
        let mut before = Vec::new();
        for input in &self.inputs {
            before.append(&mut count_chars(input)?);
        }
        // Import reads no rows: its records have the lengths of its output.
        let after = if before.is_empty() { count_chars(&self.stage)? } else { Vec::new() };
        let of = |rows: &[u32], row: u32| rows.get(row as usize).copied();
        let lengths = (0..self.len())
            .map(|at| of(&before, self.index.entered[at]).or_else(|| of(&after, self.index.left[at])))
            .map(Option::unwrap_or_default)
            .collect();
        Ok(self.index.chars.get_or_init(|| Arc::new(lengths)).clone())
    }

    fn read_scores(&self) -> Result<Arc<Vec<f32>>, Error> {
        if let Some(known) = self.index.scores.get() {
            return Ok(known.clone());
        }
        let scores = each_row(&self.stage, "ledger", &["score"], |frame| {
            let scores = frame.column("score").and_then(Column::f64)?;
            // Scores are never negative, so this marks a record without one.
            Ok(scores.iter().map(|score| score.unwrap_or(-1.0) as f32).collect())
        })?;
        Ok(self.index.scores.get_or_init(|| Arc::new(scores)).clone())
    }

    /// The number of records by outcome and length, up to `most` characters: the last element counts all
    /// longer ones.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn count_lengths(&self, most: usize) -> Result<BTreeMap<String, Vec<u64>>, Error> {
        let chars = self.count_chars()?;
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

    /// The records at these indices, in the given order.
    fn read_records(&self, places: &[u32]) -> Result<Vec<Record>, Error> {
        let frames = &self.views.frames;
        let entries = read_entries(frames, &self.stage, places)?;
        let mut texts: Vec<Option<String>> = vec![None; places.len()];
        // As they entered, from whichever input; else as they left.
        let mut first = 0;
        for input in &self.inputs {
            let rows = input.table("rows").rows as u32;
            let row = |at: u32| self.index.entered[at as usize].checked_sub(first).filter(|row| *row < rows);
            fill_missing(
                &mut texts,
                texts_of(frames, input, &places.iter().map(|at| row(*at)).collect::<Vec<_>>())?,
            );
            first += rows;
        }
        let left = |(at, text): (&u32, &Option<String>)| {
            Some(self.index.left[*at as usize]).filter(|row| *row != NONE && text.is_none())
        };
        let left: Vec<Option<u32>> = places.iter().zip(&texts).map(left).collect();
        fill_missing(&mut texts, texts_of(frames, &self.stage, &left)?);
        Ok(entries.into_iter().zip(texts).map(|(entry, text)| Record { entry, text }).collect())
    }
}

fn fill_missing(texts: &mut [Option<String>], found: Vec<Option<String>>) {
    for (text, found) in texts.iter_mut().zip(found) {
        *text = text.take().or(found);
    }
}
