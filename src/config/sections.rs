//! Every setting there is.

use serde::Deserialize;

use super::schema::{Key, Kind, Section};

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// The tables of pipeline.toml, in the order of the file.
pub const SECTIONS: &[Section] = &[RUN, IMPORT, CLEAN, ANONYMISE, FILTER, DEDUP, DRAFT, REVIEW, RELEASE];

/// What a run does when no flag says otherwise.
pub const RUN: Section = Section {
    name: "run",
    doc: "What a run does when no flag says otherwise.",
    keys: &[
        key("recipes", Kind::Texts, "[]", "The recipes a run makes; empty means every recipe with a source."),
        key(
            "threads",
            Kind::Whole(0, 1024),
            "0",
            "Threads for the offline stages; 0 means one a core. Never changes a result.",
        ),
        key(
            "max_usd",
            Kind::Amount,
            "0",
            "Dollars that one run may spend on all its recipes together; 0 leaves it to the caps of recipes and endpoints.",
        ),
    ],
};

/// Reading dumps.
pub const IMPORT: Section = Section {
    name: "import",
    doc: "Reading dumps: every line becomes a post or is set aside with its reason.",
    keys: &[
        key(
            "max_line_mib",
            Kind::Whole(1, 4096),
            "8",
            "A line or array item over this many MiB is set aside unread.",
        ),
        key(
            "annual_posts",
            Kind::Whole(1, 1_000_000),
            "20",
            "A thread whose owner numbered at least this many main posts is an annual thread.",
        ),
    ],
};

/// Making a post say what its author meant it to say.
pub const CLEAN: Section = Section {
    name: "clean",
    doc: "What a post says once placeholders, numbering and other debris are gone.",
    keys: &[key(
        "join",
        Kind::Choice(&["newline", "title", "content"]),
        "\"newline\"",
        "Title and content of a thread that say different things: both with a line break between, or one of them.",
    )],
};

/// Personal data in texts.
pub const ANONYMISE: Section = Section {
    name: "anonymise",
    doc: "Personal data in texts is replaced by a mark such as [电话]; names and ids of users were hashed at import.",
    keys: &[
        key("links", Kind::Choice(&["mark", "drop", "keep"]), "\"mark\"", "Links in a text."),
        key("names", Kind::Choice(&["mark", "drop", "keep"]), "\"mark\"", "User names and @mentions."),
        key(
            "contacts",
            Kind::Choice(&["mark", "drop", "keep"]),
            "\"mark\"",
            "Phone, e-mail, QQ and WeChat numbers.",
        ),
        key("identity", Kind::Choice(&["mark", "drop", "keep"]), "\"mark\"", "Identity card numbers."),
        key("addresses", Kind::Choice(&["mark", "drop", "keep"]), "\"mark\"", "Street addresses."),
        key(
            "policy",
            Kind::Texts,
            "[\"builtin\"]",
            "Word lists whose terms hold a post for a person: \"builtin\", or paths of lists (a term a line, # comments, !shielded).",
        ),
    ],
};

/// Which posts are of the recipe's kind.
pub const FILTER: Section = Section {
    name: "filter",
    doc: "Which posts are of the recipe's kind.",
    keys: &[
        key(
            "questions",
            Kind::Flag,
            "false",
            "Keep questions only (RuozhiBench 2.2: interrogative sentences).",
        ),
        key("min_chars", Kind::Whole(0, 1_000_000), "4", "Shorter texts are dropped, in characters."),
        key("max_chars", Kind::Whole(1, 1_000_000), "300", "Longer texts are dropped, in characters."),
        key(
            "forum",
            Kind::Flag,
            "true",
            "Drop forum management: rules, notices, activities, summaries of the year.",
        ),
    ],
};

/// Records that are the same.
pub const DEDUP: Section = Section {
    name: "dedup",
    doc: "Records that are the same joke, within a source and across sources.",
    keys: &[
        key(
            "metric",
            Kind::Choice(&["default", "indel", "levenshtein", "jaccard"]),
            "\"default\"",
            "How likeness is measured; \"default\" is the union of predicates that `explain` names.",
        ),
        key(
            "threshold",
            Kind::Share,
            "0.80",
            "From here on two texts are one record; for every metric but \"default\".",
        ),
        key(
            "margin",
            Kind::Share,
            "0.10",
            "Pairs this far under the threshold are listed as borderline, and kept.",
        ),
        key(
            "keep",
            Kind::Choice(&["longest", "best-scored", "earliest"]),
            "\"longest\"",
            "Which record of a pair stays; ties go to the smaller id.",
        ),
        key(
            "normalize",
            Kind::Flag,
            "true",
            "Compare without regard to width, case, script, punctuation and spaces.",
        ),
    ],
};

/// What models draft.
pub const DRAFT: Section = Section {
    name: "draft",
    doc: "What models draft for people to confirm or correct.",
    keys: &[
        key("endpoint", Kind::Text, "\"sample\"", "The [llm.<name>] that is asked."),
        key(
            "translator",
            Kind::Text,
            "\"\"",
            "An [llm.<name>] that is asked for translations instead, such as a LibreTranslate server; \"\" for none.",
        ),
        key(
            "max_usd",
            Kind::Amount,
            "0",
            "Dollars a recipe may ever spend on drafts; 0 leaves it to the endpoint's own max_usd.",
        ),
        key(
            "max_reasks",
            Kind::Whole(0, 10),
            "2",
            "How often a reply that cannot be read is asked for again.",
        ),
    ],
};

/// What people decide.
pub const REVIEW: Section = Section {
    name: "review",
    doc: "What people decide; the steps are named as in review:<step>.",
    keys: &[
        key(
            "draft_ahead",
            Kind::Texts,
            "[]",
            "Steps whose drafts go on, provisionally, while votes are missing.",
        ),
        key(
            "optional",
            Kind::Texts,
            "[]",
            "Steps that hold nothing: what is undecided goes on without an answer.",
        ),
        key(
            "sample",
            Kind::Text,
            "\"raw/sample/votes.jsonl\"",
            "Synthetic votes that stand in where people have not voted; \"\" for none.",
        ),
    ],
};

/// What a release says beside its rows.
pub const RELEASE: Section = Section {
    name: "release",
    doc: "What a release says beside its rows.",
    keys: &[
        key(
            "curator",
            Kind::Text,
            "\"curator\"",
            "The folder with the curator's words (rationale.md, uses.md, limits.md, contact.md, authors.md, funding.md), or with a folder a recipe.",
        ),
        key(
            "licence",
            Kind::Text,
            "\"\"",
            "The licence of the whole, an SPDX identifier; empty means the one that all sources share.",
        ),
        key("url", Kind::Text, "\"\"", "Where the set is published."),
    ],
};

/// Resolved settings of the import stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// MiB.
    pub max_line_mib: u64,
    /// Numbered main posts that make a thread annual.
    pub annual_posts: u64,
}

/// Resolved settings of the clean stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clean {
    /// `newline`, `title` or `content`.
    pub join: String,
}

/// Resolved settings of the anonymise stage.
#[derive(Clone, Debug, Deserialize)]
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
}

/// Resolved settings of the filter stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Keep questions only.
    pub questions: bool,
    /// Characters.
    pub min_chars: usize,
    /// Characters.
    pub max_chars: usize,
    /// Drop forum management.
    pub forum: bool,
}

/// Resolved settings of the dedup stage.
#[derive(Clone, Debug, Deserialize)]
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
    /// Fold before comparing.
    pub normalize: bool,
}

/// Resolved settings of drafts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The name of an `[llm.<name>]`.
    pub endpoint: String,
    /// The name of another for translations, or empty.
    pub translator: String,
    /// Dollars; 0 for no cap of the recipe's own.
    pub max_usd: f64,
    /// Questions asked again for one reply.
    pub max_reasks: u32,
}

/// Resolved settings of reviews.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Steps that go on with drafts.
    pub draft_ahead: Vec<String>,
    /// Steps that hold nothing.
    pub optional: Vec<String>,
    /// A path relative to pipeline.toml; empty for none.
    pub sample: String,
}

/// Resolved settings of a release.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Relative to the workspace.
    pub curator: String,
    /// An SPDX identifier, or empty.
    pub licence: String,
    /// An address, or empty.
    pub url: String,
}

/// Resolved settings of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Recipe names.
    pub recipes: Vec<String>,
    /// 0 means one a core.
    pub threads: usize,
    /// Dollars; 0 for no cap of the run's own.
    pub max_usd: f64,
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn every_default_fits_its_type() {
        let config = Config::defaults();
        config.typed::<Run>(None, "run");
        config.typed::<Import>(None, "import");
        config.typed::<Clean>(None, "clean");
        config.typed::<Anonymise>(None, "anonymise");
        config.typed::<Filter>(None, "filter");
        config.typed::<Dedup>(None, "dedup");
        config.typed::<Draft>(None, "draft");
        config.typed::<Review>(None, "review");
        config.typed::<Release>(None, "release");
    }
}
