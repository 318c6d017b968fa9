//! A thousand changed files of settings: what is wrong is said with its place and its key, nothing out of bounds is
//! accepted, and editors are told the same.

use std::fmt::Write as _;

use riddlemill_schema::json::item_json;
use serde_json::Value;

use super::sections::SECTIONS;
use super::{Config, FILE, LLM, Overrides, Problems, json_schema};

const SEEDS: u64 = 1000;

/// Values of every type, at and beyond the bounds of numbers.
const VALUES: [&str; 20] = [
    "-1",
    "0",
    "3",
    "5000000000",
    "nan",
    "inf",
    "-0.1",
    "0.5",
    "1.5",
    "true",
    "\"\"",
    "\"x\"",
    "\"mark\"",
    "[]",
    "[1]",
    "[\"a\", 1]",
    "{}",
    "{ a = 1 }",
    "1979-05-27",
    "9223372036854775807",
];

/// What their own types read: their kinds say less to editors than to the reader.
const OF_TYPES: [&str; 6] = ["licence", "format", "seeds", "site", "refresh", "extra"];

const TABLES: &str = r#"
[[source]]
name = "a"
kind = "thread-dump"
path = "raw/dumps/a.jsonl"
licence = "CC0-1.0"
language = "zh"
take = "jokes"
optional = []

[llm.mine]
provider = "openai"
base_url = "https://api.example.org/v1"
api = "chat"
model = "m"
key_command = []
headers = {}
usd_per_million_in = 0.1
usd_per_million_out = 0.2
free = false
max_reply_mib = 16
concurrency = 4
rpm = 60
tpm = 1000
max_tokens_ceiling = 4096
format = "text"
limit_field = "max_tokens"
system = "system"
stream = false
embedding_batch = 64
size_b = 8

[llm.mine.sampling]
temperature = 0.5
top_p = 0.9
max_tokens = 100
seed = 1
stop = ["a"]
extra = {}

[llm.mine.timeouts]
connect_secs = 5.0

[llm.mine.retries]
max_attempts = 3
leave_after = 5

[[annotator]]
name = "a1"
role = "annotator"
languages = ["zh"]
qualified = false

[[crawl]]
name = "forum"
site = "tieba"
seeds = [{ good_forum = "x" }]
contact = "you@example.org"
refresh = false

[crawl.scope]
max_pages = 5000
comments = true

[crawl.politeness]
delay_secs = 1.0
retries = 3
"#;

struct Draw(u64);

impl Draw {
    fn draw_below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Settings in which every key is written.
fn complete_settings() -> Vec<String> {
    let mut text = String::from("version = 1\n");
    for section in SECTIONS {
        let _ = writeln!(text, "\n[{}]", section.name);
        for key in section.keys {
            let _ = writeln!(text, "{} = {}", key.name, key.default);
        }
    }
    text.push_str(TABLES);
    text.lines().map(str::to_owned).collect()
}

fn load_settings(folder: &std::path::Path, text: &str) -> Result<Config, Problems> {
    std::fs::write(folder.join(FILE), text).unwrap();
    Config::load(folder, &crate::recipe::recipe_names(), &[], &Overrides::default())
}

/// Whether a value is valid by the parts of JSON Schema that are used.
fn is_valid_value(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        _ => value.is_number(),
    };
    let within = |bound: &str, holds: fn(f64, f64) -> bool| {
        let bound = schema[bound].as_f64().zip(value.as_f64());
        bound.is_none_or(|(bound, x)| holds(x, bound))
    };
    let field = |(key, value): (&String, &Value)| match (
        schema["properties"].get(key),
        &schema["additionalProperties"],
    ) {
        (Some(schema), _) => is_valid_value(schema, value),
        (None, Value::Bool(allowed)) => *allowed,
        (None, Value::Null) => true,
        (None, schema) => is_valid_value(schema, value),
    };
    schema["type"].as_str().is_none_or(is)
        && schema["enum"].as_array().is_none_or(|all| all.contains(value))
        && within("minimum", |x, low| x >= low)
        && within("maximum", |x, high| x <= high)
        && value.as_array().into_iter().flatten().all(|item| is_valid_value(&schema["items"], item))
        && value.as_object().into_iter().flatten().all(field)
        && schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .all(|key| value.get(key.as_str().unwrap()).is_some())
}

/// The value of every setting, and of every key of an endpoint, is one of its kind.
fn assert_in_bounds(config: &Config, text: &str) {
    for setting in config.resolved_settings() {
        let (section, name) = setting.key.split_once('.').unwrap();
        let Some(section) = SECTIONS.iter().find(|known| known.name == section) else { continue };
        let key = section.find_key(name).unwrap();
        assert_eq!(key.kind.check_value(&setting.value), Ok(()), "{}\n{text}", setting.key);
    }
    for endpoint in &config.endpoints {
        let endpoint = serde_json::to_value(endpoint).unwrap();
        for (name, key) in LLM.dotted_keys() {
            let value = endpoint.pointer(&format!("/{}", name.replace('.', "/")));
            if let Some(value) = value.filter(|value| !value.is_null()) {
                assert_eq!(key.kind.check_value(value), Ok(()), "{name}\n{text}");
            }
        }
    }
}

fn as_json(text: &str) -> Option<Value> {
    item_json(text.parse::<toml_edit::DocumentMut>().ok()?.as_item())
}

#[test]
fn changed_settings_are_refused_with_place_and_key_or_in_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let lines = complete_settings();
    let schema = json_schema(&crate::recipe::recipe_names());
    assert!(is_valid_value(&schema, &as_json(&lines.join("\n")).unwrap()));
    load_settings(folder.path(), &lines.join("\n")).unwrap();
    let written: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].contains(" = ")).collect();
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..SEEDS {
        let mut draw = Draw(seed);
        let at = written[draw.draw_below(written.len())];
        let (key, value) = lines[at].split_once(" = ").unwrap();
        let mut changed = lines.clone();
        let how = draw.draw_below(8);
        changed[at] = match how {
            0 => format!("{key}x_zz = {value}"),
            1 => format!("{key} ＝ {value}"),
            2 => format!("{key} = 99999999999999999999"),
            _ => format!("{key} = {}", VALUES[draw.draw_below(VALUES.len())]),
        };
        let text = changed.join("\n");
        let json = as_json(&text);
        match load_settings(folder.path(), &text) {
            Ok(config) => {
                accepted += 1;
                assert_in_bounds(&config, &changed[at]);
                assert!(
                    json.is_some_and(|json| is_valid_value(&schema, &json)),
                    "an editor refuses {}",
                    changed[at]
                );
            }
            Err(Problems(problems)) => {
                refused += 1;
                let said = |(place, what): (&str, &str)| {
                    let is_here = place.starts_with(&format!("{FILE}:{}:", at + 1)) || place == "run.recipes";
                    // A letter that looks like `=` is named, because there is no key before it.
                    is_here
                        && (what.contains(key)
                            || how == 1
                            || key == "site" && what.contains("unknown profile"))
                };
                let mut all = problems.iter().map(|problem| (problem.place.as_str(), problem.what.as_str()));
                // `max_chars` below `min_chars` is reported at the latter.
                let is_of_two = |what: &str| what.contains("filter.min_chars") && what.contains(key);
                assert!(
                    all.clone().any(|one| said(one) || is_of_two(one.1)),
                    "{}: {problems:?}",
                    changed[at]
                );
                let of_kind = all.any(|(_, what)| what.contains(": expected ")) && !OF_TYPES.contains(&key);
                if let Some(json) = json.filter(|_| of_kind && problems.len() == 1) {
                    assert!(!is_valid_value(&schema, &json), "an editor accepts {}", changed[at]);
                }
            }
        }
    }
    assert!(refused > 400 && accepted > 50, "{refused} refused, {accepted} accepted");
}
