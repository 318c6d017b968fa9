//! report.toml.

use riddlemill_schema::{Key, Kind};

use super::{COUNT, FLAG, LABEL, NAMED, NUMBER, TEXT, TEXTS, key};

/// The file.
pub const REPORT: &[Key] = &[
    key("figure", Kind::Each(&Kind::Table(FIGURE)), "What `report` shows, in the order of the file."),
    key("part", Kind::Each(&Kind::Table(PART)), "Parts for each of which figures are computed."),
];

const PART: &[Key] = &[
    Key::required("key", TEXT, "The key in --json that says which part it is."),
    Key::required("of", TEXT, "An expression: the part of a record."),
    Key::required("values", TEXTS, "The parts."),
];

const FIGURE: &[Key] = &[
    key(
        "layout",
        TEXT,
        "How it is computed and shown; default: numbers, if it has some, else the layout of its name.",
    ),
    key("title", LABEL, "The line above it: a template over all figures."),
    key("line", TEXT, "A template for each line; \"\" shows none."),
    key("indent", COUNT, "Spaces before each line.").or("4"),
    key("step", TEXT, "Another step whose records are used."),
    key("records", TEXT, "The kind of these records, if it is not the benchmark's."),
    key("part", TEXT, "The name of a [part.NAME], for each of whose parts it is computed."),
    key("among", TEXT, "An expression: only the records for which it is true."),
    key("of", TEXT, "An expression: the number, the tally or the list that is shown."),
    key("by", Kind::Either(&[TEXT, NAMED]), "An expression, or several: what is counted."),
    key("list", TEXT, "A list of ballots.toml, in whose order the values are."),
    key("column", TEXT, "A column of the set, whose published labels count as its own."),
    key("questions", TEXT, "The step that holds the questions: STEP or BENCHMARK/STEP."),
    key("keys", NAMED, "NAME = expression over the cells: the keys of each line in --json."),
    key("numbers", Kind::Each(&Kind::Table(MEASURES)), "NAME = { label, MEASURE }."),
    key("ballot", TEXT, "The ballot whose votes are looked at."),
    key("field", TEXT, "Its field."),
    key("fields", TEXTS, "Its fields."),
    key("question", TEXT, "An expression: the question."),
    key("answer", TEXT, "An expression: the answer."),
    key("options", TEXT, "An expression: the options."),
    key("gold", TEXT, "An expression: the position of the right option, from 0."),
    key("group", TEXT, "An expression: items made of one record."),
    key("apart", TEXTS, "Options that are in every item."),
    key("text", TEXT, "An expression: the text whose words are compared."),
    key("from", Kind::Either(&[NUMBER, TEXT]), "The lowest number; or which record of a group is compared."),
    key("to", Kind::Either(&[NUMBER, TEXT]), "The highest number; or with which record of the group."),
    key("wide", NUMBER, "The width of a bar's range."),
    key("most", COUNT, "The number of most frequent values that are shown."),
    key("label", LABEL, "What the value is called."),
    key("opponents", TEXT, "An expression: the opponents."),
    key("verdicts", TEXT, "An expression: the verdicts, in the order of the opponents."),
    key("votes", TEXT, "An expression: the votes."),
    key("marks", TEXT, "An expression: codes, separated by spaces."),
    key("shares", NAMED, "NAME = CODE of a verdict."),
    key("parts", TEXT, "A column: the parts of the question."),
    key("judges", TEXT, "An expression: the judges."),
    key("model", TEXT, "An expression: the model."),
    key("normal", TEXT, "An expression: whether it is an answer to a normal question."),
    key("ratings", TEXT, "An expression: the ratings."),
];

const MEASURES: &[Key] = &[
    key("label", LABEL, "What it is called."),
    key("count", TEXT, "An expression: the records for which it is true."),
    key("share", TEXT, "An expression: of those with a value, the share for which it is true."),
    key("mean", TEXT, "An expression: the mean of a number."),
    key("lengths", TEXT, "An expression: the mean, highest and lowest of a number."),
    key("items", FLAG, "The items of a release."),
    key("modified", TEXT, "A ballot: percent of the decisions that its second review changed."),
    key("looked_at", TEXT, "A ballot: how many decisions its second review covered."),
];
