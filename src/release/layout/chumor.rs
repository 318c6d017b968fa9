//! Chumor (He et al., 2 and 3): a joke, its explanation by a person, explanations by models, and which
//! of them people preferred. The published file is not public in a form to write beside it.

use super::{Answer, Column, Kind, Layout, PROVENANCE, STANDING, Task, column, one_of};
use crate::config::SourceKind;
use crate::release::row::{Row, Value};

/// A reviewed item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joke {
    /// The joke's id: that of its post.
    pub id: String,
    /// The joke.
    pub joke: String,
    /// The explanation by a person.
    pub explanation: String,
    /// `annual`, `recommended`, or the kind of its source.
    pub source_kind: String,
    /// The models that explained it too.
    pub opponents: Vec<Opponent>,
    /// The post it was made from.
    pub source_id: String,
    /// `confirmed`, `provisional` or `synthetic`.
    pub standing: String,
}

/// A model's explanation, and what people say of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opponent {
    /// The model.
    pub model: String,
    /// What it says.
    pub explanation: String,
    /// Votes for the person's explanation.
    pub human: u64,
    /// Votes for the model's.
    pub llm: u64,
    /// Votes for neither.
    pub equal: u64,
    /// What most say, or `undecided`.
    pub verdict: String,
    /// Kinds of error, with a blank between; empty where nobody looked.
    pub errors: String,
}

/// What a joke may come from: the two that the paper has, the first of which any dump may hold and the second is the
/// moderators' list, which comes first among the kinds; the other kinds of posts; and a file that import did not name.
const SOURCE_KINDS: [&str; SourceKind::OF_POSTS.len() + 2] = {
    let mut kinds = ["unknown"; SourceKind::OF_POSTS.len() + 2];
    (kinds[0], kinds[1]) = ("annual", "recommended");
    let mut other = 1;
    while other < SourceKind::OF_POSTS.len() {
        kinds[other + 1] = SourceKind::OF_POSTS[other];
        other += 1;
    }
    kinds
};

const COLUMNS: &[Column] = &[
    column("id", Kind::Text, "The joke's id."),
    column("joke", Kind::Text, "The joke, in Chinese."),
    column("explanation", Kind::Text, "Why it is funny, by a person."),
    one_of(
        "source_kind",
        &SOURCE_KINDS,
        "`annual` of a thread of the year's best, `recommended` of the moderators' list, else the kind of its source.",
    ),
    column("opponent_models", Kind::Texts, "The models that explained the joke too."),
    column("opponent_explanations", Kind::Texts, "Their explanations."),
    column("votes_human", Kind::Counts, "Votes for the person's explanation, against each model."),
    column("votes_model", Kind::Counts, "Votes for the model's."),
    column("votes_tie", Kind::Counts, "Votes for neither over the other."),
    column(
        "verdicts",
        Kind::Texts,
        "What most voters prefer: human, llm, equal, or undecided where all differ; empty where nobody voted.",
    ),
    column(
        "errors",
        Kind::Texts,
        "Kinds of error each model's explanation shows, with a blank between; empty where nobody looked.",
    ),
    PROVENANCE,
    STANDING,
];

pub(super) const LAYOUT: Layout = Layout {
    config: "chumor",
    about: "A joke with its explanation by a person, explanations by models, and people's preference.",
    columns: COLUMNS,
    compat: &[],
    task: Some(Task {
        question: "joke",
        instruction: "请用两句话解释这个笑话好笑在哪里。",
        answer: Answer::Words("explanation"),
    }),
    labels: &["source_kind", "standing"],
    standing: Some("standing"),
    check,
};

impl Joke {
    /// The released row.
    pub fn row(self) -> Row {
        let texts = |of: fn(&Opponent) -> &String| self.opponents.iter().map(of).cloned().collect::<Vec<_>>();
        let counts = |of: fn(&Opponent) -> u64| self.opponents.iter().map(of).collect::<Vec<_>>();
        let (models, explanations) = (texts(|one| &one.model), texts(|one| &one.explanation));
        let (human, model, tie) = (counts(|one| one.human), counts(|one| one.llm), counts(|one| one.equal));
        let (verdicts, errors) = (texts(|one| &one.verdict), texts(|one| &one.errors));
        Row(vec![
            self.id.into(),
            self.joke.into(),
            self.explanation.into(),
            self.source_kind.into(),
            models.into(),
            explanations.into(),
            human.into(),
            model.into(),
            tie.into(),
            verdicts.into(),
            errors.into(),
            self.source_id.into(),
            self.standing.into(),
        ])
    }
}

fn check(row: &Row) -> Result<(), String> {
    let lengths: Vec<usize> = row.0[4..11]
        .iter()
        .filter_map(|value| match value {
            Value::Texts(list) => Some(list.len()),
            Value::Counts(list) => Some(list.len()),
            _ => None,
        })
        .collect();
    match lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(()),
        false => Err("opponent_models: the lists of opponents differ in length".into()),
    }
}
