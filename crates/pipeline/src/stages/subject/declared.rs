//! Records that are declared completely by benchmarks' folders: what drafts ask, what ballots show, and where the answers go.

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::ballot::BallotSource;
use riddlemill_benchmarks::ballot_source::{DRAFTED, ElementList};
use riddlemill_benchmarks::native::NativeStep;
use riddlemill_benchmarks::scope::{Scope, group_name, layer_variables, text_of_value};
use serde_json::{Map, Value as Json, json};

use super::columns::{self, Element, value_for_people};
use super::drafts::{ItemReplies, Replies};
use super::{Decision, Drafted, GROUPS, single_decision};
use crate::config::TABLE;
use crate::stages::context::StageRows;
use crate::stages::draft::DraftStep;
use crate::stages::import::columns_of;
use riddlemill_record::{Post, Record, Row, Standing};
use riddlemill_review::ballot::{AnswerKind, Ballot};
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::text::language::detect;

/// What the steps of a record have left, by the names that expressions give them.
pub(in crate::stages) struct RecordGroups(Map<String, Json>);

impl RecordGroups {
    pub(in crate::stages) fn parse_groups(record: &Row) -> RecordGroups {
        RecordGroups(serde_json::from_str(record.text(GROUPS).unwrap_or_default()).unwrap_or_default())
    }

    /// A group, made where there is none.
    pub(in crate::stages) fn of_step(&mut self, step: &str) -> &mut Map<String, Json> {
        let under = self.0.entry(group_name(step)).or_insert_with(|| Json::Object(Map::new()));
        if !under.is_object() {
            *under = Json::Object(Map::new());
        }
        match under {
            Json::Object(fields) => fields,
            _ => unreachable!("it was made an object above"),
        }
    }

    /// The groups of a new record: the further columns of its table, if it comes from one, and its language, if that does
    /// not follow from its text.
    fn of_source(post: &mut Post) -> RecordGroups {
        let mut groups = Map::new();
        let text = as_read(Some(&post.text), post.title.as_deref(), post.content.as_deref());
        let stated = post.language.filter(|language| *language != detect(&text).language);
        if let Some(language) = stated {
            groups.insert(POST.into(), json!({ (LANGUAGE): language.code() }));
        }
        if let Some(columns) = post.note.as_deref().and_then(columns_of) {
            // The note only carried the columns from the import to here.
            post.note = None;
            groups.insert(TABLE.trim_end_matches('.').to_owned(), Json::Object(columns));
        }
        RecordGroups(groups)
    }

    /// Writes them back.
    pub(in crate::stages) fn write_into(self, record: &mut Row) {
        record.set_text(GROUPS, Json::Object(self.0).to_string());
    }
}

/// What a new record keeps of its post beside its columns.
const POST: &str = "post";
const LANGUAGE: &str = "language";

/// Takes the language of a record out of its groups: the one that was stated, else that of its text, title and content.
pub fn take_language(groups: &mut Map<String, Json>, [text, title, content]: [Option<&str>; 3]) -> String {
    let stated = groups.remove(POST).and_then(|post| post.get(LANGUAGE)?.as_str().map(str::to_owned));
    stated.unwrap_or_else(|| detect(&as_read(text, title, content)).language.code().to_owned())
}

/// What a post says: its text, and before it has been cleaned its title and content.
fn as_read(text: Option<&str>, title: Option<&str>, content: Option<&str>) -> String {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => text.to_owned(),
        None => Post::join_title_and_content(title, content),
    }
}

/// The record that a post becomes.
pub(in crate::stages) fn of_post(mut post: Post) -> Row {
    let groups = RecordGroups::of_source(&mut post);
    let mut record = Row::of_post(StageRows::Groups.columns(), &post);
    groups.write_into(&mut record);
    record
}

/// Adds a group to a record.
pub(super) fn add(record: &mut Row, step: &str, fields: Map<String, Json>) {
    let mut groups = RecordGroups::parse_groups(record);
    groups.of_step(step).extend(fields);
    groups.write_into(record);
}

/// A record as its benchmark's expressions see it.
fn scope_of_record(record: &Row, benchmark: &str) -> Scope<'static> {
    columns::scope_of_names(&names_of_record(record), benchmark)
}

/// A record by the names that expressions give to what is on it.
pub(super) fn names_of_record(record: &Row) -> TemplateValue {
    let mut groups = RecordGroups::parse_groups(record);
    let post = json!({
        (LANGUAGE): take_language(&mut groups.0, ["text", "title", "content"].map(|column| record.text(column))),
        "kind": record.text("kind"),
        "text": record.text("text"),
        "title": record.text("title"),
        "content": record.text("content"),
        "time": record.text("time"),
        "score": record.real("score"),
        "number": record.count("number"),
        "note": record.text("note"),
        "source": record.text("source"),
        "file": record.text("file"),
        "position": record.count("position"),
        "licence": record.text("licence"),
    });
    let mut names: BTreeMap<String, TemplateValue> = BTreeMap::from([
        ("id".to_owned(), TemplateValue::from(record.id())),
        ("text".to_owned(), TemplateValue::from(record.text("text").unwrap_or_default())),
        ("post".to_owned(), TemplateValue::from(Serde(post))),
    ]);
    names.extend(groups.0.into_iter().map(|(name, fields)| (name, TemplateValue::from(Serde(fields)))));
    TemplateValue::from(names)
}

/// Puts what a named operation found into the draft of its ballot, or a group of its own.
pub(super) fn write_findings(
    record: &mut Row,
    native: &NativeStep,
    values: &Values,
    basis: &[String],
) -> Vec<String> {
    let mut groups = RecordGroups::parse_groups(record);
    match native.ballot {
        Some(ballot) => {
            let of_ballot = groups.of_step(ballot);
            of_ballot.insert("draft".into(), json!(values));
            of_ballot.insert("draft_basis".into(), json!(basis));
        }
        None => {
            let own = groups.of_step(native.name);
            own.extend(values.iter().map(|(name, value)| (name.to_owned(), json!(value))));
            own.insert("basis".into(), json!(basis));
        }
    }
    groups.write_into(record);
    Vec::new()
}

/// Puts the replies into the draft of their ballot, or a group of their own. Returns what the checks find.
pub(super) fn write_drafts(record: &mut Row, draft: DraftStep, drafts: &[Drafted]) -> Vec<String> {
    let draft = draft.draft_declaration();
    if drafts.is_empty() {
        return Vec::new();
    }
    let mut replies =
        Replies::new(draft, drafts, super::drafts::items_of_draft(record, draft).unwrap_or_default());
    write_replies(record, draft, &replies);
    // The checks read the draft from the record, so it is left before them and again with findings.
    replies.run_checks(draft, &names_of_record(record));
    write_replies(record, draft, &replies);
    replies.named_findings()
}

/// Puts replies into the draft of their ballot, or a group of their own, with what is found in them so far.
fn write_replies(record: &mut Row, draft: &riddlemill_benchmarks::draft::Draft, replies: &Replies) {
    let fields: Map<String, Json> = match (&draft.over, replies.of_record()) {
        (Some(_), _) => Map::from_iter([("each".to_owned(), json!(replies.replies_by_element(draft)))]),
        (None, replied) => {
            let first = replied.map(ItemReplies::fields_of_draft).unwrap_or_default();
            first.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
        }
    };
    let mut groups = RecordGroups::parse_groups(record);
    let own = groups.of_step(draft.setting_name());
    match draft.ballot {
        Some(_) => {
            own.insert("draft".into(), Json::Object(fields));
            own.insert("draft_basis".into(), json!(replies.basis_of_replies()));
        }
        None => {
            own.extend(fields);
            own.insert("basis".into(), json!(replies.basis_of_replies()));
        }
    }
    let several = replies.of_record().filter(|replied| draft.over.is_none() && replied.has_list(draft));
    if let Some(replied) = several {
        own.insert("drafts".into(), json!(replied.fields_of_replies()));
    }
    own.insert("flags".into(), json!(replies.named_findings()));
    groups.write_into(record);
}

/// A record's elements about which a ballot asks one by one, with the draft for each. A list that cannot be computed has
/// none, and the record waits for a decision on nothing.
fn list_elements(record: &Row, ballot: &Ballot, over: &ElementList) -> Vec<Element> {
    let names = names_of_record(record);
    let mut groups = RecordGroups::parse_groups(record);
    let draft = groups.of_step(ballot.name).get("draft").and_then(|draft| draft.get("each"));
    let drafts = draft.and_then(Json::as_array).cloned().unwrap_or_default();
    let with_draft = |element: Element| {
        let drafted = drafts.iter().find(|draft| draft["called"] == element.called.as_str());
        let Some(drafted) = drafted else { return element };
        let own = BTreeMap::from([
            ("it", element.it.clone()),
            (DRAFTED, TemplateValue::from(Serde(drafted.clone()))),
        ]);
        Element { scope: columns::scope_of_names(&layer_variables(own, &names), ballot.recipe), ..element }
    };
    let elements = columns::list_elements(&names, record.id(), over, ballot.recipe).unwrap_or_default();
    elements.into_iter().map(with_draft).collect()
}

/// What annotators see of a record.
pub(super) fn items_of_record(record: &Row, ballot: &Ballot, seed: u64) -> Vec<Item> {
    let Some(asked) = ballot.asked else { return Vec::new() };
    let names = names_of_record(record);
    let scope = columns::scope_of_names(&names, ballot.recipe);
    if !scope.is_true(asked.when.as_ref()).unwrap_or(true) {
        return Vec::new();
    }
    match &asked.over {
        None => vec![make_item(record, ballot, asked, &scope, record.id(), seed)],
        Some(over) => list_elements(record, ballot, over)
            .iter()
            .map(|element| make_item(record, ballot, asked, &element.scope, &element.id, seed))
            .collect(),
    }
}

/// Puts what was decided into the group of the ballot.
pub(super) fn write_decisions(
    record: &mut Row,
    ballot: &Ballot,
    decisions: &[Option<Decision>],
    standing: Standing,
    votes: Vec<String>,
) {
    if decisions.iter().all(Option::is_none) {
        return;
    }
    let over = ballot.asked.and_then(|asked| asked.over.as_ref());
    let elements = over.map(|over| list_elements(record, ballot, over));
    let whole = scope_of_record(record, ballot.recipe);
    let mut groups = RecordGroups::parse_groups(record);
    let fields = groups.of_step(ballot.name);
    match elements {
        Some(elements) => {
            let each = elements.iter().zip(decisions).map(|(element, decision)| {
                let mut fields = Map::from_iter([("it".to_owned(), json!(element.it))]);
                if let Some(decision) = decision {
                    fields.extend(fields_of_decision(ballot, &element.scope, decision));
                    fields.extend(who_wrote_what(ballot, decision));
                }
                Json::Object(fields)
            });
            fields.insert("each".into(), each.collect());
        }
        None => {
            let Some(decision) = single_decision(decisions) else { return };
            fields.extend(fields_of_decision(ballot, &whole, decision));
        }
    }
    fields.insert("standing".into(), json!(standing.code()));
    fields.insert("basis".into(), json!(votes));
    if let Some(decision) = single_decision(decisions).filter(|_| !is_over(ballot)) {
        fields.extend(who_wrote_what(ballot, decision));
    }
    groups.write_into(record);
}

/// A step's draft as a ledger shows it.
pub(super) fn describe_draft(record: &Row, ballot: &Ballot) -> String {
    let described = |scope: &Scope<'_>| {
        let values = draft_of_ballot(record, ballot, scope);
        describe_fields(values.iter().map(|(name, value)| (name, value.to_string())).collect())
    };
    match ballot.asked.and_then(|asked| asked.over.as_ref()) {
        Some(over) => {
            let each =
                list_elements(record, ballot, over).into_iter().map(|element| described(&element.scope));
            each.filter(|draft| !draft.is_empty()).collect::<Vec<_>>().join("\n")
        }
        None => described(&scope_of_record(record, ballot.recipe)),
    }
}

/// A step's decision as a ledger shows it.
pub(super) fn describe_decision(record: &Row, ballot: &Ballot) -> String {
    let mut groups = RecordGroups::parse_groups(record);
    let fields = groups.of_step(ballot.name);
    match fields.get("each").and_then(Json::as_array).filter(|_| is_over(ballot)) {
        Some(each) => {
            let in_words =
                |element: &Json| element.as_object().map(|fields| describe_decided_fields(ballot, fields));
            each.iter().filter_map(in_words).collect::<Vec<_>>().join("\n")
        }
        None => describe_decided_fields(ballot, fields),
    }
}

/// Whether a ballot asks about elements of a record one by one.
fn is_over(ballot: &Ballot) -> bool {
    ballot.asked.is_some_and(|asked| asked.over.is_some())
}

/// What annotators see of a record, or of one of its elements.
fn make_item(
    record: &Row,
    step: &Ballot,
    asked: &BallotSource,
    scope: &Scope<'static>,
    id: &str,
    seed: u64,
) -> Item {
    let mut item = columns::new_item(step, asked, scope, id, draft_of_ballot(record, step, scope), seed);
    if let Some(ballot) = step.not_by {
        let mut groups = RecordGroups::parse_groups(record);
        let basis = groups.of_step(ballot).get("basis").cloned().unwrap_or_default();
        let basis: Vec<String> = serde_json::from_value(basis).unwrap_or_default();
        item.written_in = super::votes_of(&basis);
    }
    item
}

/// The answers of each who voted on an item, and how many gave each code.
fn who_wrote_what(ballot: &Ballot, Decision { given, .. }: &Decision) -> [(String, Json); 2] {
    let all = given.iter().map(as_json).collect::<Vec<_>>();
    [("given".to_owned(), json!(all)), ("tally".to_owned(), tally_votes(ballot, given))]
}

/// What was decided on an item, by field.
fn fields_of_decision(ballot: &Ballot, scope: &Scope<'_>, decision: &Decision) -> Map<String, Json> {
    let values = &decision.values;
    let picked = picked_texts(ballot, scope);
    let mut fields = Map::new();
    for (name, value) in values.iter() {
        let value = match (picked.get(name), value.as_list()) {
            (Some(candidates), Some(numbers)) => {
                let place = |number: &String| candidates.get(number.parse::<usize>().ok()?.checked_sub(1)?);
                json!(numbers.iter().filter_map(place).collect::<Vec<_>>())
            }
            _ => json!(value),
        };
        fields.insert(group_name(name), value);
    }
    fields
}

/// The fields of a decision as a ledger shows them.
fn describe_decided_fields(ballot: &Ballot, fields: &Map<String, Json>) -> String {
    let field = |name: &'static str| {
        let value = text_of_value(&TemplateValue::from(Serde(fields.get(&group_name(name))?)))?;
        Some((name, value.replace('\n', "; ")))
    };
    let second = ballot.review.iter().flat_map(|second| &second.fields);
    let mut names: Vec<&str> = ballot.fields.iter().chain(second).map(|field| field.name).collect();
    names.dedup();
    describe_fields(names.into_iter().filter_map(field).collect())
}

/// Fields as a ledger shows them: one alone without its name.
fn describe_fields(fields: Vec<(&str, String)>) -> String {
    match fields.as_slice() {
        [(_, value)] => value.clone(),
        several => {
            several.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The draft for a ballot: each field of the ballot, from the draft step or as the ballot declares.
fn draft_of_ballot(record: &Row, ballot: &Ballot, scope: &Scope<'_>) -> Values {
    let mut values = Values::new();
    let drafted = match is_over(ballot) {
        true => scope.find_variable(DRAFTED).map(|drafted| json!(drafted)),
        false => RecordGroups::parse_groups(record).of_step(ballot.name).get("draft").cloned(),
    };
    let drafted = drafted.unwrap_or_default();
    let second = ballot.review.iter().flat_map(|second| &second.fields);
    for field in ballot.fields.iter().chain(second) {
        let expression =
            ballot.asked.and_then(|asked| asked.draft.iter().find(|(name, _)| *name == field.name));
        let value: Result<Option<Value>, ExpressionError> = match expression {
            Some((_, expression)) => scope.compute_value(expression).map(|value| value_for_people(&value)),
            None => Ok(drafted.get(field.name).and_then(|value| serde_json::from_value(value.clone()).ok())),
        };
        if let Ok(Some(value)) = value {
            values.set(field.name, value);
        }
    }
    values
}

/// The texts that fields pick from, by field.
fn picked_texts(ballot: &Ballot, scope: &Scope<'_>) -> BTreeMap<&'static str, Vec<String>> {
    let Some(asked) = ballot.asked else { return BTreeMap::new() };
    let second = ballot.review.iter().flat_map(|second| &second.fields);
    let candidates = |field: &riddlemill_review::ballot::Field| {
        let AnswerKind::Pick { from, .. } = field.kind else { return None };
        let (_, is) = asked.shows.iter().find(|(key, _)| *key == from)?;
        Some((field.name, scope.compute_texts(is).ok()?))
    };
    ballot.fields.iter().chain(second).filter_map(candidates).collect()
}

fn as_json(values: &Values) -> Json {
    Json::Object(values.iter().map(|(name, value)| (group_name(name), json!(value))).collect())
}

/// How many of those who voted gave each code, by field; of each option of a field there is a number.
fn tally_votes(ballot: &Ballot, given: &[Values]) -> Json {
    let mut fields = Map::new();
    for field in &ballot.fields {
        let codes: Vec<String> = match &field.kind {
            AnswerKind::Score { min, max } => (*min..=*max).map(|score| score.to_string()).collect(),
            AnswerKind::Preference { sides, tie } => {
                sides.iter().chain([&tie.code]).map(ToString::to_string).collect()
            }
            _ => field.options().iter().map(|option| option.code.to_owned()).collect(),
        };
        if codes.is_empty() {
            continue;
        }
        let codes_of = |values: &Values| match values.get(field.name) {
            Some(Value::List(list)) => list.clone(),
            Some(value) => vec![value.to_string()],
            None => Vec::new(),
        };
        let all: Vec<String> = given.iter().flat_map(codes_of).collect();
        let count = |code: String| {
            let n = all.iter().filter(|given| **given == code).count();
            (code, json!(n))
        };
        fields.insert(group_name(field.name), Json::Object(codes.into_iter().map(count).collect()));
    }
    Json::Object(fields)
}
