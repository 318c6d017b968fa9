//! The settings of the offline stages in `pipeline.toml`. The defaults equal those of a workspace that sets
//! nothing; a test of the settings compares the two.

use serde::Deserialize;

pub use crate::text::language::Language;

/// Resolved settings of the clean stage.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clean {
    /// `newline`, `title` or `content`.
    pub join: String,
    /// The language of posts that do not have one yet; without it, that of each is detected.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Default for Clean {
    fn default() -> Clean {
        Clean { join: "newline".into(), language: None }
    }
}

/// Resolved settings of the anonymise stage.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anonymise {
    /// `mark`, `drop` or `keep`.
    pub links: String,
    /// `mark`, `drop` or `keep`.
    pub names: String,
    /// `mark`, `drop` or `keep`.
    pub contacts: String,
    /// `mark`, `drop` or `keep`.
    pub identity: String,
    /// `mark`, `drop` or `keep`.
    pub addresses: String,
    /// `builtin` or paths.
    pub policy: Vec<String>,
    /// The language of posts that do not have one yet; without it, that of each is detected.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Default for Anonymise {
    fn default() -> Anonymise {
        let mark = || "mark".to_owned();
        Anonymise {
            links: mark(),
            names: mark(),
            contacts: mark(),
            identity: mark(),
            addresses: mark(),
            policy: vec!["builtin".into()],
            language: None,
        }
    }
}

/// Resolved settings of the filter stage.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Whether to keep questions only.
    pub questions: bool,
    /// Fewest characters.
    pub min_chars: usize,
    /// Most characters.
    pub max_chars: usize,
    /// Whether to drop posts that manage the forum.
    pub forum: bool,
    /// The language of posts that do not have one yet; without it, that of each is detected.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { questions: false, min_chars: 4, max_chars: 300, forum: true, language: None }
    }
}

/// Resolved settings of the dedup stage.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dedup {
    /// `default`, `indel`, `levenshtein` or `jaccard`.
    pub metric: String,
    /// 0 to 1.
    pub threshold: f64,
    /// 0 to 1.
    pub margin: f64,
    /// `longest`, `best-scored` or `earliest`.
    pub keep: String,
    /// Whether to fold texts before comparing.
    pub normalize: bool,
    /// MiB that a join may use before it works on disk. Never changes a result.
    pub memory_mib: u64,
    /// The language of posts that do not have one yet; without it, that of each is detected.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Default for Dedup {
    fn default() -> Dedup {
        Dedup {
            metric: "default".into(),
            threshold: 0.8,
            margin: 0.1,
            keep: "longest".into(),
            normalize: true,
            memory_mib: 4096,
            language: None,
        }
    }
}
