//! Publishing: a release's folder as one archive with the metadata for repositories, or as the commands that
//! upload it to the Hugging Face Hub.
//!
//! Nothing is published that fails verification, was yanked, or is only a candidate; drafts (synthetic or
//! provisional rows) are only published on explicit request. Uploading is done by the Hub's own program.

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::manifest::{CandidateManifest, SUMS};
use super::verify::verify_folder;
use crate::store::{Error, durable, sha256_of_file};
use riddlemill_benchmarks::paper::Paper;
use riddlemill_files::fence;

/// Zstandard's level for files that are written once and downloaded often.
const LEVEL: i32 = 19;

/// A release that may be published.
#[derive(Debug)]
pub struct Publishable {
    folder: PathBuf,
    manifest: CandidateManifest,
    croissant: Json,
    title: String,
}

/// Why a folder is not published.
#[derive(Debug, thiserror::Error)]
pub enum OutletError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// The folder fails verification.
    #[error("{} does not verify:\n{}\n  hint: move the folder away, and `riddlemill run --recipe {recipe}` writes every released version again from raw/releases", folder.display(), findings.join("\n"))]
    Findings {
        folder: PathBuf,
        /// Its recipe, if it can be read.
        recipe: String,
        findings: Vec<String>,
    },
    /// It has no version.
    #[error("{} is a candidate and has no version\n  hint: `riddlemill release {recipe}` assigns one", folder.display())]
    Candidate { folder: PathBuf, recipe: String },
    /// The version was yanked.
    #[error("{recipe} {version} was yanked on {date}: {reason}\n  hint: publish a later version")]
    Yanked {
        recipe: String,
        version: String,
        /// When.
        date: String,
        /// Why.
        reason: String,
    },
    /// It is a draft.
    #[error("{recipe} {version} is a draft:\n{}\n  hint: `--draft` publishes it nevertheless; its card says that it is a draft", reasons.iter().map(|r| format!("  {r}")).collect::<Vec<_>>().join("\n"))]
    Draft {
        recipe: String,
        version: String,
        /// Why.
        reasons: Vec<String>,
    },
    /// Another file has the archive's name.
    #[error("{} already exists with other content; nothing was overwritten\n  hint: move it away, or give another file: --to archive:FILE", .0.display())]
    Occupied(PathBuf),
    /// `hf` cannot be run.
    #[error(
        "hf cannot be run: {0}\n  hint: install it with `pip install huggingface_hub` (1.0 or later) and log in with `hf auth login`"
    )]
    NoHub(std::io::Error),
    /// The version is on the Hub already.
    #[error(
        "{repo} already has the tag {tag}; published versions are never replaced\n  hint: release the changes as the next version with `riddlemill release`"
    )]
    Tagged {
        /// OWNER/NAME.
        repo: String,
        tag: String,
    },
    /// `hf` failed.
    #[error("`{command}` ended with {status}: {output}\n  hint: the same command continues where it stopped")]
    Hub {
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The end of what it printed.
        output: String,
    },
}

impl Publishable {
    /// Checks a release's folder.
    ///
    /// # Errors
    /// [`OutletError`] if it fails verification, is a candidate, was yanked, or is a draft and `draft` is not
    /// set.
    pub fn open(folder: &Path, draft: bool) -> Result<Publishable, OutletError> {
        let verified = verify_folder(folder)?;
        let recipe = verified.recipe.clone().unwrap_or_else(|| "RECIPE".into());
        if !verified.findings.is_empty() {
            return Err(OutletError::Findings { folder: folder.into(), recipe, findings: verified.findings });
        }
        let lacking = |folder: PathBuf, recipe| OutletError::Findings {
            folder,
            recipe,
            findings: vec!["croissant.json: cannot be read".into()],
        };
        let Some(manifest) = CandidateManifest::read_manifest(folder)? else {
            return Err(lacking(folder.into(), recipe));
        };
        let read = |name: &str| -> Option<Json> {
            serde_json::from_slice(&fence::read(folder.join(name)).ok()?).ok()
        };
        let Some(croissant) = read("croissant.json") else { return Err(lacking(folder.into(), recipe)) };
        let title = read("datapackage.json").and_then(|package| Some(package["title"].as_str()?.to_owned()));
        let title = title.unwrap_or_else(|| recipe.clone());
        if manifest.version == "candidate" {
            return Err(OutletError::Candidate { folder: folder.into(), recipe });
        }
        let version = manifest.version.clone();
        if let Some(yanked) = &manifest.yanked {
            let (date, reason) = (yanked.date.clone(), yanked.reason.clone());
            return Err(OutletError::Yanked { recipe, version, date, reason });
        }
        if !manifest.draft.is_empty() && !draft {
            return Err(OutletError::Draft { recipe, version, reasons: manifest.draft });
        }
        Ok(Publishable { folder: folder.into(), manifest, croissant, title })
    }

    /// `flub-1.0.0`.
    pub fn versioned_name(&self) -> String {
        format!("{}-{}", self.manifest.recipe, self.manifest.version)
    }

    /// Whether its card names authors; the Hub and Zenodo show them first.
    pub fn has_authors(&self) -> bool {
        !self.author_names().is_empty()
    }

    fn author_names(&self) -> Vec<String> {
        let creators = self.croissant["creator"].as_array().cloned().unwrap_or_default();
        creators.iter().filter_map(|c| c["name"].as_str()).map(str::to_owned).collect()
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.croissant[key].as_str().unwrap_or_default()
    }

    /// SPDX identifier of the whole set, from the address in the metadata.
    fn licence_id(&self) -> Option<&str> {
        let url = self.croissant["license"].as_str()?;
        Some(url.rsplit('/').next().unwrap_or_default().trim_end_matches(".html"))
    }

    /// The paper whose set it rebuilds, if its benchmark names one.
    fn rebuilt_paper(&self) -> Option<&'static Paper> {
        let paper = &riddlemill_benchmarks::find_benchmark(&self.manifest.recipe)?.paper;
        (!paper.url.is_empty()).then_some(paper)
    }

    /// `.zenodo.json`: the metadata of a Zenodo deposit.
    pub fn zenodo_json(&self) -> Json {
        let mut related = Vec::new();
        if let Some(paper) = self.rebuilt_paper() {
            related.push(json!({ "identifier": paper.url, "relation": "isDerivedFrom", "resource_type": "publication-article" }));
        }
        let language = self.croissant["inLanguage"].as_array().and_then(|l| l.first()).and_then(Json::as_str);
        let mut zenodo = json!({
            "upload_type": "dataset",
            "title": self.title,
            "description": self.metadata_text("description"),
            "version": self.manifest.version,
            "publication_date": self.manifest.date,
            "creators": self.author_names().iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
            "access_right": "open",
            "keywords": self.rebuilt_paper().map(|paper| paper.tags.clone()).unwrap_or_default(),
            "language": match language { Some("zh") => "zho", Some("en") => "eng", _ => "mul" },
            "related_identifiers": related,
        });
        if let Some(licence) = self.licence_id() {
            zenodo["license"] = json!(licence.to_lowercase());
        }
        zenodo
    }

    /// The mandatory and recommended properties of DataCite's metadata schema 4.5, in the form of its REST
    /// API.
    pub fn datacite_json(&self) -> Json {
        let year = self.manifest.date.as_deref().and_then(|date| date.get(..4)).unwrap_or_default();
        let related: Vec<Json> = self
            .rebuilt_paper()
            .iter()
            .map(|paper| json!({ "relatedIdentifier": paper.url, "relatedIdentifierType": "URL", "relationType": "IsDerivedFrom" }))
            .collect();
        let mut datacite = json!({
            "schemaVersion": "http://datacite.org/schema/kernel-4",
            "types": { "resourceTypeGeneral": "Dataset", "resourceType": "Benchmark" },
            "titles": [{ "title": self.title }],
            "creators": self.author_names().iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
            // Whoever assigns the DOI is named by the repository; until then the authors publish it.
            "publisher": { "name": self.author_names().join("; ") },
            "publicationYear": year,
            "version": self.manifest.version,
            "descriptions": [{ "description": self.metadata_text("description"), "descriptionType": "Abstract" }],
            "dates": self.manifest.date.iter().map(|date| json!({ "date": date, "dateType": "Issued" })).collect::<Vec<_>>(),
            "formats": ["application/jsonlines", "application/x-parquet"],
            "relatedIdentifiers": related,
        });
        if let Some(language) = self.croissant["inLanguage"].as_array().and_then(|l| l.first()) {
            datacite["language"] = language.clone();
        }
        if let Some(licence) = self.licence_id() {
            let uri = self.metadata_text("license");
            datacite["rightsList"] = match uri.starts_with("https://") {
                true => {
                    json!([{ "rights": licence, "rightsUri": uri, "rightsIdentifier": licence, "rightsIdentifierScheme": "SPDX" }])
                }
                false => json!([{ "rights": licence }]),
            };
        }
        datacite
    }

    /// Writes the folder as a `tar` compressed with Zstandard: files sorted by name, with the release's date
    /// and no owner, so that the same release gives the same bytes.
    ///
    /// # Errors
    /// [`OutletError`] if a file cannot be read or written, or another file is there.
    pub fn write_archive(&self, file: &Path) -> Result<Archived, OutletError> {
        let mut names: Vec<String> = self.manifest.files.keys().cloned().collect();
        names.extend([super::manifest::MANIFEST.into(), SUMS.into()]);
        names.sort();
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        durable::create_folder(folder)?;
        let mut made = tempfile::NamedTempFile::new_in(folder).map_err(Error::io("write", folder))?;
        let failed = |e| Error::io("write", file)(e);
        let mut encoder = zstd::Encoder::new(made.as_file_mut(), LEVEL).map_err(failed)?;
        encoder.include_checksum(true).map_err(failed)?;
        let mut tar = tar::Builder::new(encoder);
        for name in names {
            let path = self.folder.join(&name);
            let bytes = fence::read(&path).map_err(Error::io("read", &path))?;
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_mtime(seconds_of_day(self.manifest.date.as_deref().unwrap_or_default()));
            tar.append_data(&mut header, format!("{}/{name}", self.versioned_name()), bytes.as_slice())
                .map_err(failed)?;
        }
        tar.into_inner().and_then(zstd::Encoder::finish).map_err(failed)?;
        // The bytes have to be on the disk before the file gets its name.
        made.as_file().sync_all().map_err(failed)?;
        let (sum, bytes) = durable::digest_of_file(made.path()).map_err(failed)?;
        // The same release gives the same bytes, so an equal archive is left as it is.
        if file.exists() {
            if sha256_of_file(file)? != sum {
                return Err(OutletError::Occupied(file.into()));
            }
        } else {
            made.persist(file).map_err(|e| Error::io("write", file)(e.error))?;
            durable::sync_folder(folder)?;
        }
        let named = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let with_ending = |ending: &str| file.with_file_name(format!("{}{ending}", self.versioned_name()));
        let mut files = vec![(file.with_file_name(format!("{named}.sha256")), format!("{sum}  {named}\n"))];
        // Both formats require an author, and nobody is one whom the curator did not name.
        if self.has_authors() {
            files.push((with_ending(".zenodo.json"), pretty_json(&self.zenodo_json())));
            files.push((with_ending(".datacite.json"), pretty_json(&self.datacite_json())));
        }
        let mut written = vec![file.to_path_buf()];
        for (path, text) in files {
            durable::replace_file(&path, text.as_bytes())?;
            written.push(path);
        }
        Ok(Archived { sha256: sum, bytes, files: written })
    }

    /// The commands that upload it to the Hub, in order: all files in one commit, then a tag with the
    /// version; then its site, if there is one, as a static Space of the same name.
    pub fn hub_commands(&self, repo: &str, private: bool, site: Option<&Path>) -> Vec<Vec<String>> {
        let title = format!("{} {}", self.manifest.recipe, self.manifest.version);
        let folder = self.folder.display().to_string();
        let mut upload = vec!["hf", "upload", repo, &folder, ".", "--repo-type", "dataset"];
        // Files of an earlier version that this one lacks are deleted.
        upload.extend(["--delete", "*", "--commit-message", &title]);
        if private {
            upload.push("--private");
        }
        let tag = self.version_tag();
        let tagged = ["hf", "repos", "tag", "create", repo, &tag, "--repo-type", "dataset", "-m", &title];
        let mut commands = vec![upload, tagged.to_vec()];
        let site = site.map(|site| site.display().to_string());
        if let Some(site) = &site {
            let mut created = vec!["hf", "repos", "create", repo, "--repo-type", "space"];
            created.extend(["--space-sdk", "static", "--exist-ok"]);
            if private {
                created.push("--private");
            }
            commands.push(created);
            let mut shown = vec!["hf", "upload", repo, site, ".", "--repo-type", "space"];
            shown.extend(["--delete", "*", "--commit-message", &title]);
            commands.push(shown);
        }
        commands.into_iter().map(|command| command.into_iter().map(str::to_owned).collect()).collect()
    }

    fn version_tag(&self) -> String {
        format!("v{}", self.manifest.version)
    }

    /// Runs the commands of [`Publishable::hub_commands`]; `heard` is called with each command before it runs.
    ///
    /// # Errors
    /// [`OutletError`] if `hf` is missing or fails, or the version's tag is on the Hub.
    pub fn upload_to_hub(
        &self,
        repo: &str,
        private: bool,
        site: Option<&Path>,
        mut heard: impl FnMut(&str),
    ) -> Result<(), OutletError> {
        // A new repository has no tags yet: the upload creates it.
        let tags = Command::new("hf")
            .args(["repos", "tag", "list", repo, "--repo-type", "dataset"])
            .output()
            .map_err(OutletError::NoHub)?;
        let tag = self.version_tag();
        if String::from_utf8_lossy(&tags.stdout).split_whitespace().any(|word| word == tag) {
            return Err(OutletError::Tagged { repo: repo.into(), tag });
        }
        for command in self.hub_commands(repo, private, site) {
            let line = quote_command(&command);
            heard(&line);
            let done = Command::new(&command[0]).args(&command[1..]).output().map_err(OutletError::NoHub)?;
            if !done.status.success() {
                let stderr = String::from_utf8_lossy(&done.stderr);
                let last_lines: Vec<&str> = stderr.trim().lines().rev().take(3).collect();
                let message = last_lines.into_iter().rev().collect::<Vec<_>>().join(" ");
                return Err(OutletError::Hub { command: line, status: done.status, output: message });
            }
        }
        Ok(())
    }
}

/// An archive that was written.
#[derive(Debug, Serialize)]
pub struct Archived {
    /// SHA-256 of the archive, in hex.
    pub sha256: String,
    /// Size of the archive.
    pub bytes: u64,
    /// The archive and the files next to it.
    pub files: Vec<PathBuf>,
}

/// A command as typed in a shell.
pub fn quote_command(command: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn pretty_json(value: &Json) -> String {
    format!("{value:#}\n")
}

/// Midnight of a day `YYYY-MM-DD` in seconds since 1970; 0 if it is invalid.
fn seconds_of_day(date: &str) -> u64 {
    let midnight = date.parse().ok().and_then(|day: jiff::civil::Date| day.to_zoned(TimeZone::UTC).ok());
    midnight.and_then(|midnight| u64::try_from(midnight.timestamp().as_second()).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{quote_command, seconds_of_day};

    #[test]
    fn days_count_from_1970() {
        assert_eq!(seconds_of_day("1970-01-01"), 0);
        assert_eq!(seconds_of_day("2024-02-29"), 1_709_164_800);
        assert_eq!(seconds_of_day("2026-01-02"), 1_767_312_000);
        assert_eq!(seconds_of_day("soon"), 0);
    }

    #[test]
    fn commands_can_be_pasted() {
        let command = ["hf", "upload", "a/b", "it's here", "*"].map(String::from);
        assert_eq!(quote_command(&command), r"hf upload a/b 'it'\''s here' '*'");
    }
}
