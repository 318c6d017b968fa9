//! `[figure.NAME]` of report.toml and `[table.NAME]` of benchmark.toml, which have the same keys: what names tasks or columns is of
//! models' answers, everything else of records.

use riddlemill_schema::{Key, Kind};

use super::{COUNT, FLAG, LABEL, NAMED, NUMBER, TEXT, TEXT_OR_TEXTS, TEXTS, key};

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

/// A figure, or a table of figures.
pub(super) const FIGURE: &[Key] = &[
    key(
        "layout",
        TEXT,
        "How it is computed and shown; default: numbers or columns, if it has some, else the layout of its name.",
    ),
    key("title", LABEL, "The line above it; of records a template over all figures."),
    key(
        "caption",
        LABEL,
        "Of records: its title in files and on pages; default: a title that is no template, else one of its layout, or its name.",
    ),
    key("about", LABEL, "What it shows, in a sentence."),
    key("paper", LABEL, "Where the paper has it."),
    key("paper_of_settings", LABEL, "The same for models that were asked in several settings."),
    key("chart", FLAG, "Whether it is drawn as bars."),
    key("drawn", Kind::List(&Kind::Table(DRAWN)), "Other charts."),
    key("line", TEXT, "A template for each line; \"\" shows none."),
    key("indent", COUNT, "Spaces before each line.").or("4"),
    key("step", TEXT, "Another step whose records are used."),
    key("records", TEXT, "The kind of these records, if it is not the benchmark's."),
    key(
        "part",
        TEXT,
        "Of records: the name of a [part.NAME], for each of whose parts it is computed; else the part of the set.",
    ),
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
    key("judges", TEXT, "An expression: the judges."),
    key("model", TEXT, "An expression: the model."),
    key("normal", TEXT, "An expression: whether it is an answer to a normal question."),
    key(
        "ratings",
        TEXT_OR_TEXTS,
        "An expression: the ratings; of answers: the columns of models, judges, numbers.",
    ),
    key("rows", Kind::Choice(&["settings", "models"]), "One row for each setting, or for each model.")
        .or("\"models\""),
    key("tasks", TEXTS, "Of a layout: the tasks."),
    key(
        "columns",
        Kind::Either(&[Kind::List(&LABEL), Kind::Each(&Kind::Table(COLUMN))]),
        "TITLE = a table with one measure; of a layout: the headings.",
    ),
    key(
        "parts",
        Kind::Either(&[TEXT, Kind::Each(&Kind::Either(&[LABEL, Kind::List(&LABEL)]))]),
        "A table for each part: NAME = [\"part\", \"title\"]; of ratings, a column: the parts of the question.",
    ),
    key("part_key", TEXT, "The name of the part in the origin of the figures."),
    key("by_list", TEXT, "Of a layout: the list by whose labels it is."),
    key("by_judge", Kind::Table(BY_JUDGE), "Of a layout: the same by judge."),
    key("other", TEXT, "Of a layout: a task of a set evaluated in the same call."),
];

const DRAWN: &[Key] = &[
    Key::required("as", Kind::Choice(&["bars", "stacked", "lines", "scatter"]), "The kind of chart."),
    key("title", LABEL, "The line above it."),
    key("columns", COUNT, "How many columns it has."),
];

const BY_JUDGE: &[Key] = &[
    Key::required("name", TEXT, "Its name."),
    key("title", LABEL, "The line above it."),
    key("paper", LABEL, "Where the paper has it."),
];

const COLUMN: &[Key] = &[
    key("accuracy", TEXT, "A task: the percent of answers that are right."),
    key("pass_at", COUNT, "Of accuracy: some of so many answers are right."),
    key("majority", FLAG, "Of accuracy: the most frequent answer is right."),
    key("accuracy_of_attempted", TEXT, "A task: the percent of right answers among those that can be read."),
    key("f1", TEXT, "A task: the F1 of its labels."),
    key("precision", TEXT, "A task: the precision of its labels."),
    key("recall", TEXT, "A task: the recall of its labels."),
    key("mcc", TEXT, "A task: Matthews' correlation of its labels."),
    key("fpr", TEXT, "A task: the false positives of a label."),
    key("fnr", TEXT, "A task: the false negatives of a label."),
    key("over", Kind::Choice(&["set", "answers"]), "Of f1: over the labels in the rows, or in the answers."),
    key("average", Kind::Choice(&["macro", "micro"]), "The mean of the labels, or all answers together."),
    key("of", TEXT, "One label, which counts against all others."),
    key("ece", TEXT, "A task: the expected calibration error."),
    key("brier", TEXT, "A task: the Brier score."),
    key("correlation", TEXT, "A task: the correlation with people's numbers."),
    key("score", TEXT, "A task: the mean of the judges' means."),
    key("groups", TEXT, "A task: groups of rows in which all are right, or some are wrong."),
    key("all_of", TEXTS, "Of groups: the parts that have to be right."),
    key("failed", TEXTS, "Of groups: parts of which some are wrong."),
    key("solved", TEXTS, "Of groups: parts that are right."),
    key("format", TEXT_OR_TEXTS, "Tasks: answers that cannot be read."),
    key("difference", TEXTS, "The difference of two columns before it."),
    key("mean", TEXTS, "The mean of columns before it."),
    key("geometric", TEXTS, "The geometric mean of columns before it."),
    key("among", TEXT, "An expression: only the rows for which it is true."),
    key("part", TEXT, "Only the rows of this part."),
    key("each", TEXT, "A column of the set: one figure for each of its values."),
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
