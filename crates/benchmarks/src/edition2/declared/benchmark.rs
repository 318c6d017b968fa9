//! benchmark.toml.

use riddlemill_schema::{Key, Kind};

use super::report::FIGURE;
use super::steps::STEP;
use super::tasks::TASK;
use super::{COUNT, FLAG, LABEL, NAMED, NUMBER, PARTS, SENTENCES, SIDES, TEXT, TEXTS, key};

/// The file.
pub const BENCHMARK: &[Key] = &[
    Key::required("about", LABEL, "What it builds, in a sentence."),
    key("order", COUNT, "Its position in lists."),
    key("was", TEXTS, "Its former names: votes, tasks and decisions under them belong to it."),
    key(
        "records",
        TEXT,
        "The kind of its records, whose columns drafts and ballots fill; without it each step adds a group of fields.",
    ),
    Key::required(
        "steps",
        TEXTS,
        "The names of the steps in order; import, clean, anonymise, filter, dedup, options and review:BALLOT need no table.",
    ),
    key("prompts", TEXTS, "The prompts in the order of lists; default: all files of prompts/."),
    key("replies_as", TEXT, "The name of the benchmark in stored replies; default: its folder."),
    key("renamed", NAMED, "Steps that had another name: OLD = NEW."),
    key(
        "settings",
        Kind::Each(&Kind::Each(&Kind::Any)),
        "Settings that differ from the defaults, by section.",
    ),
    key(
        "profile",
        Kind::Each(&Kind::Each(&Kind::Any)),
        "Settings that apply only under run.profile = \"paper\", by section.",
    ),
    key(
        "setting",
        Kind::Each(&Kind::Each(&Kind::Table(SETTING))),
        "Settings of its own: [setting.SECTION.KEY].",
    ),
    key("fields", NAMED, "NAME = expression over a record; each may use those before it."),
    key(
        "columns",
        Kind::Each(&TEXTS),
        "Kinds of records: their columns in the order of the rows, \"name TYPE: What it is.\".",
    ),
    key("step", Kind::Each(&Kind::Like(STEP)), "What the steps do."),
    key("data", Kind::Table(DATA), "What is released."),
    key("compat", Kind::Each(&Kind::Table(COMPAT)), "Files in a published format, by their names."),
    key("published", Kind::Table(PUBLISHED), "How a row of a published file becomes a record."),
    key("tasks", Kind::Table(TASK), "What all tasks have alike."),
    key("task", Kind::Each(&Kind::Table(TASK)), "What models are asked about a release."),
    key(
        "table",
        Kind::Each(&Kind::Table(FIGURE)),
        "The tables of the models' answers, and figures as in report.toml.",
    ),
    key("paper", Kind::Table(PAPER), "The paper it follows."),
];

const SETTING: &[Key] = &[
    Key::required(
        "type",
        Kind::Choice(&["flag", "integer", "number", "text", "list of text"]),
        "What its values are.",
    ),
    Key::required("default", Kind::Any, "Its value where a workspace sets none."),
    Key::required("about", TEXT, "What it does, in a sentence."),
    key("min", NUMBER, "The least value of an integer or a number."),
    key("max", NUMBER, "The greatest value of an integer or a number."),
    key("values", TEXTS, "The values of a text."),
];

const DATA: &[Key] = &[
    key("about", LABEL, "What a release is, in a sentence."),
    key(
        "rests_on",
        TEXTS,
        "The ballots of whose standings that of a row is the lowest; `X?` counts only if somebody decided.",
    ),
    key("rests_when", NAMED, "BALLOT = expression: the records that this ballot applies to."),
    key("when", TEXT, "Only records for which this expression is true are items."),
    key("reason", PARTS, "Why the others are dropped: a code, and the sentence for people."),
    key(
        "group",
        TEXT,
        "An expression over the columns: rows of one value are drawn, limited and resampled together.",
    ),
    key("parts", TEXTS, "Expressions: the parts of the set that a row belongs to."),
    key("counted", TEXTS, "The columns that cards count and diff crosses."),
    key(
        "checks",
        Kind::List(&Kind::Either(&[Kind::List(&LABEL), Kind::Table(CHECK)])),
        "What must hold of a row beyond its types, each with a sentence: otherwise nothing is released.",
    ),
    key("requires", SENTENCES, "What a row must meet, each with a sentence: otherwise it waits."),
    key(
        "columns",
        Kind::Each(&Kind::Either(&[FLAG, Kind::List(&LABEL), Kind::Table(COLUMN)])),
        "NAME = [\"expression\", \"type\", \"sentence\"]; source_id = true and standing = true are those that every set has.",
    ),
    key("number", Kind::Table(NUMBERS), "Permanent numbers assigned by the registry."),
    key("harness", Kind::Table(HARNESS), "What the files of eval/ ask."),
    key("splits", Kind::Table(SPLITS), "The files of its rows."),
];

const CHECK: &[Key] = &[
    Key::required("holds", TEXT, "An expression over the columns."),
    Key::required("says", LABEL, "The message if it is false."),
];

const COLUMN: &[Key] = &[
    Key::required("is", TEXT, "An expression over the record, number and standing."),
    Key::required(
        "type",
        TEXT,
        "text, integer, number, flag or list of one of these, with ? if it may be null; \"a | b\" lists the values.",
    ),
    Key::required("about", LABEL, "What it is, in a sentence."),
    key("values", TEXTS, "Its values."),
    key("sometimes", FLAG, "The column exists only in sets with a value.").or("false"),
];

const NUMBERS: &[Key] = &[
    key("of", TEXT, "The benchmark whose numbers its items have, instead of the others."),
    key("series", TEXT, "An expression: the series of numbers."),
    key("first", COUNT, "The first number.").or("0"),
    key("key", TEXT, "An expression over the record: what has a number."),
    key("text", TEXT, "An expression over the record: the text that the registry keeps."),
    key("order", Kind::Choice(&["number", "step"]), "The order of the rows.").or("\"number\""),
    key("published", Kind::Table(OF_FILE), "The keys of a published file that has numbers."),
];

const OF_FILE: &[Key] = &[
    Key::required("text", TEXT, "The key of the text."),
    Key::required("number", TEXT, "The key of the number."),
];

const HARNESS: &[Key] = &[
    Key::required("question", TEXT, "The column of the question."),
    Key::required("instruction", TEXT, "What a model is told before the question."),
    key("options", TEXT, "The column of the options, with `gold`."),
    key("gold", TEXT, "The column of the right option."),
    key("answer", TEXT, "The column of the answer, instead of options."),
];

const SPLITS: &[Key] = &[
    key("shares", Kind::Each(&Kind::SHARE), "SPLIT = its share of the rows that the counts leave."),
    key(
        "counts",
        Kind::Each(&Kind::Either(&[COUNT, Kind::Choice(&["rest"])])),
        "SPLIT = its number of rows, or \"rest\".",
    ),
    key(
        "fewshot",
        Kind::Either(&[COUNT, Kind::Each(&COUNT)]),
        "A split for solved examples, by its number of rows.",
    ),
    key("stratify", TEXT, "A column: each split has each of its values in proportion."),
    key("seed", COUNT, "What the draw depends on, besides the record.").or("0"),
    key("column", TEXT, "Instead of all of these: the column that says the split."),
];

const COMPAT: &[Key] = &[
    key(
        "keys",
        Kind::List(&Kind::Either(&[TEXT, NAMED])),
        "In the published order: a column, or { key = \"expression\" } over the columns.",
    ),
    key("back", NAMED, "COLUMN = expression over a published object."),
    key("when", TEXT, "Only the rows for which this expression is true."),
    key("like", TEXT, "The keys of another file."),
    key("config", TEXT, "Its name, if it is a separate config."),
    key(
        "lines",
        FLAG,
        "Of `.json`: whether each object is on a line of its own, instead of all in one array.",
    ),
    key("labels", Kind::Each(&NAMED), "By column: a label of the published file = that of this set."),
];

const PUBLISHED: &[Key] = &[
    key("id", TEXT, "An expression over the keys of a row: its id."),
    key("text", TEXT, "Its text."),
    key("number", TEXT, "Its number."),
    key("group", TEXT, "The group of rows that are one record, with `role`."),
    key("role", TEXT, "The role of a row in its group."),
    key("question", TEXT, "Of riddles: the question."),
    key("answer", TEXT, "Of riddles: the answer."),
    key("like", TEXT, "Another benchmark, whose published rows these are."),
    key(
        "at",
        Kind::Each(&Kind::Each(&Kind::Either(&[TEXT, FLAG]))),
        "By step: FIELD = the row's value there; decided = false if it decides nothing.",
    ),
];

const PAPER: &[Key] = &[
    key("set", TEXT, "The name of the set."),
    key("like", TEXT, "Another benchmark, whose paper it is, instead of the others."),
    key("title", LABEL, "The title of the paper."),
    key("authors", TEXT, "Its authors."),
    key("year", Kind::Whole(0, u16::MAX as i64), "Its year."),
    key("key", TEXT, "Its key in BibTeX."),
    key("url", TEXT, "Its address."),
    key("languages", TEXTS, "The languages of the set."),
    key("tags", TEXTS, "Tags of the set's card."),
    key("biases", LABEL, "Known biases of figures on the set."),
    key(
        "differs",
        Kind::List(&Kind::List(&Kind::Either(&[TEXT, Kind::Table(SIDES), NAMED]))),
        "What differs from the paper: there, here, and the setting that follows the paper.",
    ),
    key("datasheet", Kind::Each(&LABEL), "Answers of DATASHEET.md that no run can know."),
];
