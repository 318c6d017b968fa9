//! All settings: each key once, with its type, bounds, default and help.

use riddlemill_schema::{Section, Table, choice, table};

use super::licence;
pub use riddlemill_text::offline::settings::{
    Anonymise, Clean, Dedup, DedupMetric, Filter, Join, Keep, Language, Treatment,
};

/// The tables of pipeline.toml, in the order of the file.
pub const SECTIONS: &[Section] = &[
    Run::SECTION,
    Import::SECTION,
    Text::SECTION,
    Clean::SECTION,
    Anonymise::SECTION,
    Filter::SECTION,
    Dedup::SECTION,
    Embeddings::SECTION,
    SameJoke::SECTION,
    Draft::SECTION,
    Review::SECTION,
    Respond::SECTION,
    Judge::SECTION,
    Options::SECTION,
    Puzzles::SECTION,
    Release::SECTION,
    Site::SECTION,
];

choice! {
    /// Who may start a run from the pages.
    pub enum FromPages {
        /// Who may change everything.
        Curator = "curator",
        /// Whoever may read.
        Reader = "reader",
        /// Runs are started by the command only.
        Nobody = "nobody",
    }
}

choice! {
    /// Whose defaults a run has.
    pub enum RunProfile {
        /// The program's own.
        Own = "own",
        /// Those of each recipe's paper.
        Paper = "paper",
    }
}

choice! {
    /// The language of posts whose sources state none.
    pub enum StatedLanguage {
        /// That of each post's text.
        Auto = "auto",
        /// Chinese.
        Zh = "zh",
        /// English.
        En = "en",
        /// Neither.
        Und = "und",
    }
}

choice! {
    /// The wording of prompts.
    pub enum Wording {
        /// The program's own.
        Own = "own",
        /// As a paper prints them.
        Paper = "paper",
        /// The program's own in Chinese.
        Zh = "zh",
    }
}

choice! {
    /// What the limits of a release are for.
    pub enum ReleaseProfile {
        /// The card reports what exceeds them.
        Paper = "paper",
        /// A set that exceeds them is not stable.
        Strict = "strict",
    }
}

table! {
    /// Resolved settings of a run.
    #[derive(Clone, Debug)]
    pub struct Run in "run": "Defaults for `run`; flags override them." {
        recipes: Vec<String> = [], "The recipes a run makes; empty means every recipe with a source.";
        threads: usize [Whole(0, 1024)] = 0, "Threads for the offline stages; 0 means one per core. Never changes a result.";
        disk_check: bool = true, "Refuse a run if the disk has too little free space.";
        max_usd: f64 = 0, "The most dollars that one run may spend on all its recipes; 0 means only the caps of recipes and endpoints apply.";
        from_pages: FromPages = "curator", "Who may start a run from the pages of `serve`, and confirm its cost there.";
        profile: RunProfile = "own", "\"paper\": every recipe follows its paper where the default differs (docs/papers.md), with its prompts and ballots; settings in this file take precedence.";
    }
}

table! {
    /// Resolved settings of the import stage.
    #[derive(Clone, Debug)]
    pub struct Import in "import": "Reading dumps: every line becomes a post or is set aside with its reason." {
        max_line_mib: u64 [Whole(1, 4096)] = 8, "A line or array item over this many MiB is set aside unread.";
        annual_posts: u64 [Whole(1, 1_000_000)] = 20, "A thread whose owner numbered at least this many main posts is an annual thread.";
        common_words: Vec<String> = [], "User names that are also common words and are therefore not marked in other users' posts: paths of lists, one word per line, # comments.";
    }
}

table! {
    /// The stated language of posts.
    #[derive(Clone, Debug)]
    pub struct Text in "text": "The language of a recipe's posts. It is a column of every record, and selects the rules of clean, anonymise, filter and dedup." {
        language: StatedLanguage = "auto", "\"auto\": each post has the language of its source, else that of its own text. \"zh\", \"en\" or \"und\" (neither): all posts of sources that state no `language`.";
    }
}

table! {
    /// Resolved settings of embeddings of posts.
    #[derive(Clone, Debug)]
    pub struct Embeddings in "embeddings": "Near duplicates among posts by a model's embeddings, in addition to dedup.metric. If a model is named, `run` asks it in a step before dedup, for at most 100000 posts. Puzzles have settings of their own, puzzles.embeddings." {
        endpoint: String = "", "The [llm.<name>] that embeds posts; \"\" for none.";
        cosine: f64 [SHARE] = 0.92, "The cosine from which two posts count as one, if no veto of the default similarity holds.";
    }
}

table! {
    /// Resolved settings of judgements of pairs.
    #[derive(Clone, Debug)]
    pub struct SameJoke in "same_joke": "What a model says of borderline pairs of posts: are these one joke? If a model is named, `run` asks it in a step before dedup, for at most 100000 posts. `decide one` and `decide two` have the last word." {
        endpoint: String = "", "The [llm.<name>] that judges borderline pairs; \"\" for none, so that only people do.";
    }
}

table! {
    /// Resolved settings of drafts.
    #[derive(Clone, Debug)]
    pub struct Draft in "draft": "What models draft for people to confirm or correct." {
        endpoint: String = "sample", "The [llm.<name>] that writes drafts.";
        translator: String = "", "Another [llm.<name>] for translations, such as a LibreTranslate server; \"\" for none.";
        opponents: Vec<String> = [], "The [llm.<name>]s whose explanations are compared with a person's (Chumor 3).";
        max_usd: f64 = 0, "The most dollars that a recipe may ever spend on drafts; 0 means only the endpoint's max_usd applies.";
        max_reasks: u32 [Whole(0, 10)] = 2, "How often a request is repeated if its reply cannot be parsed.";
        optional: Vec<String> [Steps] = [], "Steps that continue without a draft if the reply is missing; people then write from scratch.";
        skip: Vec<String> [Steps] = [], "Steps without drafts, where people write from scratch.";
        unseen: bool = false, "Also request drafts that no ballot shows (FLUB's wrong answers); previews and review.draft_ahead always request them.";
        prompts: Wording = "own", "The wording of the prompts: \"own\" encloses texts in delimiters; \"paper\" uses the prompts that a paper prints (`prompts list`) and parses choices as its authors do; \"zh\" is \"own\" in Chinese, where available.";
    }
}

table! {
    /// Resolved settings of reviews.
    #[derive(Clone, Debug, Default)]
    pub struct Review in "review": "Ballots; a step is named as in review:<step>." {
        draft_ahead: Vec<String> [Steps] = [], "Steps that continue with drafts, provisionally, while votes are missing.";
        optional: Vec<String> [Steps] = [], "Steps that hold no record: undecided records continue without an answer.";
        wanted: Vec<String> [Steps] = [], "Ballots that are used only if listed here: RuozhiBench's suitability, FLUB's final.";
        blind: Vec<String> [Steps] = [], "Steps whose ballots do not show the draft.";
        preview: bool = false, "Go through the whole recipe on drafts while votes are missing, as `run --preview` does; its rows are provisional.";
        sample: String = "raw/sample/votes.jsonl", "Synthetic votes, used where people have not voted; \"\" for none.";
        gold: String = "", "A folder of known answers, <recipe>.<step>.jsonl as in a ballot, that are mixed into everybody's work when it is assigned; \"\" for none.";
        gold_share: f64 [SHARE] = 0.1, "The share of known items in each person's work.";
        gold_seed: u64 [Whole(0, i64::MAX)] = 0, "The seed that draws which known items a person gets.";
        gold_bound: f64 [SHARE] = 0.0, "Whoever answers at least ten known items so that the whole interval of their share of right answers lies below this gets no more work until a manager says so; 0 stops nobody.";
    }
}

table! {
    /// Resolved settings of responses.
    #[derive(Clone, Debug, Default)]
    pub struct Respond in "respond": "What models answer to every question and every paired normal question (RuozhiBench 3.1)." {
        endpoints: Vec<String> = [], "The [llm.<name>]s that answer.";
        samples: u32 [Whole(1, 100)] = 1, "Answers of each model to each question.";
        min_models: u64 [Whole(0, 10_000)] = 0, "How many models must have answered a question before it continues; 0: all.";
        sample: String = "raw/sample/responses.jsonl", "Synthetic responses of the sample; \"\" for none. Put responses made elsewhere into raw/responses/.";
    }
}

table! {
    /// Resolved settings of judges.
    #[derive(Clone, Debug, Default)]
    pub struct Judge in "judge": "How judges rate answers, from 0 to 4 (RuozhiBench 3.1)." {
        endpoints: Vec<String> = [], "The [llm.<name>]s that judge.";
        repeats: u32 [Whole(1, 100)] = 1, "Ratings of each judge for each answer.";
        min_judges: u64 [Whole(0, 1000)] = 0, "How many judges must have rated an answer before it continues; 0: all that may rate it.";
        barred: Vec<String> = [], "Judges that must not rate some models, as \"endpoint: model\"; * matches anything.";
    }
}

table! {
    /// Resolved settings of drawn options.
    #[derive(Clone, Copy, Debug)]
    pub struct Options in "options": "Random choices: the order of options, the sides of a comparison." {
        seed: u64 [Whole(0, i64::MAX)] = 1, "The seed of all random choices; the choices for a record depend on nothing else in the input.";
    }
}

table! {
    /// Resolved settings of puzzles.
    #[derive(Clone, Debug)]
    pub struct Puzzles in "puzzles": "English puzzles: distractors of words, and the groups of three." {
        wordnet: String = "/usr/share/wordnet", "The folder with WordNet's database files (Debian: wordnet-base); \"\" for none, and models write all distractors.";
        premises: String = "raw/premises/*.jsonl", "Files that replace COMET and Wikipedia's categories (docs/papers.md describes their lines); \"\" for none.";
        endpoint: String = "", "The [llm.<name>] that lists premises and writes distractors; \"\" for draft.endpoint.";
        embeddings: String = "", "The [llm.<name>] whose embeddings of questions are additional evidence for duplicates; \"\" for none.";
        cosine: f64 [SHARE] = 0.92, "The cosine from which the embeddings of two questions count as near.";
        none_share: f64 [SHARE] = 0.06, "The share of groups in which \"None of above.\" is right (BrainTeaser 3.3).";
        train_share: f64 [SHARE] = 0, "The share of groups that are marked for training, the rest for testing; 0 marks none.";
    }
}

table! {
    /// Resolved settings of a release.
    #[derive(Clone, Debug)]
    pub struct Release in "release": "What a release contains in addition to its rows." {
        curator: String = "curator", "The folder with the curator's texts (rationale.md, uses.md, limits.md, contact.md, authors.md, funding.md), or with one folder per recipe.";
        licence: String [Form(&licence::LICENCE)] = "", "The licence of the whole set, an SPDX identifier; empty means the licence that all sources share. A release needs one.";
        url: String = "", "Where the set is published.";
        profile: ReleaseProfile = "paper", "\"strict\": a set whose answers can be guessed beyond these limits cannot be a stable release; \"paper\": the card only reports it.";
        above_chance: f64 [SHARE] = 0.05, "How far above chance the interval of a classifier that never reads the question may lie.";
        position_p: f64 [SHARE] = 0.01, "Positions of right options less likely than this count as not random.";
        near_equal: usize [Whole(0, 1_000_000)] = 0, "The most pairs of options of one item that hardly differ.";
        reused: usize [Whole(0, 1_000_000)] = 0, "The most options that occur in several items.";
        whole_share: f64 [SHARE] = 0.5, "A stable release in which a smaller share of the items stands, because the others wait or failed, asks for --partial.";
    }
}

table! {
    /// Resolved settings of `site`.
    #[derive(Clone, Debug)]
    pub struct Site in "site": "What the pages of `site` show in addition to the rows of their release." {
        originals: bool = false, "Show the texts of released rows also as they were before a stage or a person changed them, and as earlier versions had them.";
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn every_default_fits_its_type() {
        let config = Config::defaults();
        config.typed_settings::<Run>(None, "run");
        config.typed_settings::<Import>(None, "import");
        config.typed_settings::<Text>(None, "text");
        assert_eq!(config.typed_settings::<Clean>(None, "clean"), Clean::default());
        assert_eq!(config.typed_settings::<Anonymise>(None, "anonymise"), Anonymise::default());
        assert_eq!(config.typed_settings::<Filter>(None, "filter"), Filter::default());
        assert_eq!(config.typed_settings::<Dedup>(None, "dedup"), Dedup::default());
        config.typed_settings::<Draft>(None, "draft");
        config.typed_settings::<Review>(None, "review");
        config.typed_settings::<Options>(None, "options");
        config.typed_settings::<Embeddings>(None, "embeddings");
        config.typed_settings::<SameJoke>(None, "same_joke");
        config.typed_settings::<Puzzles>(None, "puzzles");
        config.typed_settings::<Release>(None, "release");
        config.typed_settings::<Site>(None, "site");
        config.typed_settings::<Respond>(None, "respond");
        config.typed_settings::<Judge>(None, "judge");
    }

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for section in SECTIONS {
            for key in section.keys {
                let default = key.default_value();
                assert!(
                    default.is_some_and(|value| key.kind.check_value(&value).is_ok()),
                    "{}.{}",
                    section.name,
                    key.name
                );
            }
        }
    }
}
