//! Settings: default < a recipe's own choice < pipeline.toml < environment < flags.
//!
//! [`sections`] lists every key once, with its type, default and meaning; the commented file that `init`
//! writes, the checks, the suggestions and the output of `config` are derived from that list. A stage only
//! sees resolved values.

mod check;
mod layers;
mod licence;
pub mod places;
pub mod profile;
pub mod sections;
mod set_endpoint;
mod source;
mod template;
mod text;

pub use layers::{Config, ExplicitSetting, Overrides, PAPER, Setting};
pub use profile::Profiles;
pub use riddlemill_schema::hint::{near_miss, toml_string, unknown};
pub use riddlemill_schema::problem::{Problem, Problems};
pub use riddlemill_schema::{Key, Kind, Mismatch, Section};
pub use source::{Source, SourceKind, TABLE, Take};
pub use template::{default_pipeline, json_schema, own_settings, sample_pipeline};

use std::collections::BTreeMap;

use riddlemill_harvest::crawl;
use riddlemill_llm::Endpoint;
use riddlemill_review::Annotator;
use riddlemill_schema::Table;
use serde_json::Value;
use source::{PUBLISHED, SOURCE};

/// The version of pipeline.toml that this program reads.
pub const VERSION: i64 = 1;

/// The settings file's name.
pub const FILE: &str = "pipeline.toml";

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// Built in.
    Default,
    /// The recipe's own default, from its paper.
    Recipe,
    /// The paper's value where the recipe's own default differs: `run.profile = "paper"`.
    Profile,
    /// pipeline.toml, at this line.
    File(usize),
    /// An environment variable.
    Env(String),
    Flag,
}

impl std::fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueOrigin::Default => f.write_str("default"),
            ValueOrigin::Recipe => f.write_str("recipe"),
            ValueOrigin::Profile => f.write_str("profile"),
            ValueOrigin::File(line) => write!(f, "{FILE}:{line}"),
            ValueOrigin::Env(name) => f.write_str(name),
            ValueOrigin::Flag => f.write_str("flag"),
        }
    }
}

/// Values by dotted key: `dedup.metric`, `recipe.flub.dedup.metric`.
type Layer = BTreeMap<String, (Value, ValueOrigin)>;

/// The settings of a recipe.
fn settings_of(recipe: &str) -> &'static [riddlemill_benchmarks::setting::Setting] {
    riddlemill_benchmarks::find_benchmark(recipe)
        .map(|found| found.own.declared.as_slice())
        .unwrap_or_default()
}

/// The keys that a recipe adds to a table.
fn own_keys(recipe: &str, section: &str) -> impl Iterator<Item = Key> {
    settings_of(recipe).iter().filter(move |own| own.section == section).map(|own| own.key)
}

/// The tables of a recipe's settings, each once.
fn own_sections(recipe: &str) -> Vec<&'static str> {
    let mut sections: Vec<&str> = settings_of(recipe).iter().map(|setting| setting.section).collect();
    sections.dedup();
    sections
}

/// `[llm.<name>]`.
pub const LLM: Section = Endpoint::SECTION;

/// Tables that may occur several times: `[[source]]`, `[llm.<name>]`, `[[annotator]]`, `[[crawl]]`.
pub const TABLES: &[Section] =
    &[SOURCE, PUBLISHED, LLM, Annotator::SECTION, <crawl::settings::Source as Table>::SECTION];

/// A table of settings, or of those that may occur several times, by its name.
pub fn find_section(name: &str) -> Option<&'static Section> {
    sections::SECTIONS.iter().chain(TABLES).find(|table| table.name == name)
}

#[cfg(test)]
mod mutated;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for table in TABLES {
            for (name, key) in table.dotted_keys() {
                let default = key.default_value().filter(|default| key.kind.check_value(default).is_err());
                assert_eq!(default, None, "[{}] {name}", table.name);
                assert!(!key.is_required || key.default.is_empty(), "[{}] {name}", table.name);
            }
        }
    }
}
