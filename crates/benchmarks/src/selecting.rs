//! Steps that drop or hold records by an expression (`drop_if`, `hold_if`), and the condition of `[data]`: each with a reason in
//! the folder's own words.

use riddlemill_record::{OwnReason, Reason};
use riddlemill_text::text::clean::Rule;

use crate::draft::{TablePlace, by_name};
use crate::expression::{Expression, ExpressionError};
use crate::reader::{Keys, is_code};
use crate::record_kind::RecordKind;
use crate::scope::Scope;

/// What becomes of the records that a step selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// They are left out.
    Dropped,
    /// They wait for a person.
    Held,
}

impl Leaves {
    /// Both, by the key of the condition.
    const KEYS: [(&'static str, Leaves); 2] = [("drop_if", Leaves::Dropped), ("hold_if", Leaves::Held)];

    /// The key of the condition.
    pub fn condition_key(self) -> &'static str {
        match self {
            Leaves::Dropped => "drop_if",
            Leaves::Held => "hold_if",
        }
    }
}

/// A step that drops or holds records.
pub struct Select {
    pub benchmark: &'static str,
    /// The step.
    pub name: &'static str,
    /// The kind of its records, if they have columns.
    pub records: Option<&'static RecordKind>,
    /// The records that it looks at; none means all.
    pub when: Option<Expression>,
    /// The condition, over a record.
    pub rule: Expression,
    /// What becomes of the records for which it is true.
    pub leaves: Leaves,
    /// Why, in the folder's words.
    pub reason: &'static OwnReason,
}

by_name!(Select);

impl Select {
    /// Every expression over the record.
    pub(crate) fn record_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.when.iter().chain([&self.rule])
    }

    /// What the rule saw of a record that it selects; `None` of a record that goes on.
    ///
    /// # Errors
    /// [`ExpressionError`] if the rule, or a field that it uses, cannot be computed.
    pub fn selection_evidence(&self, scope: &Scope<'_>) -> Result<Option<String>, ExpressionError> {
        let selected = scope.is_true(self.when.as_ref())? && scope.compute_value(&self.rule)?.is_true();
        Ok(selected.then(|| scope.describe_evidence(&self.rule)))
    }
}

impl TablePlace<'_> {
    /// A step that drops or holds records; a problem is reported.
    pub(crate) fn parse_select(&self, keys: &Keys<'_>) -> Option<Select> {
        let named: Vec<(&str, Leaves)> =
            Leaves::KEYS.into_iter().filter(|(key, _)| keys.has_key(key)).collect();
        if let [_, (key, _)] = named.as_slice() {
            keys.report_problem(
                key,
                "a step drops or holds, for one reason: give the other condition a step of its own",
            );
        }
        if named.is_empty() {
            keys.report_problem(
                "kind",
                "`drop_if` or `hold_if` is missing: the condition of the records that it takes out",
            );
        }
        let rules = named.into_iter().map(|(key, leaves)| Some((self.parse_expression(keys, key)?, leaves)));
        let rules: Vec<Option<(Expression, Leaves)>> = rules.collect();
        let when = self.parse_expression(keys, "when");
        let reason = parse_reason(keys);
        let (rule, leaves) = rules.into_iter().next()??;
        let (benchmark, name, records) = (self.benchmark, self.name, self.records);
        Some(Select { benchmark, name, records, when, rule, leaves, reason: reason? })
    }
}

/// `reason` and `says`: a code and a sentence.
pub(crate) fn parse_reason(keys: &Keys<'_>) -> Option<&'static OwnReason> {
    let code = keys.require_text("reason");
    if !keys.has_key("says") {
        keys.report_problem(
            "reason",
            "expected [\"code\", \"sentence\"]: the code for ledgers, and the sentence that people read",
        );
        return None;
    }
    let says = keys.require_label("says");
    if code.is_empty() || !is_code(code) {
        keys.report_problem("reason", format!("{code:?} is no code: lower-case letters, digits and `_`"));
    }
    let taken = Reason::from_code(code).map(Reason::definition);
    let of_rule = || Rule::ALL.iter().find(|rule| rule.code() == code).map(|rule| rule.definition());
    if let Some(means) = taken.or_else(of_rule) {
        keys.report_problem("reason", format!("the code {code:?} is taken: {means}"));
    }
    if says.en.trim().is_empty() {
        keys.report_problem("reason", "the sentence is empty");
    }
    Some(Box::leak(Box::new(OwnReason { code, definition: says.en, definition_zh: says.zh })))
}
