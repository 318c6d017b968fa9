//! All prompts of the program, and the files of a workspace that replace them.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Value;
use riddlemill_text::hint::near_miss;
use serde::Serialize;
use similar::TextDiff;

use super::template::{Output, Rendered, Template, TemplateError};

/// The prompt that asks whether two posts are one joke.
pub const SAME_JOKE: &str = "dedup/same_joke";

/// Prompts of steps that no benchmark's folder declares.
static COMMON: &[riddlemill_benchmarks::Prompt] =
    &[riddlemill_benchmarks::Prompt { name: SAME_JOKE, text: include_str!("same_joke.jinja") }];

/// The prompts of the benchmarks, as their folders hold them, and the common ones.
fn embedded_prompts() -> impl Iterator<Item = &'static riddlemill_benchmarks::Prompt> {
    riddlemill_benchmarks::all_benchmarks().iter().flat_map(|benchmark| &benchmark.prompts).chain(COMMON)
}

/// An embedded prompt, parsed once per process: every draft of every recipe asks for all of them.
fn parse_embedded(text: &'static str) -> Result<Arc<Template>, TemplateError> {
    static PARSED: Mutex<Option<HashMap<&'static str, Arc<Template>>>> = Mutex::new(None);
    let mut parsed = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let parsed = parsed.get_or_insert_default();
    if let Some(template) = parsed.get(text) {
        return Ok(Arc::clone(template));
    }
    let template = Arc::new(Template::parse(text)?);
    parsed.insert(text, Arc::clone(&template));
    Ok(template)
}

/// Errors in prompts.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not a valid prompt.
    #[error("prompt {name}: {source}")]
    Template {
        /// The prompt's name.
        name: String,
        /// What is wrong with it.
        source: TemplateError,
    },
    /// A prompt's values cannot be computed.
    #[error("prompt {name}: {what}")]
    Values {
        /// The prompt's name.
        name: String,
        /// Which, and where that is declared.
        what: String,
    },
    /// There is no such prompt.
    #[error("unknown prompt {name:?}\n  hint: {}", match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => "`riddlemill prompts list` lists them".to_owned(),
    })]
    Unknown {
        name: String,
        /// The closest name, if one is close.
        near: Option<String>,
    },
}

/// A prompt as `prompts list` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptInfo {
    /// `<benchmark>/<step>`.
    pub name: String,
    /// Where its instructions come from.
    pub about: String,
    /// The form of the reply.
    pub output: Output,
    /// The values it uses.
    pub variables: Vec<String>,
    /// The hash that goes into fingerprints.
    pub hash: String,
    /// The workspace's file that replaces the embedded one.
    pub overridden_by: Option<PathBuf>,
}

/// All prompts, ready to render.
pub struct Prompts {
    prompts: Vec<Prompt>,
    /// Suffix of the names of prompts that are sent instead, if they exist.
    wording: &'static str,
}

/// Suffix of a prompt worded as in its paper.
pub const PAPER: &str = "_paper";

/// Suffix of one of the program's own prompts in Chinese.
const CHINESE: &str = "_zh";

struct Prompt {
    name: &'static str,
    embedded: &'static str,
    source: String,
    overridden_by: Option<PathBuf>,
    template: Arc<Template>,
}

impl Prompts {
    /// The embedded prompts, each replaced by `<folder>/<name>.jinja` if that file exists. A file of another
    /// name is an error: it would silently do nothing.
    pub fn load_prompts(folder: Option<&Path>) -> Result<Prompts, PromptError> {
        let mut overrides = Vec::new();
        if let Some(folder) = folder.filter(|folder| folder.exists()) {
            collect_files(folder, folder, &mut overrides)?;
        }
        if let Some((name, _)) =
            overrides.iter().find(|(name, _)| !embedded_prompts().any(|known| known.name == name))
        {
            return Err(unknown_prompt(name));
        }
        let prompts = embedded_prompts()
            .map(|&riddlemill_benchmarks::Prompt { name, text: embedded }| {
                let overridden_by =
                    overrides.iter().find(|(own, _)| own == name).map(|(_, path)| path.clone());
                let source = match &overridden_by {
                    Some(path) => fs::read_to_string(path)
                        .map_err(|source| PromptError::Io { path: path.clone(), source })?,
                    None => embedded.to_owned(),
                };
                let template = match overridden_by {
                    Some(_) => Template::parse(&source).map(Arc::new),
                    None => parse_embedded(embedded),
                };
                let template =
                    template.map_err(|source| PromptError::Template { name: name.to_owned(), source })?;
                Ok(Prompt { name, embedded, source, overridden_by, template })
            })
            .collect::<Result<_, PromptError>>()?;
        Ok(Prompts { prompts, wording: "" })
    }

    /// The same, but prompts whose paper prints a wording are sent in that wording.
    pub fn as_printed(self, printed: bool) -> Prompts {
        Prompts { wording: if printed { PAPER } else { "" }, ..self }
    }

    /// The same, but the program's own prompts are sent in Chinese if they exist in Chinese.
    pub fn in_chinese(self) -> Prompts {
        Prompts { wording: CHINESE, ..self }
    }

    /// The messages of a prompt for one record. `values` is a map or struct of the prompt's values.
    pub fn render_prompt(&self, name: &str, values: impl Serialize) -> Result<Rendered, PromptError> {
        let prompt = self.find_prompt(name)?;
        let messages = prompt
            .template
            .render_messages(&Value::from(minijinja::value::Serde(values)))
            .map_err(|source| PromptError::Template { name: name.to_owned(), source })?;
        let (template, hash) = (name.to_owned(), prompt.template.hash.clone());
        Ok(Rendered { template, hash, messages, output: prompt.template.output })
    }

    /// The hash of what a prompt sends, for a stage's fingerprint.
    pub fn hash(&self, name: &str) -> Result<&str, PromptError> {
        Ok(&self.find_prompt(name)?.template.hash)
    }

    /// Every prompt, in the order of the benchmarks' steps.
    pub fn list_prompts(&self) -> Vec<PromptInfo> {
        let info = |prompt: &Prompt| PromptInfo {
            name: prompt.name.to_owned(),
            about: prompt.template.about.clone(),
            output: prompt.template.output,
            variables: prompt.template.list_variables(),
            hash: prompt.template.hash.clone(),
            overridden_by: prompt.overridden_by.clone(),
        };
        self.prompts.iter().map(info).collect()
    }

    /// The prompt's source in force, including its comment.
    pub fn prompt_source(&self, name: &str) -> Result<&str, PromptError> {
        Ok(&self.find_prompt(name)?.source)
    }

    /// The changes in a workspace's file, as a unified diff; empty if there are none.
    pub fn diff_prompt(&self, name: &str) -> Result<String, PromptError> {
        let prompt = self.find_prompt(name)?;
        if prompt.embedded == prompt.source {
            return Ok(String::new());
        }
        let (from, to) = (format!("embedded/{name}.jinja"), format!("prompts/{name}.jinja"));
        Ok(TextDiff::from_lines(prompt.embedded, &prompt.source)
            .unified_diff()
            .header(&from, &to)
            .to_string())
    }

    fn find_prompt(&self, name: &str) -> Result<&Prompt, PromptError> {
        let of = |name: &str| self.prompts.iter().find(|prompt| prompt.name == name);
        let worded = if self.wording.is_empty() { None } else { of(&format!("{name}{}", self.wording)) };
        worded.or_else(|| of(name)).ok_or_else(|| unknown_prompt(name))
    }
}

fn collect_files(
    folder: &Path,
    within: &Path,
    found: &mut Vec<(String, PathBuf)>,
) -> Result<(), PromptError> {
    let io = |source| PromptError::Io { path: within.to_owned(), source };
    for entry in fs::read_dir(within).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.is_dir() {
            collect_files(folder, &path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "jinja") {
            let name = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
            let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
            found.push((parts.join("/"), path));
        }
    }
    // Sorted, so that the unknown file named does not depend on the folder's order.
    found.sort();
    Ok(())
}

fn unknown_prompt(name: &str) -> PromptError {
    // Without its benchmark, a name is compared with the last parts of the prompts' names.
    let own = |known: &'static str| known.rsplit('/').next().unwrap_or(known);
    let names = || embedded_prompts().map(|known| known.name);
    let near = near_miss(name, names()).or_else(|| {
        let near = near_miss(name, names().map(own))?;
        names().find(|known| own(known) == near)
    });
    PromptError::Unknown { name: name.to_owned(), near: near.map(str::to_owned) }
}

#[cfg(test)]
mod tests;
