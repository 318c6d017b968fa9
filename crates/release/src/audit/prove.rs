//! `audit`: checks the accounting of every stage again, from the files in staged/.
//!
//! Nothing recorded during a run is trusted: files are hashed, rows are hashed, ledgers are counted, and each
//! stage's input records are matched with the output rows of the stage before. Sets of ids are compared by
//! sums of their hashes; a stage's own rows take 16 bytes of memory each.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::CandidateSource;
use crate::config::Config;
use crate::pipeline::{RunError, stale_stages};
use crate::recipe::{Recipe, Step};
use crate::record::{Counts, Entry, Link, Post, Record, Row, State, row_digest};
use crate::stages::StageRows;
use crate::stages::import::FileRow;
use crate::store::{self, MANIFEST, Manifest, StageReader, Table, Workspace};
use riddlemill_files::fence;
use riddlemill_text::text::count_with_noun;

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    pub recipe: String,
    pub stage: String,
    /// What is wrong, with the file or figures.
    pub what: String,
}

/// The result of an audit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Proof {
    /// Stages whose accounting was checked.
    pub stages: usize,
    /// Files whose bytes were hashed.
    pub files: usize,
    /// Ledger entries that were counted.
    pub records: u64,
    /// The findings; empty if everything is proven.
    pub gaps: Vec<Gap>,
}

/// Audits every existing stage of a recipe.
pub fn prove_stages(workspace: &Workspace, recipe: &'static Recipe, proof: &mut Proof) {
    let mut made: BTreeMap<&str, (Manifest, IdSum)> = BTreeMap::new();
    // A manifest that cannot be read is reported with its stage.
    let steps = recipe.steps_made(workspace).unwrap_or_else(|_| recipe.steps());
    for input in recipe.steps().iter().flat_map(|step| step.inputs).filter(|input| input.contains('/')) {
        // The other recipe's own audit proves these rows; here they are only counted.
        if let Some(found) = read_foreign_stage(workspace, recipe, input) {
            made.insert(input, found);
        }
    }
    for (i, step) in steps.iter().enumerate() {
        let place = workspace.stage_folder(recipe.name, step.number, step.name);
        let mut gaps = Vec::new();
        match StageReader::open(&place) {
            Ok(Some(stage)) => {
                let before: Option<Vec<_>> = step.inputs.iter().map(|input| made.get(input)).collect();
                let found = Audit { gaps: &mut gaps, proof }.audit_stage(
                    &stage,
                    step.stage.rows(),
                    before.as_deref(),
                );
                made.insert(step.name, found);
            }
            Ok(None) => {
                // Later stages without this one would have no input.
                let is_made = |step: &Step| {
                    workspace.stage_folder(recipe.name, step.number, step.name).join(MANIFEST).exists()
                };
                if steps[i + 1..].iter().any(is_made) {
                    gaps.push("the stage is missing, but a later one is there".to_string());
                }
            }
            Err(e) => gaps.push(e.to_string()),
        }
        let gap = |what| Gap { recipe: recipe.name.into(), stage: step.name.into(), what };
        proof.gaps.extend(gaps.into_iter().map(gap));
    }
    let candidate = workspace.candidate_folder(recipe.name);
    if candidate.exists() {
        // The candidate of an earlier version of the program may end at posts, as its chain shows.
        let manifest = fence::read(candidate.join("MANIFEST.json")).ok();
        let manifest = manifest.and_then(|b| serde_json::from_slice::<crate::CandidateManifest>(&b).ok());
        let end = CandidateSource::of_chain(recipe, manifest.map_or(usize::MAX, |c| c.stages.len()));
        let last = made.get(end.step().name);
        let chain =
            last.map(|(manifest, _)| manifest.tables.get("rows").map(|t| t.hash.clone()).unwrap_or_default());
        let gap = |what| Gap { recipe: recipe.name.into(), stage: "candidate".into(), what };
        let mut found = Vec::new();
        proof.files += check_checksums(&candidate, &mut found);
        candidate_chain(&candidate, chain.as_deref(), &mut found);
        candidate_rows(workspace, recipe, end, &mut found);
        proof.gaps.extend(found.into_iter().map(gap));
    }
}

/// A stage of another recipe that this one reads, with the ids of its rows.
fn read_foreign_stage(
    workspace: &Workspace,
    recipe: &'static Recipe,
    input: &str,
) -> Option<(Manifest, IdSum)> {
    let (from, number, step) = recipe.find_input(input)?;
    let stage = StageReader::open(&workspace.stage_folder(from.name, number, step.name)).ok()??;
    let mut ids = IdSum::default();
    for part in stage.parts_of::<Row>(step.stage.rows().columns(), "rows") {
        // Damage there is a finding of the other recipe's own audit.
        part.ok()?.iter().for_each(|row| ids.add(row.id()));
    }
    Some((stage.manifest().clone(), ids))
}

/// A set of ids as two sums of hashes: independent of their order, and equal for different sets only with a
/// probability of 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct IdSum {
    count: u64,
    sum: u128,
}

impl IdSum {
    fn add(&mut self, id: &str) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(digest_id(id));
    }
}

fn digest_id(id: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..16]);
    u128::from_le_bytes(bytes)
}

struct Audit<'a> {
    gaps: &'a mut Vec<String>,
    proof: &'a mut Proof,
}

impl Audit<'_> {
    /// Audits a stage with the stages it read; `None` if one of them is missing.
    fn audit_stage(
        &mut self,
        stage: &StageReader,
        kind: StageRows,
        before: Option<&[&(Manifest, IdSum)]>,
    ) -> (Manifest, IdSum) {
        let manifest = stage.manifest();
        self.proof.stages += 1;
        if manifest.fingerprint_of() != manifest.fingerprint {
            self.add_gap(format!("{MANIFEST}: its fingerprint is not that of its settings and inputs"));
        }
        self.report_strangers(stage);
        let mut rows = IdSum::default();
        // Merges and links name single ids, which cannot be looked up in the sums of `Ids`.
        let mut texts = RowIds::default();
        let mut twice = 0;
        let mut row = |id: &str| {
            rows.add(id);
            twice += u64::from(!texts.rows.insert(digest_id(id)));
        };
        match kind {
            // Not cell by cell: there may be millions.
            StageRows::Posts => self.check_table::<Post>((), stage, "rows", |record| row(record.id())),
            kind => self.check_table::<Row>(kind.columns(), stage, "rows", |record| row(record.id())),
        }
        if twice > 0 {
            self.add_gap(format!(
                "{} with the id of another row: a record is there twice",
                count_with_noun(twice, "row")
            ));
        }
        let mut counts = Counts::default();
        let (mut entered, mut went_on) = (IdSum::default(), IdSum::default());
        // Several records join into one, which counts once.
        let mut joined = HashSet::new();
        let mut unresolved = 0;
        self.check_table::<Entry>((), stage, "ledger", |entry| {
            entered.add(&entry.id);
            counts.add(entry);
            match State::from_code(&entry.outcome) {
                Some(State::Kept | State::Changed) => went_on.add(entry.into.as_deref().unwrap_or(&entry.id)),
                Some(State::Merged)
                    if !entry.into.as_ref().is_some_and(|i| texts.rows.contains(&digest_id(i))) =>
                {
                    unresolved += 1
                }
                Some(State::Joined) => joined.extend(entry.into.clone()),
                Some(_) => {}
                None => unresolved += 1,
            }
        });
        if unresolved > 0 {
            self.add_gap(format!(
                "{unresolved} ledger entries are merged into a record that is not kept, or have no known state"
            ));
        }
        for id in &joined {
            went_on.add(id);
        }
        let expanded = &mut went_on;
        let mut orphans = 0;
        self.check_table::<Link>((), stage, "links", |link| {
            // A joined record has links from its parts, but is already counted.
            if !joined.contains(&link.child) {
                expanded.add(&link.child);
            }
            orphans += u64::from(!texts.rows.contains(&digest_id(&link.child)));
        });
        if orphans > 0 {
            self.add_gap(format!(
                "{} to records that are not among the rows",
                count_with_noun(orphans, "link")
            ));
        }
        self.proof.records += entered.count;
        self.check_counts(manifest, &counts, entered, rows, went_on);
        match before {
            Some([]) => self.check_import(stage, entered.count),
            Some(before) => self.check_inputs(manifest, before, entered),
            // The gap is reported for the missing stage.
            None => {}
        }
        (manifest.clone(), rows)
    }

    fn add_gap(&mut self, what: String) {
        self.gaps.push(what);
    }

    fn check_counts(
        &mut self,
        manifest: &Manifest,
        counts: &Counts,
        entered: IdSum,
        rows: IdSum,
        went_on: IdSum,
    ) {
        let of_manifest = &manifest.counts;
        if (&of_manifest.states, &of_manifest.reasons) != (&counts.states, &counts.reasons) {
            self.add_gap(format!(
                "the manifest counts {:?}, the ledger {:?}",
                of_manifest.states, counts.states
            ));
        }
        if of_manifest.records_in != entered.count {
            self.add_gap(format!(
                "{} in by the manifest, {} in the ledger",
                count_with_noun(of_manifest.records_in, "record"),
                entered.count
            ));
        }
        if of_manifest.records_out != rows.count {
            self.add_gap(format!(
                "{} out by the manifest, {}",
                count_with_noun(of_manifest.records_out, "record"),
                count_with_noun(rows.count, "row")
            ));
        }
        if rows != went_on {
            self.add_gap(format!(
                "{}, but by the ledger {} or different ones were kept",
                count_with_noun(rows.count, "row"),
                count_with_noun(went_on.count, "record")
            ));
        }
    }

    fn check_inputs(&mut self, manifest: &Manifest, before: &[&(Manifest, IdSum)], entered: IdSum) {
        let mut expected = IdSum::default();
        for (previous, ids) in before {
            let hash = previous.tables.get("rows").map(|t| t.hash.as_str());
            if !manifest.inputs.iter().any(|i| i.stage == previous.stage && Some(i.rows.as_str()) == hash) {
                self.add_gap(format!("it was made from other rows than {} holds now", previous.stage));
            }
            expected.count += ids.count;
            expected.sum = expected.sum.wrapping_add(ids.sum);
        }
        if expected != entered {
            let names: Vec<&str> = before.iter().map(|(m, _)| m.stage.as_str()).collect();
            let names = names.join(" and ");
            self.add_gap(format!(
                "{} left {names}, but {} entered, or different ones",
                count_with_noun(expected.count, "record"),
                entered.count
            ));
        }
    }

    fn check_import(&mut self, stage: &StageReader, entered: u64) {
        let mut items = 0;
        self.check_table::<FileRow>((), stage, "files", |file| items += file.items);
        if items != entered {
            self.add_gap(format!(
                "the dumps hold {}, the ledger {}",
                count_with_noun(items, "item"),
                count_with_noun(entered, "entry")
            ));
        }
    }

    /// Reads a table, checking every file and every row hash.
    fn check_table<R: Record>(
        &mut self,
        columns: R::Columns,
        stage: &StageReader,
        name: &str,
        mut each: impl FnMut(&R),
    ) {
        let table = stage.table(name);
        if Table::hash_of(&table.parts) != table.hash {
            self.add_gap(format!("{name}: the table's hash is not that of its parts"));
        }
        for (part, rows) in table.parts.iter().zip(stage.parts_of::<R>(columns, name)) {
            self.proof.files += 1;
            match rows {
                Err(e) => self.add_gap(e.to_string()),
                Ok(rows) => {
                    if rows.len() as u64 != part.rows
                        || row_digest(columns, &rows).to_hex().as_str() != part.hash
                    {
                        self.add_gap(format!("{}: its rows are not those the manifest names", part.file));
                    }
                    rows.iter().for_each(&mut each);
                }
            }
        }
        if table.rows != table.parts.iter().map(|p| p.rows).sum::<u64>() {
            self.add_gap(format!(
                "{name}: {} by the manifest, which its parts contradict",
                count_with_noun(table.rows, "row")
            ));
        }
    }

    /// Reports files in the stage folder that are not in the manifest.
    fn report_strangers(&mut self, stage: &StageReader) {
        let named: HashSet<String> =
            stage.manifest().tables.values().flat_map(|t| t.parts.iter().map(|p| p.file.clone())).collect();
        for folder in
            fence::list(stage.folder()).into_iter().flatten().flatten().filter(|e| e.path().is_dir())
        {
            for file in fence::list(folder.path()).into_iter().flatten().flatten() {
                let name = format!(
                    "{}/{}",
                    folder.file_name().to_string_lossy(),
                    file.file_name().to_string_lossy()
                );
                if !named.contains(&name) {
                    self.add_gap(format!("{name} is named by no manifest"));
                }
            }
        }
    }
}

#[derive(Default)]
struct RowIds {
    rows: HashSet<u128, FxBuildHasher>,
}

/// Checks a folder's SHA256SUMS; returns how many files it lists.
fn check_checksums(folder: &Path, gaps: &mut Vec<String>) -> usize {
    let Ok(sums) = fence::read_to_string(folder.join("SHA256SUMS")) else {
        gaps.push("SHA256SUMS is missing".into());
        return 0;
    };
    for line in sums.lines() {
        let Some((stated, file)) = line.split_once("  ") else {
            gaps.push(format!("SHA256SUMS: {line:?} names no file"));
            continue;
        };
        // The file is not trusted, so its paths must stay within the folder.
        match store::path_inside(folder, file).and_then(|file| store::sha256_of_file(&file)) {
            Ok(found) if found == stated => {}
            Ok(_) => gaps.push(format!("{file}: its bytes are not those SHA256SUMS names")),
            Err(e) => gaps.push(e.to_string()),
        }
    }
    sums.lines().count()
}

/// Checks, independently of manifest and checksums, that a candidate's lines are the rows of the last stage
/// of its chain.
fn candidate_rows(
    workspace: &Workspace,
    recipe: &'static Recipe,
    end: CandidateSource,
    gaps: &mut Vec<String>,
) {
    let step = end.step();
    let place = workspace.stage_folder(recipe.name, step.number, step.name);
    // A missing or damaged stage is a gap of its own.
    let Ok(Some(stage)) = StageReader::open(&place) else { return };
    let Ok(expected) = crate::rows_sha256(workspace, end, &stage) else { return };
    let folder = workspace.candidate_folder(recipe.name);
    let candidate = crate::CandidateManifest::read_manifest(&folder).ok().flatten();
    let files = candidate.map(|candidate| candidate.files_of(recipe.name)).unwrap_or_default();
    let found = match &files[..] {
        // A file that cannot be read is a gap already, as is a manifest.
        [file] => store::sha256_of_file(&folder.join(file)).ok(),
        files => joined_sha256(&folder, files),
    };
    if found.is_some_and(|found| found != expected) {
        gaps.push(format!("{}: its lines are not the rows of {}", files.join(", "), step.name));
    }
}

/// The SHA-256 of files, one behind the other; `None` if there are none, or one cannot be read.
fn joined_sha256(folder: &Path, files: &[String]) -> Option<String> {
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(fence::read(folder.join(file)).ok()?);
    }
    (!files.is_empty()).then(|| hex::encode(hasher.finalize()))
}

fn candidate_chain(folder: &Path, rows: Option<&str>, gaps: &mut Vec<String>) {
    let manifest =
        fence::read(folder.join("MANIFEST.json")).ok().and_then(|b| serde_json::from_slice(&b).ok());
    let Some(candidate) =
        manifest.and_then(|m: serde_json::Value| serde_json::from_value::<crate::CandidateManifest>(m).ok())
    else {
        return gaps.push("MANIFEST.json cannot be read".into());
    };
    for (file, stated) in &candidate.files {
        // Unreadable files in SHA256SUMS are reported there; others are reported here.
        let found = store::path_inside(folder, file).and_then(|file| store::sha256_of_file(&file));
        if found.ok().as_ref() != Some(stated) {
            gaps.push(format!("{file}: its SHA-256 is not the one MANIFEST.json names"));
        }
    }
    let last = candidate.stages.last();
    if let (Some(rows), Some(last)) = (rows, last)
        && last.rows != rows
    {
        gaps.push("it was built from other rows than the last stage holds now".into());
    }
    if last.is_some_and(|l| l.counts.records_out != candidate.rows + candidate.count_incomplete()) {
        gaps.push(format!(
            "it has {}, and not what the last stage has",
            count_with_noun(candidate.rows, "row")
        ));
    }
}

/// Compares every stage under a recipe's candidate with the present dumps, replies, votes and settings, which the
/// accounting alone cannot prove. Without a candidate there is nothing to check.
///
/// # Errors
/// [`RunError`] if sources, votes or replies cannot be read.
pub fn prove_freshness(config: &Config, recipe: &'static Recipe, proof: &mut Proof) -> Result<(), RunError> {
    if !Workspace::new(&config.root).candidate_folder(recipe.name).exists() {
        return Ok(());
    }
    let gap = |what| Gap { recipe: recipe.name.into(), stage: "candidate".into(), what };
    for stage in stale_stages(config, recipe)? {
        proof.gaps.push(gap(format!("it does not match raw/ and the settings: {stage}")));
    }
    Ok(())
}
