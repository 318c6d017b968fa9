//! `[task.NAME]` of benchmark.toml.

use riddlemill_schema::{Key, Kind};

use super::steps::{BY_LANGUAGE, PROMPT};
use super::{FLAG, LABEL, NAMED, NUMBER, TEXT, TEXTS, WHOLE, key};

const SCALE: Kind = Kind::List(&WHOLE);

/// `[task.NAME]`, and `[tasks]` for all of them: what one lacks the other may have, so that nothing is required here.
pub(super) const TASK: &[Key] = &[
    key("about", LABEL, "What it asks, in a sentence."),
    key(
        "prompt",
        PROMPT,
        "The prompt; default: that of the task's name. FOLDER/NAME is one of another benchmark. Or one for each language: { en = \"…\" }.",
    ),
    key(
        "reasoned",
        Kind::Either(&[TEXT, FLAG, Kind::Table(BY_LANGUAGE)]),
        "The prompt that asks for reasoning before the answer; false for none.",
    ),
    key("with", NAMED, "The variables of the prompt: NAME = expression over the columns."),
    key("when", TEXT, "An expression: the rows that are asked about."),
    key("samples", Kind::Whole(1, 1000), "How many answers every model gives to a row.").or("1"),
    key("confidence", Kind::Table(CONFIDENCE), "Answers say how sure they are."),
    key("conversation", Kind::Table(CONVERSATION), "A model asks, and a host who knows the answer replies."),
    key("choose", Kind::Table(CHOOSE), "An answer is one of the options."),
    key("classify", Kind::Table(CLASSIFY), "An answer is a label of a list."),
    key("rate", Kind::Table(RATE), "An answer is a number, correlated with people's."),
    key("tag", Kind::Table(TAG), "An answer is one of two names, <choice>NAME</choice>."),
    key("free_text", Kind::Table(FREE_TEXT), "An answer is a text that is judged."),
    key("judge", Kind::Table(JUDGE), "How a model judges answers."),
    key("people", Kind::Table(PEOPLE), "The sheet on which people rate."),
    key("shots", Kind::Table(SHOTS), "Solved examples."),
    key(
        "form",
        Kind::Each(&Kind::Table(FORM)),
        "The wording of the paper for FlanT5 and T0: arc, commonsenseqa.",
    ),
    key("rubric", TEXT, "What people read before they rate: the points of the scale."),
    key("released", Kind::Table(RELEASED), "Columns of answers that the rows contain."),
    key(
        "outputs",
        Kind::Either(&[Kind::Table(OUTPUTS), Kind::List(&Kind::Table(OUTPUTS))]),
        "Lines that a script of the paper's authors writes about this task.",
    ),
    key("on_request", FLAG, "Asked only if --task names it.").or("false"),
    key("other_order_of", TEXT, "The task with the same options in the other order."),
    key(
        "exported_when",
        TEXT,
        "An expression: the rows whose outputs are about this task where none is named.",
    ),
    key("result_name", TEXT, "Its name in flags and files; default: BENCHMARK/NAME."),
    key("pack_key", Kind::Choice(&["record", "task"]), "The id under which packs store the reply."),
    key("id_role", TEXT, "The role with which that id is derived."),
];

const CONFIDENCE: &[Key] = &[
    key("scale", SCALE, "What a confidence may be: [0, 1] or [0, 100]."),
    key("bins", Kind::Whole(1, 100), "How many the calibration error has.").or("10"),
];

const CONVERSATION: &[Key] = &[
    key("turns", Kind::Whole(1, 100), "How many questions the player may ask."),
    key("host", PROMPT, "The host's prompt, or one for each language."),
    key("with", NAMED, "Its variables: NAME = expression over the columns and `said`."),
    key("replies", TEXTS, "What the host may reply; solved ends the conversation."),
];

const CHOOSE: &[Key] = &[
    key("options", TEXT, "An expression: the options."),
    key("gold", TEXT, "An expression: the letter or position of the right one."),
    key("by_text", FLAG, "An answer may also repeat an option's text.").or("false"),
];

const CLASSIFY: &[Key] = &[
    key("list", TEXT, "A list of ballots.toml."),
    key("gold", TEXT, "An expression: the right codes, or labels."),
    key("many", FLAG, "An answer may have several.").or("false"),
    key("in", Kind::Choice(&["en", "zh"]), "Answers are labels in this language."),
    key("without", TEXTS, "Codes that are not offered."),
    key("behind", TEXTS, "The words before the label in an answer with reasoning."),
];

const RATE: &[Key] = &[
    key("scale", SCALE, "The lowest and the highest: [1, 5]."),
    key("gold", TEXT, "An expression: people's number."),
];

const TAG: &[Key] = &[
    key("names", TEXTS, "The two names."),
    key("options", TEXT, "An expression: the options in the order of the names."),
    key("gold", TEXT, "The right name."),
];

const FREE_TEXT: &[Key] =
    &[key("blank", TEXT, "What is wrong with an answer without letters and digits, if that is an error.")];

const JUDGE: &[Key] = &[
    key("prompt", PROMPT, "The prompt, or one for each language.").or("\"judge\""),
    key("with", NAMED, "Its variables: NAME = expression over the columns and `said`."),
    key("scale", SCALE, "The lowest and the highest rating: [1, 5]."),
    key("reply", Kind::Choice(&["json", "brackets"]), "How it rates: [[7]], or an object with `rating`.")
        .or("\"brackets\""),
    key("better", Kind::Table(BETTER), "Which of two texts is better."),
    key("people", FLAG, "People's answers are judged, too.").or("false"),
    key("id_role", TEXT, "The role of the id under which packs store the rating."),
];

const BETTER: &[Key] = &[
    key("person", TEXT, "An expression: the text of a person."),
    key("sides", TEXTS, "The two texts as the prompt asks for them."),
];

const PEOPLE: &[Key] = &[
    key("sheet", TEXT, "The name of the sheet."),
    key("shows", NAMED, "What it shows: NAME = expression over the columns."),
    key("scale", SCALE, "The lowest and the highest rating; none if they prefer one of two texts."),
    key("times", NUMBER, "The factor to the judges' scale.").or("1"),
    key("write", FLAG, "People answer, too.").or("false"),
];

const SHOTS: &[Key] = &[
    key("shows", NAMED, "The values of each example in the prompt's `shots`."),
    key("same", TEXT, "An expression of which examples have the same value."),
];

const FORM: &[Key] = &[
    key("prompt", TEXT, "The prompt."),
    key("with", NAMED, "Its variables: NAME = expression over the columns."),
    key("shows", NAMED, "The values of each solved example."),
];

const RELEASED: &[Key] = &[
    key("models", TEXT, "The column of the models."),
    key("answers", TEXT, "The column of their answers."),
    key("said", TEXT, "The column of what they said."),
    key("votes", TEXTS, "The columns of votes: for the person, for the model, for neither."),
];

const OUTPUTS: &[Key] = &[
    key("has", TEXTS, "Keys that such a line has besides."),
    key("question", TEXT, "An expression over the line's keys: the question of its row."),
    key("id", TEXT, "An expression over the line's keys: the id of its row."),
    key("reply", TEXT, "The key of the reply."),
    key("letter", TEXT, "The key of the letter that the script found."),
    key("options", TEXT, "The key of the list in which the letter is the place of an option."),
    key("prompt", TEXT, "The key of the prompt that lists the options as `A: …`."),
    key("rating", TEXT, "The key of a judge's rating."),
    key("file", TEXT, "A regular expression for the file's name, with the groups `model` and `shots`."),
    key("example", TEXT, "Such a name, for the hint where a file is named otherwise."),
    key("cot", FLAG, "The model was asked to reason first.").or("false"),
    key("stem", TEXT, "What the names of two files have in common: {STEM} in `file`."),
    key("direct", TEXT, "{HOW} of the file of plain answers."),
    key("reasoned", TEXT, "{HOW} of the file of answers with reasoning."),
];
