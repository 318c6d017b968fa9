//! What the cards say of the papers: which set is rebuilt, and what is done otherwise and why.

use serde::Serialize;

/// A published set and how this one differs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Paper {
    /// The set's name.
    pub set: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// Its first author and the others.
    pub authors: &'static str,
    /// When it appeared.
    pub year: u16,
    /// Where it is.
    pub url: &'static str,
    /// Languages of the rows, as the Hub names them.
    pub languages: &'static [&'static str],
    /// The paper's key in BibTeX.
    pub key: &'static str,
    /// What the Hub finds the set by.
    pub tags: &'static [&'static str],
    /// What bends figures on such a set.
    pub biases: &'static str,
    /// What the published set holds or the paper does, and what this one does instead.
    pub differs: &'static [Difference],
}

/// One thing that is otherwise.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Difference {
    /// In the paper or the published file.
    pub there: &'static str,
    /// Here, and why.
    pub here: &'static str,
}

const fn d(there: &'static str, here: &'static str) -> Difference {
    Difference { there, here }
}

const SOURCE_TEXTS: Difference = d(
    "The published set was picked by people from one crawl of the forum.",
    "The rows come from the dumps that are named below. Which post is in or out, and by which rule, can be asked of every one of them.",
);

const FORUM: &str = "The texts come from one Chinese internet forum and its humour, and were picked by its users and by the rules in the card: what is thought cunning or funny elsewhere is missing. They lean on Chinese wordplay and on mainland culture.";

const RUOZHIBENCH: Paper = Paper {
    set: "RuozhiBench",
    title: "RuozhiBench: Evaluating LLMs with Logical Fallacies and Misleading Premises",
    authors: "Zhai et al.",
    year: 2025,
    url: "https://arxiv.org/abs/2502.13125",
    languages: &["zh", "en"],
    key: "zhai2025ruozhibench",
    tags: &["ruozhiba", "trick-questions", "logical-fallacies", "reasoning"],
    biases: FORUM,
    differs: &[
        SOURCE_TEXTS,
        d(
            "The paper counts 677 questions, the published file holds 675: 115 and 362 are missing, unannounced.",
            "Numbers that were allotted stand in a registry; one that is retired is listed in the change log.",
        ),
        d(
            "319 of 677 translations were rewritten, which is 47 %; the paper says 45 % (2.3).",
            "Figures in this card are counted from the run.",
        ),
        d("\"17 models\" lists 16 names.", "Models are listed from the stored replies."),
        d(
            "Categories are one comma-joined text.",
            "The clean layout has a list of numbers and a list of names; compat/ has the text.",
        ),
        d("No licence file.", "The licence of every source is stated, and the release has one."),
    ],
};

const FLUB: Paper = Paper {
    set: "FLUB",
    title: "When LLMs Meet Cunning Texts: A Fallacy Understanding Benchmark for Large Language Models",
    authors: "Li et al.",
    year: 2024,
    url: "https://arxiv.org/abs/2402.11100",
    languages: &["zh"],
    key: "li2024flub",
    tags: &["ruozhiba", "cunning-texts", "fallacies", "reasoning"],
    biases: FORUM,
    differs: &[
        SOURCE_TEXTS,
        d("14 rows hold the bare token NaN as their type, which is not JSON.", "Undefined is null."),
        d("11 type strings stand where the paper has eight types.", "The eight types of the paper."),
        d(
            "Three texts were edited after their id was made from them.",
            "The id is the SHA-1 of the text in every row; it is checked.",
        ),
    ],
};

const CHUMOR: Paper = Paper {
    set: "Chumor",
    title: "Chumor 1.0: A Truly Funny and Challenging Chinese Humor Understanding Dataset from Ruo Zhi Ba",
    authors: "He et al.",
    year: 2024,
    url: "https://arxiv.org/abs/2406.12754",
    languages: &["zh"],
    key: "he2024chumor",
    tags: &["ruozhiba", "humor", "humor-understanding"],
    biases: FORUM,
    differs: &[
        SOURCE_TEXTS,
        d("The published card is still titled \"Dataset Name\".", "This card is made from the run."),
        d("The published file was not at hand.", "There is the clean layout only."),
    ],
};

const BRAINTEASER: Paper = Paper {
    set: "BrainTeaser",
    title: "BRAINTEASER: Lateral Thinking Puzzles for Large Language Models",
    authors: "Jiang et al.",
    year: 2023,
    url: "https://arxiv.org/abs/2310.05057",
    languages: &["en"],
    key: "jiang2023brainteaser",
    tags: &["lateral-thinking", "brain-teasers", "riddles", "commonsense"],
    biases: "The puzzles come from riddle sites in English and their commonsense; reconstructions were drafted by models, whose style may be told from that of people.",
    differs: &[
        d(
            "The published set was picked by people from riddle sites.",
            "The rows come from the pages and files that are named below.",
        ),
        d(
            "Published as pickled arrays in an encrypted archive.",
            "JSON Lines and Parquet; compat/ has the published keys, misspelt as they are.",
        ),
        d(
            "In 6 % of the questions the answer gives way to \"None of above.\"",
            "In 6 % of the groups, so that a puzzle and its reconstructions go together; the true answer is kept beside it.",
        ),
        d("Word distractors take Wikipedia categories.", "They take words that share a WordNet hypernym."),
    ],
};

/// The paper of a recipe.
pub fn of(recipe: &str) -> &'static Paper {
    match recipe {
        "flub" => &FLUB,
        "chumor" => &CHUMOR,
        "brainteaser" => &BRAINTEASER,
        _ => &RUOZHIBENCH,
    }
}
