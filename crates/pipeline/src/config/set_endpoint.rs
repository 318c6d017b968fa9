//! `--set llm.<name>.<key>=…`, and the same from the environment: settings of an endpoint for one call.

use serde_json::Value;
use toml_edit::Item;

use super::layer::item_json;
use super::reference::LLM;
use super::schema::Kind;
use super::{Problem, near_miss, unknown};
use riddlemill_llm::Endpoint;

/// The prefix of these settings.
const TABLE: &str = "llm.";

/// Whether a dotted name is a setting of an endpoint.
pub(super) fn is_of_endpoint(dotted: &str) -> bool {
    dotted.starts_with(TABLE)
}

/// Overrides one setting of one endpoint. `same` says whether a name in pipeline.toml is the one at the
/// beginning of the dotted rest, which in the environment is written in capitals.
pub(super) fn set(
    endpoints: &mut [Endpoint],
    dotted: &str,
    text: &str,
    place: &str,
    problems: &mut Vec<Problem>,
    written: fn(&str) -> String,
) {
    let mut problem = |what: String| problems.push(Problem { place: place.into(), what });
    let rest = dotted.strip_prefix(TABLE).unwrap_or(dotted);
    let begins = |endpoint: &Endpoint| rest.strip_prefix(&format!("{}.", written(&endpoint.name))).is_some();
    // The longest, because a name may contain a dot.
    let named = (0..endpoints.len()).filter(|&at| begins(&endpoints[at]));
    let Some(at) = named.max_by_key(|&at| endpoints[at].name.len()) else {
        let name = rest.split('.').next().unwrap_or(rest);
        let what = match rest.contains('.') {
            true => unknown("endpoint", name, endpoints.iter().map(|endpoint| endpoint.name.as_str())),
            false => {
                format!("{dotted:?} is not a setting; those of an endpoint are written llm.<name>.<key>")
            }
        };
        return problem(what);
    };
    let endpoint = &mut endpoints[at];
    let key = &rest[written(&endpoint.name).len() + 1..];
    let Some((kind, is_inside)) = kind(key) else {
        let near = near_miss(key, LLM.keys.iter().map(|known| known.name));
        let hint = near.map(|near| format!("\n  hint: did you mean \"llm.{}.{near}\"?", endpoint.name));
        return problem(format!("unknown setting {dotted:?}{}", hint.unwrap_or_default()));
    };
    // A bare word is a text, because quoting twice in a shell is inconvenient.
    let parsed = text.parse::<toml_edit::Value>().ok().and_then(|value| item_json(&Item::Value(value)));
    let value = match kind {
        Kind::Text | Kind::Choice(_) if !is_inside => {
            parsed.filter(|value| value.is_string() || value.is_object()).unwrap_or_else(|| text.into())
        }
        _ => parsed.unwrap_or_else(|| text.into()),
    };
    let bounded = matches!(kind, Kind::Flag | Kind::Whole(..) | Kind::Share | Kind::Amount);
    if bounded
        && !is_inside
        && let Err(mismatch) = kind.check(&value)
    {
        return problem(format!("{mismatch}, not {text:?}"));
    }
    let mut whole = serde_json::to_value(&*endpoint).unwrap_or_default();
    put(&mut whole, key, value);
    match serde_json::from_value(whole) {
        Ok(changed) => *endpoint = changed,
        Err(error) => problem(format!("{error}, not {text:?}")),
    }
}

/// The kind of a key, and whether the name goes on inside of it, as in `sampling.extra.top_k`.
fn kind(key: &str) -> Option<(Kind, bool)> {
    if let Some(found) = LLM.keys.iter().find(|known| known.name == key) {
        return Some((found.kind, false));
    }
    let holds = |name: &str| key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    let is_map = |known: &&super::schema::Key| matches!(known.kind, Kind::Map(_));
    let found =
        LLM.keys.iter().filter(is_map).find(|known| holds(known.name).is_some_and(|rest| !rest.is_empty()));
    found.map(|found| (found.kind, true))
}

/// Puts a value at a dotted place of a table.
fn put(table: &mut Value, key: &str, value: Value) {
    let mut at = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            at[part] = value;
            return;
        }
        if !at[part].is_object() {
            at[part] = Value::Object(serde_json::Map::new());
        }
        at = &mut at[part];
    }
}
