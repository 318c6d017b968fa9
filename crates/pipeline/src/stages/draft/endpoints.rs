//! Which endpoints are asked for a draft, and how often.

use glob::Pattern;
use serde_json::Value;

use super::DraftStep;
use crate::config::sections::{self, SECTIONS};
use crate::config::{Config, Kind, toml_string, unknown};
use crate::stages::{StageError, Unusable};
use riddlemill_benchmarks::Benchmark;
use riddlemill_benchmarks::draft::Count;
use riddlemill_llm::Endpoint;
use riddlemill_llm::settings::Provider;
use riddlemill_review::ballot::Round;
use riddlemill_review::ballots;

/// One of the replies that a step wants for a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The endpoint's place among the step's.
    pub endpoint: usize,
    /// The logical name of the model behind it.
    pub model: String,
    /// Which of several replies of this model, from 0.
    pub sample: u32,
    /// Which of the step's cases it answers, if all of them are asked; default: the first whose condition holds.
    pub ask: Option<usize>,
    /// Models whose answers this one may not judge.
    pub bars: Vec<Pattern>,
}

/// Whom a draft asks, by their names in pipeline.toml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    /// The setting that names it.
    pub key: String,
    pub names: Vec<String>,
    /// Whether that setting names several, each of which is asked.
    pub several: bool,
}

/// Whom a draft asks: a setting with one name that is empty leaves it to `draft.endpoint`.
pub fn whom_to_ask(draft: DraftStep, config: &Config, recipe: &str) -> Asks {
    let (section, name) = draft.draft_declaration().asks;
    let key = format!("{section}.{name}");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match config.setting_value(recipe, section, name) {
        Some(Value::Array(names)) => {
            Asks { key, names: names.iter().filter_map(text).collect(), several: true }
        }
        Some(Value::String(name)) if !name.is_empty() => {
            Asks { key, names: vec![name.clone()], several: false }
        }
        _ => {
            let endpoint = config.typed_settings::<sections::Draft>(Some(recipe), "draft").endpoint;
            Asks { key: "draft.endpoint".into(), names: vec![endpoint], several: false }
        }
    }
}

/// The problem with a setting that names a draft's endpoints or the number of replies: it must exist and have the right type.
pub(super) fn unknown_setting(
    benchmark: &Benchmark,
    (section, name): (&str, &str),
    fits: impl Fn(Kind) -> bool,
    wanted: &str,
) -> Option<String> {
    let own = &benchmark.own.declared;
    if own.iter().any(|own| (own.section, own.key.name) == (section, name)) {
        return None;
    }
    let Some(known) = SECTIONS.iter().find(|known| known.name == section) else {
        return Some(unknown("table of settings", section, SECTIONS.iter().map(|known| known.name)));
    };
    match known.keys.iter().find(|key| key.name == name).map(|key| key.kind) {
        None => Some(unknown(&format!("key of [{section}]"), name, known.keys.iter().map(|key| key.name))),
        Some(kind) if fits(kind) => None,
        Some(_) => Some(format!("{section}.{name} is not {wanted}")),
    }
}

/// The number in a setting; 0 if it is not set.
pub(in crate::stages) fn number_of_setting(
    config: &Config,
    recipe: &str,
    (section, key): (&str, &str),
) -> u64 {
    config.setting_value(recipe, section, key).and_then(Value::as_u64).unwrap_or_default()
}

/// The endpoints that a draft asks, their packs' paths resolved. None where the default one is not set:
/// then drafts wait.
///
/// # Errors
/// [`StageError::Settings`] where another name is not set.
pub fn endpoints_of_draft(
    draft: DraftStep,
    config: &Config,
    recipe: &str,
) -> Result<Vec<Endpoint>, StageError> {
    if is_skipped(draft, config, recipe) {
        return Ok(Vec::new());
    }
    let asks = whom_to_ask(draft, config, recipe);
    let translates = draft.draft_declaration().translates.is_some();
    endpoints_by_name(config, &asks.key, asks.names, translates)
}

/// Whether a record continues if its reply is missing.
pub fn is_optional(draft: DraftStep, config: &Config, recipe: &str) -> bool {
    let review: sections::Review = config.typed_settings(Some(recipe), "review");
    let settings: sections::Draft = config.typed_settings(Some(recipe), "draft");
    review.optional.iter().chain(&settings.optional).any(|step| step == draft.name())
}

/// Whether the settings turn the draft off.
pub fn is_skipped(draft: DraftStep, config: &Config, recipe: &str) -> bool {
    config
        .typed_settings::<sections::Draft>(Some(recipe), "draft")
        .skip
        .iter()
        .any(|step| step == draft.name())
}

/// Whether the draft is hidden from everybody before they vote: from voters and from those who review the votes.
fn is_hidden(draft: DraftStep, recipe: &str) -> bool {
    let ballot = ballots::find_step(recipe, draft.name());
    ballot.is_some_and(|ballot| ballot.review.is_none() && !ballot.shows_drafts(Round::Vote))
}

/// Whether a draft that is not shown is requested nevertheless: the settings require it, or records continue with it.
pub fn wants_unseen(draft: DraftStep, config: &Config, recipe: &str) -> bool {
    let drafts: sections::Draft = config.typed_settings(Some(recipe), "draft");
    let review: sections::Review = config.typed_settings(Some(recipe), "review");
    let ahead = review.preview || review.draft_ahead.iter().any(|step| step == draft.name());
    is_hidden(draft, recipe) && (ahead || drafts.unseen)
}

/// Whether no draft is requested because it would not be shown. Stored drafts are used.
pub fn is_unseen(draft: DraftStep, config: &Config, recipe: &str) -> bool {
    is_hidden(draft, recipe) && !wants_unseen(draft, config, recipe)
}

/// An endpoint with its pack's path resolved: that is relative to pipeline.toml, not to the current folder.
pub fn with_pack_of(config: &Config, endpoint: &Endpoint) -> Endpoint {
    Endpoint { pack: endpoint.pack.as_ref().map(|pack| config.root.join(pack)), ..endpoint.clone() }
}

/// The endpoints of some names, their packs' paths resolved; `key` is what names them, `translates` whether a
/// server that only translates will do. The default one may be missing.
///
/// # Errors
/// [`StageError::Settings`] where another name is not set.
pub fn endpoints_by_name(
    config: &Config,
    key: &str,
    names: Vec<String>,
    translates: bool,
) -> Result<Vec<Endpoint>, StageError> {
    let mut endpoints = Vec::new();
    for name in names {
        match config.endpoints.iter().find(|endpoint| endpoint.name == name).cloned() {
            Some(endpoint) if endpoint.provider == Provider::Libretranslate && !translates => {
                let translator = Unusable::at_place(key, format!("[llm.{name}] only translates"));
                return Err(translator
                    .with_hint(format!(
                        "set draft.translator = {}, and name a model as {key}",
                        toml_string(&name)
                    ))
                    .into());
            }
            Some(endpoint) => endpoints.push(with_pack_of(config, &endpoint)),
            None if name == "sample" => {}
            None => {
                let known: Vec<&str> = config.endpoints.iter().map(|e| e.name.as_str()).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                let unknown = Unusable::at_place(key, format!("there is no [llm.{name}]"));
                return Err(unknown.with_hint(format!("there are {known}")).into());
            }
        }
    }
    Ok(endpoints)
}

/// The replies that a draft wants for each record.
///
/// # Errors
/// [`StageError::Settings`] where `judge.barred` cannot be read.
pub fn slots_of_draft(
    draft: DraftStep,
    config: &Config,
    recipe: &str,
    endpoints: &[Endpoint],
) -> Result<Vec<Slot>, StageError> {
    let declared = draft.draft_declaration();
    let samples = match declared.replies {
        Count::Fixed(count) => u64::from(count),
        Count::Setting(key) => number_of_setting(config, recipe, key).max(1),
    };
    let bars = match &declared.barred {
        Some(barred) => bars_of(config, recipe, barred.by)?,
        None => Vec::new(),
    };
    let asks: Vec<Option<usize>> = match declared.responds.len() {
        0 => vec![None],
        several => (0..several).map(Some).collect(),
    };
    Ok(all_slots(endpoints, &asks, samples, &bars))
}

/// The number of replies that an evaluation requests from each judge, as set in `[judge]`.
///
/// # Errors
/// [`StageError::Settings`] where `judge.barred` cannot be read.
pub fn slots_of_judges(config: &Config, recipe: &str, judges: &[Endpoint]) -> Result<Vec<Slot>, StageError> {
    let settings: sections::Judge = config.typed_settings(Some(recipe), "judge");
    let bars = bars_of(config, recipe, ("judge", "barred"))?;
    Ok(all_slots(judges, &[None], settings.repeats.into(), &bars))
}

fn all_slots(
    endpoints: &[Endpoint],
    asks: &[Option<usize>],
    samples: u64,
    bars: &[(String, Pattern)],
) -> Vec<Slot> {
    let mut slots = Vec::new();
    for (at, endpoint) in endpoints.iter().enumerate() {
        let of_judge = bars.iter().filter(|(judge, _)| *judge == endpoint.name);
        let bars: Vec<Pattern> = of_judge.map(|(_, model)| model.clone()).collect();
        for &ask in asks {
            for sample in 0..samples as u32 {
                let model = endpoint.identity().to_owned();
                slots.push(Slot { endpoint: at, model, sample, ask, bars: bars.clone() });
            }
        }
    }
    slots
}

/// The lines of a setting that bars judges from models.
fn bars_of(
    config: &Config,
    recipe: &str,
    (section, key): (&str, &str),
) -> Result<Vec<(String, Pattern)>, StageError> {
    let lines = config.setting_value(recipe, section, key).and_then(Value::as_array).into_iter().flatten();
    let lines: Vec<String> = lines.filter_map(|line| Some(line.as_str()?.to_owned())).collect();
    parse_barred_models(&format!("{section}.{key}"), &lines)
}

/// Judges and the models they are barred from, as `judge: pattern`.
fn parse_barred_models(setting: &str, lines: &[String]) -> Result<Vec<(String, Pattern)>, StageError> {
    let read = |line: &String| {
        let wrong = || {
            let none =
                Unusable::at_place(setting, format!("{line:?} is not of the form \"endpoint: model\""));
            StageError::from(none.with_hint("\"my-judge: my-family-*\""))
        };
        let (judge, model) = line.split_once(':').ok_or_else(wrong)?;
        Ok((judge.trim().to_owned(), Pattern::new(model.trim()).map_err(|_| wrong())?))
    };
    lines.iter().map(read).collect()
}

/// Whether an endpoint may answer tomorrow what it did not answer today.
pub fn may_answer_later(endpoint: &Endpoint) -> bool {
    !endpoint.provider.is_pack()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_is_barred_from_its_own_family() {
        let bars =
            parse_barred_models("judge.barred", &["gpt-judge: gpt-*".to_owned(), "x:y".to_owned()]).unwrap();
        assert!(bars[0].0 == "gpt-judge" && bars[0].1.matches("gpt-4") && !bars[0].1.matches("other"));
        assert!(bars[1].1.matches("y"));
        assert!(parse_barred_models("judge.barred", &["gpt-*".to_owned()]).is_err());
    }
}
