//! The items of a set, as the tasks need them.

use std::collections::BTreeMap;

use riddlemill_benchmarks::task::Posed;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::task::Task;
use crate::options::LETTERS;
use crate::puzzle::options::NONE;
use crate::review::ballots;

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its id in the release.
    pub id: String,
    /// The record it was made from where it is the only one of it, else its id: what a sample pack answers by.
    pub record: String,
    /// What is asked.
    pub body: Body,
    /// Whether answers are read as the paper's authors read them.
    pub paper: bool,
}

/// What an item holds, by set.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// RuozhiBench-Gen.
    Question {
        /// In English.
        question: String,
        /// What is irrational about it.
        irrationality: String,
        /// The normal question beside it.
        pair: Option<String>,
        /// Names of its categories.
        categories: Vec<String>,
    },
    /// RuozhiBench-MC.
    Pair {
        /// In English.
        question: String,
        /// The answer that judges rated higher.
        good: String,
        /// The other.
        bad: String,
        /// Whether the good one is first in the release.
        good_first: bool,
        /// Names of its categories.
        categories: Vec<String>,
        /// Every rating of a response to the question: model, judge, 0 to 4.
        rated: Vec<(String, String, u32)>,
    },
    /// FLUB.
    Text {
        /// The text.
        text: String,
        /// Whether it asks.
        is_question: bool,
        /// The Chinese name of its type; none where it is Undefined.
        kind: Option<String>,
        /// The right explanation.
        explanation: String,
        /// Four explanations.
        options: Vec<String>,
        /// The place of the right one.
        answer: usize,
    },
    /// Chumor.
    Joke {
        /// The joke.
        joke: String,
        /// A person's explanation.
        explanation: String,
        /// Models whose explanations people compared with it.
        opponents: Vec<Opponent>,
    },
    /// BrainTeaser.
    Puzzle {
        /// The question.
        question: String,
        /// Four options.
        options: Vec<String>,
        /// The place of the right one.
        answer: usize,
        /// The id of the original: one for all three.
        group: String,
        /// Which of the three it is.
        variant: Variant,
        /// Whether it is a word puzzle.
        word: bool,
    },
    /// What a benchmark's folder declares.
    Declared {
        /// What each task asks of it, by the task's name; a task that asks nothing of it is missing.
        posed: BTreeMap<&'static str, Posed>,
        /// Its row, by which tables part the set.
        row: Map<String, Json>,
    },
}

/// A model's explanation of a joke in the release, and the votes on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Opponent {
    /// The model.
    pub model: String,
    /// Its explanation.
    pub explanation: String,
    /// Votes for the person's explanation, for the model's, for neither.
    pub votes: [u64; 3],
}

/// One of the three puzzles of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// The puzzle.
    Original,
    /// The same in other words.
    Semantic,
    /// The same trick in another situation.
    Context,
}

impl Variant {
    /// All three.
    pub const ALL: [Variant; 3] = [Variant::Original, Variant::Semantic, Variant::Context];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Original => "original",
            Variant::Semantic => "semantic",
            Variant::Context => "context",
        }
    }
}

/// The eight types of FLUB's figure 2, by their Chinese names; Undefined is none of them.
pub fn types() -> Vec<&'static str> {
    let all = ballots::options("flub", "types");
    all.iter().filter(|kind| kind.code != "undefined").map(|kind| kind.label.zh).collect()
}

impl Item {
    /// Reads a row of the clean layout of a set.
    ///
    /// # Errors
    /// What the row lacks.
    pub fn of_row(config: &str, row: &Map<String, Json>) -> Result<Item, String> {
        let id = field::<String>(row, "id")?;
        let source: Option<String> = row.get("source_id").and_then(Json::as_str).map(str::to_string);
        let source = source.filter(|source| !source.is_empty());
        let body = match config {
            "ruozhibench-gen" => Body::Question {
                question: field(row, "question_en")?,
                irrationality: field(row, "irrationality")?,
                pair: field(row, "pair")?,
                categories: field(row, "category_names")?,
            },
            "ruozhibench-mc" => pair(row)?,
            "flub" => Body::Text {
                text: field(row, "text")?,
                is_question: field(row, "is_question")?,
                kind: field(row, "type")?,
                explanation: field(row, "explanation")?,
                options: field(row, "options")?,
                answer: letter(&field::<String>(row, "answer")?)?,
            },
            "chumor" => Body::Joke {
                joke: field(row, "joke")?,
                explanation: field(row, "explanation")?,
                opponents: opponents(row)?,
            },
            "brainteaser" => {
                let (group, variant) = match id.rsplit_once('_') {
                    Some((group, "SR")) => (group, Variant::Semantic),
                    Some((group, "CR")) => (group, Variant::Context),
                    _ => (id.as_str(), Variant::Original),
                };
                Body::Puzzle {
                    question: field(row, "question")?,
                    options: field(row, "choice_list")?,
                    answer: field(row, "label")?,
                    group: group.to_owned(),
                    variant,
                    word: id.starts_with("WP"),
                }
            }
            other => {
                let tasks = riddlemill_benchmarks::find(other).map(|benchmark| benchmark.tasks.as_slice());
                let tasks = tasks.filter(|tasks| !tasks.is_empty());
                let tasks = tasks.ok_or_else(|| format!("no tasks are known on {other:?}"))?;
                let columns = minijinja::Value::from(minijinja::value::Serde(row));
                let mut posed = BTreeMap::new();
                for task in tasks {
                    posed
                        .extend(task.posed(&columns).map_err(|e| e.to_string())?.map(|one| (task.name, one)));
                }
                Body::Declared { posed, row: row.clone() }
            }
        };
        // Three puzzles share their riddle.
        let record = source.filter(|_| config != "brainteaser").unwrap_or_else(|| id.clone());
        let item = Item { id, record, body, paper: false };
        match item.options().is_some_and(|(options, answer)| answer >= options.len()) {
            true => Err("the right option is none of the options".into()),
            false => Ok(item),
        }
    }

    /// Its options and the place of the right one, of sets that have options.
    pub fn options(&self) -> Option<(&[String], usize)> {
        match &self.body {
            Body::Text { options, answer, .. } | Body::Puzzle { options, answer, .. } => {
                Some((options, *answer))
            }
            _ => None,
        }
    }

    /// What is right, as an answer says it; none where somebody has to judge.
    pub fn gold(&self, task: Task) -> Option<String> {
        match (task, &self.body) {
            (Task::GoodFirst, _) => Some(ANSWERS[0].into()),
            (Task::BadFirst, _) => Some(ANSWERS[1].into()),
            (Task::Classify, Body::Text { kind, .. }) => kind.clone(),
            (Task::Declared(name), Body::Declared { posed, .. }) => Some(posed.get(name)?.gold.clone()),
            (Task::Select | Task::Solve, _) => self.options().map(|(_, answer)| LETTERS[answer].to_string()),
            _ => None,
        }
    }

    /// Whether a task can be put on it: a text without a type cannot be classified, a question without a normal
    /// one beside it has none to answer.
    pub fn takes(&self, task: Task) -> bool {
        match (task, &self.body) {
            (Task::AnswerNormal, Body::Question { pair, .. }) => pair.is_some(),
            (Task::Answer, Body::Question { .. })
            | (Task::GoodFirst | Task::BadFirst, Body::Pair { .. })
            | (Task::Select | Task::Explain, Body::Text { .. })
            | (Task::ExplainJoke, Body::Joke { .. })
            | (Task::Solve, Body::Puzzle { .. }) => true,
            // What is answered freely has an answer to be compared with.
            (Task::SolveOpen, Body::Puzzle { variant, options, answer, .. }) => {
                *variant == Variant::Context && options.get(*answer).is_some_and(|answer| answer != NONE)
            }
            (Task::Classify, Body::Text { kind, .. }) => kind.is_some(),
            (Task::Declared(name), Body::Declared { posed, .. }) => posed.contains_key(name),
            _ => false,
        }
    }

    /// What of the set it belongs to: its categories, `question` or `statement`, kind of puzzle and variant.
    pub fn parts(&self) -> Vec<String> {
        match &self.body {
            Body::Question { categories, .. } | Body::Pair { categories, .. } => categories.clone(),
            Body::Text { is_question, kind, .. } => {
                let asks = if *is_question { "question" } else { "statement" };
                [asks].into_iter().map(str::to_string).chain(kind.clone()).collect()
            }
            Body::Joke { .. } | Body::Declared { .. } => Vec::new(),
            Body::Puzzle { word, variant, .. } => {
                vec![if *word { "word" } else { "sentence" }.to_string(), variant.name().to_string()]
            }
        }
    }
}

fn field<T: for<'de> Deserialize<'de>>(row: &Map<String, Json>, name: &str) -> Result<T, String> {
    T::deserialize(row.get(name).unwrap_or(&Json::Null)).map_err(|e| format!("{name}: {e}"))
}

fn letter(answer: &str) -> Result<usize, String> {
    LETTERS.iter().position(|letter| *letter == answer).ok_or_else(|| format!("answer: no letter {answer:?}"))
}

fn pair(row: &Map<String, Json>) -> Result<Body, String> {
    let options: Vec<String> = field(row, "options")?;
    let answer: usize = field(row, "answer")?;
    let [first, second] = <[String; 2]>::try_from(options).map_err(|_| "options: not two".to_string())?;
    let (good, bad) = if answer == 0 { (first, second) } else { (second, first) };
    let models: Vec<String> = field(row, "rating_models")?;
    let judges: Vec<String> = field(row, "rating_judges")?;
    let ratings: Vec<u32> = field(row, "ratings")?;
    Ok(Body::Pair {
        question: field(row, "question_en")?,
        good,
        bad,
        good_first: answer == 0,
        categories: field(row, "category_names")?,
        rated: models.into_iter().zip(judges).zip(ratings).map(|((m, j), r)| (m, j, r)).collect(),
    })
}

fn opponents(row: &Map<String, Json>) -> Result<Vec<Opponent>, String> {
    let models: Vec<String> = field(row, "opponent_models")?;
    let explanations: Vec<String> = field(row, "opponent_explanations")?;
    let votes = |name| field::<Vec<u64>>(row, name);
    let (human, model, tie) = (votes("votes_human")?, votes("votes_model")?, votes("votes_tie")?);
    let counts = human.into_iter().zip(model).zip(tie).map(|((human, model), tie)| [human, model, tie]);
    let rest = explanations.into_iter().zip(counts);
    let one = |(model, (explanation, votes))| Opponent { model, explanation, votes };
    Ok(models.into_iter().zip(rest).map(one).collect())
}

/// What RuozhiBench-MC's answers are called (table 4).
pub const ANSWERS: [&str; 2] = ["AnswerA", "AnswerB"];
