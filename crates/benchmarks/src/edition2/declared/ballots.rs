//! ballots.toml.

use riddlemill_schema::{Key, Kind};

use super::{
    COUNT, FLAG, LABEL, NAMED, PARTS, ROLE, ROLES, SENTENCES, SIDES, TEXT, TEXT_OR_TEXTS, TEXTS, WHOLE, key,
};

/// The file.
pub const BALLOTS: &[Key] = &[
    key("ballots", Kind::Table(OF_ALL), "What all ballots have alike."),
    key("shown", Kind::Each(&SHOWN), "What several ballots show: KEY = [\"Label\", \"expression\"]."),
    key(
        "list",
        Kind::Each(&CODES),
        "Lists of options: CODE = \"meaning\", or [\"label\", \"meaning\", \"example\"].",
    ),
    key("ballot", Kind::Each(&Kind::Like(BALLOT)), "What people are asked."),
];

const SHOWN: Kind =
    Kind::Either(&[TEXT, Kind::Table(SIDES), Kind::List(&Kind::Either(&[TEXT, Kind::Table(SIDES), COUNT]))]);
const SHOWS: Kind = Kind::List(&Kind::Either(&[TEXT, Kind::Each(&SHOWN)]));
/// The options of a list.
const CODES: Kind = Kind::Each(&PARTS);
/// The name of a list, or its options.
const OPTIONS: Kind = Kind::Either(&[TEXT, CODES]);

const OF_ALL: &[Key] = &[LANGUAGES, VOTERS, VOTES, TRIAL, DRAFTS, SHOWS_KEY];

const LANGUAGES: Key = key(
    "languages",
    TEXT_OR_TEXTS,
    "The languages that a voter must read, or \"of the record\": that of each record.",
);
const VOTERS: Key = key("voters", ROLES, "The roles that vote.");
const VOTES: Key = key("votes", COUNT, "How many votes an item needs.");
const TRIAL: Key =
    key("trial", Kind::Table(SHARES), "Shares of gold items that an annotator must get right.");
const DRAFTS: Key = key("drafts", Kind::Choice(&["hidden", "shown"]), "Whether voters see the drafts.");
const SHOWS_KEY: Key = key(
    "shows",
    SHOWS,
    "What is shown of an item, in order: a key, { key = \"Label\" } or { key = [\"Label\", \"expression\"] }.",
);

const SHARES: &[Key] = &[
    key("formal", Kind::SHARE, "In a formal trial."),
    key("senior", Kind::SHARE, "To become a senior annotator."),
];

const BALLOT: &[Key] = &[
    key("like", TEXT, "Another ballot: everything as there, except what is said here."),
    Key::required("title", LABEL, "What is asked."),
    Key::required("guideline", LABEL, "How to answer."),
    key("examples", Kind::List(&LABEL), "Texts that illustrate the guideline, a line each."),
    key("paper", TEXT, "Where the paper describes it."),
    LANGUAGES,
    VOTERS,
    VOTES,
    TRIAL,
    DRAFTS,
    key("settles", ROLE, "Who adjudicates disputes; default: meta."),
    key("on_demand", FLAG, "The ballot is used only if review.wanted lists it.").or("false"),
    key("not_by", TEXT, "Another ballot: the author of the answer accepted there may not vote here."),
    key("when", TEXT, "An expression: the records that the ballot applies to."),
    SHOWS_KEY,
    key("draft", NAMED, "FIELD = expression, where a draft is none of its step's."),
    key("ranked", NAMED, "FIELD = expression: drafted codes in the model's order."),
    key("keeps", NAMED, "COLUMN = expression over the columns, the answers and the votes."),
    key("before", TEXT, "An expression: what the ledger shows of the record before the decision."),
    key("after", TEXT, "An expression: what the ledger shows of it after the decision."),
    key("fills", TEXT, "The prefix of the columns …_status and …_basis; default: the ballot's name."),
    key("warns", TEXTS, "Expressions over the record with the answers: its flags."),
    key("for_each", TEXT, "An expression: a list of which each element, `it`, is an item of its own."),
    key("named_by", TEXT, "An expression: the name of an element."),
    key("id_role", TEXT, "The prefix of the ids of the elements; default: the ballot's name."),
    key("compares", NAMED, "`key`, and two codes with an expression each: texts shown in random order."),
    key("optional_when", TEXT, "An expression: records for which it is true continue without an answer."),
    key("waits_as", TEXT, "The reason with which the others wait."),
    key("distinct_from", TEXT, "An expression: texts that no distinct answer may repeat."),
    key("drop", Kind::Table(DROP), "When the answers drop the record, and why."),
    key("adjudicate", NAMED, "FIELD = the answer that asks for a decision."),
    key("verdict", Kind::Table(VERDICT), "A question about the draft, before the fields that hang on it."),
    key("fields", FIELDS, "What is asked: NAME = \"Label\", or a table."),
    key("second", Kind::Table(SECOND), "A second review, of the votes."),
    key("requires", SENTENCES, "What answers must meet, each with a sentence."),
];

const FIELDS: Kind = Kind::Each(&Kind::Either(&[TEXT, Kind::Table(SIDES), Kind::Table(FIELD)]));

const DROP: &[Key] = &[
    Key::required("when", TEXT, "An expression over the answers: when they drop the record."),
    Key::required("because", TEXT, "An expression over the answers: why."),
];

const VERDICT: &[Key] = &[
    key("name", TEXT, "The name of its field.").or("\"verdict\""),
    key("label", LABEL, "The question."),
    key("options", OPTIONS, "A list of ballots.toml, or the options; default: accept or rewrite."),
    key("accepts", TEXT, "The answer at which the texts are the draft's.").or("\"accept\""),
    key("rewrites", TEXT, "The answer at which the texts are written.").or("\"rewrite\""),
    key("drops", TEXT, "The answer that drops the record."),
];

const FIELD: &[Key] = &[
    key("label", LABEL, "The question."),
    key("choice", OPTIONS, "One code of a list."),
    key("choices", OPTIONS, "Codes of a list."),
    key("min", COUNT, "The fewest codes; default: 1, or 0 if it is optional."),
    key("max", COUNT, "The most codes; default: all."),
    key("yes", LABEL, "What yes means."),
    key("no", LABEL, "What no means."),
    key("pick", TEXT, "Texts of a shown list, or of votes.FIELD."),
    key("count", Kind::Either(&[COUNT, Kind::Choice(&["any"])]), "How many texts are picked; default: 1."),
    key("compared_with", TEXT, "The shown text beside which the picks become options."),
    key("score", Kind::List(&WHOLE), "A whole number from least to most: [1, 5]."),
    key("keep", OPTIONS, "Keep the record, or a reason against it."),
    key("prefers", TEXTS, "The two sides of `compares`."),
    key("tie", CODES, "The code for neither."),
    key("otherwise", TEXT, "The code where there is no majority."),
    key("edits", TEXT, "A shown text that stands in the field, or a pick before it."),
    key("if", Kind::Each(&TEXT_OR_TEXTS), "Asked after these answers to a field: { verdict = \"reject\" }."),
    key("takes", TEXT_OR_TEXTS, "After these answers it is the draft's."),
    key("times", COUNT, "So many fields NAME_1, NAME_2, …, with {nth} in the label."),
    key("optional", FLAG, "It may be left out.").or("false"),
    key("distinct", FLAG, "It may repeat none of the ballot's other texts.").or("false"),
    key(
        "rule",
        Kind::Choice(&["majority", "unanimous", "union", "mean", "collect"]),
        "How the votes decide.",
    ),
    key("tolerance", COUNT, "Of a score: how far it may be from the known one in a trial."),
    key("draft", TEXT, "An expression: the draft; default: the column NAME_draft."),
    key("into", TEXT, "The column that the answer goes to; default: that of its name."),
    key("replaces", TEXT, "The column that keeps its value where there is no answer."),
    key("adjudicate", TEXT, "The answer that asks for a decision."),
    key("drops", TEXT, "The answer that drops the record."),
];

const SECOND: &[Key] = &[
    key("by", ROLE, "Who reviews; default: senior."),
    key("again", TEXTS, "Fields that are asked once more."),
    key("fields", FIELDS, "What else is asked."),
];
