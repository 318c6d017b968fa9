//! Steps that drop or hold records by an expression of the benchmark's folder, and that make a record of every element of a list.

use std::collections::BTreeMap;

use riddlemill_benchmarks::elements::Elements;
use riddlemill_benchmarks::scope::{Scope, above};
use riddlemill_benchmarks::selecting::{Leaves, Select};
use riddlemill_review::decisions::{StageDecisions, seen_text};
use riddlemill_text::record::{Outcome, Reason, Record, Row};
use serde_json::{Map, Value as Json, json};

use super::native::full_text;
use super::overrule::overruled;
use super::subject;

/// Drops or holds a record, or lets it go on; a person may overrule that.
pub fn select(record: Row, select: &Select, people: &StageDecisions) -> Outcome<Row> {
    let by_rule = match select.selects(&subject::in_scope(&record, select.benchmark)) {
        Ok(None) => Outcome::Kept(record.clone()),
        Ok(Some(evidence)) => {
            let reason = Reason::Own(select.reason);
            match select.leaves {
                Leaves::Dropped => Outcome::Dropped { reason, evidence },
                Leaves::Held => Outcome::Held { reason, evidence: evidence.into() },
            }
        }
        Err(trouble) => Outcome::Failed { reason: Reason::NotComputed, evidence: trouble.to_string().into() },
    };
    match people.ruling(record.id(), || seen_text(&full_text(&record))) {
        Some(ruling) => overruled(by_rule, &ruling, || Some(record)),
        None => by_rule,
    }
}

/// The records of a list's elements: each with the groups of its record, and one more. Ids are `ID/NAME`.
pub fn elements(record: Row, elements: &Elements) -> Outcome<Row> {
    let failed = |reason, evidence: String| Outcome::Failed { reason, evidence: evidence.into() };
    let scope = subject::in_scope(&record, elements.benchmark);
    let list = match scope.holds(elements.when.as_ref()) {
        Ok(false) => return Outcome::Kept(record),
        Ok(true) => subject::listed(&scope, &elements.list),
        Err(trouble) => return failed(Reason::NotComputed, trouble.to_string()),
    };
    let list = match list {
        Ok(list) => list,
        Err(trouble) => return failed(Reason::NotAList, trouble.to_string()),
    };
    if list.is_empty() {
        let evidence = scope.seen(&elements.list);
        return Outcome::Dropped { reason: Reason::NoElements, evidence };
    }
    let (names, fields) = scope.parts();
    let mut children: Vec<(Row, &'static str)> = Vec::new();
    for (it, place) in list.into_iter().zip(1..) {
        let scope = Scope::new(above(BTreeMap::from([("it", it.clone())]), names), fields);
        let text_of = |expression: &riddlemill_benchmarks::Expression| scope.text(expression);
        let called = match elements.called.as_ref().map(text_of).transpose() {
            Ok(called) => called.flatten().filter(|called| !called.trim().is_empty()),
            Err(trouble) => return failed(Reason::NotComputed, trouble.to_string()),
        };
        let called = called.map_or_else(|| place.to_string(), |called| in_id(&called));
        let text = match elements.text.as_ref().map(text_of).transpose() {
            Ok(text) => text.flatten(),
            Err(trouble) => return failed(Reason::NotComputed, trouble.to_string()),
        };
        let id = format!("{}/{called}", record.id());
        if children.iter().any(|(child, _)| child.id() == id) {
            let evidence = format!("two elements are called {called:?}: `named_by` tells them apart");
            return failed(Reason::NotComputed, evidence);
        }
        let group: Map<String, Json> = Map::from_iter([
            ("it".to_owned(), json!(it)),
            ("of".to_owned(), json!(record.id())),
            ("place".to_owned(), json!(place)),
            ("called".to_owned(), json!(called)),
        ]);
        let mut child = subject::child(&record, id, elements.name, group);
        if let Some(text) = text {
            child.set_text("text", text);
        }
        children.push((child, elements.name));
    }
    Outcome::Expanded(children)
}

/// A name as a part of an id: in one line, without what separates ids.
fn in_id(name: &str) -> String {
    let plain = |c: char| if c.is_control() || c.is_whitespace() || c == '/' { '_' } else { c };
    name.trim().chars().map(plain).collect()
}
