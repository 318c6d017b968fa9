//! The settings of the offline stages in `pipeline.toml`.

use riddlemill_schema::{choice, default_table, table};

pub use crate::text::language::Language;

choice! {
    /// The text of a thread whose title and content differ.
    pub enum Join {
        /// Both, with a line break between them.
        Newline = "newline",
        /// Only what stands above.
        Title = "title",
        /// Only what stands below.
        Content = "content",
    }
}

choice! {
    /// What becomes of personal data.
    pub enum Treatment {
        /// A mark replaces it.
        Mark = "mark",
        /// The post goes with it.
        Drop = "drop",
        /// It stays.
        Keep = "keep",
    }
}

choice! {
    /// The measure of how alike two texts are.
    pub enum DedupMetric {
        /// The combined predicates.
        Default = "default",
        /// Insertions and deletions.
        Indel = "indel",
        /// Replacements, too.
        Levenshtein = "levenshtein",
        /// Shared pairs of characters.
        Jaccard = "jaccard",
        /// Equal texts only.
        Exact = "exact",
    }
}

choice! {
    /// Which of several records that are one stays.
    pub enum Keep {
        /// The one with most text.
        Longest = "longest",
        /// That with the highest score.
        BestScored = "best-scored",
        /// The first in time.
        Earliest = "earliest",
    }
}

table! {
    /// Resolved settings of the clean stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Clean in "clean": "Removes placeholders, numbering and other debris from posts." {
        join: Join = "newline", "The text of a thread whose title and content differ: both with a line break between them, or one of the two.";
    }
    beside {
        /// The language of posts that do not have one yet; without it, that of each is detected.
        language: Option<Language>;
    }
}

table! {
    /// Resolved settings of the anonymise stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Anonymise in "anonymise": "Personal data in texts is replaced by a mark such as [电话]; names and ids of users were hashed at import." {
        links: Treatment = "mark", "Links in a text.";
        names: Treatment = "mark", "User names and @mentions.";
        contacts: Treatment = "mark", "Phone, e-mail, QQ and WeChat numbers.";
        identity: Treatment = "mark", "Identity numbers (China, USA), and numbers of bank accounts (IBAN) and payment cards.";
        addresses: Treatment = "mark", "Street addresses.";
        policy: Vec<String> = ["builtin"], "Word lists; a post with a listed term waits for a person. \"builtin\", or paths of lists (one term per line, # comments, !shielded).";
    }
    beside {
        /// The language of posts that do not have one yet; without it, that of each is detected.
        language: Option<Language>;
    }
}

table! {
    /// Resolved settings of the filter stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Filter in "filter": "Which posts the recipe keeps." {
        questions: bool = false, "Keep questions only (RuozhiBench 2.2: interrogative sentences).";
        min_chars: usize [Whole(0, 1_000_000)] = 4, "Shorter texts are dropped, in characters.";
        max_chars: usize [Whole(1, 1_000_000)] = 300, "Longer texts are dropped, in characters.";
        forum: bool = true, "Drop forum management: rules, notices, activities, summaries of the year.";
    }
    beside {
        /// The language of posts that do not have one yet; without it, that of each is detected.
        language: Option<Language>;
    }
}

table! {
    /// Resolved settings of the dedup stage.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Dedup in "dedup": "Records that are the same joke, within a source and across sources." {
        metric: DedupMetric = "default", "The similarity metric; \"default\" combines the predicates that `explain` names, \"exact\" finds only equal texts and leaves the rest to embeddings.";
        threshold: f64 [SHARE] = 0.80, "The score from which two texts count as one record; not used by the metric \"default\".";
        margin: f64 [SHARE] = 0.10, "Pairs up to this far below the threshold are listed as borderline, and both are kept.";
        keep: Keep = "longest", "Which record of a pair stays; ties go to the smaller id.";
        normalize: bool = true, "Ignore width, case, script, punctuation and spaces when comparing.";
        memory_mib: u64 [Whole(16, 1_048_576)] = 4096, "MiB of memory for finding near duplicates; with more posts the search works on disk. Never changes a result.";
    }
    beside {
        /// The language of posts that do not have one yet; without it, that of each is detected.
        language: Option<Language>;
    }
}

impl Default for Clean {
    fn default() -> Clean {
        default_table()
    }
}

impl Default for Anonymise {
    fn default() -> Anonymise {
        default_table()
    }
}

impl Default for Filter {
    fn default() -> Filter {
        default_table()
    }
}

impl Default for Dedup {
    fn default() -> Dedup {
        default_table()
    }
}
