//! Steps that drop or hold records by an expression of the benchmark's folder, and that make a record of every element of a list.

use std::collections::BTreeMap;

use riddlemill_benchmarks::option_steps::Elements;
use riddlemill_benchmarks::scope::{Scope, layer_variables};
use riddlemill_benchmarks::selecting::{Leaves, Select};
use riddlemill_record::{Link, Outcome, Reason, Record, Row};
use riddlemill_review::decisions::Verdict;
use serde_json::{Map, Value as Json, json};

use super::context::{About, NewRows, StageError, StageRows};
use super::job::{Job, StepContext};
use super::native::full_text;
use super::rule::{Overrulable, Plain};
use super::stage::Stage;
use super::subject;
use riddlemill_tables::{Manifest, StageReader};

/// Records dropped or held by an expression.
#[derive(Debug)]
pub struct Selecting(pub &'static Select);

impl Stage for Selecting {
    fn describe_stage(&self) -> About {
        About {
            name: "select",
            version: 1,
            section: "",
            rows: StageRows::of_kind(self.0.records),
            detail: "",
        }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let rule = |record| select_record(record, self.0);
        job.each_in_memory(&Overrulable { rule, seen: full_text, passing: |record| record })
    }

    fn stage_detail(&self) -> String {
        let Select { leaves, rule, reason, .. } = self.0;
        format!("{} {}: {}", leaves.condition_key(), rule.source(), reason.definition)
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn has_selection(&self) -> bool {
        true
    }
}

/// A record of every element of a list.
#[derive(Debug)]
pub struct Splitting(pub &'static Elements);

impl Stage for Splitting {
    fn describe_stage(&self) -> About {
        About { name: "elements", version: 1, section: "", rows: StageRows::Groups, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        job.each_in_memory(&Plain(|record: Row| records_of_elements(record, self.0)))
    }

    fn stage_detail(&self) -> String {
        format!("a record for each of {}", self.0.list.source())
    }

    // Future records are assumed to have lists no longer than those that it has split.
    fn count_children(&self, step: &StepContext<'_>, _: &Manifest) -> Result<u64, StageError> {
        let mut of_one: BTreeMap<String, u64> = BTreeMap::new();
        if let Some(stage) = StageReader::open(&step.place)? {
            for part in stage.read_parts::<Link>("links") {
                part?.into_iter().for_each(|link| *of_one.entry(link.parent).or_default() += 1);
            }
        }
        Ok(of_one.into_values().max().unwrap_or(1))
    }
}

/// Drops or holds a record, or lets it go on.
fn select_record(record: Row, select: &Select) -> Outcome<Row> {
    match select.selection_evidence(&subject::in_scope(&record, select.benchmark)) {
        Ok(None) => Outcome::Kept(record),
        Ok(Some(evidence)) => {
            let reason = Reason::Own(select.reason);
            match select.leaves {
                Leaves::Dropped => Outcome::Dropped { reason, evidence },
                Leaves::Held => Outcome::Held { reason, evidence: evidence.into() },
            }
        }
        Err(trouble) => Outcome::Failed { reason: Reason::NotComputed, evidence: trouble.to_string().into() },
    }
}

/// The records of a list's elements: each with the groups of its record, and one more. Ids are `ID/NAME`.
fn records_of_elements(record: Row, elements: &Elements) -> Outcome<Row> {
    let failed = |reason, evidence: String| Outcome::Failed { reason, evidence: evidence.into() };
    let scope = subject::in_scope(&record, elements.benchmark);
    let list = match scope.is_true(elements.when.as_ref()) {
        Ok(false) => return Outcome::Kept(record),
        Ok(true) => subject::evaluate_list(&scope, &elements.list),
        Err(trouble) => return failed(Reason::NotComputed, trouble.to_string()),
    };
    let list = match list {
        Ok(list) => list,
        Err(trouble) => return failed(Reason::NotAList, trouble.to_string()),
    };
    if list.is_empty() {
        let evidence = scope.describe_evidence(&elements.list);
        return Outcome::Dropped { reason: Reason::NoElements, evidence };
    }
    let (names, fields) = scope.variables_and_fields();
    let mut children: Vec<(Row, &'static str)> = Vec::new();
    for (it, place) in list.into_iter().zip(1..) {
        let scope = Scope::new(layer_variables(BTreeMap::from([("it", it.clone())]), names), fields);
        let text_of = |expression: &riddlemill_benchmarks::Expression| scope.compute_text(expression);
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
        let mut child = subject::child_record(&record, id, elements.name, group);
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
