//! `[step.NAME]`.

use riddlemill_schema::{Key, Kind};

use super::{COUNT, NAMED, PARTS, SENTENCES, TEXT, TEXT_OR_TEXTS, TEXTS, WHOLE, key};

/// `[step.NAME]`: what it is follows from its keys.
pub(super) const STEP: &[Key] = &[
    key("kind", TEXT, "What the step is, where its keys do not say it."),
    key("like", TEXT, "Another step: everything as there, except what is said here."),
    key("op", TEXT, "An operation of the program."),
    key("for", TEXT, "The ballot that a draft is for, if it has another name."),
    key(
        "from",
        TEXTS,
        "Its input, if that is not the previous step; BENCHMARK/STEP reads another benchmark.",
    ),
    key("records", TEXT, "The kind of its records, if it is another one."),
    key("when", TEXT, "An expression: the records that it is about."),
    key(
        "prompt",
        PROMPT,
        "The prompt; default: that of the step's name. Or one for each language: { en = \"…\" }.",
    ),
    key("with", NAMED, "The variables of the prompt, or what the operation is told: NAME = expression."),
    key("reply", Kind::Table(REPLY), "How a reply is read."),
    key("case", Kind::List(&Kind::Table(CASE)), "Several prompts: the first case that is true applies."),
    key("ask", Kind::Each(&Kind::Table(ASK)), "What is asked where every reply becomes a record of its own."),
    key("keeps", NAMED, "COLUMN = expression over the previous columns and the replies."),
    key("endpoint", TEXT, "The setting with the names of the endpoints."),
    key("replies", REPLIES, "How many replies each endpoint gives, or the setting with it; default: 1."),
    key("samples", REPLIES, "Another word for `replies`."),
    key("majority", TEXT, "The field of whose values the most frequent is the draft."),
    key("at_least", TEXT, "The setting with the number of models whose replies are enough."),
    key("barred", Kind::Table(BARRED), "Endpoints that are not asked about some records."),
    key("also_from", Kind::Choice(&["responses", "ratings"]), "Files of raw/ that count, too."),
    key("sample", TEXT, "The setting with such a file for a sample."),
    key("translates", TEXT, "The variable that is sent to an endpoint which can only translate."),
    key("pack_id", TEXT, "An expression: the name of the record in packs of replies."),
    key(
        "reason",
        PARTS,
        "What the ledger calls it: drafted or rated; or a code and the sentence for people.",
    ),
    key("ledger", TEXTS, "The fields that the ledger shows; default: all."),
    key(
        "discards",
        NAMED,
        "FIELD = expression for what was asked: an answer that only repeats it is discarded.",
    ),
    key("checks", TEXTS, "Expressions over the record with its draft: findings."),
    key("checks_each", TEXTS, "The same over each reply, as `it`."),
    key("for_each", TEXT, "An expression: a list whose elements `it` are asked about one by one."),
    key("named_by", TEXT, "An expression: the name of an element."),
    key("id_role", TEXT, "The prefix of the ids of its records."),
    key("right", TEXT, "Of options: an expression for the right one."),
    key("wrong", TEXT, "Of options: an expression for the wrong ones."),
    key("number", COUNT, "Of options: how many there are; default: 4."),
    key("purpose", TEXT, "Of options: the word that their order is drawn with."),
    key("gap", Kind::Any, "Of rated pairs: how far apart they are rated."),
    key("texts", TEXTS, "Of anonymise: the fields in which personal data are marked."),
    key("language", TEXT, "Of anonymise: the language of the texts."),
    key("drop_if", TEXT, "An expression: records for which it is true are dropped."),
    key("hold_if", TEXT, "An expression: records for which it is true wait for a person."),
    key("record_for_each", TEXT, "An expression: every element of the list becomes a record."),
    key("text", TEXT, "An expression: the text of an element's record."),
    key("requires", SENTENCES, "What a reply must meet, each with a sentence."),
];

/// A prompt, or one for each language.
pub(super) const PROMPT: Kind = Kind::Either(&[TEXT, Kind::Table(BY_LANGUAGE)]);
pub(super) const BY_LANGUAGE: &[Key] = &[
    key("zh", TEXT, "For Chinese records."),
    key("en", TEXT, "For English records."),
    key("und", TEXT, "For records of any other language."),
];

const CASE: &[Key] = &[
    key("when", TEXT, "An expression: the records that it is for."),
    key("prompt", PROMPT, "The prompt."),
    key("with", NAMED, "Its variables: NAME = expression."),
    key("reply", Kind::Table(REPLY), "How a reply is read, if otherwise than in the other cases."),
];

const ASK: &[Key] = &[
    key("id_role", TEXT, "The prefix of the ids of the answers."),
    key("prompt", TEXT, "The prompt; default: that of the step's name."),
    key("with", NAMED, "Its variables: NAME = expression."),
    key("when", TEXT, "An expression: the records that it is asked about."),
    key("reply", Kind::Table(REPLY), "How a reply is read, if otherwise than in the step."),
];

const BARRED: &[Key] = &[
    Key::required("by", TEXT, "The setting with lines `endpoint: model`."),
    Key::required("whose", TEXT, "An expression: the model that a record is of."),
];

/// `reply` of a step.
const REPLY: &[Key] = &[
    key("text", TEXTS, "The whole reply, without a code fence, quotes or one of these labels."),
    key("whole", Kind::Flag, "Any reply that is not empty."),
    key(
        "json",
        Kind::Each(&Kind::Either(&[TEXT, Kind::Table(OF_JSON)])),
        "One JSON object with these keys: KEY = TYPE.",
    ),
    key("label", TEXT_OR_TEXTS, "One of these codes, or of those of a list."),
    key("rating", Kind::List(&WHOLE), "A whole number from the lowest to the highest: [1, 5]."),
    key("numbers", Kind::Table(NUMBERS), "Different numbers in order of priority."),
    key("reader", TEXT, "The format of a reader of the program."),
    key("gives", NAMED, "FIELD = expression over the parsed values."),
    key("refuses", TEXTS, "Expressions over the parsed values: a text rejects the reply."),
];

const OF_JSON: &[Key] = &[
    key("scale", Kind::List(&WHOLE), "A whole number from the lowest to the highest: [0, 4]."),
    key(
        "texts",
        Kind::Either(&[COUNT, Kind::List(&WHOLE)]),
        "So many texts, or from the fewest to the most.",
    ),
    key("one_of", TEXT_OR_TEXTS, "One of these codes, or of those of a list."),
    key("label_of", TEXT, "One of the labels of this list."),
];

/// So many replies, or the setting with their number.
const REPLIES: Kind = Kind::Either(&[Kind::Whole(1, 100), TEXT]);

const NUMBERS: &[Key] = &[
    Key::required("count", Kind::Whole(1, 10), "How many."),
    Key::required("from", COUNT, "The lowest."),
    Key::required("to", COUNT, "The highest."),
    Key::required("like", TEXT, "An example: \"2 6 3\"."),
];
