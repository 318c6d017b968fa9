//! Finds any record of any dump by a piece of its text, by its id or by its place, wherever it ended.
//!
//! [`index`] stores, outside of raw/, where the records of each dump are and which n-grams are in each block
//! of them: places, not texts. A search uses the index to find blocks that may match, and reads these from
//! the dump, so that records set aside by import are found like those it kept. Authors are not shown: names,
//! ids and other personal data are marked as by anonymise. Withdrawn records are never found.

mod index;

use std::path::Path;
use std::sync::LazyLock;

use rayon::prelude::*;
use serde::Serialize;

use crate::config::{Config, sections};
use crate::recipe;
use crate::stages::StageError;
pub use crate::stages::import::DumpRecord;
use crate::stages::import::{
    Block, Dump, FileRow, RecallFilter, is_sought, locate_files, read_back, read_blocks,
};
use crate::stages::withdrawal::Withdrawals;
use index::{Index, hash_ngrams, hash_whole_text};
use riddlemill_record::Locator;
use riddlemill_tables::{Error, Filter, StageReader, Workspace, select_rows};
use riddlemill_text::text::anonymise::DataKind;
use riddlemill_text::text::normalise::{Fold, fold};

/// Blocks read at a time.
const BATCH: usize = 128;

/// Blocks read at a time of a dump that is read from its beginning each time.
const MANY: usize = 64 * BATCH;

fn batch_size(dump: &Dump) -> usize {
    if is_sought(dump) { BATCH } else { MANY }
}

/// Fewest characters of a text that is looked for inside of others when it is one of many.
const CONTAINED: usize = 8;

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// The records, in the order of the dumps; if some are equal to the words, only those.
    pub records: Vec<DumpRecord>,
    /// Whether the search stopped before the last dump, having found enough.
    pub more: bool,
    /// Dumps that have changed since they were imported.
    pub changed: Vec<ChangedDump>,
}

/// A dump that has changed since a recipe imported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedDump {
    pub recipe: &'static str,
    /// `source/file`.
    pub dump: String,
}

impl std::fmt::Display for ChangedDump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ChangedDump { recipe, dump } = self;
        write!(f, "{dump} has changed since {recipe} imported it; places and texts are those of today's file")
    }
}

/// The dumps of a workspace with their indexes, opened for one or several searches.
pub struct Search {
    dumps: Vec<(Dump, Index)>,
    withdrawn: Withdrawals,
    /// Dumps that have changed since they were imported.
    pub changed: Vec<ChangedDump>,
}

impl Search {
    /// Every dump of the settings that is not withdrawn, with its index, which is rebuilt if the dump has
    /// changed.
    ///
    /// # Errors
    /// [`StageError`] if a dump or the tombstones cannot be read, or an index not written.
    pub fn open(config: &Config) -> Result<Search, StageError> {
        let withdrawn = Withdrawals::load(&Workspace::new(&config.root))?;
        let limit = config.typed_settings::<sections::Import>(None, "import").max_line_mib << 20;
        let folder = config.root.join(".index").join("dumps");
        let mut dumps = Vec::new();
        for dump in locate_files(config) {
            let index = Index::open(&folder, &dump, limit)?;
            if withdrawn.of_dump(index.sha256()).is_none() {
                dumps.push((dump, index));
            }
        }
        let changed = find_changed_dumps(&config.root, config, &dumps)?;
        Ok(Search { dumps, withdrawn, changed })
    }

    /// Records whose text contains `text`, ignoring width, case, script, spaces and punctuation: at most `most` of them,
    /// behind the first `skipped`. A text without a letter or digit finds nothing.
    ///
    /// # Errors
    /// [`StageError`] if a dump cannot be read.
    pub fn by_text(&self, text: &str, skipped: usize, most: usize) -> Result<SearchResult, StageError> {
        let enough = skipped + most;
        let wanted = fold(text, Fold::KEY);
        let mut found = SearchResult { changed: self.changed.clone(), ..SearchResult::default() };
        if wanted.is_empty() {
            return Ok(found);
        }
        // Unless the words have characters of a mark, a text that contains them when anonymised contains them as
        // it is, too.
        let of_marks = wanted.contains(|c| mark_characters().contains(c));
        let holds = |text: &str| of_marks || fold(text, Fold::KEY).contains(&wanted);
        let sift = RecallFilter { withdrawn: Some(&self.withdrawn), sought: Some(&holds), unmarked: false };
        let read =
            |(dump, index): &(Dump, Index), places: &[usize], is_hit: &(dyn Fn(&str) -> bool + Sync)| {
                let records = read_records(dump, index, places, &sift)?;
                let hit = |record: &DumpRecord| is_hit(&fold(&record.text, Fold::KEY));
                Ok::<Vec<DumpRecord>, Error>(records.into_par_iter().filter(hit).collect())
            };
        // Texts equal to the words are returned alone; they are found by their hash.
        let whole = hash_whole_text(&wanted);
        'same: for of in &self.dumps {
            for batch in of.1.blocks_with_runs(&whole).chunks(batch_size(&of.0)) {
                found.records.extend(read(of, batch, &|text| text == wanted)?);
                if found.records.len() > enough {
                    break 'same;
                }
            }
        }
        let query_ngrams: Vec<u64> = hash_ngrams(&wanted).collect();
        let alone = !found.records.is_empty();
        'dumps: for of in self.dumps.iter().filter(|_| !alone) {
            for batch in of.1.blocks_with_runs(&query_ngrams).chunks(batch_size(&of.0)) {
                found.records.extend(read(of, batch, &|text| text.contains(&wanted))?);
                if found.records.len() > enough {
                    break 'dumps;
                }
            }
        }
        found.more = found.records.len() > enough;
        found.records.truncate(enough);
        found.records.drain(..skipped.min(found.records.len()));
        Ok(found)
    }

    /// For each text, the records that are equal to it, else those that contain it, ignoring width, case, script,
    /// spaces and punctuation. Every block of a dump is read once, however many of the texts may be in it. Short texts
    /// are contained in too many records to say anything. The records come without [`Recalled::text`].
    ///
    /// # Errors
    /// [`StageError`] if a dump cannot be read.
    pub fn of_texts(&self, texts: &[&str]) -> Result<Vec<Vec<DumpRecord>>, StageError> {
        let wanted: Vec<String> = texts.par_iter().map(|text| fold(text, Fold::KEY)).collect();
        let mut found: Vec<Vec<DumpRecord>> = texts.iter().map(|_| Vec::new()).collect();
        let sift = RecallFilter { withdrawn: Some(&self.withdrawn), sought: None, unmarked: true };
        for contains in [false, true] {
            let open: Vec<usize> = (0..texts.len())
                .filter(|at| found[*at].is_empty() && !wanted[*at].is_empty())
                .filter(|at| !contains || wanted[*at].chars().count() >= CONTAINED)
                .collect();
            for (dump, index) in &self.dumps {
                let blocks_of = |at: &usize| {
                    let runs: Vec<u64> = match contains {
                        true => hash_ngrams(&wanted[*at]).collect(),
                        false => hash_whole_text(&wanted[*at]).to_vec(),
                    };
                    index.blocks_with_runs(&runs).into_iter().map(|block| (block, *at)).collect::<Vec<_>>()
                };
                let mut pairs: Vec<(usize, usize)> = open.par_iter().flat_map_iter(blocks_of).collect();
                pairs.par_sort_unstable();
                let mut blocks: Vec<usize> = pairs.iter().map(|(block, _)| *block).collect();
                blocks.dedup();
                let mut rest = &pairs[..];
                for batch in blocks.chunks(batch_size(dump)) {
                    let places: Vec<Block> = batch.iter().map(|block| index.read_block(*block)).collect();
                    let read = read_back(dump, index.limit(), &places, &sift);
                    for (block, records) in batch.iter().zip(read.map_err(Error::io("read", &dump.path))?) {
                        let (of_block, later) = rest.split_at(rest.partition_point(|(of, _)| of <= block));
                        rest = later;
                        for record in records {
                            let text = fold(&record.verbatim, Fold::KEY);
                            for (_, at) in of_block {
                                if text == wanted[*at] || contains && text.contains(&wanted[*at]) {
                                    found[*at].push(record.clone());
                                }
                            }
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    /// Every record of every dump that is not withdrawn, dump by dump, without [`Recalled::text`]; `take` gets them in the
    /// order in which import reads them. Each dump is read once, from its beginning to its end.
    pub fn for_each_record(&self, mut take: impl FnMut(DumpRecord)) {
        let sift = RecallFilter { withdrawn: Some(&self.withdrawn), sought: None, unmarked: true };
        for (dump, index) in &self.dumps {
            read_blocks(
                dump,
                index.limit(),
                &sift,
                |records| records,
                |_, records| {
                    records.into_iter().for_each(&mut take);
                },
            );
        }
    }

    /// Records with exactly this id: `tieba:8370518555`. Withdrawn ones only if they are asked for.
    ///
    /// # Errors
    /// [`StageError`] if a dump cannot be read.
    pub fn by_id(&self, id: &str, also_withdrawn: bool) -> Result<Vec<DumpRecord>, StageError> {
        let sift = self.make_sift(also_withdrawn);
        let mut found = Vec::new();
        for (dump, index) in &self.dumps {
            let records = read_records(dump, index, &index.blocks_with_id(id), &sift)?;
            found.extend(records.into_iter().filter(|record| record.ids.iter().any(|own| own == id)));
        }
        Ok(found)
    }

    /// The record at a place, or the posts of the page there: `source:line`, `source/file:line`. Withdrawn ones
    /// only if they are asked for.
    ///
    /// # Errors
    /// [`StageError`] if a dump cannot be read.
    pub fn by_place(&self, place: &Locator, also_withdrawn: bool) -> Result<Vec<DumpRecord>, StageError> {
        let sift = self.make_sift(also_withdrawn);
        let mut found = Vec::new();
        for (dump, index) in self.dumps.iter().filter(|(dump, _)| place.is_in_file(&dump.source, &dump.file))
        {
            let here = place.with_dump(format!("{}/{}", dump.source, dump.file));
            let block: Vec<usize> = index.block_at_position(place.position()).into_iter().collect();
            let records = read_records(dump, index, &block, &sift)?;
            found.extend(records.into_iter().filter(|record| record.locator.is_at(&here)));
        }
        Ok(found)
    }

    /// Whether a dump has this name: a place that names none is no place.
    pub fn has_dump(&self, place: &Locator) -> bool {
        self.dumps.iter().any(|(dump, _)| place.is_in_file(&dump.source, &dump.file))
    }

    /// The SHA-256 of a dump, `source/file`, as it is today.
    pub fn sha256_of_dump(&self, dump: &str) -> Option<&str> {
        let named = |(of, _): &&(Dump, Index)| {
            dump.strip_prefix(&of.source).is_some_and(|rest| rest.strip_prefix('/') == Some(&of.file))
        };
        self.dumps.iter().find(named).map(|(_, index)| index.sha256())
    }

    fn make_sift(&self, also_withdrawn: bool) -> RecallFilter<'_> {
        RecallFilter { withdrawn: (!also_withdrawn).then_some(&self.withdrawn), ..RecallFilter::default() }
    }
}

/// [`Search::by_text`], for one search.
///
/// # Errors
/// [`StageError`] if a dump or the tombstones cannot be read, or an index not written.
pub fn by_text(config: &Config, text: &str, most: usize) -> Result<SearchResult, StageError> {
    Search::open(config)?.by_text(text, 0, most)
}

/// Records of an id, else of a place: `tieba:8370518555`, `source:line`, `source/file:line`.
///
/// # Errors
/// As of [`by_text`].
pub fn by_name(config: &Config, name: &str) -> Result<SearchResult, StageError> {
    let search = Search::open(config)?;
    let mut records = search.by_id(name, false)?;
    if let (true, Ok(place)) = (records.is_empty(), name.parse()) {
        records = search.by_place(&place, false)?;
    }
    Ok(SearchResult { records, more: false, changed: search.changed })
}

/// The characters of the marks in anonymised texts.
fn mark_characters() -> &'static str {
    static MARKS: LazyLock<String> =
        LazyLock::new(|| DataKind::ALL.iter().map(|kind| fold(kind.mark(), Fold::KEY)).collect());
    &MARKS
}

/// The record at a place of the import ledger; `None` if its dump is gone, has nothing there, or cannot be
/// shown to be the one that was imported.
///
/// # Errors
/// [`StageError`] if a dump or the tombstones cannot be read, or an index not written.
pub fn at_place(config: &Config, place: &str) -> Result<Option<DumpRecord>, StageError> {
    let Ok(place) = place.parse::<Locator>() else { return Ok(None) };
    let found = Search::open(config)?.by_place(&place, false)?;
    Ok(found.into_iter().next())
}

fn read_records(
    dump: &Dump,
    index: &Index,
    places: &[usize],
    sift: &RecallFilter<'_>,
) -> Result<Vec<DumpRecord>, Error> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let blocks: Vec<_> = places.iter().map(|place| index.read_block(*place)).collect();
    let read = read_back(dump, index.limit(), &blocks, sift).map_err(Error::io("read", &dump.path))?;
    Ok(read.concat())
}

/// The dumps that differ from those the recipes imported.
fn find_changed_dumps(
    root: &Path,
    config: &Config,
    indexes: &[(Dump, Index)],
) -> Result<Vec<ChangedDump>, Error> {
    let workspace = Workspace::new(root);
    let mut changed = Vec::new();
    for recipe in recipe::used_recipes(config) {
        let Some(first) = recipe.steps().first() else { continue };
        let Some(stage) = StageReader::open(&workspace.stage_folder(recipe.name, 1, first.name))? else {
            continue;
        };
        if !stage.manifest().tables.contains_key("files") {
            continue;
        }
        for (dump, index) in indexes {
            let name = format!("{}/{}", dump.source, dump.file);
            let imported = select_rows::<FileRow>(&stage, "files", &Filter::equals("id", &name))?;
            if imported.iter().any(|row| row.sha256 != index.sha256()) {
                changed.push(ChangedDump { recipe: recipe.name, dump: name });
            }
        }
    }
    Ok(changed)
}
