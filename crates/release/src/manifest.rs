//! MANIFEST.json: the contents of a folder, with every hash back to raw/.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use riddlemill_benchmarks::splits::WHOLE;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::record::Counts;
use crate::store::{Error, InputRef, Manifest, path_inside};
use riddlemill_files::fence;

/// The file's name.
pub const MANIFEST: &str = "MANIFEST.json";
/// The checksums' file name.
pub const SUMS: &str = "SHA256SUMS";

/// The manifest of a candidate or a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateManifest {
    pub recipe: String,
    /// `candidate`, or the release's version.
    pub version: String,
    /// Its date; for a candidate that of its newest input, vote or reply, or `None` without any date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The program's version.
    pub riddlemill: String,
    /// How many rows its first config has.
    pub rows: u64,
    /// Rows by config.
    pub configs: BTreeMap<String, u64>,
    /// The splits of each config that is divided, in the order of its rows: name and rows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub splits: BTreeMap<String, Vec<(String, u64)>>,
    /// Why it can only be a draft; empty where it may be stable.
    pub draft: Vec<String>,
    /// When and why it was yanked, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<Yanked>,
    /// Items that the rows lack because they wait or failed.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// How many of them could have been rows of their own: items, and not their answers or other parts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waiting: u64,
    /// Rows of two splits that became near duplicates after both had been released, by their ids: they stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossing: Vec<(String, String)>,
    /// Why a release of these rows would be refused, each with its remedy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// Rows that are alike since people rewrote their texts; empty for a release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<AlikePair>,
    /// The licence of the whole set, an SPDX expression; `None` if none is stated, or by an earlier version of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The hash of what determines the folder apart from the rows: layouts, settings, the curator's texts.
    #[serde(rename = "words")]
    pub fingerprint: String,
    /// The dumps it was built from.
    pub raw: Vec<Raw>,
    /// The stages, in order.
    pub stages: Vec<Link>,
    /// The other files with their SHA-256, except SHA256SUMS.
    pub files: BTreeMap<String, String>,
}

/// Two rows of a candidate that are alike, at least one of which people rewrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlikePair {
    /// The record of the row that comes first.
    pub a: String,
    /// That of the other.
    pub b: String,
    /// 0 to 1.
    pub score: f64,
    /// What decided, as in dedup; `identical` of equal texts.
    pub predicate: String,
    pub text_a: String,
    pub text_b: String,
}

/// What the conditions of `[data]` are called among the stages.
pub(super) const WHEN: &str = "[data] when";
/// What its requirements are called there.
pub(super) const REQUIRES: &str = "[data] requires";

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
    /// Whether it belongs to the sample that comes with the program: synthetic posts.
    pub sample: bool,
}

/// A stage of the chain. Its fingerprint can be recomputed from these fields, and its inputs are the rows of
/// earlier stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The stage's name.
    pub stage: String,
    /// The version of its code.
    pub stage_version: u32,
    pub settings: BTreeMap<String, Json>,
    /// The rows it read.
    pub inputs: Vec<InputRef>,
    /// What it read from raw/: name and hash.
    pub evidence: BTreeMap<String, String>,
    /// The hash of all of these.
    pub fingerprint: String,
    /// The logical hash of its rows.
    pub rows: String,
    /// Its counts of records by state and reason.
    pub counts: Counts,
}

impl Link {
    /// The link for a stage.
    pub fn from_manifest(manifest: &Manifest) -> Link {
        Link {
            stage: manifest.stage.clone(),
            stage_version: manifest.stage_version,
            settings: manifest.settings.clone(),
            inputs: manifest.inputs.clone(),
            evidence: manifest.evidence.clone(),
            fingerprint: manifest.fingerprint.clone(),
            rows: manifest.tables.get("rows").map(|t| t.hash.clone()).unwrap_or_default(),
            counts: manifest.counts.clone(),
        }
    }

    /// The recomputed fingerprint.
    pub fn fingerprint_of(&self, recipe: &str) -> String {
        self.expected_manifest(recipe).fingerprint
    }

    /// What determined the stage, as a manifest without rows.
    pub fn expected_manifest(&self, recipe: &str) -> Manifest {
        crate::store::expected_manifest(
            recipe,
            &self.stage,
            self.stage_version,
            self.settings.clone(),
            self.inputs.clone(),
            self.evidence.clone(),
        )
    }
}

impl CandidateManifest {
    /// Reads the manifest of a folder, or `None` if there is none.
    ///
    /// # Errors
    /// [`Error`] if it exists but cannot be read.
    pub fn read_manifest(folder: &Path) -> Result<Option<CandidateManifest>, Error> {
        let path = folder.join(MANIFEST);
        match fence::read(&path) {
            Ok(bytes) => {
                let manifest: CandidateManifest =
                    serde_json::from_slice(&bytes).map_err(|e| Error::stale_file(&path, e))?;
                // The manifest may come from somebody else, and these names are joined to folders.
                let version = Some(&manifest.version).filter(|version| !version.is_empty());
                let splits = manifest.splits.values().flatten().map(|(name, _)| name);
                for name in manifest.files.keys().chain(manifest.configs.keys()).chain(version).chain(splits)
                {
                    path_inside(folder, name)?;
                }
                Ok(Some(manifest))
            }
            // A file in the place of the folder is no candidate; whoever writes one is told of it.
            Err(e) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&e.kind()) => Ok(None),
            Err(e) => Err(Error::io("read", &path)(e)),
        }
    }

    /// The files of a config with their rows, in order: of each split, or one.
    pub fn splits_of(&self, config: &str) -> Vec<(String, u64)> {
        let one = || vec![(WHOLE.to_owned(), self.configs.get(config).copied().unwrap_or(0))];
        self.splits.get(config).cloned().unwrap_or_else(one)
    }

    /// The JSON Lines of a config, in order: `data/<config>/test.jsonl`, or a file for each split.
    pub fn files_of(&self, config: &str) -> Vec<String> {
        self.splits_of(config).iter().map(|(split, _)| format!("data/{config}/{split}.jsonl")).collect()
    }

    /// Whether it is a candidate or the like, not a released version.
    pub fn is_no_release(&self) -> bool {
        self.version == "candidate"
    }

    /// The records of the last stage that the conditions of `[data]` stopped, by condition.
    pub fn stopped_by_conditions(&self) -> impl Iterator<Item = &LeftOut> {
        [WHEN, REQUIRES]
            .into_iter()
            .flat_map(move |stage| self.left_out.iter().filter(move |left| left.stage == stage))
    }

    /// The records of the last stage that did not become rows, by why.
    pub fn rowless_records(&self) -> impl Iterator<Item = &LeftOut> {
        self.left_out.iter().filter(|left| left.is_incomplete())
    }

    /// Number of records of the last stage that did not become rows.
    pub fn count_incomplete(&self) -> u64 {
        self.rowless_records().map(|left| left.items.count).sum()
    }

    /// The manifest's bytes, as written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// The folder in a release for the benchmark folders it was made with.
pub(super) const MADE_WITH: &str = "benchmarks";

/// When a version was yanked, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yanked {
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// The reason given.
    pub reason: String,
}

/// A number of ids, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdSample {
    /// All of them.
    pub count: u64,
    /// The first, in the order of the rows.
    pub first: Vec<String>,
}

impl IdSample {
    pub(super) fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(id.into());
        }
    }
}

/// Most ids of each kind in the change log; further ones are only counted.
const LISTED: usize = 200;

/// Most ids in a line.
const NAMED: usize = 5;

/// Items of one stage that were left out for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The last stage that they reached.
    pub stage: String,
    /// `held`, `failed`, `dropped` by the conditions of `[data]`, or `incomplete` for records of the last stage that did not
    /// become rows.
    pub state: String,
    /// The reason's code, or what is missing.
    pub reason: String,
    /// The records.
    pub items: IdSample,
    /// What that means, where the benchmark's folder says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// How many records wait with them because they belong to them: the answers to these questions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl LeftOut {
    /// `12 held at review:screen (votes_missing): tieba:1, tieba:2 and 10 more`, with the folder's sentence behind its reason.
    pub fn describe(&self) -> String {
        let named = &self.items.first[..self.items.first.len().min(NAMED)];
        let more = match self.items.count - named.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let LeftOut { stage, state, reason, says, items, beside } = self;
        let says = says.as_ref().map(|says| format!(": {says}")).unwrap_or_default();
        let beside = match beside {
            0 => String::new(),
            1 => ", with 1 that belongs to them".to_owned(),
            beside => format!(", with {beside} that belong to them"),
        };
        format!("{} {state} at {stage} ({reason}{says}){beside}: {}{more}", items.count, named.join(", "))
    }

    /// Whether these are records of the last stage that did not become rows: they lack something, or the conditions of
    /// `[data]` stop them.
    pub(super) fn is_incomplete(&self) -> bool {
        self.state == "incomplete" || self.is_of_condition()
    }

    /// Whether a condition of `[data]` stopped them.
    fn is_of_condition(&self) -> bool {
        [WHEN, REQUIRES].contains(&self.stage.as_str())
    }
}

/// The sources of dumps, each once, with the licences it states.
pub(super) fn licences_by_source(raw: &[Raw]) -> Vec<(String, String)> {
    let mut stated: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in raw {
        let source = file.file.split('/').next().unwrap_or_default();
        stated.entry(source).or_default().insert(file.licence.as_deref().unwrap_or("no licence stated"));
    }
    let listed = |(source, licences): (&str, BTreeSet<&str>)| {
        (source.to_owned(), licences.into_iter().collect::<Vec<_>>().join(", "))
    };
    stated.into_iter().map(listed).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A release may come from somebody else: the names in its manifest are joined to folders.
    #[test]
    fn a_name_in_somebodys_manifest_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let read = |change: fn(&mut serde_json::Value)| {
            let mut manifest = serde_json::json!({
                "recipe": "flub", "version": "1.0.0", "riddlemill": "0.1.0", "rows": 0, "configs": { "flub": 0 },
                "draft": [], "words": "", "raw": [], "stages": [], "files": { "README.md": "00" },
            });
            change(&mut manifest);
            fs::write(dir.path().join(MANIFEST), manifest.to_string()).unwrap();
            CandidateManifest::read_manifest(dir.path())
                .map(|manifest| manifest.is_some())
                .map_err(|e| e.to_string())
        };
        assert_eq!(read(|_| ()), Ok(true));
        let changes: [fn(&mut serde_json::Value); 3] = [
            |manifest| manifest["files"]["../../x"] = "00".into(),
            |manifest| manifest["configs"]["../../x"] = 1.into(),
            |manifest| manifest["version"] = "../../../../x".into(),
        ];
        for change in changes {
            assert!(read(change).unwrap_err().contains("it names the file"));
        }
    }
}
