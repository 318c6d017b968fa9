//! `requires`: what must hold of a draft, of a vote or of a row, each with the sentence for who has to mend it. `checks` find
//! and go on; what is required is not taken without it.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Value;

use crate::choice::Label;
use crate::expression::{Expression, ExpressionError, Language};
use crate::fingerprint::find_used_fields;
use crate::reader::Keys;
use crate::scope::{Scope, group_name, layer_variables};

/// What must hold, and the sentence where it does not.
#[derive(Debug)]
pub struct Requirement {
    /// The condition.
    pub holds: Expression,
    /// The sentence.
    pub says: Label,
}

/// The requirements under `requires`.
pub(crate) fn parse_requirements(language: Language, file: &str, keys: &Keys<'_>) -> Vec<Requirement> {
    let one = |keys: &Keys<'_>| {
        let (holds, says) =
            (Expression::parse_key(language, file, keys, "holds"), keys.require_label("says"));
        if !keys.has_key("holds") {
            keys.require_text("holds");
        }
        Some(Requirement { holds: holds?, says })
    };
    keys.read_tables("requires", one).unwrap_or_default().into_iter().flatten().collect()
}

/// The sentence of the first requirement that does not hold; where one cannot be computed, why.
pub fn unmet_sentence(requires: &[Requirement], scope: &Scope<'_>) -> Option<Label> {
    try_unmet_sentence(requires, scope).unwrap_or_else(|trouble| Some(plain_label(&trouble.to_string())))
}

/// The sentence of the first requirement that does not hold.
///
/// # Errors
/// [`ExpressionError`] if one before it cannot be computed.
pub fn try_unmet_sentence(
    requires: &[Requirement],
    scope: &Scope<'_>,
) -> Result<Option<Label>, ExpressionError> {
    for requirement in requires {
        if !scope.compute_value(&requirement.holds)?.is_true() {
            return Ok(Some(requirement.says));
        }
    }
    Ok(None)
}

fn plain_label(text: &str) -> Label {
    let text = crate::reader::leak_text(text);
    Label { en: text, zh: text }
}

/// What a ballot requires of the answers on one item.
#[derive(Clone)]
pub struct OfAnswers {
    requires: &'static [Requirement],
    /// The group of the record with the ballot's fields.
    group: &'static str,
    fields: &'static [(&'static str, Expression)],
    /// What is on the record.
    names: Value,
}

/// A requirement that answers do not meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unmet {
    /// The last field of the answers that it is about; none where it names none.
    pub field: Option<&'static str>,
    /// The sentence.
    pub says: Label,
}

/// An answer, as it stands in a vote.
#[derive(Clone, Copy, Debug)]
pub enum VoteAnswer<'a> {
    /// A code or a text.
    Text(&'a str),
    /// Several.
    List(&'a [String]),
    /// A score.
    Number(f64),
}

impl VoteAnswer<'_> {
    fn into_value(self) -> Value {
        match self {
            VoteAnswer::Text(text) => Value::from(text),
            VoteAnswer::List(list) => list.iter().map(String::as_str).collect(),
            VoteAnswer::Number(number) => Value::from(number),
        }
    }
}

impl OfAnswers {
    /// What a ballot whose answers are in this group requires on a record, seen so; `None` if nothing.
    pub fn select_for_group(
        requires: &'static [Requirement],
        group: &'static str,
        scope: &Scope<'static>,
    ) -> Option<OfAnswers> {
        let (names, fields) = scope.variables_and_fields();
        (!requires.is_empty()).then(|| OfAnswers { requires, group, fields, names: names.clone() })
    }

    /// The first requirement that these answers, in the order of the form, do not meet. One about a field that has no answer
    /// asks for nothing: a text that nobody has to write need not be long.
    pub fn find_unmet(&self, answers: &[(&'static str, VoteAnswer<'_>)]) -> Option<Unmet> {
        let before = self.names.get_attr(self.group).unwrap_or_default();
        let mut given: BTreeMap<String, Value> = BTreeMap::new();
        for key in before.try_iter().into_iter().flatten() {
            let value = before.get_item(&key).unwrap_or_default();
            given.extend(key.as_str().map(|name| (name.to_owned(), value)));
        }
        given.extend(answers.iter().map(|(field, value)| (group_name(field), value.into_value())));
        let names = layer_variables([(self.group, Value::from(given))].into(), &self.names);
        let scope = Scope::new(names, self.fields);
        self.requires.iter().find_map(|requirement| {
            let asked = requirement.fields_of(self.group, self.fields);
            let place = |name: &String| answers.iter().position(|(field, _)| group_name(field) == *name);
            if asked.iter().any(|name| place(name).is_none()) {
                return None;
            }
            let says = unmet_sentence(std::slice::from_ref(requirement), &scope)?;
            let field = asked.iter().filter_map(place).max().map(|at| answers[at].0);
            Some(Unmet { field, says })
        })
    }
}

impl Requirement {
    /// The fields of a group that it is about, itself or through `[fields]`, but for what the group has besides answers.
    fn fields_of(&self, group: &str, fields: &[(&'static str, Expression)]) -> BTreeSet<String> {
        let below = |path: &String| -> Option<String> {
            let field = path.strip_prefix(group)?.strip_prefix('.')?.split('.').next()?;
            (!BESIDE.contains(&field)).then(|| field.to_owned())
        };
        let reached = find_used_fields(std::iter::once(&self.holds), fields);
        let all = std::iter::once(&self.holds).chain(reached.into_iter().map(|(_, field)| field));
        all.flat_map(|expression| expression.used_paths()).filter_map(|path| below(&path)).collect()
    }
}

/// What the group of a ballot has before anybody answers, as far as a requirement may use it.
pub(crate) const BESIDE: [&str; 4] = ["draft", "draft_basis", "drafts", "flags"];

impl std::fmt::Debug for OfAnswers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "requires of {}", self.group)
    }
}

impl PartialEq for OfAnswers {
    fn eq(&self, other: &OfAnswers) -> bool {
        self.group == other.group && self.names == other.names
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::choice::Lists;
    use crate::expression::{bind_variables, build_language};

    fn requires(holds: &[&'static str]) -> &'static [Requirement] {
        let language = build_language(Lists::new(), &Arc::default());
        let one = |&holds: &&'static str| Requirement {
            holds: Expression::parse(language, String::new(), holds).unwrap(),
            says: plain_label(holds),
        };
        holds.iter().map(one).collect::<Vec<_>>().leak()
    }

    fn of_answers(holds: &[&'static str]) -> OfAnswers {
        let drafted = bind_variables([("edited", Value::from("abd"))].into_iter());
        let group = bind_variables([("draft", drafted)].into_iter());
        let record = bind_variables([("text", Value::from("abc")), ("fair", group)].into_iter());
        OfAnswers::select_for_group(requires(holds), "fair", &Scope::new(record, &[])).unwrap()
    }

    #[test]
    fn an_answer_is_held_against_the_record_and_one_that_is_not_given_asks_for_nothing() {
        let limit = "edits(text, fair.edited) >= 1 and edits(text, fair.edited) <= 2";
        let of = of_answers(&[limit, "characters(fair.why) > 3"]);
        let unmet = |answers: &[(&'static str, VoteAnswer<'_>)]| {
            of.find_unmet(answers).map(|unmet| (unmet.field, unmet.says.en))
        };
        assert_eq!(unmet(&[("edited", VoteAnswer::Text("abx"))]), None);
        assert_eq!(unmet(&[("edited", VoteAnswer::Text("abc"))]), Some((Some("edited"), limit)));
        assert_eq!(unmet(&[("edited", VoteAnswer::Text("xyzw"))]), Some((Some("edited"), limit)));
        assert_eq!(unmet(&[("verdict", VoteAnswer::Text("reject"))]), None);
        let short = [("edited", VoteAnswer::Text("ab")), ("why", VoteAnswer::Text("no"))];
        assert_eq!(unmet(&short), Some((Some("why"), "characters(fair.why) > 3")));
    }

    /// A requirement may be about an answer through a field of the folder.
    #[test]
    fn a_field_of_the_folder_stands_for_what_it_is_over() {
        let language = build_language(Lists::new(), &Arc::default());
        let field = Expression::parse(language, String::new(), "edits(text, fair.edited)").unwrap();
        let fields: &'static [(&'static str, Expression)] = vec![("distance", field)].leak();
        let record = bind_variables([("text", Value::from("abc"))].into_iter());
        let of =
            OfAnswers::select_for_group(requires(&["distance <= 2"]), "fair", &Scope::new(record, fields))
                .unwrap();
        let unmet =
            |answers: &[(&'static str, VoteAnswer<'_>)]| of.find_unmet(answers).map(|unmet| unmet.field);
        assert_eq!(unmet(&[("edited", VoteAnswer::Text("abx"))]), None);
        assert_eq!(unmet(&[("edited", VoteAnswer::Text("xyzw"))]), Some(Some("edited")));
        assert_eq!(
            unmet(&[("verdict", VoteAnswer::Text("accept"))]),
            None,
            "what is not answered asks for nothing"
        );
    }

    #[test]
    fn a_draft_is_seen_beside_the_answers_and_what_cannot_be_computed_is_refused() {
        let of = of_answers(&["fair.edited != fair.draft.edited"]);
        assert!(of.find_unmet(&[("edited", VoteAnswer::Text("abd"))]).is_some());
        assert!(of.find_unmet(&[("edited", VoteAnswer::Text("abe"))]).is_none());
        let of = of_answers(&["fair.rating - text > 1"]);
        let unmet = of.find_unmet(&[("rating", VoteAnswer::Number(3.0))]).unwrap();
        assert!(unmet.says.en.contains("cannot be computed"), "{}", unmet.says.en);
    }
}
