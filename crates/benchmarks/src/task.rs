//! `[[task]]`: what models are asked of a released set, and what is right.

use minijinja::value::Value;

use crate::choice::Lists;
use crate::data::Data;
use crate::expression::{Expression, Language, Trouble};
use crate::reader::{Keys, keep};
use crate::scope::{text, texts};

/// One task on a set.
#[derive(Debug)]
pub struct Task {
    /// `<benchmark>/<name>`, in flags and files.
    pub name: &'static str,
    /// What a table calls it.
    pub title: &'static str,
    /// What is asked, in a sentence.
    pub about: &'static str,
    /// Its prompt, `<benchmark>/<prompt>`.
    pub template: &'static str,
    /// What the prompt asks for, over the columns.
    pub with: Vec<(&'static str, Expression)>,
    /// How an answer is read, and what is right.
    pub wants: Wants,
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
    },
    /// One of a list of labels, or several.
    Labels {
        /// The codes.
        codes: Vec<&'static str>,
        /// Whether there may be several.
        many: bool,
        /// The right ones.
        gold: Expression,
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
}

/// What a task asks of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    /// What the prompt is made of.
    pub values: Vec<(&'static str, String)>,
    /// The options; empty where there are none.
    pub options: Vec<String>,
    /// What is right: a letter, codes with `; ` between them in their order, or a number.
    pub gold: String,
}

impl Task {
    /// What is asked of an item, by its columns; `None` where the item has nothing that would be right.
    ///
    /// # Errors
    /// [`Trouble`] where an expression cannot be computed, or gives no right option.
    pub fn posed(&self, row: &Value) -> Result<Option<Posed>, Trouble> {
        let mut values = Vec::with_capacity(self.with.len());
        for (name, value) in &self.with {
            values.push((*name, text(&value.value(row)?).unwrap_or_default()));
        }
        let (options, gold) = match &self.wants {
            Wants::Choice { options, gold } => {
                let options = texts(&options.value(row)?);
                let right = gold.value(row)?;
                let place = match right.as_str() {
                    Some(letter) => {
                        riddlemill_text::options::LETTERS.iter().position(|known| *known == letter)
                    }
                    None => right.as_usize(),
                };
                match place.filter(|place| *place < options.len()) {
                    Some(place) => (options, riddlemill_text::options::LETTERS[place].to_owned()),
                    None => return Err(gold.trouble(format!("{right} is none of {} options", options.len()))),
                }
            }
            Wants::Labels { codes, gold, .. } => {
                let right = texts(&gold.value(row)?);
                let right: Vec<&str> =
                    codes.iter().copied().filter(|code| right.iter().any(|r| r == code)).collect();
                (Vec::new(), right.join("; "))
            }
            Wants::Rating { gold, .. } => (Vec::new(), text(&gold.value(row)?).unwrap_or_default()),
        };
        Ok(Some(Posed { values, options, gold }).filter(|posed| !posed.gold.is_empty()))
    }
}

/// Reads the tasks of a benchmark, whose prompts are called by `prompts_of`.
pub(crate) fn read(
    benchmark: &str,
    prompts_of: &str,
    prompts: &[&'static str],
    lists: &Lists,
    language: Language,
    data: Option<&Data>,
    keys: &Keys<'_>,
) -> Vec<Task> {
    let columns: Vec<&str> = data
        .iter()
        .flat_map(|data| data.columns.iter().chain(&data.sometimes))
        .map(|column| column.name)
        .collect();
    let over = |keys: &Keys<'_>, key: &str| -> Option<Expression> {
        if !keys.has(key) {
            keys.needed(key);
            return None;
        }
        let place = keys.place(key)?;
        let read = Expression::parse(language, place, keys.text(key)?)
            .map_err(|what| keys.problem(key, what))
            .ok()?;
        if let Some(problem) = read.unknown("column", columns.iter().copied()) {
            keys.problem(key, problem);
        }
        Some(read)
    };
    let task = |keys: &Keys<'_>| {
        let title = keys.needed("name");
        let prompt = keys.needed("prompt");
        if !prompts.contains(&prompt) {
            keys.problem("prompt", riddlemill_text::hint::unknown("prompt", prompt, prompts.iter().copied()));
        }
        let with = |keys: &Keys<'_>| -> Vec<_> {
            keys.names().into_iter().filter_map(|name| Some((name, over(keys, name)?))).collect()
        };
        let with = keys.table("with", with).unwrap_or_default();
        let about = keys.text("about").unwrap_or_default();
        let choose = keys.table("choose", |keys| {
            let (options, gold) = (over(keys, "options"), over(keys, "gold"));
            Some(Wants::Choice { options: options?, gold: gold? })
        });
        let label = keys.table("label", |keys| {
            let list = keys.needed("list");
            let codes = lists.get(list).map(|list| list.iter().map(|option| option.code).collect());
            if codes.is_none() {
                keys.problem("list", riddlemill_text::hint::unknown("list", list, lists.keys().copied()));
            }
            let many = keys.flag("many").unwrap_or(false);
            let gold = over(keys, "gold");
            Some(Wants::Labels { codes: codes?, many, gold: gold? })
        });
        let rate = keys.table("rate", |keys| {
            let ends = keys.integers("scale").unwrap_or_default();
            let [min, max] = ends[..] else {
                keys.problem("scale", "`scale` is the lowest and the highest: [1, 5]");
                return None;
            };
            Some(Wants::Rating { min, max, gold: over(keys, "gold")? })
        });
        let all: Vec<Option<Wants>> = [choose, label, rate].into_iter().flatten().collect();
        if all.len() != 1 {
            keys.problem("name", "a task has one of `choose`, `label`, `rate`: how an answer is read");
        }
        let wants = all.into_iter().next().flatten()?;
        let name = keep(&format!("{benchmark}/{title}"));
        Some(Task { name, title, about, template: keep(&format!("{prompts_of}/{prompt}")), with, wants })
    };
    keys.tables("task", task).unwrap_or_default().into_iter().flatten().collect()
}
