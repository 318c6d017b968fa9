//! `[setting.SECTION.KEY]`: a benchmark's own settings. A workspace sets them under `[recipe.NAME.SECTION]`;
//! expressions of its steps use them as `settings.SECTION.KEY`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::value::{Object, Serde, Value};
use serde_json::Value as Json;

use crate::reader::Keys;

/// A setting that a benchmark declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its table, below `[recipe.NAME]`.
    pub section: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    pub default: Json,
    /// The default's TOML source.
    pub written: &'static str,
    /// A description, in one sentence.
    pub about: &'static str,
}

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// true or false.
    Flag,
    /// A whole number in bounds, both included.
    Integer(i64, i64),
    /// A number in bounds, both included.
    Number(f64, f64),
    /// Any text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A list of texts.
    Texts,
}

/// The settings of one benchmark, with the workspace's values.
#[derive(Debug, Default)]
pub struct Settings {
    /// In the order of the file.
    pub declared: Vec<Setting>,
    given: Arc<SettingValues>,
}

impl Settings {
    /// The setting of a table and a name.
    pub fn find(&self, section: &str, name: &str) -> Option<&Setting> {
        self.declared.iter().find(|setting| (setting.section, setting.name) == (section, name))
    }

    /// Sets the workspace's values, by section and name. Others keep their defaults.
    pub fn give(&self, values: &BTreeMap<(&str, &str), Json>) {
        let mut tables: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
        for setting in &self.declared {
            let value = values.get(&(setting.section, setting.name)).unwrap_or(&setting.default);
            let value = Value::from(Serde(value.clone()));
            tables.entry(setting.section).or_default().insert(setting.name, value);
        }
        *self.given.0.write().unwrap_or_else(PoisonError::into_inner) = Value::from(Serde(tables));
    }
}

/// Their name in expressions.
pub(crate) const NAME: &str = "settings";

/// The values by section, replaced as a whole when the workspace's settings are reloaded.
#[derive(Default)]
pub(crate) struct SettingValues(RwLock<Value>);

impl fmt::Debug for SettingValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl Object for SettingValues {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let given = self.0.read().unwrap_or_else(PoisonError::into_inner);
        given.get_item(key).ok().filter(|value| !value.is_undefined())
    }
}

/// Parses `[setting]` of a benchmark.toml.
pub(crate) fn read(given: Arc<SettingValues>, keys: &Keys<'_>) -> Settings {
    let mut declared = Vec::new();
    keys.table("setting", |sections| {
        for section in sections.names() {
            declared.extend(sections.each(section, |name, keys| setting(section, name, keys)));
        }
    });
    let settings = Settings { declared: declared.into_iter().flatten().collect(), given };
    // Expressions may be evaluated before a workspace gives its values: then the defaults count.
    settings.give(&BTreeMap::new());
    settings
}

/// `None` if there is a problem, which is reported.
fn setting(section: &'static str, name: &'static str, keys: &Keys<'_>) -> Option<Setting> {
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if ![section, name].into_iter().all(plain) {
        keys.problem("type", format!("{section}.{name}: a setting's name has small letters, digits and `_`"));
    }
    let about = keys.needed("about");
    let values = keys.texts("values");
    let (low, high) = (keys.number("min"), keys.number("max"));
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Flag,
        Integer,
        Number,
        Text,
        Texts,
    }
    let words = [
        ("flag", Word::Flag),
        ("integer", Word::Integer),
        ("number", Word::Number),
        ("text", Word::Text),
        ("list of text", Word::Texts),
    ];
    if !keys.has("type") {
        keys.needed("type");
    }
    let word = keys.one_of("type", &words)?;
    if !matches!(word, Word::Integer | Word::Number) {
        for key in ["min", "max"].into_iter().filter(|key| keys.has(key)) {
            keys.problem(key, format!("`{key}` can only be used with the types \"integer\" and \"number\""));
        }
    }
    if word != Word::Text && values.is_some() {
        keys.problem("values", "`values` can only be used with the type \"text\"");
    }
    let kind = match word {
        Word::Flag => Kind::Flag,
        Word::Integer => {
            Kind::Integer(low.map_or(i64::MIN, |low| low as i64), high.map_or(i64::MAX, |high| high as i64))
        }
        Word::Number => Kind::Number(low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX)),
        Word::Text => values.map_or(Kind::Text, |values| Kind::OneOf(values.leak())),
        Word::Texts => Kind::Texts,
    };
    if low.zip(high).is_some_and(|(low, high)| low > high) {
        keys.problem("max", "`max` is below `min`");
    }
    if !keys.has("default") {
        keys.problem("type", "`default` is missing: the value when a workspace sets none");
    }
    let (default, written) = keys.json("default")?;
    if !kind.holds(&default) {
        keys.problem("default", format!("default: expected {}", kind.expected()));
    }
    Some(Setting { section, name, kind, default, written, about })
}

impl Kind {
    /// Whether a value is valid.
    pub fn holds(self, value: &Json) -> bool {
        match (self, value) {
            (Kind::Flag, Json::Bool(_)) | (Kind::Text, Json::String(_)) => true,
            (Kind::Integer(low, high), Json::Number(n)) => {
                n.as_i64().is_some_and(|n| (low..=high).contains(&n))
            }
            (Kind::Number(low, high), Json::Number(n)) => {
                n.as_f64().is_some_and(|x| (low..=high).contains(&x))
            }
            (Kind::OneOf(words), Json::String(text)) => words.contains(&text.as_str()),
            (Kind::Texts, Json::Array(list)) => list.iter().all(Json::is_string),
            _ => false,
        }
    }

    /// The valid values, as a fragment that follows `expected `.
    pub fn expected(self) -> String {
        let bounds = |low: Option<String>, high: Option<String>| match (low, high) {
            (None, None) => String::new(),
            (Some(low), None) => format!(" of at least {low}"),
            (None, Some(high)) => format!(" of at most {high}"),
            (Some(low), Some(high)) => format!(" from {low} to {high}"),
        };
        let bound = |x: f64| (x != f64::MIN && x != f64::MAX).then(|| x.to_string());
        match self {
            Kind::Flag => "true or false".into(),
            Kind::Integer(low, high) => {
                let low = (low != i64::MIN).then(|| low.to_string());
                let high = (high != i64::MAX).then(|| high.to_string());
                format!("a whole number{}", bounds(low, high))
            }
            Kind::Number(low, high) => format!("a number{}", bounds(bound(low), bound(high))),
            Kind::Text => "a text in quotes".into(),
            Kind::OneOf(words) => format!("one of {}", words.join(", ")),
            Kind::Texts => "a list of texts, [\"…\", \"…\"]".into(),
        }
    }
}
