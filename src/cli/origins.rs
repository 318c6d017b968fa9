//! Reports endpoints whose model changed behind the same name.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::exit::Failure;
use super::output::count;
use super::terminal::HANG;
use crate::config::Config;
use crate::pages::time::utc;
use crate::stages::draft;
use crate::store::Workspace;

/// The endpoints with replies from more than one model or configuration, for people and for machines. Does
/// not create a store.
pub(super) fn changed(config: &Config) -> Result<(String, Vec<Value>), Failure> {
    let (mut text, mut machine) = (String::new(), Vec::new());
    if !Workspace::new(&config.root).raw().join("replies").exists() {
        return Ok((text, machine));
    }
    let store = draft::open_store(config)?;
    for endpoint in config.endpoints.iter().filter(|endpoint| draft::sends(endpoint)) {
        let origins =
            store.origins(endpoint.identity(), &endpoint.model).map_err(super::review_session::io)?;
        let [before @ .., (last, replies, since)] = &origins[..] else { continue };
        if before.is_empty() {
            continue;
        }
        let day = utc(UNIX_EPOCH + Duration::from_millis(*since));
        let before: Vec<String> = before
            .iter()
            .rev()
            .map(|(origin, replies, _)| format!("{origin} ({})", count(*replies, "reply")))
            .collect();
        text.push_str(&format!(
            "llm.{}: {HANG}{:?} is answered by {last} since {} ({}), before by {}\n",
            endpoint.name,
            endpoint.model,
            &day[..10],
            count(*replies, "reply"),
            before.join(", ")
        ));
        let origins = origins.iter().map(|(origin, replies, since)| {
            json!({ "model": origin.model, "fingerprint": origin.fingerprint, "replies": replies, "since_ms": since })
        });
        machine.push(json!({ "endpoint": endpoint.name, "origins": origins.collect::<Vec<_>>() }));
    }
    Ok((text, machine))
}
