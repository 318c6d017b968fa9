//! All settings.

use serde::Deserialize;

use super::schema::{Key, Kind, Section};
pub use riddlemill_text::offline::settings::{Anonymise, Clean, Dedup, Filter, Language};

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// The tables of pipeline.toml, in the order of the file.
pub const SECTIONS: &[Section] = &[
    RUN, IMPORT, TEXT, CLEAN, ANONYMISE, FILTER, DEDUP, EMBEDDINGS, SAME_JOKE, DRAFT, REVIEW, RESPOND, JUDGE,
    OPTIONS, PUZZLES, RELEASE, SITE,
];

/// Defaults for `run`; flags override them.
pub const RUN: Section = Section {
    name: "run",
    doc: "Defaults for `run`; flags override them.",
    keys: &[
        key("recipes", Kind::Texts, "[]", "The recipes a run makes; empty means every recipe with a source."),
        key(
            "threads",
            Kind::Whole(0, 1024),
            "0",
            "Threads for the offline stages; 0 means one per core. Never changes a result.",
        ),
        key("disk_check", Kind::Flag, "true", "Refuse a run if the disk has too little free space."),
        key(
            "max_usd",
            Kind::Amount,
            "0",
            "The most dollars that one run may spend on all its recipes; 0 means only the caps of recipes and endpoints apply.",
        ),
        key(
            "from_pages",
            Kind::Choice(&["curator", "reader", "nobody"]),
            "\"curator\"",
            "Who may start a run from the pages of `serve`, and confirm its cost there.",
        ),
        key(
            "profile",
            Kind::Choice(&["own", "paper"]),
            "\"own\"",
            "\"paper\": every recipe follows its paper where the default differs (docs/papers.md), with its prompts and ballots; settings in this file take precedence.",
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
        key(
            "common_words",
            Kind::Texts,
            "[]",
            "User names that are also common words and are therefore not marked in other users' posts: paths of lists, one word per line, # comments.",
        ),
    ],
};

/// The language of a recipe's posts.
pub const TEXT: Section = Section {
    name: "text",
    doc: "The language of a recipe's posts. It is a column of every record, and selects the rules of clean, anonymise, filter and dedup.",
    keys: &[key(
        "language",
        Kind::Choice(LANGUAGES),
        "\"auto\"",
        "\"auto\": each post has the language of its source, else that of its own text. \"zh\", \"en\" or \"und\" (neither): all posts of sources that state no `language`.",
    )],
};

/// The languages that text stages support.
const LANGUAGES: &[&str] = &["auto", "zh", "en", "und"];

/// Cleaning of posts.
pub const CLEAN: Section = Section {
    name: "clean",
    doc: "Removes placeholders, numbering and other debris from posts.",
    keys: &[key(
        "join",
        Kind::Choice(&["newline", "title", "content"]),
        "\"newline\"",
        "The text of a thread whose title and content differ: both with a line break between them, or one of the two.",
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
        key(
            "identity",
            Kind::Choice(&["mark", "drop", "keep"]),
            "\"mark\"",
            "Identity numbers (China, USA), and numbers of bank accounts (IBAN) and payment cards.",
        ),
        key("addresses", Kind::Choice(&["mark", "drop", "keep"]), "\"mark\"", "Street addresses."),
        key(
            "policy",
            Kind::Texts,
            "[\"builtin\"]",
            "Word lists; a post with a listed term waits for a person. \"builtin\", or paths of lists (one term per line, # comments, !shielded).",
        ),
    ],
};

/// Which posts the recipe keeps.
pub const FILTER: Section = Section {
    name: "filter",
    doc: "Which posts the recipe keeps.",
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

/// Merging of equal records.
pub const DEDUP: Section = Section {
    name: "dedup",
    doc: "Records that are the same joke, within a source and across sources.",
    keys: &[
        key(
            "metric",
            Kind::Choice(&["default", "indel", "levenshtein", "jaccard", "exact"]),
            "\"default\"",
            "The similarity metric; \"default\" combines the predicates that `explain` names, \"exact\" finds only equal texts and leaves the rest to embeddings.",
        ),
        key(
            "threshold",
            Kind::Share,
            "0.80",
            "The score from which two texts count as one record; not used by the metric \"default\".",
        ),
        key(
            "margin",
            Kind::Share,
            "0.10",
            "Pairs up to this far below the threshold are listed as borderline, and both are kept.",
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
            "Ignore width, case, script, punctuation and spaces when comparing.",
        ),
        key(
            "memory_mib",
            Kind::Whole(16, 1_048_576),
            "4096",
            "MiB of memory for finding near duplicates; with more posts the search works on disk. Never changes a result.",
        ),
    ],
};

/// Similarity by embeddings.
pub const EMBEDDINGS: Section = Section {
    name: "embeddings",
    doc: "Near duplicates among posts by a model's embeddings, in addition to dedup.metric. If a model is named, `run` asks it in a step before dedup, for at most 100000 posts. Puzzles have settings of their own, puzzles.embeddings.",
    keys: &[
        key("endpoint", Kind::Text, "\"\"", "The [llm.<name>] that embeds posts; \"\" for none."),
        key(
            "cosine",
            Kind::Share,
            "0.92",
            "The cosine from which two posts count as one, if no veto of the default similarity holds.",
        ),
    ],
};

/// Judgements of pairs.
pub const SAME_JOKE: Section = Section {
    name: "same_joke",
    doc: "What a model says of borderline pairs of posts: are these one joke? If a model is named, `run` asks it in a step before dedup, for at most 100000 posts. `decide one` and `decide two` have the last word.",
    keys: &[key(
        "endpoint",
        Kind::Text,
        "\"\"",
        "The [llm.<name>] that judges borderline pairs; \"\" for none, so that only people do.",
    )],
};

/// Drafts by models.
pub const DRAFT: Section = Section {
    name: "draft",
    doc: "What models draft for people to confirm or correct.",
    keys: &[
        key("endpoint", Kind::Text, "\"sample\"", "The [llm.<name>] that writes drafts."),
        key(
            "translator",
            Kind::Text,
            "\"\"",
            "Another [llm.<name>] for translations, such as a LibreTranslate server; \"\" for none.",
        ),
        key(
            "opponents",
            Kind::Texts,
            "[]",
            "The [llm.<name>]s whose explanations are compared with a person's (Chumor 3).",
        ),
        key(
            "max_usd",
            Kind::Amount,
            "0",
            "The most dollars that a recipe may ever spend on drafts; 0 means only the endpoint's max_usd applies.",
        ),
        key(
            "max_reasks",
            Kind::Whole(0, 10),
            "2",
            "How often a request is repeated if its reply cannot be parsed.",
        ),
        key(
            "optional",
            Kind::Steps,
            "[]",
            "Steps that continue without a draft if the reply is missing; people then write from scratch.",
        ),
        key("skip", Kind::Steps, "[]", "Steps without drafts, where people write from scratch."),
        key(
            "unseen",
            Kind::Flag,
            "false",
            "Also request drafts that no ballot shows (FLUB's wrong answers); previews and review.draft_ahead always request them.",
        ),
        key(
            "prompts",
            Kind::Choice(&["own", "paper", "zh"]),
            "\"own\"",
            "The wording of the prompts: \"own\" encloses texts in delimiters; \"paper\" uses the prompts that a paper prints (`prompts list`) and parses choices as its authors do; \"zh\" is \"own\" in Chinese, where available.",
        ),
    ],
};

/// Decisions by people.
pub const REVIEW: Section = Section {
    name: "review",
    doc: "Ballots; a step is named as in review:<step>.",
    keys: &[
        key(
            "draft_ahead",
            Kind::Steps,
            "[]",
            "Steps that continue with drafts, provisionally, while votes are missing.",
        ),
        key(
            "optional",
            Kind::Steps,
            "[]",
            "Steps that hold no record: undecided records continue without an answer.",
        ),
        key(
            "wanted",
            Kind::Steps,
            "[]",
            "Ballots that are used only if listed here: RuozhiBench's suitability, FLUB's final.",
        ),
        key("blind", Kind::Steps, "[]", "Steps whose ballots do not show the draft."),
        key(
            "preview",
            Kind::Flag,
            "false",
            "Go through the whole recipe on drafts while votes are missing, as `run --preview` does; its rows are provisional.",
        ),
        key(
            "sample",
            Kind::Text,
            "\"raw/sample/votes.jsonl\"",
            "Synthetic votes, used where people have not voted; \"\" for none.",
        ),
        key(
            "gold",
            Kind::Text,
            "\"\"",
            "A folder of known answers, <recipe>.<step>.jsonl as in a ballot, that are mixed into everybody's work when it is assigned; \"\" for none.",
        ),
        key("gold_share", Kind::Share, "0.1", "The share of known items in each person's work."),
        key(
            "gold_seed",
            Kind::Whole(0, i64::MAX),
            "0",
            "The seed that draws which known items a person gets.",
        ),
        key(
            "gold_bound",
            Kind::Share,
            "0.0",
            "Whoever answers at least ten known items so that the whole interval of their share of right answers lies below this gets no more work until a manager says so; 0 stops nobody.",
        ),
    ],
};

/// Answers of models.
pub const RESPOND: Section = Section {
    name: "respond",
    doc: "What models answer to every question and every paired normal question (RuozhiBench 3.1).",
    keys: &[
        key("endpoints", Kind::Texts, "[]", "The [llm.<name>]s that answer."),
        key("samples", Kind::Whole(1, 100), "1", "Answers of each model to each question."),
        key(
            "min_models",
            Kind::Whole(0, 10_000),
            "0",
            "How many models must have answered a question before it continues; 0: all.",
        ),
        key(
            "sample",
            Kind::Text,
            "\"raw/sample/responses.jsonl\"",
            "Synthetic responses of the sample; \"\" for none. Put responses made elsewhere into raw/responses/*.jsonl.",
        ),
    ],
};

/// How answers are rated.
pub const JUDGE: Section = Section {
    name: "judge",
    doc: "How judges rate answers, from 0 to 4 (RuozhiBench 3.1).",
    keys: &[
        key("endpoints", Kind::Texts, "[]", "The [llm.<name>]s that judge."),
        key("repeats", Kind::Whole(1, 100), "1", "Ratings of each judge for each answer."),
        key(
            "min_judges",
            Kind::Whole(0, 1000),
            "0",
            "How many judges must have rated an answer before it continues; 0: all that may rate it.",
        ),
        key(
            "barred",
            Kind::Texts,
            "[]",
            "Judges that must not rate some models, as \"endpoint: model\"; * matches anything.",
        ),
    ],
};

/// Options to choose from.
pub const OPTIONS: Section = Section {
    name: "options",
    doc: "Random choices: the order of options, the sides of a comparison.",
    keys: &[key(
        "seed",
        Kind::Whole(0, i64::MAX),
        "1",
        "The seed of all random choices; the choices for a record depend on nothing else in the input.",
    )],
};

/// Puzzles and their groups.
pub const PUZZLES: Section = Section {
    name: "puzzles",
    doc: "English puzzles: distractors of words, and the groups of three.",
    keys: &[
        key(
            "wordnet",
            Kind::Text,
            "\"/usr/share/wordnet\"",
            "The folder with WordNet's database files (Debian: wordnet-base); \"\" for none, and models write all distractors.",
        ),
        key(
            "premises",
            Kind::Text,
            "\"raw/premises/*.jsonl\"",
            "Files that replace COMET and Wikipedia's categories (docs/papers.md describes their lines); \"\" for none.",
        ),
        key(
            "endpoint",
            Kind::Text,
            "\"\"",
            "The [llm.<name>] that lists premises and writes distractors; \"\" for draft.endpoint.",
        ),
        key(
            "embeddings",
            Kind::Text,
            "\"\"",
            "The [llm.<name>] whose embeddings of questions are additional evidence for duplicates; \"\" for none.",
        ),
        key(
            "cosine",
            Kind::Share,
            "0.92",
            "The cosine from which the embeddings of two questions count as near.",
        ),
        key(
            "none_share",
            Kind::Share,
            "0.06",
            "The share of groups in which \"None of above.\" is right (BrainTeaser 3.3).",
        ),
        key(
            "train_share",
            Kind::Share,
            "0",
            "The share of groups that are marked for training, the rest for testing; 0 marks none.",
        ),
    ],
};

/// What a release contains in addition to its rows.
pub const RELEASE: Section = Section {
    name: "release",
    doc: "What a release contains in addition to its rows.",
    keys: &[
        key(
            "curator",
            Kind::Text,
            "\"curator\"",
            "The folder with the curator's texts (rationale.md, uses.md, limits.md, contact.md, authors.md, funding.md), or with one folder per recipe.",
        ),
        key(
            "licence",
            Kind::Licence,
            "\"\"",
            "The licence of the whole set, an SPDX identifier; empty means the licence that all sources share. A release needs one.",
        ),
        key("url", Kind::Text, "\"\"", "Where the set is published."),
        key(
            "profile",
            Kind::Choice(&["paper", "strict"]),
            "\"paper\"",
            "\"strict\": a set whose answers can be guessed beyond these limits cannot be a stable release; \"paper\": the card only reports it.",
        ),
        key(
            "above_chance",
            Kind::Share,
            "0.05",
            "How far above chance the interval of a classifier that never reads the question may lie.",
        ),
        key(
            "position_p",
            Kind::Share,
            "0.01",
            "Positions of right options less likely than this count as not random.",
        ),
        key(
            "near_equal",
            Kind::Whole(0, 1_000_000),
            "0",
            "The most pairs of options of one item that hardly differ.",
        ),
        key("reused", Kind::Whole(0, 1_000_000), "0", "The most options that occur in several items."),
        key(
            "whole_share",
            Kind::Share,
            "0.5",
            "A stable release in which a smaller share of the items stands, because the others wait or failed, asks for --partial.",
        ),
    ],
};

/// What the pages of `site` show in addition to the rows of their release.
pub const SITE: Section = Section {
    name: "site",
    doc: "What the pages of `site` show in addition to the rows of their release.",
    keys: &[key(
        "originals",
        Kind::Flag,
        "false",
        "Show the texts of released rows also as they were before a stage or a person changed them, and as earlier versions had them.",
    )],
};

/// Resolved settings of the import stage.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// MiB.
    pub max_line_mib: u64,
    /// Numbered main posts that make a thread annual.
    pub annual_posts: u64,
    /// Paths relative to pipeline.toml.
    pub common_words: Vec<String>,
}

/// Resolved settings of drafts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The name of an `[llm.<name>]`.
    pub endpoint: String,
    /// The name of another for translations, or empty.
    pub translator: String,
    /// Endpoints whose explanations compete with a person's.
    pub opponents: Vec<String>,
    /// Dollars; 0 for no cap of the recipe's own.
    pub max_usd: f64,
    /// Most re-asks of one reply.
    pub max_reasks: u32,
    /// Steps whose draft may be missing.
    pub optional: Vec<String>,
    /// Steps that are not drafted.
    pub skip: Vec<String>,
    /// Whether to ask for drafts that nobody sees.
    pub unseen: bool,
    /// `own` or `paper`.
    pub prompts: String,
}

/// Resolved settings of reviews.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Steps that continue with drafts.
    pub draft_ahead: Vec<String>,
    /// Non-blocking steps.
    pub optional: Vec<String>,
    /// Ballots on demand that are enabled.
    pub wanted: Vec<String>,
    /// Steps whose ballots do not show the draft.
    pub blind: Vec<String>,
    /// Whether every step continues with drafts, or without an answer if there is none.
    pub preview: bool,
    /// A path relative to pipeline.toml; empty for none.
    pub sample: String,
    /// A folder relative to pipeline.toml; empty for none.
    pub gold: String,
    /// 0 to 1.
    pub gold_share: f64,
    /// The seed of draws.
    pub gold_seed: u64,
    /// 0 to 1; 0 stops nobody.
    pub gold_bound: f64,
}

/// Resolved settings of responses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Names of `[llm.<name>]`s.
    pub endpoints: Vec<String>,
    /// Answers per endpoint.
    pub samples: u32,
    /// 0 for all.
    pub min_models: u64,
    /// A path relative to pipeline.toml; empty for none.
    pub sample: String,
}

/// Resolved settings of judges.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// Names of `[llm.<name>]`s.
    pub endpoints: Vec<String>,
    /// Ratings per judge.
    pub repeats: u32,
    /// 0 for all.
    pub min_judges: u64,
    /// `endpoint: model`.
    pub barred: Vec<String>,
}

/// Resolved settings of drawn options.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The seed of draws.
    pub seed: u64,
}

/// Resolved settings of embeddings of posts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embeddings {
    /// The name of an `[llm.<name>]`, or empty.
    pub endpoint: String,
    /// 0 to 1.
    pub cosine: f64,
}

/// Resolved settings of judgements of pairs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SameJoke {
    /// The name of an `[llm.<name>]`, or empty.
    pub endpoint: String,
}

/// Resolved settings of puzzles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Puzzles {
    /// A path, absolute or relative to pipeline.toml.
    pub wordnet: String,
    /// A pattern of files, relative to pipeline.toml, or empty.
    pub premises: String,
    /// The name of an `[llm.<name>]`, or empty.
    pub endpoint: String,
    /// The name of an `[llm.<name>]`, or empty.
    pub embeddings: String,
    /// 0 to 1.
    pub cosine: f64,
    /// 0 to 1.
    pub none_share: f64,
    /// 0 to 1; 0 for no split.
    pub train_share: f64,
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
    /// `paper` or `strict`.
    pub profile: String,
    /// 0 to 1.
    pub above_chance: f64,
    /// 0 to 1.
    pub position_p: f64,
    /// Pairs.
    pub near_equal: usize,
    /// Options.
    pub reused: usize,
    /// 0 to 1.
    pub whole_share: f64,
}

/// Resolved settings of `site`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Whether texts are shown as they were before they were changed.
    pub originals: bool,
}

/// Resolved settings of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Recipe names.
    pub recipes: Vec<String>,
    /// 0 means one per core.
    pub threads: usize,
    /// Whether a run without enough disk space is refused.
    pub disk_check: bool,
    /// Dollars; 0 for no cap of the run's own.
    pub max_usd: f64,
    /// `curator`, `reader` or `nobody`.
    pub from_pages: String,
    /// `own` or `paper`.
    pub profile: String,
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
        assert_eq!(config.typed::<Clean>(None, "clean"), Clean::default());
        assert_eq!(config.typed::<Anonymise>(None, "anonymise"), Anonymise::default());
        assert_eq!(config.typed::<Filter>(None, "filter"), Filter::default());
        assert_eq!(config.typed::<Dedup>(None, "dedup"), Dedup::default());
        config.typed::<Draft>(None, "draft");
        config.typed::<Review>(None, "review");
        config.typed::<Options>(None, "options");
        config.typed::<Embeddings>(None, "embeddings");
        config.typed::<SameJoke>(None, "same_joke");
        config.typed::<Puzzles>(None, "puzzles");
        config.typed::<Release>(None, "release");
        config.typed::<Site>(None, "site");
        config.typed::<Respond>(None, "respond");
        config.typed::<Judge>(None, "judge");
    }
}
