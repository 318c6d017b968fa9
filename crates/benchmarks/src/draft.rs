//! Drafts, the order of options, and what else a step is told in its table: `[step.NAME]` of benchmark.toml.

use std::sync::Arc;

use crate::ballots::Ballots;
use crate::expression::{Expression, Language};
use crate::reader::{Keys, keep};
use crate::reply::{self, Reading};

/// A step in which models are asked about each record.
pub struct Draft {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The ballot that it is for; without one its answers make a group of its own.
    pub ballot: Option<&'static str>,
    /// The kind of the records that it asks about, whose columns it fills; none where the folder declares them.
    pub records: Option<&'static str>,
    /// Which records it asks about; all where nothing is said.
    pub when: Option<Expression>,
    /// What it asks: the first whose condition holds.
    pub cases: Vec<Case>,
    /// The prompts of its cases, `<benchmark>/<name>` each.
    pub templates: Vec<&'static str>,
    /// The setting that names whom it asks: its table and key.
    pub asks: (&'static str, &'static str),
    /// The value of the prompt that an endpoint is given which only translates.
    pub translates: Option<&'static str>,
    /// How many replies each endpoint gives.
    pub replies: u32,
    /// What a pack of replies calls what it asks about; the record's id where nothing is said.
    pub known_as: Option<Expression>,
    /// Fields with what was asked about: an answer that refuses, says nothing or only repeats that is left out, with a finding.
    pub discards: Vec<(&'static str, Expression)>,
    /// The columns that the answers go to, over the record and what was said.
    pub keeps: Vec<(&'static str, Expression)>,
    /// Findings over the record with its draft: a text, or a list of them.
    pub checks: Vec<Expression>,
    /// Findings over each of several replies, as `it`, before those.
    pub checks_each: Vec<Expression>,
    /// The fields that a ledger shows; all where nothing is said.
    pub ledger: Option<Vec<&'static str>>,
}

/// What expressions may name of the replies: the first one's answers, all of them with `model` and `basis`, what they rest
/// on, and one of them.
pub(crate) const REPLIED: [&str; 4] = ["said", "drafts", "basis", "it"];

/// One of the prompts of a draft.
pub struct Case {
    /// Of which records; of all where nothing is said.
    pub when: Option<Expression>,
    /// The prompt, `<benchmark>/<name>`.
    pub template: &'static str,
    /// What the prompt asks for, over the record.
    pub with: Vec<(&'static str, Expression)>,
    /// How replies to it are read.
    pub reading: Arc<Reading>,
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
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}/{}", self.benchmark, self.name)
            }
        }
    )*};
}
by_name!(Draft Options Marked);
pub(crate) use by_name;

impl Draft {
    /// What it is called in settings and flags: the ballot that it is for, or its step.
    pub fn called(&self) -> &'static str {
        self.ballot.unwrap_or(self.name)
    }

    /// The fields that it fills in, of all its prompts; of native readers the program knows them.
    pub fn fields(&self) -> Vec<&'static str> {
        let mut fields: Vec<&'static str> = Vec::new();
        for field in self.cases.iter().filter_map(|case| case.reading.fields()).flatten() {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// How replies to a prompt are read: as the first case with it says.
    pub fn reading(&self, template: &str) -> Option<&Reading> {
        self.cases.iter().find(|case| case.template == template).map(|case| &*case.reading)
    }

    /// Every expression over the record as it comes to the step.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Expression> {
        let with = self.cases.iter().flat_map(|case| case.with.iter().map(|(_, value)| value));
        let when = self.cases.iter().flat_map(|case| &case.when);
        with.chain(when).chain(&self.when).chain(&self.known_as)
    }

    /// Every expression over the record and what was said.
    pub(crate) fn said(&self) -> impl Iterator<Item = &Expression> {
        self.discards.iter().chain(&self.keeps).map(|(_, value)| value)
    }

    /// Every expression over the record with its draft and what was said.
    pub(crate) fn checked(&self) -> impl Iterator<Item = &Expression> {
        self.checks.iter().chain(&self.checks_each)
    }

    /// Every expression over the record.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.asked().chain(self.said()).chain(self.checked())
    }

    /// Every expression over what a reply says.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Expression> {
        self.cases.iter().flat_map(|case| case.reading.expressions())
    }
}

/// Where a table stands, and what its expressions may use.
pub(crate) struct Place<'a> {
    pub benchmark: &'static str,
    pub name: &'static str,
    pub file: &'a str,
    /// The kind of the records that come to the step, of those with columns.
    pub records: Option<&'static str>,
    pub language: Language,
    /// What prompts are called by.
    pub prompts_of: &'a str,
    pub prompts: &'a [&'static str],
}

impl Place<'_> {
    pub(crate) fn expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        let source = keys.text(key)?;
        let place = keys.place(key).unwrap_or_else(|| self.file.to_owned());
        Expression::parse(self.language, place, source).map_err(|what| keys.problem(key, what)).ok()
    }

    pub(crate) fn named(&self, keys: &Keys<'_>, key: &str) -> Option<Vec<(&'static str, Expression)>> {
        let each = |keys: &Keys<'_>| -> Vec<_> {
            let read = |name: &'static str| Some((name, self.expression(keys, name)?));
            keys.names().into_iter().filter_map(read).collect()
        };
        keys.table(key, each)
    }

    /// A step that asks a model; `None` where something is wrong with it, which is told.
    pub fn draft(&self, ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Draft> {
        let reading = self.reading(ballots, keys).map(Arc::new);
        let cases = match keys.has("case") {
            true => {
                if let Some(key) = ["prompt", "with"].into_iter().find(|key| keys.has(key)) {
                    keys.problem(key, format!("each case has a `{key}` of its own"));
                }
                keys.tables("case", |keys| self.case(ballots, reading.as_ref(), keys)).unwrap_or_default()
            }
            false => vec![self.case_of(reading.as_ref(), keys)],
        };
        let cases: Vec<Case> = cases.into_iter().collect::<Option<_>>()?;
        let mut templates: Vec<&'static str> = Vec::new();
        for case in &cases {
            if !templates.contains(&case.template) {
                templates.push(case.template);
            }
        }
        let asks = keys.text("asks").unwrap_or("draft.endpoint");
        let asks = asks.split_once('.').or_else(|| {
            keys.problem("asks", format!("{asks:?} is no setting; such as \"draft.endpoint\""));
            None
        });
        let several = keys.count("replies").unwrap_or(1);
        if !(1..=100).contains(&several) {
            keys.problem("replies", "between 1 and 100 replies");
        }
        let keeps = self.named(keys, "keeps").unwrap_or_default();
        if self.records.is_none() && !keeps.is_empty() {
            keys.problem(
                "keeps",
                "`keeps` is for records of a kind (`records`): these leave their answers in a group",
            );
        }
        let draft = Draft {
            benchmark: self.benchmark,
            name: self.name,
            ballot: keys.text("for"),
            records: self.records,
            when: self.expression(keys, "when"),
            cases,
            templates,
            asks: asks?,
            translates: keys.text("translates"),
            replies: u32::try_from(several).unwrap_or(1),
            known_as: self.expression(keys, "known_as"),
            discards: self.named(keys, "discards").unwrap_or_default(),
            keeps,
            checks: self.expressions(keys, "checks"),
            checks_each: self.expressions(keys, "checks_each"),
            ledger: keys.texts("ledger"),
        };
        let given =
            |name: &str| draft.cases.iter().any(|case| case.with.iter().any(|(with, _)| *with == name));
        if let Some(value) = draft.translates.filter(|value| !given(value)) {
            let with = draft.cases.iter().flat_map(|case| &case.with).map(|(name, _)| *name);
            keys.problem("translates", riddlemill_text::hint::unknown("value of `with`", value, with));
        }
        let native = draft.cases.iter().any(|case| case.reading.fields().is_none());
        let fields = draft.fields();
        let discarded = draft.discards.iter().map(|(field, _)| ("discards", *field));
        let named = discarded.chain(draft.ledger.iter().flatten().map(|field| ("ledger", *field)));
        for (key, field) in named.filter(|(_, field)| !native && !fields.contains(field)) {
            keys.problem(
                key,
                riddlemill_text::hint::unknown("field of the reply", field, fields.iter().copied()),
            );
        }
        Some(draft)
    }

    /// A case of several: what is said of replies there goes before what the step says.
    fn case(
        &self,
        ballots: Option<&Ballots>,
        reading: Option<&Arc<Reading>>,
        keys: &Keys<'_>,
    ) -> Option<Case> {
        let own = self.reading(ballots, keys).map(Arc::new);
        let when = self.expression(keys, "when");
        Some(Case { when, ..self.case_of(own.as_ref().or(reading), keys)? })
    }

    fn case_of(&self, reading: Option<&Arc<Reading>>, keys: &Keys<'_>) -> Option<Case> {
        let prompt = keys.needed("prompt");
        if !self.prompts.contains(&prompt) {
            keys.problem(
                "prompt",
                riddlemill_text::hint::unknown("prompt", prompt, self.prompts.iter().copied()),
            );
        }
        let with = self.named(keys, "with").unwrap_or_default();
        if reading.is_none() && !keys.has("reply") {
            keys.problem("reply", "`reply` is missing: how a reply is read");
        }
        let template = keep(&format!("{}/{prompt}", self.prompts_of));
        Some(Case { when: None, template, with, reading: Arc::clone(reading?) })
    }

    /// How a reply is read, where the table says so.
    fn reading(&self, ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Reading> {
        let read = |keys: &Keys<'_>| {
            let form = reply::form(ballots, keys);
            let (gives, refuses) = (self.named(keys, "gives"), self.expressions(keys, "refuses"));
            Some(Reading { form: form?, gives, refuses })
        };
        let reading = keys.table("reply", read).flatten()?;
        if let Some(names) = reading.form.names() {
            for problem in
                reading.expressions().filter_map(|e| e.unknown("key of the reply", names.iter().copied()))
            {
                keys.problem("reply", problem);
            }
        }
        Some(reading)
    }

    /// A list of expressions; what is no expression is told.
    fn expressions(&self, keys: &Keys<'_>, key: &str) -> Vec<Expression> {
        let place = keys.place(key).unwrap_or_else(|| self.file.to_owned());
        let read = |source| {
            let read = Expression::parse(self.language, place.clone(), source);
            read.map_err(|what| keys.problem(key, what)).ok()
        };
        keys.texts(key).unwrap_or_default().into_iter().filter_map(read).collect()
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
