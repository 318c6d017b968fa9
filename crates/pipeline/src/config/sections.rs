//! Every setting there is.

use serde::Deserialize;

use super::schema::{Key, Kind, Section};
pub use riddlemill_text::offline::settings::{Anonymise, Clean, Dedup, Filter, Language};

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// The tables of pipeline.toml, in the order of the file.
pub const SECTIONS: &[Section] = &[
    RUN, IMPORT, TEXT, CLEAN, ANONYMISE, FILTER, DEDUP, DRAFT, REVIEW, RESPOND, JUDGE, OPTIONS, PUZZLES,
    RELEASE,
];

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
        key("disk_check", Kind::Flag, "true", "Refuse a run that the disk has no room for."),
        key(
            "max_usd",
            Kind::Amount,
            "0",
            "Dollars that one run may spend on all its recipes together; 0 leaves it to the caps of recipes and endpoints.",
        ),
        key(
            "from_pages",
            Kind::Choice(&["curator", "reader", "nobody"]),
            "\"curator\"",
            "Who may start a run from the pages of `serve`, and agree there to what it pays.",
        ),
        key(
            "profile",
            Kind::Choice(&["own", "paper"]),
            "\"own\"",
            "\"paper\": every recipe goes its paper's way where that is another (docs/papers.md): its prompts, its ballots; what is set here or below goes before it.",
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
            "Names of users that texts use as words, so that they are marked in no other user's post: paths of lists, a word a line, # comments.",
        ),
    ],
};

/// The language of a recipe's posts.
pub const TEXT: Section = Section {
    name: "text",
    doc: "The language of a recipe's posts, by which clean, anonymise, filter and dedup go.",
    keys: &[key(
        "language",
        Kind::Choice(LANGUAGES),
        "\"zh\"",
        "\"zh\": all rules for Chinese forums. \"en\": what a forum leaves of a removed text, English question marks and word order, English personal data, and near duplicates by \"indel\" where dedup.metric is \"default\".",
    )],
};

/// The languages that text stages know.
const LANGUAGES: &[&str] = &["zh", "en"];

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
            Kind::Choice(&["default", "indel", "levenshtein", "jaccard", "exact"]),
            "\"default\"",
            "How likeness is measured; \"default\" is the union of predicates that `explain` names, \"exact\" leaves all but equal texts to embeddings.",
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
        key(
            "memory_mib",
            Kind::Whole(16, 1_048_576),
            "4096",
            "MiB that finding near duplicates may take; with more posts than that holds it works on the disk. Never changes a result.",
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
            "opponents",
            Kind::Texts,
            "[]",
            "The [llm.<name>]s whose explanations a person's is compared with (Chumor 3).",
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
        key(
            "optional",
            Kind::Steps,
            "[]",
            "Steps that people do without a draft: a record goes on where its reply is missing.",
        ),
        key("skip", Kind::Steps, "[]", "Steps that nobody is asked to draft: people write there."),
        key(
            "unseen",
            Kind::Flag,
            "false",
            "Ask for drafts that no ballot shows, too (FLUB's wrong answers); for a preview and for review.draft_ahead they are asked for in any case.",
        ),
        key(
            "prompts",
            Kind::Choice(&["own", "paper", "zh"]),
            "\"own\"",
            "Whose wording models are sent, for every recipe: \"own\" shuts texts in delimiters; \"paper\" is what a paper prints, where it does (`prompts list`), and reads choices as its authors do; \"zh\" is \"own\" in Chinese, where there is one.",
        ),
    ],
};

/// What people decide.
pub const REVIEW: Section = Section {
    name: "review",
    doc: "What people decide; a step is named as in review:<step>.",
    keys: &[
        key(
            "draft_ahead",
            Kind::Steps,
            "[]",
            "Steps whose drafts go on, provisionally, while votes are missing.",
        ),
        key(
            "optional",
            Kind::Steps,
            "[]",
            "Steps that hold nothing: what is undecided goes on without an answer.",
        ),
        key(
            "wanted",
            Kind::Steps,
            "[]",
            "Optional ballots that are asked only when listed here: RuozhiBench's suitability, FLUB's final.",
        ),
        key("blind", Kind::Steps, "[]", "Steps whose ballots show no draft, where there is one."),
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
    ],
};

/// What models answer.
pub const RESPOND: Section = Section {
    name: "respond",
    doc: "What models answer to every question and every paired normal question (RuozhiBench 3.1).",
    keys: &[
        key("endpoints", Kind::Texts, "[]", "The [llm.<name>]s that are asked."),
        key("samples", Kind::Whole(1, 100), "1", "Answers of each model to each question."),
        key(
            "min_models",
            Kind::Whole(0, 10_000),
            "0",
            "A question goes on once so many models have answered it; 0: once all that are asked have.",
        ),
        key(
            "sample",
            Kind::Text,
            "\"raw/sample/responses.jsonl\"",
            "Responses written for a sample; \"\" for none. Those made elsewhere lie in raw/responses/*.jsonl.",
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
            "An answer goes on once so many judges have rated it; 0: once all that may have.",
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
    doc: "What is drawn for a record: the order of its options, the sides of a comparison.",
    keys: &[key(
        "seed",
        Kind::Whole(0, i64::MAX),
        "1",
        "Another seed draws everything anew; nothing else in the input changes what is drawn for a record.",
    )],
};

/// Puzzles and their groups.
pub const PUZZLES: Section = Section {
    name: "puzzles",
    doc: "English puzzles: the words beside an answer, and the groups of three.",
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
            "Files in the place of COMET and of Wikipedia's categories (docs/papers.md has their lines); \"\" for none.",
        ),
        key(
            "endpoint",
            Kind::Text,
            "\"\"",
            "The [llm.<name>] that lists premises and writes distractors, where it is another than draft.endpoint; \"\" for that.",
        ),
        key(
            "embeddings",
            Kind::Text,
            "\"\"",
            "The [llm.<name>] whose embeddings of questions are a second piece of evidence for duplicates; \"\" for none.",
        ),
        key("cosine", Kind::Share, "0.92", "From here on the embeddings of two questions are near."),
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
            Kind::Licence,
            "\"\"",
            "The licence of the whole, an SPDX identifier; empty means the one that all sources share. A release needs one.",
        ),
        key("url", Kind::Text, "\"\"", "Where the set is published."),
        key(
            "profile",
            Kind::Choice(&["paper", "strict"]),
            "\"paper\"",
            "\"strict\": a set whose answers can be guessed beyond these limits is no stable release; \"paper\" tells.",
        ),
        key(
            "above_chance",
            Kind::Share,
            "0.05",
            "How far the interval of a rule that never reads the question may lie above chance.",
        ),
        key(
            "position_p",
            Kind::Share,
            "0.01",
            "Places of right options less likely than this are no chance.",
        ),
        key("near_equal", Kind::Whole(0, 1_000_000), "0", "Pairs of options of one item that hardly differ."),
        key("reused", Kind::Whole(0, 1_000_000), "0", "Options that occur in several items."),
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
    /// The names of those whose explanations stand against a person's.
    pub opponents: Vec<String>,
    /// Dollars; 0 for no cap of the recipe's own.
    pub max_usd: f64,
    /// Questions asked again for one reply.
    pub max_reasks: u32,
    /// Steps whose draft may be missing.
    pub optional: Vec<String>,
    /// Steps that are not drafted.
    pub skip: Vec<String>,
    /// Whether drafts that nobody sees are asked for.
    pub unseen: bool,
    /// `own` or `paper`.
    pub prompts: String,
}

/// Resolved settings of reviews.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Steps that go on with drafts.
    pub draft_ahead: Vec<String>,
    /// Steps that hold nothing.
    pub optional: Vec<String>,
    /// Ballots that are asked on demand, and are.
    pub wanted: Vec<String>,
    /// Steps whose ballots show no draft.
    pub blind: Vec<String>,
    /// Whether every step goes on with drafts, or without an answer where there is none.
    pub preview: bool,
    /// A path relative to pipeline.toml; empty for none.
    pub sample: String,
}

/// Resolved settings of responses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Names of `[llm.<name>]`s.
    pub endpoints: Vec<String>,
    /// Answers of each.
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
    /// Ratings of each.
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
    /// What draws begin with.
    pub seed: u64,
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
}

/// Resolved settings of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Recipe names.
    pub recipes: Vec<String>,
    /// 0 means one a core.
    pub threads: usize,
    /// Whether a run without room on the disk is refused.
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
        config.typed::<Puzzles>(None, "puzzles");
        config.typed::<Release>(None, "release");
        config.typed::<Respond>(None, "respond");
        config.typed::<Judge>(None, "judge");
    }
}
