//! Records whose columns steps fill: what drafts ask of them and where the answers go, as declared in their benchmark's folder.

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::choice::Label;
use riddlemill_benchmarks::draft::{Case, Draft};
use riddlemill_benchmarks::requirement::try_unmet_sentence;
use riddlemill_benchmarks::scope::{Scope, layer_variables, texts_of_value};
use riddlemill_benchmarks::{Expression, ExpressionError};
use riddlemill_record::{Record, Row, with_fields};
use riddlemill_review::Values;
use riddlemill_text::replies::why_unusable;
use serde_json::{Map, Value as Json, json};

use super::columns::{
    Element, answers_as_template, fill_kept_columns, list_elements, row_as_template, scope_of_names,
};
use super::{Drafted, Majority, Prompt, find_majority};
use crate::stages::draft::{DraftStep as Asking, Slot};

/// What one request of a draft is about: a record, or an element of its list.
pub struct DraftItem {
    /// The element; null of a whole record.
    it: TemplateValue,
    /// The name of the element; empty of a whole record.
    pub called: String,
    /// What a pack of replies calls it.
    pub about: String,
    /// The record as expressions see it, with the element as `it`.
    scope: Scope<'static>,
}

impl DraftItem {
    /// Whether the step asks about it.
    pub fn is_asked(&self, draft: Asking) -> bool {
        self.scope.is_true(draft.draft_declaration().when.as_ref()).unwrap_or(true)
    }

    /// The request about it in one of the step's slots; `None` if there is none, and if the model that would be asked
    /// may not judge this one.
    pub fn prompt_for_slot(&self, draft: Asking, slot: &Slot) -> Option<Prompt> {
        if !self.is_asked(draft) {
            return None;
        }
        let (draft, scope) = (draft.draft_declaration(), &self.scope);
        let holds = |case: &&Case| scope.is_true(case.when.as_ref()).unwrap_or(true);
        let case = match slot.ask {
            Some(at) => draft.cases.get(at).filter(holds)?,
            None => draft.cases.iter().find(holds)?,
        };
        if let Some(barred) = draft.barred.as_ref().filter(|_| !slot.bars.is_empty()) {
            let whose = scope.compute_text(&barred.whose).ok().flatten().unwrap_or_default();
            if slot.bars.iter().any(|barred| barred.matches(&whose)) {
                return None;
            }
        }
        // A value that cannot be computed is missing, and rendering the prompt reports it.
        let value = |(name, value): &(&'static str, Expression)| {
            Some((*name, scope.compute_text(value).ok()?.unwrap_or_default()))
        };
        Some(Prompt { template: case.template, values: case.with.iter().filter_map(value).collect() })
    }

    /// The sentence of the first requirement of the step that a reply about it does not meet.
    ///
    /// # Errors
    /// [`ExpressionError`] if one cannot be computed: no other reply would change that.
    pub fn unmet_requirement(
        &self,
        draft: Asking,
        values: &Values,
    ) -> Result<Option<Label>, ExpressionError> {
        let requires = &draft.draft_declaration().requires;
        if requires.is_empty() {
            return Ok(None);
        }
        let (names, fields) = self.scope.variables_and_fields();
        let said =
            BTreeMap::from([("said", answers_as_template(values)), ("drafted", answers_as_template(values))]);
        try_unmet_sentence(requires, &Scope::new(layer_variables(said, names), fields))
    }

    /// The step's finding about it, preceded by its name if it has one.
    pub fn name_finding(&self, finding: &str) -> String {
        if self.called.is_empty() { finding.to_owned() } else { format!("{}: {finding}", self.called) }
    }
}

/// What a draft asks about of a record: the record, or each element of its list.
///
/// # Errors
/// [`ExpressionError`] where the list cannot be computed, or is none.
pub(super) fn items_of_draft(record: &Row, draft: &Draft) -> Result<Vec<DraftItem>, ExpressionError> {
    let names = super::names_of_record(record);
    let known_as = |scope: &Scope<'_>, otherwise: String| {
        let name = draft.known_as.as_ref().and_then(|known_as| scope.compute_text(known_as).ok().flatten());
        name.unwrap_or(otherwise)
    };
    let Some(over) = &draft.over else {
        let scope = scope_of_names(&names, draft.benchmark);
        let about = known_as(&scope, record.id().to_owned());
        return Ok(vec![DraftItem { it: TemplateValue::from(()), called: String::new(), about, scope }]);
    };
    let item = |Element { it, called, scope, .. }: Element| {
        let about = known_as(&scope, format!("{}/{called}", record.id()));
        DraftItem { it, called, about, scope }
    };
    Ok(list_elements(&names, record.id(), over, draft.benchmark)?.into_iter().map(item).collect())
}

/// Puts the replies into the columns that the draft names. Returns what its checks find.
pub(super) fn write_drafts(record: &mut Row, draft: &Draft, drafts: &[Drafted]) -> Vec<String> {
    if drafts.is_empty() {
        return Vec::new();
    }
    let before = row_as_template(record);
    let mut replies = Replies::new(draft, drafts, items_of_draft(record, draft).unwrap_or_default());
    let behind = scope_of_names(&layer_variables(replies.target_names(draft), &before), draft.benchmark);
    let (mut cells, troubles) = fill_kept_columns(record.columns(), &draft.keeps, &behind);
    replies.add_findings(troubles);
    *record = with_fields(record, |column| cells.remove(column));
    replies.run_checks(draft, &row_as_template(record));
    replies.named_findings()
}

/// The first tie among the replies about a record's items, with the name of the item.
pub(super) fn describe_tie(record: &Row, draft: &Draft, drafts: &[Drafted]) -> Option<String> {
    let replies = Replies::new(draft, drafts, items_of_draft(record, draft).unwrap_or_default());
    let tie = |(item, replied): &(DraftItem, Option<ItemReplies>)| {
        Some(item.name_finding(replied.as_ref()?.tie.as_deref()?))
    };
    replies.0.iter().find_map(tie)
}

/// The replies to a draft, by what was asked about.
pub(super) struct Replies(Vec<(DraftItem, Option<ItemReplies>)>);

impl Replies {
    /// The replies to each item; answers that are none are left out of them.
    pub(super) fn new(draft: &Draft, drafts: &[Drafted], items: Vec<DraftItem>) -> Replies {
        let replied = |(at, item): (usize, DraftItem)| {
            let own: Vec<Drafted> = drafts.iter().filter(|drafted| drafted.element == at).cloned().collect();
            let replied = (!own.is_empty()).then(|| ItemReplies::new(draft, own, &item.scope));
            (item, replied)
        };
        Replies(items.into_iter().enumerate().map(replied).collect())
    }

    /// Those to a draft that asks about whole records.
    pub(super) fn of_record(&self) -> Option<&ItemReplies> {
        self.0.first().and_then(|(_, replied)| replied.as_ref())
    }

    pub(super) fn basis_of_replies(&self) -> Vec<&str> {
        self.0.iter().flat_map(|(_, replied)| replied).flat_map(ItemReplies::basis_of_replies).collect()
    }

    /// Every element of the list with the replies about it.
    pub(super) fn replies_by_element(&self, draft: &Draft) -> Vec<Map<String, Json>> {
        let each = |(item, replied): &(DraftItem, Option<ItemReplies>)| {
            let mut fields = Map::from_iter([
                ("it".to_owned(), json!(item.it)),
                ("called".to_owned(), json!(item.called)),
            ]);
            if let Some(replied) = replied {
                fields.extend(
                    replied.fields_of_draft().iter().map(|(name, value)| (name.to_owned(), json!(value))),
                );
                fields.insert("basis".into(), json!(replied.basis_of_replies()));
                fields.insert("flags".into(), json!(replied.findings));
                if replied.has_list(draft) {
                    fields.insert("drafts".into(), json!(replied.fields_of_replies()));
                }
            }
            fields
        };
        self.0.iter().map(each).collect()
    }

    /// The names that the targets of a draft have for them.
    fn target_names(&self, draft: &Draft) -> BTreeMap<&'static str, TemplateValue> {
        if draft.over.is_none() {
            return self.of_record().map(ItemReplies::expression_names).unwrap_or_default();
        }
        BTreeMap::from([
            ("each", TemplateValue::from(Serde(json!(self.replies_by_element(draft))))),
            ("basis", self.basis_of_replies().into_iter().map(TemplateValue::from).collect()),
        ])
    }

    /// Adds what was found of the record.
    fn add_findings(&mut self, found: Vec<String>) {
        let first = self.0.iter_mut().find_map(|(_, replied)| replied.as_mut());
        first.into_iter().for_each(|replied| replied.findings.extend(found.iter().cloned()));
    }

    /// Adds what the checks find. `record` has its names, with the draft.
    pub(super) fn run_checks(&mut self, draft: &Draft, record: &TemplateValue) {
        for (item, replied) in &mut self.0 {
            let names = match draft.over {
                Some(_) => layer_variables(BTreeMap::from([("it", item.it.clone())]), record),
                None => record.clone(),
            };
            replied.iter_mut().for_each(|replied| replied.run_checks(draft, &names));
        }
    }

    /// What was found, of an element with its name.
    pub(super) fn named_findings(&self) -> Vec<String> {
        let of_item = |(item, replied): &(DraftItem, Option<ItemReplies>)| -> Vec<String> {
            let found = replied.iter().flat_map(|replied| &replied.findings);
            found.map(|finding| item.name_finding(finding)).collect()
        };
        self.0.iter().flat_map(of_item).collect()
    }
}

/// The replies about one item without the answers that are none, and what is found in them.
pub(super) struct ItemReplies {
    /// The fields of each reply, with the model and its basis.
    kept: Vec<Drafted>,
    /// The place of the one that is the draft; `None` if they are tied.
    draft: Option<usize>,
    /// What tied, where no value has a majority.
    tie: Option<String>,
    /// What was found.
    findings: Vec<String>,
}

impl ItemReplies {
    /// Leaves out unusable answers, each with a finding. `scope` has the record as it came to the step.
    fn new(draft: &Draft, drafts: Vec<Drafted>, scope: &Scope<'_>) -> ItemReplies {
        let (mut kept, mut findings) = (drafts, Vec::new());
        let several = kept.len() > 1;
        for drafted in &mut kept {
            for (field, asked) in &draft.discards {
                let Some(answer) = drafted.values.text_of(field) else { continue };
                let found = match scope.compute_text(asked) {
                    Ok(asked) => why_unusable(&asked.unwrap_or_default(), answer),
                    Err(trouble) => {
                        findings.push(trouble.to_string());
                        continue;
                    }
                };
                let Some(found) = found else { continue };
                let whose = if several { format!("{}: ", drafted.slot.model) } else { String::new() };
                findings.push(format!("{whose}{found}; the draft is discarded"));
                let rest = drafted.values.iter().filter(|(name, _)| name != field);
                drafted.values = rest.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            }
        }
        let (draft, tie) = match draft.majority.map(|field| find_majority(field, &kept)) {
            None => (Some(0), None),
            Some(Majority::Kept(at)) => (Some(at), None),
            Some(Majority::Tied(what)) => (None, Some(what)),
        };
        findings.extend(tie.iter().map(|what| format!("{what}; none is the draft")));
        ItemReplies { kept, draft, tie, findings }
    }

    /// The fields of the reply that is the draft: of the first one, or of the first of the majority.
    pub(super) fn fields_of_draft(&self) -> Values {
        let draft = self.draft.and_then(|at| self.kept.get(at));
        draft.map(|drafted| drafted.values.clone()).unwrap_or_default()
    }

    pub(super) fn basis_of_replies(&self) -> Vec<&str> {
        self.kept.iter().map(|drafted| drafted.basis.as_str()).collect()
    }

    /// The fields of each reply, with `model` and `basis`.
    pub(super) fn fields_of_replies(&self) -> Vec<Values> {
        let each = |drafted: &Drafted| {
            let mut values = drafted.values.clone();
            values.set("model", drafted.slot.model.as_str());
            values.set("basis", drafted.basis.as_str());
            values
        };
        self.kept.iter().map(each).collect()
    }

    /// Whether they are a list: where some replies may be enough, one alone is, too.
    pub(super) fn has_list(&self, draft: &Draft) -> bool {
        self.kept.len() > 1 || draft.at_least.is_some()
    }

    /// The names that expressions have for them.
    fn expression_names(&self) -> BTreeMap<&'static str, TemplateValue> {
        BTreeMap::from([
            ("said", answers_as_template(&self.fields_of_draft())),
            ("drafts", self.fields_of_replies().iter().map(answers_as_template).collect()),
            ("basis", self.basis_of_replies().into_iter().map(TemplateValue::from).collect()),
        ])
    }

    /// Adds what the checks find. `record` has its names, with the draft.
    fn run_checks(&mut self, draft: &Draft, record: &TemplateValue) {
        let over = |names| scope_of_names(&layer_variables(names, record), draft.benchmark);
        let mut found = Vec::new();
        for it in self.fields_of_replies() {
            let each =
                over(self.expression_names().into_iter().chain([("it", answers_as_template(&it))]).collect());
            found.extend(draft.checks_each.iter().flat_map(|check| findings_of_check(&each, check)));
        }
        let whole = over(self.expression_names());
        found.extend(draft.checks.iter().flat_map(|check| findings_of_check(&whole, check)));
        self.findings.append(&mut found);
    }
}

/// What a check finds: a text, or each of a list.
fn findings_of_check(scope: &Scope<'_>, check: &Expression) -> Vec<String> {
    match scope.compute_value(check) {
        Ok(found) => texts_of_value(&found).into_iter().filter(|text| !text.trim().is_empty()).collect(),
        Err(trouble) => vec![trouble.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::rows::{first_prompt, make_row, row_with_values};
    use super::super::write_drafts;
    use super::*;
    use crate::stages::draft::DraftStep as Asked;

    fn step(name: &str) -> Asked {
        let (benchmark, step) = name.split_once('/').unwrap();
        Asked::find_draft(riddlemill_benchmarks::find_benchmark(benchmark).unwrap(), step).unwrap()
    }

    fn replies<const N: usize>(answers: [&[(&str, &str)]; N]) -> Vec<Drafted> {
        let reply = |(answers, n): (&[(&str, &str)], usize)| Drafted {
            element: 0,
            slot: Slot { model: format!("m{n}"), ..Slot::default() },
            values: answers.iter().copied().collect(),
            basis: format!("reply:{n}"),
        };
        answers.into_iter().zip(1..).map(reply).collect()
    }

    fn question() -> Row {
        make_row("questions", json!({ "id": "q", "text": "鱼会淹死吗？", "question_en": "Can fish drown?" }))
    }

    /// What is found in the replies to a draft of a record.
    fn found(record: &mut Row, draft: &str, replies: &[Drafted]) -> Vec<String> {
        write_drafts(record, step(draft), replies)
    }

    #[test]
    fn whoever_explains_is_shown_the_note_of_the_thread() {
        let noted = row_with_values(&question(), json!({ "note": "注" }));
        let asked = |question: &Row| {
            first_prompt(question, step("ruozhibench-gen/irrationality"), &Slot::default()).unwrap()
        };
        let prompt = asked(&noted);
        assert_eq!(prompt.template, "ruozhibench/irrationality");
        assert_eq!(prompt.values["question"], "Can fish drown?\n（楼主注：注）");
        assert_eq!(prompt.values["question_zh"], "鱼会淹死吗？");
        let bare = row_with_values(&question(), json!({ "question_en": null }));
        assert_eq!(asked(&bare).values["question"], "");
    }

    #[test]
    fn a_draft_that_is_none_is_left_out() {
        let mut question = question();
        let refused = replies([&[("question_en", "I'm sorry, but I can't help with that request.")]]);
        assert_eq!(
            found(&mut question, "ruozhibench-gen/translate", &refused),
            ["refuses to answer; the draft is discarded"]
        );
        assert_eq!(question.text("translation_draft"), None);
        assert_eq!(question.list("translation_basis"), ["reply:1"]);
        let lost = replies([&[("question_en", "Can 鱼 drown.")]]);
        assert_eq!(
            found(&mut question, "ruozhibench-gen/translate", &lost),
            ["the question is no question any more", "Chinese is left in it"]
        );
        let refused = replies([&[("pairing", "accept"), ("pair", "……")]]);
        assert_eq!(found(&mut question, "ruozhibench-gen/pair", &refused), ["says nothing"]);
        assert!(question.text("pair_draft").is_none() && question.list("pair_basis").is_empty());
    }

    #[test]
    fn an_analysis_keeps_within_the_figure() {
        let found = |analysis: &str| {
            let replies = replies([&[("irrationality", analysis)]]);
            write_drafts(&mut question(), step("ruozhibench-gen/irrationality"), &replies).join("; ")
        };
        assert_eq!(found("Fish live in water, so they cannot drown in it."), "");
        assert_eq!(
            found("The irrationality of this question is plain."),
            "opens with the banned phrase \"the irrationality\""
        );
        assert_eq!(found("Yes, because fish swim."), "seems to answer the question (\"yes,\")");
        assert_eq!(found(&"word ".repeat(101)), "101 words; at most 100 are allowed");
        assert_eq!(found("One. Two. Three. Four."), "4 sentences; one is asked for where possible");
        assert_eq!(found("Do fish drown? "), "ends with a question");
    }

    #[test]
    fn a_pair_differs_a_little() {
        let found = |pair: &str| {
            let english = "Why do cats never sleep on the moon?";
            let mut question = row_with_values(&question(), json!({ "question_en": english }));
            let replies = replies([&[("pairing", "accept"), ("pair", pair)]]);
            write_drafts(&mut question, step("ruozhibench-gen/pair"), &replies)
        };
        assert_eq!(found("Why do cats sleep on the sofa?"), Vec::<String>::new());
        assert_eq!(
            found("why do cats never sleep on the moon"),
            ["equals its question", "has another form than its question"]
        );
        assert_eq!(found("Q?"), ["is another question altogether"]);
        let mut question = question();
        write_drafts(&mut question, step("ruozhibench-gen/pair"), &replies([&[("pairing", "none")]]));
        assert_eq!(question.text("pair_draft"), None);
        assert_eq!(question.list("pair_basis"), ["reply:1"]);
    }

    #[test]
    fn others_come_alone() {
        let found = |categories: [&str; 3], count: usize| {
            let mut values = Values::new();
            values.set("categories", categories[..count].iter().map(ToString::to_string).collect::<Vec<_>>());
            let reply = Drafted { element: 0, slot: Slot::default(), values, basis: "reply:1".into() };
            let mut question = question();
            let found = write_drafts(&mut question, step("ruozhibench-gen/category"), &[reply]);
            assert_eq!(question.list("category_draft").len(), count);
            found
        };
        assert_eq!(found(["6", "1", "2"], 3), ["6 (others) comes first, with further categories behind it"]);
        assert_eq!((found(["2", "6", "3"], 3), found(["6", "1", "2"], 1)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn each_reply_of_several_is_looked_at() {
        let mut joke = make_row("jokes", json!({ "id": "j", "text": "鱼会淹死吗？" }));
        let drafts = replies([
            &[("explanation", "先说一句。再说一句。")],
            &[("explanation", "只有一句。")],
            &[("explanation", "一。二。三。")],
            &[("explanation", "鱼会淹死吗")],
        ]);
        assert_eq!(
            found(&mut joke, "chumor/opponents", &drafts),
            [
                "m2: one sentence instead of two",
                "m3: 3 sentences instead of two",
                "m4: copies what it was asked about"
            ]
        );
        assert_eq!(joke.list("opponents"), ["m1", "m2", "m3", "m4"]);
        assert_eq!(joke.list("opponent_explanations")[1], "只有一句。");
        assert_eq!(joke.list("opponent_basis"), ["reply:1", "reply:2", "reply:3", "reply:4"]);
    }

    #[test]
    fn wrong_answers_of_several_replies_are_in_one_list() {
        let mut text = make_row("cunning texts", json!({ "id": "t", "text": "云", "explanation": "对。" }));
        let drafts = replies([
            &[("wrong_1", "甲"), ("wrong_2", "乙"), ("wrong_3", "甲！")],
            &[("wrong_1", "对"), ("wrong_2", "……"), ("wrong_3", "丁")],
        ]);
        assert_eq!(
            found(&mut text, "flub/wrong-candidates", &drafts),
            ["number 3 says the same as number 1", "number 4 is the explanation", "number 5 says nothing"]
        );
        assert_eq!(text.list("wrong_draft"), ["甲", "乙", "甲！", "对", "……", "丁"]);
    }
}
