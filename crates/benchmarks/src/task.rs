//! `[[task]]`: questions for models about a released set, how answers are parsed, and who judges those in
//! free text. `tasks` parses it.

pub(crate) mod reader;

use minijinja::value::{Value, ValueKind};
use riddlemill_text::options::LETTERS;
use serde_json::Value as Json;

use crate::expression::{Expression, ExpressionError};
use crate::scope::{text_of_value, texts_of_value};
use crate::script::Script;
use crate::template::Template;

/// Names with expressions over the columns.
pub type With = Vec<(&'static str, Expression)>;

/// One task on a set.
#[derive(Debug)]
pub struct Task {
    /// `<benchmark>/<name>`, or the value of `called`, in flags and files.
    pub name: &'static str,
    /// Its name in the folder.
    pub title: &'static str,
    /// The question, in one sentence.
    pub about: &'static str,
    /// What people read who answer or rate it on a sheet.
    pub rubric: Option<&'static str>,
    /// Its prompt: `flub/choose`.
    pub template: Template,
    /// The prompt that asks for reasoning before the answer.
    pub reasoned: Option<Template>,
    /// Findings over a row about how it is asked: a text, or none.
    pub checks: Vec<Expression>,
    /// Prompts for models trained on other forms, for the paper's own wording.
    pub forms: Vec<PromptForm>,
    /// The prompts' values.
    pub with: With,
    /// The condition for a row to be asked about.
    pub when: Option<Expression>,
    /// Solved examples.
    pub shots: Option<Shots>,
    /// The key of its replies in a pack.
    pub found: PackKey,
    /// Whether it only runs if named.
    pub on_request: bool,
    /// The task with the same options in the other order: people see one of the two.
    pub other_order_of: Option<&'static str>,
    /// The condition for rows whose outputs, where they name no task, are about it; none means all.
    pub usual: Option<Expression>,
    /// How many answers every model gives to a row.
    pub samples: u32,
    /// The confidence that every answer states.
    pub confidence: Option<Confidence>,
    /// The conversation, if a model answers in several turns.
    pub conversation: Option<Conversation>,
    /// How an answer is parsed, and the gold answer.
    pub wants: AnswerParsing,
    /// Who judges an answer in free text.
    pub judged: Option<AnswerJudging>,
    /// The sheet for people who rate answers.
    pub people: Option<People>,
    /// Answers that the rows already contain.
    pub released: Option<ReleasedAnswers>,
    /// What scripts of the paper's authors write about it.
    pub outputs: Vec<Script>,
}

/// A confidence that answers state, in an object with `answer` and `confidence` or on a line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confidence {
    /// The number of an answer that is certainly right: 1 or 100. That of one that is certainly wrong is 0.
    pub most: u32,
    /// How many bins of equal width the calibration error has.
    pub bins: usize,
}

/// A conversation: the task's prompt asks a player for its next question, and a host who knows the answer replies.
#[derive(Debug)]
pub struct Conversation {
    /// Most questions of the player.
    pub turns: u32,
    /// The host's prompt.
    pub host: Template,
    /// Its values, over the columns and `said`, the question.
    pub with: With,
    /// What the host may reply, [`SOLVED`] among it.
    pub replies: Vec<&'static str>,
}

/// The reply that ends a conversation, and its gold answer.
pub const SOLVED: &str = "solved";

/// The answer of a conversation whose turns are used up.
pub const UNSOLVED: &str = "unsolved";

/// The key of a reply in a sample pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackKey {
    /// Its record and the task.
    Task,
    /// Its record alone.
    Record,
    /// The id that a step derives from the record with this role.
    Role(&'static str),
}

/// A form that models were trained on, other than chat.
#[derive(Debug)]
pub struct PromptForm {
    /// Its name: `arc`, `commonsenseqa`.
    pub name: &'static str,
    /// Its prompt.
    pub template: &'static str,
    /// The prompt's values that replace the task's.
    pub with: With,
    /// The solved examples' values that replace the task's.
    pub shows: With,
}

/// Solved examples before the question.
#[derive(Debug)]
pub struct Shots {
    /// The values shown of each.
    pub shows: With,
    /// An example has the same value here as the item.
    pub like: Option<Expression>,
}

/// How an answer is parsed, and the gold answer.
#[derive(Debug)]
pub enum AnswerParsing {
    /// One of the item's options.
    Choice {
        /// The options, over the columns.
        options: Expression,
        /// The letter or the index of the right one.
        gold: Expression,
        /// Whether the text of an option is accepted like its letter.
        words: bool,
    },
    /// One of two names on the last line, `<choice>AnswerA</choice>`, each for a text.
    Tag {
        names: Vec<&'static str>,
        /// Their texts, in display order.
        options: Expression,
        /// The name of the right one.
        gold: &'static str,
    },
    /// One of a list of labels, or several.
    Labels {
        /// The accepted answers: the codes, or the labels in one language.
        codes: Vec<&'static str>,
        /// The same in the other language; empty for codes.
        others: Vec<&'static str>,
        /// Labels that are not offered: a row with them alone is not asked about.
        left_out: Vec<&'static str>,
        /// Whether there may be several.
        many: bool,
        /// The right ones.
        gold: Expression,
        /// What precedes the label if the model reasoned first.
        behind: Vec<&'static str>,
    },
    /// A number on a scale, compared with people's.
    Rating {
        /// The lowest.
        min: i64,
        /// The highest.
        max: i64,
        /// People's rating.
        gold: Expression,
    },
    /// A text that has to be judged.
    Words {
        /// The error for an answer without letter or digit; `None` if any text is valid.
        blank: Option<&'static str>,
    },
}

/// Who judges an answer, and how.
#[derive(Debug)]
pub struct AnswerJudging {
    /// The judge's prompt.
    pub template: Template,
    /// The prompt's values, over the columns and `said`, the answer.
    pub with: With,
    /// The question.
    pub asks: Asks,
    /// Whether people's answers are judged too.
    pub people: bool,
    /// The role of the rating's id in a pack; `None` if it is the record's id and the model's name.
    pub role: Option<&'static str>,
}

/// The question for a judge.
#[derive(Debug)]
pub enum Asks {
    /// A rating on this scale.
    Rating {
        /// The lowest.
        min: u32,
        /// The highest.
        max: u32,
        /// Whether the reply is an object with `rating` and `explanation`; else `[[7]]`.
        json: bool,
    },
    /// Which of two texts is better: the answer, or a person's.
    Better {
        /// The person's text.
        person: Expression,
        /// The names of the two in the prompt.
        sides: [&'static str; 2],
    },
}

/// The sheet for people who rate answers.
#[derive(Debug)]
pub struct People {
    /// The name of the sheet on which answers are rated; empty if people only answer.
    pub sheet: &'static str,
    /// The values shown before the answer, over the columns.
    pub shows: With,
    /// The scale; `None` if they choose the better of two texts.
    pub scale: Option<[u32; 2]>,
    /// Factor from a rating to the judges' scale.
    pub times: f64,
    /// Whether people answer too: their sheet shows the first of `shows`, or the question.
    pub write: bool,
}

/// Columns with models' answers and people's verdicts on them.
#[derive(Clone, Copy, Debug)]
pub struct ReleasedAnswers {
    /// The models, a list.
    pub models: &'static str,
    pub answers: &'static str,
    /// Votes for the person's text, for the model's, for neither, one list each.
    pub votes: [&'static str; 3],
}

/// A task's question about one item.
#[derive(Clone, Debug, PartialEq)]
pub struct PosedQuestion {
    /// The prompt's values.
    pub values: Vec<(&'static str, Json)>,
    /// The options; empty without any.
    pub options: Vec<String>,
    /// The gold answer: a letter, a name, labels separated by `; ` in order, or a number; `None` if the
    /// answer has to be judged.
    pub gold: Option<String>,
    /// The value that its solved examples share.
    pub like: Option<String>,
}

impl AnswerParsing {
    /// Whether an answer is correct or incorrect, or a number, so that it need not be judged.
    pub fn is_choice(&self) -> bool {
        !matches!(self, AnswerParsing::Words { .. })
    }
}

impl People {
    /// Whether they rate answers, or choose the better of two.
    pub fn is_rating(&self) -> bool {
        !self.sheet.is_empty()
    }
}

impl AnswerJudging {
    /// The scale of its ratings; `None` if judges choose the better of two texts.
    pub fn rating_scale(&self) -> Option<[u32; 2]> {
        match self.asks {
            Asks::Rating { min, max, .. } => Some([min, max]),
            Asks::Better { .. } => None,
        }
    }
}

/// A value for a prompt: booleans unchanged, everything else as text.
fn to_json(value: &Value) -> Json {
    match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        _ => text_of_value(value).unwrap_or_default().into(),
    }
}

/// The values of names for a row.
///
/// # Errors
/// [`ExpressionError`] if one cannot be computed.
pub fn compute_values(with: &With, variables: &Value) -> Result<Vec<(&'static str, Json)>, ExpressionError> {
    with.iter().map(|(name, value)| Ok((*name, to_json(&value.compute_value(variables)?)))).collect()
}

impl Task {
    /// The question about an item, by its columns; `None` if the item has no gold answer, or does not meet
    /// the condition.
    ///
    /// # Errors
    /// [`ExpressionError`] if an expression cannot be computed, or gives no right option.
    pub fn pose_question(&self, row: &Value) -> Result<Option<PosedQuestion>, ExpressionError> {
        if let Some(when) = &self.when
            && !when.is_true(row)?
        {
            return Ok(None);
        }
        let values = compute_values(&self.with, row)?;
        let like = self.shots.as_ref().and_then(|shots| shots.like.as_ref());
        let like = like
            .map(|like| {
                Ok::<_, ExpressionError>(text_of_value(&like.compute_value(row)?).unwrap_or_default())
            })
            .transpose()?;
        let (options, gold) = match &self.wants {
            AnswerParsing::Choice { options, gold, .. } => {
                let options = texts_of_value(&options.compute_value(row)?);
                let right = gold.compute_value(row)?;
                let place = match right.as_str() {
                    Some(letter) => LETTERS.iter().position(|known| *known == letter),
                    None => right.as_usize(),
                };
                match place.filter(|place| *place < options.len()) {
                    Some(place) => (options, Some(LETTERS[place].to_owned())),
                    None => {
                        return Err(gold.make_trouble(format!(
                            "{right} is not the position of one of {} options",
                            options.len()
                        )));
                    }
                }
            }
            AnswerParsing::Tag { options, gold, names } => {
                let texts = texts_of_value(&options.compute_value(row)?);
                if texts.len() != names.len() {
                    let what = format!("{} options, expected {}", texts.len(), names.len());
                    return Err(options.make_trouble(what));
                }
                (texts, Some((*gold).to_owned()))
            }
            AnswerParsing::Labels { codes, left_out, gold, .. } => {
                let right = texts_of_value(&gold.compute_value(row)?);
                let known = || codes.iter().chain(left_out).copied();
                if let Some(other) =
                    right.iter().find(|right| !right.is_empty() && known().all(|label| label != **right))
                {
                    return Err(gold.make_trouble(riddlemill_text::hint::unknown("label", other, known())));
                }
                let right: Vec<&str> =
                    codes.iter().copied().filter(|code| right.iter().any(|r| r == code)).collect();
                (Vec::new(), Some(right.join("; ")))
            }
            AnswerParsing::Rating { gold, .. } => {
                (Vec::new(), text_of_value(&gold.compute_value(row)?).or(Some(String::new())))
            }
            AnswerParsing::Words { .. } => (Vec::new(), None),
        };
        let posed = PosedQuestion { values, options, gold, like };
        Ok(Some(posed).filter(|posed| posed.gold.as_ref().is_none_or(|gold| !gold.is_empty())))
    }

    /// What is found about how a row is asked.
    ///
    /// # Errors
    /// [`ExpressionError`] if a check cannot be computed.
    pub fn compute_findings(&self, columns: &Value) -> Result<Vec<String>, ExpressionError> {
        let found = self
            .checks
            .iter()
            .map(|check| Ok::<_, ExpressionError>(text_of_value(&check.compute_value(columns)?)));
        Ok(found.collect::<Result<Vec<_>, ExpressionError>>()?.into_iter().flatten().collect())
    }

    /// Its prompts: the one that is asked, the one with reasoning, the judge's and the host's.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let judge = self.judged.iter().map(|judged| &judged.template);
        let host = self.conversation.iter().map(|conversation| &conversation.host);
        std::iter::once(&self.template).chain(&self.reasoned).chain(judge).chain(host)
    }

    /// A form by its name.
    pub fn find_form(&self, name: &str) -> Option<&PromptForm> {
        self.forms.iter().find(|form| form.name == name)
    }

    /// Every expression over the columns.
    pub fn column_expressions(&self) -> Vec<&Expression> {
        let mut all: Vec<&Expression> = self.when.iter().chain(&self.usual).chain(&self.checks).collect();
        all.extend(self.templates().flat_map(Template::conditions));
        let lists = std::iter::once(&self.with)
            .chain(self.forms.iter().flat_map(|form| [&form.with, &form.shows]))
            .chain(self.shots.iter().map(|shots| &shots.shows))
            .chain(self.judged.iter().map(|judged| &judged.with))
            .chain(self.conversation.iter().map(|conversation| &conversation.with))
            .chain(self.people.iter().map(|people| &people.shows));
        all.extend(lists.flatten().map(|(_, value)| value));
        all.extend(self.shots.iter().filter_map(|shots| shots.like.as_ref()));
        match &self.wants {
            AnswerParsing::Choice { options, gold, .. } => all.extend([options, gold]),
            AnswerParsing::Tag { options, .. } => all.push(options),
            AnswerParsing::Labels { gold, .. } | AnswerParsing::Rating { gold, .. } => all.push(gold),
            AnswerParsing::Words { .. } => {}
        }
        if let Some(AnswerJudging { asks: Asks::Better { person, .. }, .. }) = &self.judged {
            all.push(person);
        }
        all
    }

    /// The columns that it uses.
    pub fn used_columns(&self) -> impl Iterator<Item = &str> {
        let released =
            self.released.iter().flat_map(|of| [of.models, of.answers].into_iter().chain(of.votes));
        self.column_expressions().into_iter().flat_map(Expression::names).map(String::as_str).chain(released)
    }
}
