//! The candidate of a recipe: what stands at its end, as JSON Lines and Parquet, with the chain back
//! to raw/.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::{Counts, Post, Record, record};
use crate::stages::Rows;
use crate::stages::import::FileRow;
use crate::store::{Error, Lock, Manifest, StageReader, Workspace, durable, sha256, write_parquet};

use super::question::{self, question_row};

record! {
    /// A candidate: a post that is still in at the end of the recipe.
    pub struct Row {
        /// The post's id.
        id: String,
        /// What it says.
        text: String,
        /// `thread`, `numbered` or `plain`.
        kind: String,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// When it was written, as the source says.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
    }
}

/// What a candidate folder says of itself: every hash back to raw/.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The recipe.
    pub recipe: String,
    /// Always `candidate`; a release has its version here.
    pub version: String,
    /// The program's version.
    pub riddlemill: String,
    /// How many rows.
    pub rows: u64,
    /// The dumps it was built from.
    pub raw: Vec<Raw>,
    /// The stages, in order.
    pub stages: Vec<Link>,
    /// The files beside this one and their SHA-256.
    pub files: BTreeMap<String, String>,
}

/// A dump.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// `source/file`.
    pub file: String,
    /// Its kind of source.
    pub kind: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Lines or items in it.
    pub items: u64,
    /// The licence its source states.
    pub licence: Option<String>,
}

/// A stage of the chain: its input hash is the rows hash of the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The stage's name.
    pub stage: String,
    /// What decided it.
    pub fingerprint: String,
    /// The logical hash of its rows.
    pub rows: String,
    /// Its books.
    pub counts: Counts,
}

/// Builds `output/<recipe>/candidate` from the recipe's stages, or leaves it where it is already what
/// they say. Returns its manifest and whether it was written.
///
/// # Errors
/// [`RunError`] where a stage cannot be read or a file not written.
pub fn build(
    workspace: &Workspace,
    recipe: &'static Recipe,
    stages: &[Manifest],
) -> Result<(Candidate, bool), RunError> {
    let place = workspace.candidate(recipe.name);
    let _lock = Lock::take(&workspace.recipe(recipe.name))?;
    if let Some(folder) = place.parent() {
        durable::sweep(folder)?;
    }
    let number = ends_at(recipe, stages);
    let kind = recipe.steps[number - 1].stage.rows();
    let chain: Vec<Link> = stages[..number].iter().map(link).collect();
    if let Some(candidate) = standing(&place).filter(|c| c.stages == chain && c.riddlemill == crate::VERSION)
    {
        return Ok((candidate, false));
    }
    let making = durable::making(&place);
    let data = making.join("data").join(recipe.name);
    durable::create_folder(&data)?;
    let last = reader(workspace, recipe, number)?;
    let rows = match kind {
        Rows::Posts => write_rows(&last, &data, row)?,
        Rows::Questions => write_rows(&last, &data, question_row)?,
        Rows::Texts | Rows::Jokes | Rows::Puzzles | Rows::Variants => 0, // TEMP
    };
    let mut files = BTreeMap::new();
    if kind == Rows::Questions {
        durable::create_folder(&making.join("compat"))?;
        let path = making.join(question::COMPAT);
        durable::write_synced(&path, &question::compat(&last)?)?;
        files.insert(question::COMPAT.to_string(), sha256(&path)?);
    }
    for name in ["test.jsonl", "test.parquet"] {
        files.insert(format!("data/{}/{name}", recipe.name), sha256(&data.join(name))?);
    }
    let candidate = Candidate {
        recipe: recipe.name.into(),
        version: "candidate".into(),
        riddlemill: crate::VERSION.into(),
        rows,
        raw: raw(&reader(workspace, recipe, 1)?)?,
        stages: chain,
        files,
    };
    let mut manifest = serde_json::to_vec_pretty(&candidate).unwrap_or_default();
    manifest.push(b'\n');
    durable::write_synced(&making.join("MANIFEST.json"), &manifest)?;
    let mut sums = String::new();
    let manifest_sum = ("MANIFEST.json".to_string(), sha256(&making.join("MANIFEST.json"))?);
    for (file, sum) in std::iter::once(manifest_sum).chain(candidate.files.clone()) {
        sums.push_str(&format!("{sum}  {file}\n"));
    }
    durable::write_synced(&making.join("SHA256SUMS"), sums.as_bytes())?;
    durable::swap_folder(&making, &place)?;
    Ok((candidate, true))
}

/// The step whose rows are the candidates, from 1: the last one; or the last that has posts, where every
/// question still waits for a model or a person.
fn ends_at(recipe: &'static Recipe, stages: &[Manifest]) -> usize {
    let posts = recipe.steps.iter().rposition(|step| step.stage.rows() == Rows::Posts);
    match (stages.last(), posts) {
        (Some(last), Some(posts)) if last.counts.records_out == 0 => posts + 1,
        _ => recipe.steps.len(),
    }
}

/// The candidate that stands, where all its files do.
fn standing(place: &Path) -> Option<Candidate> {
    let bytes = fs::read(place.join("MANIFEST.json")).ok()?;
    let candidate: Candidate = serde_json::from_slice(&bytes).ok()?;
    let whole =
        candidate.files.keys().all(|file| place.join(file).is_file()) && place.join("SHA256SUMS").is_file();
    whole.then_some(candidate)
}

fn reader(workspace: &Workspace, recipe: &'static Recipe, number: usize) -> Result<StageReader, RunError> {
    let step = &recipe.steps[number - 1];
    let place = workspace.stage(recipe.name, number, step.name);
    StageReader::open(&place)?.ok_or(RunError::Missing { recipe: recipe.name, stage: step.name })
}

fn link(manifest: &Manifest) -> Link {
    Link {
        stage: manifest.stage.clone(),
        fingerprint: manifest.fingerprint.clone(),
        rows: manifest.tables.get("rows").map(|t| t.hash.clone()).unwrap_or_default(),
        counts: manifest.counts.clone(),
    }
}

fn raw(import: &StageReader) -> Result<Vec<Raw>, Error> {
    let files: Vec<FileRow> = import.all("files")?;
    let raw = files.into_iter().map(|f| Raw {
        file: f.id,
        kind: f.kind,
        sha256: f.sha256,
        items: f.items,
        licence: f.licence,
    });
    Ok(raw.collect())
}

/// The SHA-256 of the JSON Lines that the rows of a recipe's last stage give: what an audit compares
/// a candidate with.
///
/// # Errors
/// [`Error`] where a part cannot be read.
pub fn rows_sha256(stage: &StageReader, rows: Rows) -> Result<String, Error> {
    let mut hasher = Sha256::new();
    match rows {
        Rows::Posts => hash_rows(stage, row, &mut hasher)?,
        Rows::Questions => hash_rows(stage, question_row, &mut hasher)?,
        Rows::Texts | Rows::Jokes | Rows::Puzzles | Rows::Variants => {} // TEMP
    }
    Ok(hasher.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn hash_rows<R: Record, T: Serialize>(
    stage: &StageReader,
    row: fn(R) -> T,
    hasher: &mut Sha256,
) -> Result<(), Error> {
    for part in stage.parts::<R>("rows") {
        for record in part? {
            hasher.update(serde_json::to_vec(&row(record)).unwrap_or_default());
            hasher.update(b"\n");
        }
    }
    Ok(())
}

fn write_rows<R: Record, T: Record + Serialize>(
    stage: &StageReader,
    data: &Path,
    row: fn(R) -> T,
) -> Result<u64, Error> {
    let path = data.join("test.jsonl");
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    let mut jsonl = BufWriter::new(file);
    let mut count = 0;
    let parts = stage.parts::<R>("rows").map(|part| {
        let rows: Vec<T> = part?.into_iter().map(row).collect();
        for row in &rows {
            serde_json::to_writer(&mut jsonl, row)
                .map_err(std::io::Error::from)
                .map_err(Error::io("write", &path))?;
            jsonl.write_all(b"\n").map_err(Error::io("write", &path))?;
        }
        count += rows.len() as u64;
        Ok(rows)
    });
    write_parquet(&data.join("test.parquet"), parts)?;
    jsonl.flush().map_err(Error::io("write", &path))?;
    jsonl.get_ref().sync_data().map_err(Error::io("write", &path))?;
    Ok(count)
}

fn row(post: Post) -> Row {
    let kind = serde_json::to_value(post.kind).ok().and_then(|v| v.as_str().map(str::to_string));
    Row {
        id: post.id,
        text: post.text,
        kind: kind.unwrap_or_default(),
        score: post.score,
        number: post.number,
        time: post.time,
        source: post.source,
        file: post.file,
        position: post.position,
        licence: post.licence,
    }
}
