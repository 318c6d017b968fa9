//! Settings: default < a recipe's own choice < pipeline.toml < environment < flags.
//!
//! [`sections`] lists every key once, with its type, default and meaning; the commented file that `init`
//! writes, the checks, the suggestions and the output of `config` are derived from that list. A stage only
//! sees resolved values.

mod check;
mod json_schema;
mod layer;
mod layers;
mod licence;
#[cfg(test)]
mod mutated;
mod own;
pub mod places;
pub mod profile;
pub mod reference;
pub mod sections;
mod set_endpoint;
mod source;
mod template;

pub use json_schema::json_schema;
pub use layer::Origin;
pub use layers::{Config, Overrides, PAPER, Setting, Written};
pub use profile::Profiles;
pub use riddlemill_schema::hint::{near_miss, toml_string, unknown};
pub use riddlemill_schema::problem::{Problem, Problems};
pub use riddlemill_schema::{Key, Kind, Mismatch, Section};
pub use source::{Source, SourceKind, TABLE, Take};
pub use template::{default_pipeline, own_settings, sample_pipeline};

/// The version of pipeline.toml that this program reads.
pub const VERSION: i64 = 1;
/// The settings file's name.
pub const FILE: &str = "pipeline.toml";
