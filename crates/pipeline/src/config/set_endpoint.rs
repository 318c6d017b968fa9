//! `--set llm.<name>.<key>=…`, and the same from the environment: settings of an endpoint for one call.

use std::fs;
use std::path::Path;

use riddlemill_schema::json::toml_value;
use riddlemill_schema::{Kind, Reader};
use serde_json::Value;

use super::{FILE, LLM, Problem, near_miss, unknown};
use riddlemill_llm::Endpoint;

/// The prefix of these settings.
const TABLE: &str = "llm.";

/// Whether a dotted name is a setting of an endpoint.
pub(super) fn is_of_endpoint(dotted: &str) -> bool {
    dotted.starts_with(TABLE)
}

/// Overrides one setting of one endpoint. `same` says whether a name in pipeline.toml is the one at the
/// beginning of the dotted rest, which in the environment is written in capitals.
pub(super) fn override_setting(
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
    let Some((kind, is_inside)) = kind_of_key(key) else {
        let known = LLM.dotted_keys();
        let near = near_miss(key, known.iter().map(|(name, _)| name.as_str()));
        let hint = near.map(|near| format!("\n  hint: did you mean \"llm.{}.{near}\"?", endpoint.name));
        return problem(format!("unknown setting {dotted:?}{}", hint.unwrap_or_default()));
    };
    // A bare word is a text, because quoting twice in a shell is inconvenient.
    let parsed = toml_value(text);
    let value = match kind {
        kind if kind.is_word() && !is_inside => {
            parsed.filter(Value::is_string).unwrap_or_else(|| text.into())
        }
        _ => parsed.unwrap_or_else(|| text.into()),
    };
    if !is_inside && let Err(mismatch) = kind.check_value(&value) {
        return problem(format!("{mismatch}, not {text:?}"));
    }
    let mut whole = serde_json::to_value(&*endpoint).unwrap_or_default();
    insert_at_key(&mut whole, key, value);
    match serde_json::from_value(whole) {
        Ok(changed) => *endpoint = changed,
        Err(error) => problem(format!("{error}, not {text:?}")),
    }
}

/// Endpoints that nothing can be asked of, each with what it lacks. Flags and the environment may set it.
pub(super) fn list_lacking(root: &Path, endpoints: &[Endpoint]) -> Vec<Problem> {
    let lacking: Vec<&Endpoint> =
        endpoints.iter().filter(|endpoint| !endpoint.needed_settings().is_empty()).collect();
    let text = match lacking.is_empty() {
        true => String::new(),
        false => fs::read_to_string(root.join(FILE)).unwrap_or_default(),
    };
    let reader = Reader::new(FILE, &text);
    let line = |name: &str| {
        let span = reader.read_document(|file| file.get("llm")?.get(name)?.span()).flatten();
        reader.line_of_span(span)
    };
    let problem = |endpoint: &Endpoint| Problem {
        place: format!("{FILE}:{}", line(&endpoint.name)),
        what: format!(
            "[llm.{}] lacks {}: nothing can be asked of it",
            endpoint.name,
            endpoint.needed_settings().join(" and ")
        ),
    };
    lacking.into_iter().map(problem).collect()
}

/// The kind of a key, and whether the name goes on inside of it, as in `sampling.extra.top_k`.
fn kind_of_key(key: &str) -> Option<(Kind, bool)> {
    let known = LLM.dotted_keys();
    if let Some((_, found)) = known.iter().find(|(name, _)| name == key) {
        return Some((found.kind, false));
    }
    let goes_on = |name: &str| key.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    let found = known.iter().find(|(name, known)| {
        matches!(known.kind, Kind::Words | Kind::Form(_))
            && goes_on(name).is_some_and(|rest| !rest.is_empty())
    });
    found.map(|(_, found)| (found.kind, true))
}

/// Puts a value at a dotted place of a table.
fn insert_at_key(table: &mut Value, key: &str, value: Value) {
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
