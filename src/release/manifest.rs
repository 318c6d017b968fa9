//! MANIFEST.json: what a folder holds, and every hash back to raw/.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::record::Counts;
use crate::store::{Error, InputRef, Manifest, inside};

/// The file's name.
pub const MANIFEST: &str = "MANIFEST.json";
/// The checksums' file name.
pub const SUMS: &str = "SHA256SUMS";

/// What a candidate or a release says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The recipe.
    pub recipe: String,
    /// `candidate`, or the release's version.
    pub version: String,
    /// The day it is dated; a candidate is as new as its newest input, vote or reply, and has no day where
    /// none of them has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The program's version.
    pub riddlemill: String,
    /// How many rows its first config has.
    pub rows: u64,
    /// Rows by config.
    pub configs: BTreeMap<String, u64>,
    /// Why it can only be a draft; empty where it may be stable.
    pub draft: Vec<String>,
    /// Where nobody is to use it any longer: when that was decided, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<Yanked>,
    /// Items that the rows lack because they wait or failed.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// The hash of what decides the folder beside the rows: layouts, settings, the curator's words.
    #[serde(rename = "words")]
    pub fingerprint: String,
    /// The dumps it was built from.
    pub raw: Vec<Raw>,
    /// The stages, in order.
    pub stages: Vec<Link>,
    /// The files beside this one and their SHA-256, but for SHA256SUMS.
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
    /// Whether it is of the sample that comes with the program: synthetic, nobody's posts.
    pub sample: bool,
}

/// A stage of the chain. Its fingerprint can be computed again from what is here, and its inputs
/// are the rows of stages before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The stage's name.
    pub stage: String,
    /// The version of its code.
    pub stage_version: u32,
    /// Its settings.
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
    /// A stage's place in the chain.
    pub fn to(manifest: &Manifest) -> Link {
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

    /// The fingerprint, computed again.
    pub fn fingerprint_of(&self, recipe: &str) -> String {
        self.opening(recipe).fingerprint
    }

    /// What decided the stage, as a manifest without rows.
    pub fn opening(&self, recipe: &str) -> Manifest {
        crate::store::opening(
            recipe,
            &self.stage,
            self.stage_version,
            self.settings.clone(),
            self.inputs.clone(),
            self.evidence.clone(),
        )
    }
}

impl Candidate {
    /// Reads the manifest of a folder, or `None` where there is none.
    ///
    /// # Errors
    /// [`Error`] where it is there and cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Candidate>, Error> {
        let path = folder.join(MANIFEST);
        match fs::read(&path) {
            Ok(bytes) => {
                let manifest: Candidate =
                    serde_json::from_slice(&bytes).map_err(|e| Error::stale_file(&path, e))?;
                // Whoever reads a manifest joins these to folders.
                let version = Some(&manifest.version).filter(|version| !version.is_empty());
                for name in manifest.files.keys().chain(manifest.configs.keys()).chain(version) {
                    inside(folder, name)?;
                }
                Ok(Some(manifest))
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io("read", &path)(e)),
        }
    }

    /// Whether it is what a run built, and no released version.
    pub fn is_no_release(&self) -> bool {
        self.version == "candidate"
    }

    /// Records of the last stage that are no row.
    pub fn incomplete(&self) -> u64 {
        self.left_out.iter().filter(|left| left.is_incomplete()).map(|left| left.items.count).sum()
    }

    /// The manifest's bytes, as they are written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Where a release holds the folders of benchmarks that it was made with.
pub(super) const MADE_WITH: &str = "benchmarks";

/// When a version was yanked, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yanked {
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// Why, as whoever yanked it wrote.
    pub reason: String,
}

/// How many ids, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ids {
    /// All of them.
    pub count: u64,
    /// The first, in the order of the rows.
    pub first: Vec<String>,
}

impl Ids {
    pub(super) fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(id.into());
        }
    }
}

/// Ids that the change log names of each kind; beyond it says how many more.
const LISTED: usize = 200;

/// Ids that a line names.
const NAMED: usize = 5;

/// Items of one stage that are left out for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The stage that they did not get past.
    pub stage: String,
    /// `held`, `failed`, or `incomplete` for records of the last stage that are no row.
    pub state: String,
    /// The reason's code, or what is missing.
    pub reason: String,
    /// The records.
    pub items: Ids,
}

impl LeftOut {
    /// `12 held at review:screen (votes_missing): tieba:1, tieba:2 and 10 more`.
    pub fn describe(&self) -> String {
        let named = &self.items.first[..self.items.first.len().min(NAMED)];
        let more = match self.items.count - named.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let LeftOut { stage, state, reason, items } = self;
        format!("{} {state} at {stage} ({reason}): {}{more}", items.count, named.join(", "))
    }

    /// Records of the last stage that are no row.
    pub(super) fn is_incomplete(&self) -> bool {
        self.state == "incomplete"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A release is handed on: whoever reads its manifest joins the names in it to folders.
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
            Candidate::read(dir.path()).map(|manifest| manifest.is_some()).map_err(|e| e.to_string())
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
