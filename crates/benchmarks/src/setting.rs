//! `[setting.SECTION.KEY]`: a benchmark's own settings. A workspace sets them under `[recipe.NAME.SECTION]`;
//! expressions of its steps use them as `settings.SECTION.KEY`. Where a folder states a number, it may name a setting instead.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use minijinja::value::{Object, Serde, Value};
use riddlemill_schema::{Key, Kind};
use serde_json::Value as Json;

use crate::reader::Keys;

/// A setting that a benchmark declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its table, below `[recipe.NAME]`.
    pub section: &'static str,
    /// Its name there, its type, its default in TOML and its description.
    pub key: Key,
    /// The default's value.
    pub default: Json,
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
    pub fn find_setting(&self, section: &str, name: &str) -> Option<&Setting> {
        self.declared.iter().find(|setting| (setting.section, setting.key.name) == (section, name))
    }

    /// Sets the workspace's values, by section and name. Others keep their defaults.
    pub fn set_values(&self, values: &BTreeMap<(&str, &str), Json>) {
        let mut tables: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
        for setting in &self.declared {
            let value = values.get(&(setting.section, setting.key.name)).unwrap_or(&setting.default);
            let value = Value::from(Serde(value.clone()));
            tables.entry(setting.section).or_default().insert(setting.key.name, value);
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
pub(crate) fn parse_settings(values: Arc<SettingValues>, keys: &Keys<'_>) -> Settings {
    let mut declared = Vec::new();
    keys.read_table("setting", |sections| {
        for section in sections.key_names() {
            declared
                .extend(sections.read_named_tables(section, |name, keys| parse_setting(section, name, keys)));
        }
    });
    let settings = Settings { declared: declared.into_iter().flatten().collect(), given: values };
    // Expressions may be evaluated before a workspace gives its values: then the defaults count.
    settings.set_values(&BTreeMap::new());
    settings
}

/// `None` if there is a problem, which is reported.
fn parse_setting(section: &'static str, name: &'static str, keys: &Keys<'_>) -> Option<Setting> {
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if ![section, name].into_iter().all(plain) {
        keys.report_problem(
            "type",
            format!("{section}.{name}: a setting's name has small letters, digits and `_`"),
        );
    }
    let about = keys.require_text("about");
    let values = keys.read_texts("values");
    let (low, high) = (keys.read_number("min"), keys.read_number("max"));
    #[derive(Clone, Copy, PartialEq)]
    enum SettingType {
        Flag,
        Integer,
        Number,
        Text,
        Texts,
    }
    let words = [
        ("flag", SettingType::Flag),
        ("integer", SettingType::Integer),
        ("number", SettingType::Number),
        ("text", SettingType::Text),
        ("list of text", SettingType::Texts),
    ];
    if !keys.has_key("type") {
        keys.require_text("type");
    }
    let word = keys.one_of("type", &words)?;
    if !matches!(word, SettingType::Integer | SettingType::Number) {
        for key in ["min", "max"].into_iter().filter(|key| keys.has_key(key)) {
            keys.report_problem(
                key,
                format!("`{key}` can only be used with the types \"integer\" and \"number\""),
            );
        }
    }
    if word != SettingType::Text && values.is_some() {
        keys.report_problem("values", "`values` can only be used with the type \"text\"");
    }
    let kind = match word {
        SettingType::Flag => Kind::Flag,
        SettingType::Integer => {
            Kind::Whole(low.map_or(i64::MIN, |low| low as i64), high.map_or(i64::MAX, |high| high as i64))
        }
        SettingType::Number => Kind::Number(low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX)),
        SettingType::Text => values.map_or(Kind::Text, |values| Kind::Choice(values.leak())),
        SettingType::Texts => Kind::Texts,
    };
    if low.zip(high).is_some_and(|(low, high)| low > high) {
        keys.report_problem("max", "`max` is below `min`");
    }
    if !keys.has_key("default") {
        keys.report_problem("type", "`default` is missing: the value when a workspace sets none");
    }
    let (default, written) = keys.read_json("default")?;
    if let Err(mismatch) = kind.check_value(&default) {
        keys.report_problem("default", format!("default: {mismatch}"));
    }
    let key = Key { name, kind, default: written, doc: about, is_required: false };
    Some(Setting { section, key, default })
}

/// A setting: its table and key.
pub type SettingName = (&'static str, &'static str);

/// A number, or the setting that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Fixed(u32),
    /// As this setting says.
    Setting(SettingName),
}

/// The setting that a key names; `None` where the key is not there, `Some(None)` where it names none.
pub(crate) fn setting_at(keys: &Keys<'_>, key: &str, like: &str) -> Option<Option<SettingName>> {
    let named = keys.read_text(key)?;
    let parted = named.split_once('.');
    if parted.is_none() {
        keys.report_problem(key, format!("{named:?} is not a setting; an example is {like:?}"));
    }
    Some(parted)
}

/// The number of replies under a key, or the setting with it.
pub(crate) fn replies_at(keys: &Keys<'_>, key: &str) -> Option<Count> {
    if keys.is_text(key) {
        return setting_at(keys, key, "respond.samples").flatten().map(Count::Setting);
    }
    let several = keys.read_count(key)?;
    if !(1..=100).contains(&several) {
        keys.report_problem(key, "between 1 and 100 replies");
    }
    Some(Count::Fixed(u32::try_from(several).unwrap_or(1)))
}
