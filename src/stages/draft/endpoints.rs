//! Who is asked for a draft, and how often.

use super::Draft;
use crate::config::{Config, sections};
use crate::llm::Endpoint;
use crate::llm::settings::Provider;
use crate::stages::StageError;

/// Replies to one text that FLUB's wrong answers are taken from: three from each of three (2.1).
const WRONG_REPLIES: u32 = 3;

/// One of the replies that a step wants for a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The endpoint's place among the step's.
    pub endpoint: usize,
    /// The logical name of the model behind it.
    pub model: String,
    /// Which of several replies of this model, from 0.
    pub sample: u32,
}

/// The endpoints that a draft asks, their packs' paths resolved. None where the default one is not set:
/// then drafts wait.
///
/// # Errors
/// [`StageError::Settings`] where another name is not set.
pub fn endpoints(draft: Draft, config: &Config, recipe: &str) -> Result<Vec<Endpoint>, StageError> {
    let settings: sections::Draft = config.typed(Some(recipe), "draft");
    let (key, names) = match draft {
        Draft::Opponent => ("draft.opponents", settings.opponents),
        _ => ("draft.endpoint", vec![settings.endpoint]),
    };
    let mut endpoints = Vec::new();
    for name in names {
        match config.endpoints.iter().find(|endpoint| endpoint.name == name).cloned() {
            Some(mut endpoint) => {
                endpoint.pack = endpoint.pack.map(|pack| config.root.join(pack));
                endpoints.push(endpoint);
            }
            None if name == "sample" => {}
            None => {
                let known: Vec<&str> = config.endpoints.iter().map(|e| e.name.as_str()).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                let what = format!("{key}: there is no [llm.{name}]\n  hint: there are {known}");
                return Err(StageError::Settings(what));
            }
        }
    }
    Ok(endpoints)
}

/// The replies that a draft wants for each record.
pub fn slots(draft: Draft, endpoints: &[Endpoint]) -> Vec<Slot> {
    let samples = match draft {
        Draft::Wrong => WRONG_REPLIES,
        _ => 1,
    };
    let of = |(at, endpoint): (usize, &Endpoint)| {
        let model = endpoint.identity().to_owned();
        (0..samples).map(move |sample| Slot { endpoint: at, model: model.clone(), sample })
    };
    endpoints.iter().enumerate().flat_map(of).collect()
}

/// Whether an endpoint may answer tomorrow what it did not answer today.
pub fn sends(endpoint: &Endpoint) -> bool {
    endpoint.provider != Provider::Sample
}
