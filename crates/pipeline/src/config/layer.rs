//! The values of one layer of settings with their origins.

use std::collections::BTreeMap;

use serde_json::Value;

use super::FILE;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
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

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Recipe => f.write_str("recipe"),
            Origin::Profile => f.write_str("profile"),
            Origin::File(line) => write!(f, "{FILE}:{line}"),
            Origin::Env(name) => f.write_str(name),
            Origin::Flag => f.write_str("flag"),
        }
    }
}

/// Values by dotted key: `dedup.metric`, `recipe.flub.dedup.metric`.
pub(super) type Layer = BTreeMap<String, (Value, Origin)>;
