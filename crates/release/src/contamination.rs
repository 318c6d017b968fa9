//! What a set shares with others, such as published benchmarks or older releases: the join of dedup, between two sets.

use serde::Serialize;
use serde_json::Value as Json;

use super::compare::{name, same_form};
use super::layout;
use super::read_rows::JsonRow;
use crate::join::{DiskError, Spill, Watch};
use crate::offline::dedup::{Across, similar_across, similar_across_on_disk, tagged_text};
use crate::offline::settings;
use crate::record::{Language, Post};

/// Columns of texts in files of no known benchmark.
const USUAL: [&str; 3] = ["text", "question", "content"];

/// What a set shares with other sets.
#[derive(Debug, Default, Serialize)]
pub struct Contamination {
    /// Rows of the set.
    pub rows: u64,
    /// Of these, rows without a text, which were compared with nothing.
    pub without_text: u64,
    /// Rows of the set that could not be read, each as `LINE: why`.
    pub unread: Vec<String>,
    /// Rows of the set that some file has, too.
    pub found: u64,
    /// By file, each compared by itself.
    pub against: Vec<AgainstFile>,
    /// Which rows some file has.
    #[serde(skip)]
    shared: Vec<bool>,
}

/// What a set shares with one other.
#[derive(Debug, Default, Serialize)]
pub struct AgainstFile {
    /// The file, as it was named.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// Of these, rows without a text, which were compared with nothing.
    pub without_text: u64,
    /// Rows that could not be read, each as `LINE: why`.
    pub unread: Vec<String>,
    /// Pairs of a row of the set and one of the file.
    pub pairs: u64,
    /// The rows of the set that it has, each with its most similar row.
    pub found: Vec<SharedRow>,
}

/// A row of the set, and the row of the other set that it resembles most.
#[derive(Debug, Serialize)]
pub struct SharedRow {
    /// Its id, or its number in the set.
    pub id: String,
    /// What it says.
    pub text: String,
    /// The other's id, or its number in the file.
    pub other: String,
    /// The other's text.
    pub other_text: String,
    /// 0 to 1.
    pub score: f64,
    /// The predicate that decided.
    pub predicate: &'static str,
}

/// A pair, for callers that want all of them.
#[derive(Debug, Serialize)]
pub struct SharedPair<'a> {
    /// The row of the set.
    pub a: &'a str,
    /// The file.
    pub against: &'a str,
    /// The row of the file.
    pub b: &'a str,
    /// 0 to 1.
    pub score: f64,
    /// The predicate that decided.
    pub predicate: &'static str,
}

/// Another set to compare with.
#[derive(Debug, Default)]
pub struct OtherSet {
    /// Its name in the report.
    pub file: String,
    /// What is compared.
    pub rows: Vec<JsonRow>,
    /// Rows that could not be read.
    pub unread: Vec<String>,
}

/// How sets are compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonSettings<'a> {
    /// The column with the texts, where a row has it; otherwise the first column of texts that both sides have, or that the row has.
    pub column: Option<&'a str>,
    /// When two texts are the same.
    pub likeness: &'a settings::Dedup,
    /// Where the join works if it does not work in memory.
    pub spill: Option<Spill<'a>>,
    /// Whether every pair is wanted, besides the most similar one of each row.
    pub pairs: bool,
}

/// Why sets are not compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// The join's files.
    #[error(transparent)]
    Join(#[from] DiskError),
    /// Whoever takes the pairs.
    #[error("cannot write a pair: {0}")]
    Put(#[from] std::io::Error),
    /// No row has the column.
    #[error("no row of either side has a text in the column {0}\n  hint: --column names the column of texts")]
    NoColumn(String),
    /// No row has a text.
    #[error(
        "{file} has no column of texts that is known; its columns are {columns}\n  hint: --column names it"
    )]
    NoTexts {
        /// The set or file.
        file: String,
        /// The columns of its first row.
        columns: String,
    },
}

impl Contamination {
    /// Begins with a set, of which some rows may not have been readable.
    pub fn of_set(set: &OtherSet) -> Contamination {
        let rows = set.rows.len();
        let (shared, unread) = (vec![false; rows], set.unread.clone());
        Contamination { rows: rows as u64, shared, unread, ..Contamination::default() }
    }

    /// Compares the set's rows with those of another file; `each_pair` sees every pair that is
    /// the same, if they are wanted.
    ///
    /// # Errors
    /// [`NotCompared`].
    pub fn add(
        &mut self,
        set: &str,
        rows: &[JsonRow],
        other: OtherSet,
        how: ComparisonSettings<'_>,
        watch: &dyn Watch,
        mut each_pair: impl FnMut(&SharedPair<'_>) -> std::io::Result<()>,
    ) -> Result<(), NotCompared> {
        let OtherSet { file, rows: mut others, unread } = other;
        let mut rows = rows.to_vec();
        same_form(&mut rows, &mut others);
        let is_nowhere = |column: &&str| rows.iter().chain(&others).all(|row| text_in(row, column).is_none());
        if let Some(column) = how.column.filter(is_nowhere) {
            return Err(NotCompared::NoColumn(column.to_owned()));
        }
        let column = how.column.or_else(|| shared_column(&rows, &others));
        let (own, their) = (Texts::of_rows(set, &rows, column)?, Texts::of_rows(&file, &others, column)?);
        let mut across = join_texts(&own, &their, how, watch)?;
        across.only_same();
        for (a, b, like) in across.row_pairs().take_while(|_| how.pairs) {
            let (score, predicate) = like.map_or((1.0, "identical"), |like| (like.score, like.predicate));
            let (a, b) = (&own.names[a as usize], &their.names[b as usize]);
            each_pair(&SharedPair { a, against: &file, b, score, predicate })?;
        }
        let mut found = Vec::new();
        for (row, best) in across.most_similar().into_iter().enumerate() {
            let Some(best) = best else { continue };
            self.shared[row] = true;
            let other = best.other as usize;
            found.push(SharedRow {
                id: own.names[row].clone(),
                text: own.texts[row].clone(),
                other: their.names[other].clone(),
                other_text: their.texts[other].clone(),
                score: best.score,
                predicate: best.predicate,
            });
        }
        self.without_text = own.count_blank();
        self.found = self.shared.iter().filter(|shared| **shared).count() as u64;
        let (rows, without_text, pairs) = (others.len() as u64, their.count_blank(), across.count_pairs());
        self.against.push(AgainstFile { file, rows, without_text, unread, pairs, found });
        Ok(())
    }

    /// Whether every row of both sides was compared.
    pub fn is_whole(&self) -> bool {
        self.without_text == 0
            && self.unread.is_empty()
            && self.against.iter().all(|file| file.without_text == 0 && file.unread.is_empty())
    }
}

fn join_texts(
    own: &Texts,
    their: &Texts,
    how: ComparisonSettings<'_>,
    watch: &dyn Watch,
) -> Result<Across, DiskError> {
    let (own, their) = (own.tag_languages(how.likeness.language), their.tag_languages(how.likeness.language));
    match how.spill {
        Some(spill) => similar_across_on_disk(&own, &their, how.likeness, spill, watch),
        None => {
            let (own, their): (Vec<&str>, Vec<&str>) =
                (own.iter().map(String::as_str).collect(), their.iter().map(String::as_str).collect());
            Ok(similar_across(&own, &their, how.likeness, watch))
        }
    }
}

/// The columns that may hold an item's text.
fn likely_text_columns() -> impl Iterator<Item = &'static str> {
    layout::text_columns().iter().copied().chain(USUAL)
}

/// The first column of texts that rows of both sides have.
fn shared_column(rows: &[JsonRow], others: &[JsonRow]) -> Option<&'static str> {
    let has = |rows: &[JsonRow], column: &str| rows.iter().any(|row| text_in(row, column).is_some());
    likely_text_columns().find(|column| has(rows, column) && has(others, column))
}

fn text_in<'r>(row: &'r JsonRow, column: &str) -> Option<&'r str> {
    row.get(column).and_then(Json::as_str).filter(|text| !text.trim().is_empty())
}

/// The texts of a set, empty where a row has none, and the rows' names.
struct Texts {
    names: Vec<String>,
    texts: Vec<String>,
    languages: Vec<Option<Language>>,
}

impl Texts {
    fn of_rows(file: &str, rows: &[JsonRow], column: Option<&str>) -> Result<Texts, NotCompared> {
        let text = |row: &JsonRow| {
            let text = column.and_then(|column| text_in(row, column));
            let text = text.or_else(|| likely_text_columns().find_map(|column| text_in(row, column)));
            text.unwrap_or_default().to_owned()
        };
        let language = |row: &JsonRow| Language::from_code(row.get("language")?.as_str()?);
        let texts: Vec<String> = rows.iter().map(text).collect();
        if let Some(first) = rows.first().filter(|_| texts.iter().all(String::is_empty)) {
            let columns = first.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(NotCompared::NoTexts { file: file.to_owned(), columns });
        }
        Ok(Texts {
            names: rows.iter().enumerate().map(|(place, row)| name(row, place)).collect(),
            texts,
            languages: rows.iter().map(language).collect(),
        })
    }

    fn count_blank(&self) -> u64 {
        self.texts.iter().filter(|text| text.is_empty()).count() as u64
    }

    /// The texts with their languages, as dedup reads them.
    fn tag_languages(&self, stated: Option<Language>) -> Vec<String> {
        let tag = |(text, language): (&String, &Option<Language>)| {
            let post = Post { text: text.clone(), language: *language, ..Post::default() };
            tagged_text(&post, stated).into_owned()
        };
        self.texts.iter().zip(&self.languages).map(tag).collect()
    }
}
