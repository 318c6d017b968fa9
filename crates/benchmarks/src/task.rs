//! `[[task]]`: what models are asked of a released set, how an answer is read, and who judges one that is no choice.
//! `tasks` reads it.

use minijinja::value::{Value, ValueKind};
use riddlemill_text::options::LETTERS;
use serde_json::Value as Json;

use crate::expression::{Expression, Trouble};
use crate::scope::{text, texts};

/// Names with expressions over the columns.
pub type With = Vec<(&'static str, Expression)>;

/// One task on a set.
#[derive(Debug)]
pub struct Task {
    /// `<benchmark>/<name>`, or what `called` says, in flags and files.
    pub name: &'static str,
    /// Its name in the folder.
    pub title: &'static str,
    /// What is asked, in a sentence.
    pub about: &'static str,
    /// Its prompt, as replies call it: `flub/choose`.
    pub template: &'static str,
    /// The prompt that asks for reasoning before the answer.
    pub reasoned: Option<&'static str>,
    /// How models that were trained on another form are asked, where the paper's own wording is sent.
    pub forms: Vec<Form>,
    /// What the prompts ask for.
    pub with: With,
    /// A row of which it does not hold is not asked about.
    pub when: Option<Expression>,
    /// Solved examples.
    pub shots: Option<Shots>,
    /// By what a pack finds the reply.
    pub found: Found,
    /// Whether it is put only where it is named.
    pub on_request: bool,
    /// The task that shows the same options in the other order: people see one of the two.
    pub other_order_of: Option<&'static str>,
    /// The rows of which it is what eval/ files put; of all where nothing is said.
    pub usual: Option<Expression>,
    /// How an answer is read, and what is right.
    pub wants: Wants,
    /// Who judges an answer that is no choice.
    pub judged: Option<Judged>,
    /// What people who rate answers are shown.
    pub people: Option<People>,
    /// Answers that a row holds already.
    pub released: Option<Released>,
}

/// By what a sample pack finds the reply to a request about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its record and the task.
    Task,
    /// Its record alone.
    Record,
    /// The id that a step derives from the record with this role.
    Role(&'static str),
}

/// A form that models were trained on, where it is not that of a chat.
#[derive(Debug)]
pub struct Form {
    /// Its name: `arc`, `commonsenseqa`.
    pub name: &'static str,
    /// Its prompt.
    pub template: &'static str,
    /// What its prompt is given in place of what the task gives.
    pub with: With,
    /// What its solved examples show in place of what the task shows.
    pub shows: With,
}

/// Solved examples before what is asked.
#[derive(Debug)]
pub struct Shots {
    /// What is shown of one.
    pub shows: With,
    /// An example has the same value here as what is asked.
    pub like: Option<Expression>,
}

/// How an answer is read, and what is right.
#[derive(Debug)]
pub enum Wants {
    /// One of the options that an item has.
    Choice {
        /// The options, over the columns.
        options: Expression,
        /// The letter or the place of the right one.
        gold: Expression,
        /// Whether the words of an option name it as its letter does.
        words: bool,
    },
    /// One of two names on the last line, `<choice>AnswerA</choice>`, each of a text.
    Tag {
        /// The names.
        names: Vec<&'static str>,
        /// The texts that they name, in the order in which they are shown.
        options: Expression,
        /// The name of the right one.
        gold: &'static str,
    },
    /// One of a list of labels, or several.
    Labels {
        /// What an answer says: the codes, or the labels in a language.
        codes: Vec<&'static str>,
        /// The same in the other language; empty where codes are said.
        others: Vec<&'static str>,
        /// Whether there may be several.
        many: bool,
        /// The right ones.
        gold: Expression,
        /// What stands before the label where the model reasoned first.
        behind: Vec<&'static str>,
    },
    /// A number on a scale, compared with people's.
    Rating {
        /// The lowest.
        min: i64,
        /// The highest.
        max: i64,
        /// People's.
        gold: Expression,
    },
    /// A text that somebody judges.
    Words {
        /// What is wrong with an answer that has neither letter nor digit; none where any text is one.
        blank: Option<&'static str>,
    },
}

/// Who judges an answer, and how.
#[derive(Debug)]
pub struct Judged {
    /// The judge's prompt.
    pub template: &'static str,
    /// What it asks for, over the columns and `said`, the answer.
    pub with: With,
    /// What is asked.
    pub asks: Asks,
    /// Whether people's answers are judged, too.
    pub people: bool,
    /// The role of the id by which a pack finds the rating; none where it is the record's and the model's name.
    pub role: Option<&'static str>,
}

/// What a judge is asked.
#[derive(Debug)]
pub enum Asks {
    /// A rating on this scale.
    Rating {
        /// The lowest.
        min: u32,
        /// The highest.
        max: u32,
        /// An object with `rating` and `explanation`; else `[[7]]`.
        json: bool,
    },
    /// Which of two texts is better: the answer, or what a person wrote.
    Better {
        /// The person's text.
        person: Expression,
        /// Under which names the prompt asks for the two.
        sides: [&'static str; 2],
    },
}

/// What people who rate answers are shown.
#[derive(Debug)]
pub struct People {
    /// The sheet.
    pub sheet: &'static str,
    /// What stands on it before the answer, over the columns.
    pub shows: With,
    /// The scale; none where they say which of two texts is better.
    pub scale: Option<[u32; 2]>,
    /// By how much a rating is multiplied to stand on the judges' scale.
    pub times: f64,
    /// Whether people answer as well: the sheet shows the first of `shows`.
    pub write: bool,
}

/// Columns with models' answers and people's verdicts on them.
#[derive(Clone, Copy, Debug)]
pub struct Released {
    /// Who answered, a list.
    pub models: &'static str,
    /// What they said.
    pub said: &'static str,
    /// Votes for the person's text, for the model's, for neither, a list each.
    pub votes: [&'static str; 3],
}

/// What a task asks of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    /// What the prompt is made of.
    pub values: Vec<(&'static str, Json)>,
    /// The options; empty where there are none.
    pub options: Vec<String>,
    /// What is right: a letter, a name, labels with `; ` between them in their order, or a number; none where somebody has
    /// to judge.
    pub gold: Option<String>,
    /// What its solved examples have in common with it.
    pub like: Option<String>,
}

impl Wants {
    /// Whether an answer is right or wrong, or a number: nobody has to judge it.
    pub fn is_choice(&self) -> bool {
        !matches!(self, Wants::Words { .. })
    }
}

impl Judged {
    /// The scale of its ratings; none where judges say which of two texts is better.
    pub fn scale(&self) -> Option<[u32; 2]> {
        match self.asks {
            Asks::Rating { min, max, .. } => Some([min, max]),
            Asks::Better { .. } => None,
        }
    }
}

/// A value as a prompt is given it: yes or no as such, all else as a text.
fn told(value: &Value) -> Json {
    match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        _ => text(value).unwrap_or_default().into(),
    }
}

/// The values of names over a row.
///
/// # Errors
/// [`Trouble`] where one cannot be computed.
pub fn values(with: &With, over: &Value) -> Result<Vec<(&'static str, Json)>, Trouble> {
    with.iter().map(|(name, value)| Ok((*name, told(&value.value(over)?)))).collect()
}

impl Task {
    /// What is asked of an item, by its columns; `None` where the item has nothing that would be right, or is none that is
    /// asked about.
    ///
    /// # Errors
    /// [`Trouble`] where an expression cannot be computed, or gives no right option.
    pub fn posed(&self, row: &Value) -> Result<Option<Posed>, Trouble> {
        if let Some(when) = &self.when
            && !when.holds(row)?
        {
            return Ok(None);
        }
        let values = values(&self.with, row)?;
        let like = self.shots.as_ref().and_then(|shots| shots.like.as_ref());
        let like =
            like.map(|like| Ok::<_, Trouble>(text(&like.value(row)?).unwrap_or_default())).transpose()?;
        let (options, gold) = match &self.wants {
            Wants::Choice { options, gold, .. } => {
                let options = texts(&options.value(row)?);
                let right = gold.value(row)?;
                let place = match right.as_str() {
                    Some(letter) => LETTERS.iter().position(|known| *known == letter),
                    None => right.as_usize(),
                };
                match place.filter(|place| *place < options.len()) {
                    Some(place) => (options, Some(LETTERS[place].to_owned())),
                    None => return Err(gold.trouble(format!("{right} is none of {} options", options.len()))),
                }
            }
            Wants::Tag { options, gold, names } => {
                let texts = texts(&options.value(row)?);
                if texts.len() != names.len() {
                    let what = format!("{} options where {} are wanted", texts.len(), names.len());
                    return Err(options.trouble(what));
                }
                (texts, Some((*gold).to_owned()))
            }
            Wants::Labels { codes, gold, .. } => {
                let right = texts(&gold.value(row)?);
                let right: Vec<&str> =
                    codes.iter().copied().filter(|code| right.iter().any(|r| r == code)).collect();
                (Vec::new(), Some(right.join("; ")))
            }
            Wants::Rating { gold, .. } => (Vec::new(), text(&gold.value(row)?).or(Some(String::new()))),
            Wants::Words { .. } => (Vec::new(), None),
        };
        let posed = Posed { values, options, gold, like };
        Ok(Some(posed).filter(|posed| posed.gold.as_ref().is_none_or(|gold| !gold.is_empty())))
    }

    /// A form by its name.
    pub fn form(&self, name: &str) -> Option<&Form> {
        self.forms.iter().find(|form| form.name == name)
    }

    /// Every expression over the columns.
    pub fn expressions(&self) -> Vec<&Expression> {
        let mut all: Vec<&Expression> = self.when.iter().chain(&self.usual).collect();
        let lists = std::iter::once(&self.with)
            .chain(self.forms.iter().flat_map(|form| [&form.with, &form.shows]))
            .chain(self.shots.iter().map(|shots| &shots.shows))
            .chain(self.judged.iter().map(|judged| &judged.with))
            .chain(self.people.iter().map(|people| &people.shows));
        all.extend(lists.flatten().map(|(_, value)| value));
        all.extend(self.shots.iter().filter_map(|shots| shots.like.as_ref()));
        match &self.wants {
            Wants::Choice { options, gold, .. } => all.extend([options, gold]),
            Wants::Tag { options, .. } => all.push(options),
            Wants::Labels { gold, .. } | Wants::Rating { gold, .. } => all.push(gold),
            Wants::Words { .. } => {}
        }
        if let Some(Judged { asks: Asks::Better { person, .. }, .. }) = &self.judged {
            all.push(person);
        }
        all
    }

    /// The columns that it asks for.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let released = self.released.iter().flat_map(|of| [of.models, of.said].into_iter().chain(of.votes));
        self.expressions().into_iter().flat_map(Expression::names).map(String::as_str).chain(released)
    }
}
