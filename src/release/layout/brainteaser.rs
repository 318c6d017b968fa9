//! BrainTeaser (Jiang et al., 3.1–3.4, table 1): a lateral puzzle with three answers and `None of
//! above.`, in groups of an original and two reconstructions.

use serde_json::{Map, Value as Json};

use super::{Answer, Column, Compat, Kind, Layout, PROVENANCE, STANDING, Task, column, maybe};
use crate::release::row::{Row, Value};

const NONE: &str = "None of above.";

/// A reviewed puzzle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Puzzle {
    /// `SP-0`, `SP-0_SR`, `WP-3_CR`: kind, allotted number of the group, reconstruction.
    pub id: String,
    /// The question.
    pub question: String,
    /// The right answer, or `None of above.` where it was replaced.
    pub answer: String,
    /// Two wrong answers, and a third or `None of above.`
    pub distractors: [String; 3],
    /// The options in the order shown, as places in answer, distractor 1, 2, 3.
    pub order: [u64; 4],
    /// The true answer, where `answer` is `None of above.`
    pub original_answer: Option<String>,
    /// `train` or `test`, where groups are split.
    pub split: Option<String>,
    /// The riddle it was made from.
    pub source_id: String,
    /// `confirmed`, `provisional` or `synthetic`.
    pub standing: String,
}

const COLUMNS: &[Column] = &[
    column(
        "id",
        Kind::Text,
        "`SP-` sentence or `WP-` word puzzle, the number of its group, `_SR` or `_CR` where it is reconstructed.",
    ),
    column("question", Kind::Text, "The puzzle, in English."),
    column("answer", Kind::Text, "The right answer."),
    column("distractor1", Kind::Text, "A wrong answer."),
    column("distractor2", Kind::Text, "A wrong answer."),
    column(
        "distractor(unsure)",
        Kind::Text,
        "`None of above.`, or a third wrong answer where that is right.",
    ),
    column("label", Kind::Count, "The place of the right answer in the list, from 0."),
    column("choice_list", Kind::Texts, "The four options, as they are shown."),
    column("choice_order", Kind::Counts, "For each place which it is: 0 the answer, 1 to 3 the distractors."),
    maybe("original_answer", Kind::Text, "The true answer, where `None of above.` stands for it."),
    PROVENANCE,
    STANDING,
];

/// Stands last where groups are split into parts; a column that is null in every row is of no use to anybody.
const SPLIT: Column = Column {
    values: &["train", "test"],
    ..maybe("split", Kind::Text, "The part its group is in, where the set is split.")
};

const SPLIT_COLUMNS: [Column; COLUMNS.len() + 1] = {
    let mut columns = [SPLIT; COLUMNS.len() + 1];
    let mut place = 0;
    while place < COLUMNS.len() {
        columns[place] = COLUMNS[place];
        place += 1;
    }
    columns
};

/// Of a set that is split, and of every set that an earlier program released.
pub(super) const SPLIT_LAYOUT: Layout = Layout { columns: &SPLIT_COLUMNS, ..LAYOUT };

pub(super) const LAYOUT: Layout = Layout {
    config: "brainteaser",
    about: "A lateral puzzle with four options, in groups of an original and two reconstructions.",
    columns: COLUMNS,
    compat: &[
        Compat { file: "sentence_puzzle.json", lines: false, published: sentence },
        Compat { file: "word_puzzle.json", lines: false, published: word },
    ],
    task: Some(Task {
        question: "question",
        instruction: "Choose the best answer to the brain teaser.",
        answer: Answer::Choice { options: "choice_list", gold: "label" },
    }),
    labels: &["label", "standing"],
    standing: Some("standing"),
    check,
};

impl Puzzle {
    /// The released row: options and label follow from the order.
    pub fn row(self) -> Row {
        let [first, second, third] = self.distractors;
        let parts = [self.answer, first, second, third];
        let choices: Vec<String> =
            self.order.iter().filter_map(|i| parts.get(*i as usize).cloned()).collect();
        let label = self.order.iter().position(|i| *i == 0).unwrap_or_default() as u64;
        let [answer, first, second, third] = parts;
        let mut row = vec![
            self.id.into(),
            self.question.into(),
            answer.into(),
            first.into(),
            second.into(),
            third.into(),
            label.into(),
            choices.into(),
            self.order.to_vec().into(),
            self.original_answer.into(),
            self.source_id.into(),
            self.standing.into(),
        ];
        row.extend(self.split.map(Value::from));
        Row(row)
    }

    /// Reads an item of the published file; `None` where it has another form.
    pub fn from_published(json: &Map<String, Json>) -> Option<Puzzle> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_string);
        let order: Vec<u64> = json.get("choice_order")?.as_array()?.iter().filter_map(Json::as_u64).collect();
        Some(Puzzle {
            id: text("id")?,
            question: text("question")?,
            answer: text("answer")?,
            distractors: [text("distrator1")?, text("distrator2")?, text("distrator(unsure)")?],
            order: order.try_into().ok()?,
            original_answer: None,
            split: None,
            source_id: String::new(),
            standing: "confirmed".into(),
        })
    }
}

fn sentence(row: &Row) -> Option<Map<String, Json>> {
    published(row, "SP-")
}

fn word(row: &Row) -> Option<Map<String, Json>> {
    published(row, "WP-")
}

/// The published keys, misspelt as they are published.
fn published(row: &Row, kind: &str) -> Option<Map<String, Json>> {
    const KEYS: [&str; 9] = [
        "id",
        "question",
        "answer",
        "distrator1",
        "distrator2",
        "distrator(unsure)",
        "label",
        "choice_list",
        "choice_order",
    ];
    row.id()
        .starts_with(kind)
        .then(|| KEYS.iter().zip(&row.0).map(|(key, value)| (key.to_string(), value.to_json())).collect())
}

fn check(row: &Row) -> Result<(), String> {
    let (Value::Count(label), Value::Texts(choices), Value::Counts(order)) =
        (&row.0[6], &row.0[7], &row.0[8])
    else {
        return Ok(());
    };
    let mut places = order.clone();
    places.sort_unstable();
    if places != [0, 1, 2, 3] || choices.len() != 4 {
        return Err(format!("choice_order: {order:?} is no order of four options"));
    }
    if order.iter().zip(choices).any(|(part, choice)| row.text(2 + *part as usize) != choice) {
        return Err("choice_list: not the answer and the distractors in the stated order".into());
    }
    if order.get(*label as usize) != Some(&0) {
        return Err("label: not the place of the answer".into());
    }
    if (1..4).any(|i| choices[..i].contains(&choices[i])) {
        return Err("choice_list: two options are the same".into());
    }
    let replaced = row.text(2) == NONE;
    if replaced != (row.0[9] != Value::Null) && row.text(11) == "confirmed" && !row.text(10).is_empty() {
        return Err("original_answer: given exactly where the answer is `None of above.`".into());
    }
    Ok(())
}
