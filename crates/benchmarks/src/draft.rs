//! Draft steps: `[step.NAME]` of benchmark.toml.

use std::sync::Arc;

use crate::ballot::reader::Ballots;
use crate::ballot_source::ElementList;
use crate::expression::{Expression, Language, ScopedExpression};
use crate::majority;
use crate::reader::{Keys, leak_text};
use crate::record_kind::RecordKind;
use crate::reply::{self, Reading, Reply, ReplyForm};
use crate::requirement::{self, Requirement};
use crate::scope::{ANSWERED, KEPT_OF_EACH, OF_ELEMENT, REPLIED, REQUIRED, RESPONDED};
use crate::setting::{replies_at, setting_at};
use riddlemill_record::Reason;

pub use crate::setting::{Count, SettingName as Key};

/// A step that asks models about each record.
pub struct Draft {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// Its ballot; without one its answers form a group of their own.
    pub ballot: Option<&'static str>,
    /// The kind of its records, whose columns it fills; `None` if the folder declares them.
    pub records: Option<&'static RecordKind>,
    /// The condition for a record to be asked about; none means all.
    pub when: Option<Expression>,
    /// The list whose elements are asked about one by one, as `it`; without it the record is.
    pub over: Option<ElementList>,
    /// Its prompts: the first whose condition holds is used.
    pub cases: Vec<Case>,
    /// The prompts of its cases, `<benchmark>/<name>` each.
    pub templates: Vec<&'static str>,
    /// The setting for its endpoint: table and key.
    pub asks: (&'static str, &'static str),
    /// The prompt value that is sent to endpoints that only translate.
    pub translates: Option<&'static str>,
    /// Replies per endpoint.
    pub replies: Count,
    /// The field whose most frequent value decides which reply is kept; none means the first.
    pub majority: Option<&'static str>,
    /// The setting with the number of models whose replies are enough; 0 or missing: all that were asked.
    pub at_least: Option<Key>,
    /// Endpoints that are not asked about some models' texts.
    pub barred: Option<Barred>,
    /// Where every reply becomes a record of its own: what each case asks; empty of a draft.
    pub responds: Vec<Asked>,
    /// Whether there are replies that were made elsewhere, in which folder of raw/.
    pub made: Option<&'static str>,
    /// The setting with a file of such replies that were written for a sample.
    pub sample: Option<Key>,
    /// The kind of the records that it leaves, of those with columns.
    pub leaves: Option<&'static RecordKind>,
    /// What the ledger calls it.
    pub reason: Reason,
    /// The name of a record in reply packs; its id by default.
    pub known_as: Option<Expression>,
    /// Fields with the text asked about: an answer that refuses, is empty or only repeats it is discarded,
    /// with a finding.
    pub discards: Vec<(&'static str, Expression)>,
    /// The columns for the answers, computed from the record and the reply.
    pub keeps: Vec<(&'static str, Expression)>,
    /// Findings on the record with its draft: a text, or a list of texts.
    pub checks: Vec<Expression>,
    /// Findings on each of several replies, as `it`, before those.
    pub checks_each: Vec<Expression>,
    /// The fields for the ledger; none means all.
    pub ledger: Option<Vec<&'static str>>,
    /// What a reply must meet, over what was asked about and its fields; otherwise the model is asked again.
    pub requires: Vec<Requirement>,
}

/// Endpoints that may not be asked about some models' texts.
pub struct Barred {
    /// The setting with lines `endpoint: model`.
    pub by: Key,
    /// The model that a record's text is of.
    pub whose: Expression,
}

/// What one case of a responding step asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name: `for` in a file of answers that were made elsewhere.
    pub name: &'static str,
    /// What an answer is to its record; its id is made of that, the record's, the model and the number.
    pub role: &'static str,
}

/// One prompt of a draft.
pub struct Case {
    /// The condition for a record; none means always.
    pub when: Option<Expression>,
    /// The prompt, `<benchmark>/<name>`.
    pub template: &'static str,
    /// The prompt's values, over the record.
    pub with: Vec<(&'static str, Expression)>,
    /// How its replies are parsed.
    pub reading: Arc<Reading>,
}

/// Declarations are equal if they are for the same step of the same benchmark.
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
by_name!(Draft);
pub(crate) use by_name;

impl Draft {
    /// Its name in settings and flags: that of its ballot, or of its step.
    pub fn setting_name(&self) -> &'static str {
        self.ballot.unwrap_or(self.name)
    }

    /// The fields that all its prompts fill in; those of native readers are known to the program.
    pub fn filled_fields(&self) -> Vec<&'static str> {
        let mut fields: Vec<&'static str> = Vec::new();
        for field in self.cases.iter().filter_map(|case| case.reading.filled_fields()).flatten() {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// The settings that say how often and whom it asks, and when that is enough.
    pub fn setting_keys(&self) -> impl Iterator<Item = Key> {
        let replies = match self.replies {
            Count::Setting(key) => Some(key),
            Count::Fixed(_) => None,
        };
        let barred = self.barred.as_ref().map(|barred| barred.by);
        [replies, self.at_least, barred, self.sample].into_iter().flatten()
    }

    /// The lowest and the highest rating that a reply may give, where it gives one.
    pub fn rating_scale(&self) -> Option<(u32, u32)> {
        let of_form = |form: &Reply| match form {
            Reply::Json(keys) => keys.iter().find_map(|(_, form)| match form {
                ReplyForm::Scale(from, to) => Some((*from, *to)),
                _ => None,
            }),
            Reply::Rating(from, to) => Some((u32::try_from(*from).ok()?, u32::try_from(*to).ok()?)),
            _ => None,
        };
        self.cases.iter().find_map(|case| of_form(&case.reading.form))
    }

    /// What a responding step leaves in its group of a record that the folder declares.
    pub(crate) fn answered_fields(&self) -> impl Iterator<Item = &'static str> {
        ANSWERED.into_iter().chain(["basis"]).chain(self.filled_fields())
    }

    /// How replies to a prompt are parsed: by the first case with it.
    pub fn find_reading(&self, template: &str) -> Option<&Reading> {
        self.cases.iter().find(|case| case.template == template).map(|case| &*case.reading)
    }

    /// Every expression over the record before the step, each with what else it may name.
    pub(crate) fn asked_with(&self) -> impl Iterator<Item = ScopedExpression<'_>> {
        let element: &'static [&'static str] = if self.over.is_some() { &["it"] } else { &[] };
        let list = self.over.iter().map(|over| (&over.list, &[] as &'static [&'static str]));
        self.input_expressions().map(move |asked| (asked, element)).chain(list)
    }

    /// Every expression over the record and the reply, each with what else it may name.
    pub(crate) fn said_with(&self) -> impl Iterator<Item = ScopedExpression<'_>> {
        let replied: &'static [&'static str] = if self.responds.is_empty() { &REPLIED } else { &RESPONDED };
        let kept: &'static [&'static str] = if self.over.is_some() { &KEPT_OF_EACH } else { replied };
        let discards = self.discards.iter().map(|(_, asked)| asked);
        let checked = discards.chain(self.check_expressions()).map(move |checked| (checked, replied));
        checked.chain(self.keeps.iter().map(move |(_, value)| (value, kept)))
    }

    /// Every expression over the record before the step, or over an element of its list.
    fn input_expressions(&self) -> impl Iterator<Item = &Expression> {
        let with = self.cases.iter().flat_map(|case| case.with.iter().map(|(_, value)| value));
        let when = self.cases.iter().flat_map(|case| &case.when);
        let barred = self.barred.iter().map(|barred| &barred.whose);
        let called = self.over.iter().map(|over| &over.called);
        with.chain(called).chain(when).chain(&self.when).chain(&self.known_as).chain(barred)
    }

    /// Every expression over the record and the reply.
    fn over_reply(&self) -> impl Iterator<Item = &Expression> {
        self.discards.iter().chain(&self.keeps).map(|(_, value)| value)
    }

    /// Every expression over the record with its draft and the reply.
    pub(crate) fn check_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.checks.iter().chain(&self.checks_each)
    }

    /// The conditions that a reply must meet, each with what else it may name.
    pub(crate) fn reply_conditions(&self) -> impl Iterator<Item = ScopedExpression<'_>> {
        self.requires.iter().map(|requirement| (&requirement.holds, &REQUIRED as &'static [&'static str]))
    }

    /// Every expression over the record.
    pub(crate) fn record_expressions(&self) -> impl Iterator<Item = &Expression> {
        let list = self.over.iter().map(|over| &over.list);
        let required = self.reply_conditions().map(|(expression, _)| expression);
        self.input_expressions()
            .chain(list)
            .chain(self.over_reply())
            .chain(self.check_expressions())
            .chain(required)
    }

    /// Every expression over a parsed reply.
    pub(crate) fn reply_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.cases.iter().flat_map(|case| case.reading.reply_expressions())
    }
}

/// What a ledger may call a draft.
const REASONS: [(&str, Reason); 2] = [("drafted", Reason::Drafted), ("rated", Reason::Rated)];

/// The place of a table, and what its expressions may use.
pub(crate) struct TablePlace<'a> {
    pub benchmark: &'static str,
    pub name: &'static str,
    pub file: &'a str,
    /// The kind of the step's input records, if they have columns.
    pub records: Option<&'static RecordKind>,
    pub language: Language,
    /// Prefix of the prompts' names.
    pub prompts_of: &'a str,
    pub prompts: &'a [&'static str],
}

impl TablePlace<'_> {
    pub(crate) fn parse_expression(&self, keys: &Keys<'_>, key: &str) -> Option<Expression> {
        let source = keys.read_text(key)?;
        let place = keys.place_of_key(key).unwrap_or_else(|| self.file.to_owned());
        Expression::parse(self.language, place, source).map_err(|what| keys.report_problem(key, what)).ok()
    }

    pub(crate) fn parse_named_expressions(
        &self,
        keys: &Keys<'_>,
        key: &str,
    ) -> Option<Vec<(&'static str, Expression)>> {
        let each = |keys: &Keys<'_>| -> Vec<_> {
            let read = |name: &'static str| Some((name, self.parse_expression(keys, name)?));
            keys.key_names().into_iter().filter_map(read).collect()
        };
        keys.read_table(key, each)
    }

    /// Parses a step that asks a model; `None` if there is a problem, which is reported.
    pub fn parse_draft(
        &self,
        ballots: Option<&Ballots>,
        leaves: Option<&'static RecordKind>,
        responding: bool,
        keys: &Keys<'_>,
    ) -> Option<Draft> {
        let reading = self.parse_reading(ballots, keys).map(Arc::new);
        let cases_in = if responding { "ask" } else { "case" };
        let mut responds = Vec::new();
        let cases = match responding || keys.has_key(cases_in) {
            true => {
                if let Some(key) = ["prompt", "with"].into_iter().find(|key| keys.has_key(key)) {
                    keys.report_problem(key, format!("each `{cases_in}` needs its own `{key}`"));
                }
                if responding && !keys.has_key("ask") {
                    keys.report_problem("ask", "`[[step.NAME.ask]]` is missing: what is asked");
                }
                let mut case = |keys: &Keys<'_>| {
                    if responding {
                        responds
                            .push(Asked { name: keys.require_text("name"), role: keys.require_text("role") });
                    }
                    self.parse_case(ballots, reading.as_ref(), keys)
                };
                keys.read_tables(cases_in, &mut case).unwrap_or_default()
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
        let asks = setting_at(keys, "asks", "draft.endpoint").unwrap_or(Some(("draft", "endpoint")));
        let [replies, samples] = ["replies", "samples"].map(|key| replies_at(keys, key));
        if replies.and(samples).is_some() {
            keys.report_problem("samples", "`samples` and `replies` are one number: name one of them");
        }
        let majority =
            majority::parse_majority(keys, &cases.iter().map(|case| &*case.reading).collect::<Vec<_>>());
        if responding && keys.has_key("majority") {
            keys.report_problem(
                "majority",
                "every reply of this step becomes a record: there is none to choose",
            );
        }
        let barred = keys.read_table("barred", |keys| {
            for key in ["by", "whose"].into_iter().filter(|key| !keys.has_key(key)) {
                keys.require_text(key);
            }
            let by = setting_at(keys, "by", "judge.barred").flatten();
            Some(Barred { by: by?, whose: self.parse_expression(keys, "whose")? })
        });
        let keeps = self.parse_named_expressions(keys, "keeps").unwrap_or_default();
        if leaves.is_none() && !keeps.is_empty() {
            keys.report_problem(
                "keeps",
                "`keeps` is for records of a kind (`records`): these leave their answers in a group",
            );
        }
        let over = self.parse_element_list(ballots, responding, keys);
        let draft = Draft {
            benchmark: self.benchmark,
            name: self.name,
            ballot: keys.read_text("for"),
            records: self.records,
            when: self.parse_expression(keys, "when"),
            over,
            cases,
            templates,
            asks: asks?,
            translates: keys.read_text("translates"),
            replies: replies.or(samples).unwrap_or(Count::Fixed(1)),
            majority,
            at_least: setting_at(keys, "at_least", "respond.min_models").flatten(),
            barred: barred.flatten(),
            responds,
            made: keys.one_of("made", &[("responses", "responses"), ("ratings", "ratings")]),
            sample: setting_at(keys, "sample", "respond.sample").flatten(),
            leaves,
            reason: keys.one_of("reason", &REASONS).unwrap_or(Reason::Drafted),
            known_as: self.parse_expression(keys, "known_as"),
            discards: self.parse_named_expressions(keys, "discards").unwrap_or_default(),
            keeps,
            checks: self.parse_expressions(keys, "checks"),
            checks_each: self.parse_expressions(keys, "checks_each"),
            ledger: keys.read_texts("ledger"),
            requires: requirement::parse_requirements(self.language, self.file, keys),
        };
        if responding && !draft.requires.is_empty() {
            keys.report_problem(
                "requires",
                "a model's own answer is taken as it is: `requires` is for drafts",
            );
        }
        let given =
            |name: &str| draft.cases.iter().any(|case| case.with.iter().any(|(with, _)| *with == name));
        if let Some(value) = draft.translates.filter(|value| !given(value)) {
            let with = draft.cases.iter().flat_map(|case| &case.with).map(|(name, _)| *name);
            keys.report_problem("translates", riddlemill_text::hint::unknown("value of `with`", value, with));
        }
        let native = draft.cases.iter().any(|case| case.reading.filled_fields().is_none());
        let fields = draft.filled_fields();
        let discarded = draft.discards.iter().map(|(field, _)| ("discards", *field));
        let named = discarded.chain(draft.ledger.iter().flatten().map(|field| ("ledger", *field)));
        for (key, field) in named.filter(|(_, field)| !native && !fields.contains(field)) {
            keys.report_problem(
                key,
                riddlemill_text::hint::unknown("field of the reply", field, fields.iter().copied()),
            );
        }
        for field in fields.iter().filter(|field| draft.over.is_some() && OF_ELEMENT.contains(field)) {
            keys.report_problem(
                "reply",
                format!("no field may be named {field:?}: every element of `over` has it"),
            );
        }
        Some(draft)
    }

    /// The list whose elements are asked about one by one.
    fn parse_element_list(
        &self,
        ballots: Option<&Ballots>,
        responding: bool,
        keys: &Keys<'_>,
    ) -> Option<ElementList> {
        let called = self.parse_expression(keys, "called");
        let Some(list) = self.parse_expression(keys, "over") else {
            if called.is_some() && !keys.has_key("over") {
                keys.report_problem("called", "`called` names the elements of a list, and `over` is missing");
            }
            return None;
        };
        if responding {
            let what = "models answer whole records: `over` is for `kind = \"draft\"` and for ballots";
            keys.report_problem("over", what);
        }
        if keys.has_key("checks_each") {
            let what =
                "`it` is an element of `over`: name its replies `drafts` in `checks`, which see each element";
            keys.report_problem("checks_each", what);
        }
        if keys.has_key("made") {
            keys.report_problem(
                "made",
                "what is made elsewhere is of whole records, and not of elements of `over`",
            );
        }
        let ballot = keys.read_text("for").and_then(|ballot| ballots?.find_ballot(ballot));
        if let Some(ballot) = ballot.filter(|ballot| ballot.asked.is_none_or(|asked| asked.over.is_none())) {
            let what = format!(
                "{:?} is asked about whole records, and this draft about elements of `over`\n  hint: give [ballot.{}] an `over`, too, \
                 or the draft no `for`",
                ballot.name, ballot.name
            );
            keys.report_problem("for", what);
        }
        if !keys.has_key("called") {
            keys.report_problem("over", "`called` is missing: the name of an element, over `it`");
        }
        Some(ElementList { list, role: self.name, called: called? })
    }

    /// Parses one of several cases: its declarations on replies take precedence over the step's.
    fn parse_case(
        &self,
        ballots: Option<&Ballots>,
        reading: Option<&Arc<Reading>>,
        keys: &Keys<'_>,
    ) -> Option<Case> {
        let own = self.parse_reading(ballots, keys).map(Arc::new);
        let when = self.parse_expression(keys, "when");
        Some(Case { when, ..self.case_of(own.as_ref().or(reading), keys)? })
    }

    fn case_of(&self, reading: Option<&Arc<Reading>>, keys: &Keys<'_>) -> Option<Case> {
        let prompt = keys.require_text("prompt");
        if !self.prompts.contains(&prompt) {
            keys.report_problem(
                "prompt",
                riddlemill_text::hint::unknown("prompt", prompt, self.prompts.iter().copied()),
            );
        }
        let with = self.parse_named_expressions(keys, "with").unwrap_or_default();
        if reading.is_none() && !keys.has_key("reply") {
            keys.report_problem("reply", "`reply` is missing: how a reply is read");
        }
        let template = leak_text(&format!("{}/{prompt}", self.prompts_of));
        Some(Case { when: None, template, with, reading: Arc::clone(reading?) })
    }

    /// How a reply is parsed, if the table declares it.
    fn parse_reading(&self, ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Reading> {
        let read = |keys: &Keys<'_>| {
            let form = reply::parse_reply_form(ballots, keys);
            let (gives, refuses) =
                (self.parse_named_expressions(keys, "gives"), self.parse_expressions(keys, "refuses"));
            Some(Reading { form: form?, gives, refuses })
        };
        let reading = keys.read_table("reply", read).flatten()?;
        if let Some(names) = reading.form.names_for_gives() {
            for problem in reading
                .reply_expressions()
                .filter_map(|e| e.find_unknown_name("key of the reply", names.iter().copied()))
            {
                keys.report_problem("reply", problem);
            }
        }
        Some(reading)
    }

    /// A list of expressions; invalid ones are reported.
    fn parse_expressions(&self, keys: &Keys<'_>, key: &str) -> Vec<Expression> {
        let place = keys.place_of_key(key).unwrap_or_else(|| self.file.to_owned());
        let read = |source| {
            let read = Expression::parse(self.language, place.clone(), source);
            read.map_err(|what| keys.report_problem(key, what)).ok()
        };
        keys.read_texts(key).unwrap_or_default().into_iter().filter_map(read).collect()
    }
}
