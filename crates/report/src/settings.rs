//! The settings in force with their origins, and what the tables and keys of pipeline.toml mean.

use serde::Serialize;
use serde_json::Value;

use crate::config::{Config, Key, Section, Source};
use riddlemill_benchmarks::setting::Setting;

/// The settings in force.
#[derive(Clone, Debug, Serialize)]
pub struct SettingsReport<'c> {
    pub settings: Vec<SettingRow>,
    pub sources: &'c [Source],
}

/// A setting in force.
#[derive(Clone, Debug, Serialize)]
pub struct SettingRow {
    pub key: String,
    pub value: Value,
    pub origin: String,
}

/// A table of pipeline.toml.
#[derive(Clone, Debug, Serialize)]
pub struct TableRow {
    pub table: &'static str,
    pub about: &'static str,
}

/// A key of a table.
#[derive(Clone, Debug, Serialize)]
pub struct KeyRow {
    pub key: String,
    pub about: &'static str,
    pub expected: String,
    pub default: KeyDefault,
    /// The default as in the file; empty for a key that may be missing, or must not be.
    #[serde(skip)]
    pub written: &'static str,
}

/// The default of a key.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum KeyDefault {
    /// As in the file.
    Written(&'static str),
    /// Of a setting that a benchmark declares.
    Declared(Value),
}

/// A table of pipeline.toml with its keys.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedTable {
    #[serde(flatten)]
    pub table: TableRow,
    pub keys: Vec<KeyRow>,
}

/// The settings that a benchmark declares.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedRecipe {
    pub recipe: &'static str,
    pub keys: Vec<KeyRow>,
}

impl<'c> SettingsReport<'c> {
    /// The settings of a workspace.
    pub fn from_config(config: &'c Config) -> SettingsReport<'c> {
        let row = |setting: crate::config::Setting| SettingRow {
            key: setting.key,
            value: setting.value,
            origin: setting.origin.to_string(),
        };
        SettingsReport {
            settings: config.resolved_settings().into_iter().map(row).collect(),
            sources: &config.sources,
        }
    }
}

impl From<&Section> for TableRow {
    fn from(table: &Section) -> TableRow {
        TableRow { table: table.name, about: table.doc }
    }
}

impl From<(String, &Key)> for KeyRow {
    fn from((name, key): (String, &Key)) -> KeyRow {
        KeyRow {
            key: name,
            about: key.doc,
            expected: key.kind.describe_expected(),
            default: KeyDefault::Written(key.default),
            written: key.default,
        }
    }
}

impl From<&Setting> for KeyRow {
    fn from(own: &Setting) -> KeyRow {
        KeyRow {
            key: format!("{}.{}", own.section, own.key.name),
            about: own.key.doc,
            expected: own.key.kind.describe_expected(),
            default: KeyDefault::Declared(own.default.clone()),
            written: own.key.default,
        }
    }
}
