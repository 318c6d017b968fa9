//! Drafts, the order of options, and what else a step is told in its table: `[step.NAME]` of benchmark.toml.

use std::fmt;

use minijinja::value::Value;

use crate::ballots::Ballots;
use crate::expression::{Expression, Language, Trouble};
use crate::reader::{Keys, keep};

/// A step in which a model is asked about each record.
pub struct Draft {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The ballot that it is for; without one its answers make a group of its own.
    pub ballot: Option<&'static str>,
    /// Which records it asks about; all where nothing is said.
    pub when: Option<Expression>,
    /// Its prompt, `<benchmark>/<name>`, alone in a list.
    pub templates: [&'static str; 1],
    /// What the prompt asks for, over the record.
    pub with: Vec<(&'static str, Expression)>,
    /// How a reply is read.
    pub reply: Reply,
    /// What each field takes, over what was read.
    pub gives: Vec<(&'static str, Expression)>,
    /// Findings over the record with its draft: a text, or a list of them.
    pub checks: Vec<Expression>,
}

/// How a reply is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// All of its words, without fence, quotes, or one of these labels in front: `text`.
    Text(Vec<&'static str>),
    /// The one JSON object with these keys.
    Json(Vec<(&'static str, Form)>),
    /// One of these names: `label`.
    Label(Vec<&'static str>),
    /// A whole number between these: `rating`.
    Rating(i64, i64),
}

/// What is under a key of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A text that is not empty.
    Text,
    /// A text, or null where none fits.
    TextOrNone,
    /// Yes or no.
    Flag,
    /// A whole number.
    Integer,
    /// So many texts.
    Texts(usize, usize),
    /// One of these codes.
    OneOf(Vec<&'static str>),
}

/// The options of a multiple choice.
pub struct Options {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The right one, over the record.
    pub right: Expression,
    /// The wrong ones.
    pub wrong: Expression,
    /// How many there are in all.
    pub number: usize,
    /// What the order is drawn for: another word, another order.
    pub purpose: &'static str,
}

/// Texts of records in which personal data is marked.
pub struct Marked {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// Groups and their fields, `riddle.question`.
    pub texts: Vec<(&'static str, &'static str)>,
    /// Whether they are in English; where nothing is said, the language of the recipe's posts is theirs.
    pub english: Option<bool>,
}

/// A declaration is the same where it is the one of a benchmark's step; there are no two.
macro_rules! by_name {
    ($($type:ident)*) => {$(
        impl PartialEq for $type {
            fn eq(&self, other: &$type) -> bool {
                (self.benchmark, self.name) == (other.benchmark, other.name)
            }
        }
        impl Eq for $type {}
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.benchmark, self.name)
            }
        }
    )*};
}
by_name!(Draft Options Marked);

impl Draft {
    /// What it is called in settings and flags: the ballot that it is for, or its step.
    pub fn called(&self) -> &'static str {
        self.ballot.unwrap_or(self.name)
    }

    /// The fields that it fills in.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.gives.iter().map(|(field, _)| *field)
    }

    /// Every expression over the record.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.with.iter().map(|(_, value)| value).chain(&self.when).chain(&self.checks)
    }

    /// The answers that a reply gives, by field.
    ///
    /// # Errors
    /// [`Trouble`] where one cannot be computed.
    pub fn given(&self, read: &Value) -> Result<Vec<(&'static str, Value)>, Trouble> {
        self.gives.iter().map(|(field, value)| Ok((*field, value.value(read)?))).collect()
    }
}

impl Reply {
    /// The names that `gives` may use.
    fn names(&self) -> Vec<&'static str> {
        match self {
            Reply::Text(_) => vec!["text"],
            Reply::Json(keys) => keys.iter().map(|(key, _)| *key).collect(),
            Reply::Label(_) => vec!["label"],
            Reply::Rating(..) => vec!["rating"],
        }
    }
}

/// Where a table stands, and what its expressions may use.
pub(crate) struct Place<'a> {
    pub benchmark: &'static str,
    pub name: &'static str,
    pub file: &'a str,
    pub language: Language,
    /// What prompts are called by.
    pub prompts_of: &'a str,
    pub prompts: &'a [&'static str],
}

impl Place<'_> {
    fn expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        let source = keys.text(key)?;
        let place = keys.place(key).unwrap_or_else(|| self.file.to_owned());
        Expression::parse(self.language, place, source).map_err(|what| keys.problem(key, what)).ok()
    }

    fn named(&self, keys: &Keys<'_>, key: &str) -> Option<Vec<(&'static str, Expression)>> {
        let each = |keys: &Keys<'_>| -> Vec<_> {
            let read = |name: &'static str| Some((name, self.expression(keys, name)?));
            keys.names().into_iter().filter_map(read).collect()
        };
        keys.table(key, each)
    }

    /// A step that asks a model; `None` where something is wrong with it, which is told.
    pub fn draft(&self, ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Draft> {
        let ballot = keys.text("for");
        let prompt = keys.needed("prompt");
        if !self.prompts.contains(&prompt) {
            keys.problem(
                "prompt",
                riddlemill_text::hint::unknown("prompt", prompt, self.prompts.iter().copied()),
            );
        }
        let reply = keys.table("reply", |keys| {
            let form = self.reply(ballots, keys);
            let gives = self.named(keys, "gives");
            (form, gives)
        });
        if reply.is_none() {
            keys.problem("reply", "`reply` is missing: how a reply is read");
        }
        let checks = keys.texts("checks").unwrap_or_default();
        let place = keys.place("checks").unwrap_or_else(|| self.file.to_owned());
        let check = |source| {
            let read = Expression::parse(self.language, place.clone(), source);
            read.map_err(|what| keys.problem("checks", what)).ok()
        };
        let checks = checks.into_iter().filter_map(check).collect();
        let when = self.expression(keys, "when");
        let with = self.named(keys, "with").unwrap_or_default();
        let (reply, gives) = reply?;
        let reply = reply?;
        let gives = match gives {
            Some(gives) => gives,
            None => {
                let own = |name: &'static str| {
                    Some((name, Expression::parse(self.language, self.file.to_owned(), name).ok()?))
                };
                reply.names().into_iter().filter_map(own).collect()
            }
        };
        for problem in
            gives.iter().filter_map(|(_, e)| e.unknown("key of the reply", reply.names().into_iter()))
        {
            keys.problem("reply", problem);
        }
        let templates = [keep(&format!("{}/{prompt}", self.prompts_of))];
        Some(Draft {
            benchmark: self.benchmark,
            name: self.name,
            ballot,
            when,
            templates,
            with,
            reply,
            gives,
            checks,
        })
    }

    fn reply(&self, ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Reply> {
        let forms: Vec<&str> =
            ["text", "json", "label", "rating"].into_iter().filter(|form| keys.has(form)).collect();
        let [form] = forms[..] else {
            keys.problem("reply", "a reply is read as one of `text`, `json`, `label`, `rating`");
            return None;
        };
        match form {
            "text" => Some(Reply::Text(keys.texts("text")?)),
            "label" => Some(Reply::Label(codes(ballots, keys, "label")?)),
            "rating" => {
                let ends = keys.integers("rating")?;
                let [from, to] = ends[..] else {
                    keys.problem("rating", "`rating` is the lowest and the highest: [1, 5]");
                    return None;
                };
                Some(Reply::Rating(from, to))
            }
            _ => {
                let each = |keys: &Keys<'_>| -> Vec<_> {
                    let read = |key: &'static str| Some((key, form_of(ballots, keys, key)?));
                    keys.names().into_iter().filter_map(read).collect()
                };
                Some(Reply::Json(keys.table("json", each)?))
            }
        }
    }

    /// The options of a multiple choice.
    pub fn options(&self, keys: &Keys<'_>) -> Option<Options> {
        let number = keys.count("number").unwrap_or(4);
        if !(2..=riddlemill_text::options::LETTERS.len()).contains(&number) {
            keys.problem(
                "number",
                format!("between 2 and {} options", riddlemill_text::options::LETTERS.len()),
            );
        }
        for key in ["right", "wrong"].into_iter().filter(|key| !keys.has(key)) {
            keys.needed(key);
        }
        let (right, wrong) = (self.expression(keys, "right"), self.expression(keys, "wrong"));
        let purpose =
            keys.text("purpose").unwrap_or_else(|| keep(&format!("{} {}", self.benchmark, self.name)));
        Some(Options {
            benchmark: self.benchmark,
            name: self.name,
            right: right?,
            wrong: wrong?,
            number,
            purpose,
        })
    }

    /// Texts in which personal data is marked.
    pub fn marked(&self, keys: &Keys<'_>) -> Marked {
        let texts = keys.texts("texts").unwrap_or_default();
        let parted = |text: &'static str| {
            let parts = text.split_once('.');
            if parts.is_none() {
                keys.problem(
                    "texts",
                    format!("{text:?} is not a field of a group, such as \"riddle.question\""),
                );
            }
            parts
        };
        let english = keys.one_of("language", &[("en", true), ("zh", false)]);
        Marked {
            benchmark: self.benchmark,
            name: self.name,
            texts: texts.into_iter().filter_map(parted).collect(),
            english,
        }
    }
}

/// Codes as they are, or those of a list of ballots.toml.
fn codes(ballots: Option<&Ballots>, keys: &Keys<'_>, key: &str) -> Option<Vec<&'static str>> {
    if !keys.is_text(key) {
        return keys.texts(key);
    }
    let name = keys.text(key)?;
    let lists = &ballots?.lists;
    match lists.get(name) {
        Some(list) => Some(list.iter().map(|option| option.code).collect()),
        None => {
            keys.problem(key, riddlemill_text::hint::unknown("list", name, lists.keys().copied()));
            None
        }
    }
}

fn form_of(ballots: Option<&Ballots>, keys: &Keys<'_>, key: &'static str) -> Option<Form> {
    if keys.is_text(key) {
        let forms = [
            ("text", Form::Text),
            ("text or none", Form::TextOrNone),
            ("flag", Form::Flag),
            ("integer", Form::Integer),
        ];
        let name = keys.text(key)?;
        let found = forms.iter().find(|(known, _)| *known == name).map(|(_, form)| form.clone());
        if found.is_none() {
            keys.problem(
                key,
                riddlemill_text::hint::unknown("type", name, forms.iter().map(|(name, _)| *name)),
            );
        }
        return found;
    }
    let read = |keys: &Keys<'_>| match (keys.has("texts"), keys.has("one_of")) {
        (true, false) => match keys.is_list("texts") {
            true => {
                let ends = keys.integers("texts")?;
                let [from, to] = ends[..] else {
                    keys.problem("texts", "a number of texts, or the fewest and the most: [3, 8]");
                    return None;
                };
                Some(Form::Texts(usize::try_from(from).ok()?, usize::try_from(to).ok()?))
            }
            false => keys.count("texts").map(|count| Form::Texts(count, count)),
        },
        (false, true) => Some(Form::OneOf(codes(ballots, keys, "one_of")?)),
        _ => {
            keys.problem(key, "`{ texts = 3 }`, `{ texts = [3, 8] }` or `{ one_of = [codes] }`");
            None
        }
    };
    keys.table(key, read).flatten()
}
