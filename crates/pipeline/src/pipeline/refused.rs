//! What is missing or refused outside of the workspace, and its remedy: the setting that mends a refusal (only the words of the
//! server say what is refused), what import could not read, and parts that later steps need, told while nobody has voted for
//! nothing yet.

use riddlemill_llm::Endpoint;
use riddlemill_record::{Reason, Request};
use riddlemill_tables::{Error, Manifest, Workspace};

use super::voting::Remedy;
use super::words::{KeyedSentence, Word, shorten_line};
use crate::config::{Config, Source, toml_string};
use crate::recipe::Recipe;

/// The paths behind an address in the settings.
const ENDINGS: [&str; 6] =
    ["/chat/completions", "/embeddings", "/v1/messages", "/api/chat", "/api/embed", "/translate"];

/// The setting behind a refusal that names an unsupported parameter.
pub(super) fn remedy_of_parameter(endpoint: &Endpoint, request: &Request) -> Option<Remedy> {
    let name = endpoint.name.as_str();
    let first = |word, setting: &str| Some(Remedy::First(KeyedSentence::from_word(word, [setting, name])));
    if let Some(near) = &request.near {
        return first(Word::Set, &format!("model = {}", toml_string(near)));
    }
    // Servers word it differently, and only the beginning of their messages is kept.
    let message = request.server.as_ref()?.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if says(&limit) && says(&["too large", "too high", "at most", "must be", "maximum value"]) {
        return Some(Remedy::First(KeyedSentence::from_word(Word::LowerTokens, [name])));
    }
    if !says(&[
        "unsupported",
        "not support",
        "n't support",
        "unrecognized",
        "unexpected",
        "unknown",
        "not permitted",
        "not allowed",
        "not enabled",
        "must alternate",
        "deprecated",
        "不支持",
    ]) {
        return None;
    }
    let own = endpoint.sampling.extra.keys().find(|key| message.contains(&key.to_lowercase()));
    if let Some(own) = own {
        return first(Word::TakeOut, &format!("sampling.extra.{own}"));
    }
    if says(&limit) {
        return first(Word::Set, "limit_field = \"max_completion_tokens\"");
    }
    if says(&["system role", "system message", "system prompt", "developer instruction", "must alternate"]) {
        return first(Word::Set, "system = \"user\"");
    }
    if says(&["response_format", "json_schema", "json_object"]) {
        let setting = if endpoint.structured { "structured = false" } else { "format = \"text\"" };
        return first(Word::Set, setting);
    }
    if endpoint.stream && says(&["stream"]) {
        return first(Word::Set, "stream = false");
    }
    let drawn = ["temperature", "top_p", "seed", "stop"].into_iter().find(|word| message.contains(word))?;
    first(Word::TakeOut, &format!("sampling.{drawn}"))
}

/// The address to set where a server redirects.
pub(super) fn remedy_of_redirect(name: &str, to: Option<&str>) -> Remedy {
    Remedy::First(match to {
        Some(to) => {
            let base = ENDINGS.iter().find_map(|end| to.strip_suffix(end)).unwrap_or(to);
            KeyedSentence::from_word(Word::Set, [&format!("base_url = {}", toml_string(base)), name])
        }
        None => KeyedSentence::from_word(Word::CheckUrl, [name]),
    })
}

/// What was not read.
pub(super) struct RefusedFile<'a> {
    /// The source's name.
    pub source: &'a str,
    /// The file, with its source.
    pub file: &'a str,
    /// Whether the whole file is meant.
    pub whole: bool,
    /// What is wrong with it.
    pub said: &'a str,
    /// What to do, where that is known.
    pub hint: Option<&'a str>,
}

/// The cause of a failed record or file of import, and its remedy. `empty`: whether import gave nothing at all; `look` shows
/// the failed records.
pub(super) fn cause_of_unread(
    config: &Config,
    unread: &RefusedFile<'_>,
    reason: Option<Reason>,
    empty: bool,
    look: Remedy,
) -> (KeyedSentence, Remedy) {
    let code = reason.map_or("unreadable", Reason::code);
    let what = match (unread.whole, unread.said) {
        (_, "") => format!("{code}: {}", reason.map_or("", Reason::definition)),
        (true, what) => format!("{}: {what}", unread.file),
        (false, what) if unread.file.is_empty() => format!("{code}: {}", shorten_line(what).in_english()),
        // Records of several files may be kept back by the same.
        (false, what) => format!("{code}, first in {}: {}", unread.file, shorten_line(what).in_english()),
    };
    let name = unread.source;
    let is_published = |of: &Source| of.name == name && of.published.is_some();
    let remedy = match (unread.hint, reason) {
        (Some(hint), _) => Remedy::First(KeyedSentence::verbatim(hint)),
        (None, Some(Reason::Oversize)) => {
            Remedy::First(KeyedSentence::from_word(Word::RaiseKey, ["import.max_line_mib"]))
        }
        (None, Some(Reason::Truncated)) => Remedy::First(KeyedSentence::from_word(Word::GetAgain, [])),
        (None, Some(Reason::Unreadable)) if empty && config.sources.iter().any(is_published) => {
            Remedy::First(KeyedSentence::from_word(Word::CheckPublished, [name]))
        }
        _ => look,
    };
    (KeyedSentence::verbatim(what), remedy)
}

/// Something that a step will need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The step that needs it.
    pub step: &'static str,
    /// What is not there, and what helps.
    pub what: String,
}

/// What the steps of a recipe that are not made yet lack, in their order.
///
/// # Errors
/// [`Error`] if a stage's manifest cannot be read.
pub fn list_lacking(config: &Config, recipe: &'static Recipe) -> Result<Vec<Lacking>, Error> {
    let workspace = Workspace::new(&config.root);
    let mut lacking = Vec::new();
    for step in recipe.steps() {
        let Some(what) = step.stage.missing_resource(config, recipe.name) else { continue };
        // What was made without it needed it for no record.
        if Manifest::read_from_stage(&workspace.stage_folder(recipe.name, step.number, step.name))?.is_none()
        {
            lacking.push(Lacking { step: step.name, what });
        }
    }
    Ok(lacking)
}
