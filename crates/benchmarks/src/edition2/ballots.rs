//! `ballots.toml`, lowered: `[ballots]`, `[shown]`, `[list.NAME]`, `[ballot.NAME]`.

use super::fields::{FieldContext, FieldForm, Verdict, form_of_field, low_fields, low_options, table_of};
use super::kept::{Columns, collect_kept, ledger_columns};
use super::sentences::low_requires;
use super::shows::low_shows;
use super::tree::{Node, Table, ValuePlace, make_words};

/// Keys of a ballot that have another name: second edition, first.
pub(super) const KEYS: [(&str, &str); 7] = [
    ("for_each", "over"),
    ("named_by", "called"),
    ("id_role", "role"),
    ("distinct_from", "apart"),
    ("fills", "standing"),
    ("warns", "finds"),
    ("adjudicate", "asked_by"),
];

/// The list of a verdict that names none.
pub(super) const VERDICT: &str = "verdict";

/// Accept or rewrite.
pub(super) fn usual_verdict() -> Node {
    let at = ValuePlace::default();
    let option = |code: &str, label: &str, means: (&str, &str)| {
        let mut option = Table::default();
        option.set("code", Node::from_text(code, at));
        option.set("label", make_words(code, Some(label), at));
        option.set("means", make_words(means.0, Some(means.1), at));
        Node::from_table(option, at)
    };
    let accept = ("The draft needs no change at all.", "草稿无需任何修改。");
    let rewrite = (
        "The draft needs a change, however small; write the whole new text.",
        "草稿需要修改（哪怕很小）；请写出完整的新文本。",
    );
    Node::from_list(vec![option("accept", "接受", accept), option("rewrite", "改写", rewrite)], at)
}

/// What a verdict asks that has no label.
pub(super) fn usual_question(at: ValuePlace) -> Node {
    make_words("Is the draft right?", Some("草稿正确吗？"), at)
}

/// The first edition's `ballots.toml`.
pub(super) fn low_ballots(
    mut file: Table,
    columns: &Columns,
    problems: &mut Vec<(ValuePlace, String)>,
) -> Table {
    let mut every = file.take_table("ballots").unwrap_or_default();
    let usual = BallotDefaults { shows: every.take_node("shows"), voters: every.take_node("voters") };
    let votes = every.get("votes").and_then(Node::as_number).unwrap_or(1);
    let shown = file.take_table("shown").unwrap_or_default();
    let source = file.take_table("ballot").unwrap_or_default();
    let mut lists = Table::default();
    for (name, list) in file.take_table("list").unwrap_or_default().iter() {
        lists.set(name, low_options(list));
    }
    let names_none = |ballot: &Node| {
        let verdict = ballot.as_table().and_then(|ballot| ballot.table("verdict"));
        verdict.is_some_and(|verdict| !verdict.has_key("options"))
    };
    if source.iter().any(|(_, ballot)| names_none(ballot)) {
        lists.set_default(VERDICT, usual_verdict());
    }
    let mut out = Table::default();
    let mut ballots = Table::default();
    for (name, written) in source.iter() {
        let Some(mut ballot) = written.as_table().cloned() else {
            ballots.set(name, written.clone());
            continue;
        };
        if let Some(like) = ballot.take_node("like") {
            let base = like.as_text().and_then(|like| source.table(like));
            match base {
                Some(base) if base.has_key("like") => {
                    let what = "like: that ballot is like another one: name that one".to_owned();
                    problems.push((like.at, what));
                }
                Some(base) => ballot = overlay_table(base, ballot),
                None => {
                    let known = source.keys().filter(|known| *known != name);
                    let written = like.as_text().unwrap_or_default();
                    problems.push((like.at, riddlemill_text::hint::unknown("ballot", written, known)));
                }
            }
        }
        let votes = ballot.get("votes").and_then(Node::as_number).unwrap_or(votes);
        let around = BallotContext { votes, usual: &usual, shown: &shown, lists: &lists, columns };
        let mut low = low_ballot(ballot, written.at, &around);
        low_requires(&mut low, problems);
        ballots.set(name, Node::from_table(low, written.at));
    }
    if !every.is_empty() {
        out.set("every", Node::from_table(every, ValuePlace::default()));
    }
    if !lists.is_empty() {
        out.set("list", Node::from_table(lists, ValuePlace::default()));
    }
    if !ballots.is_empty() {
        out.set("ballot", Node::from_table(ballots, ValuePlace::default()));
    }
    for (key, node) in file.iter() {
        out.set(key, node.clone());
    }
    out
}

/// A table over another one: its keys hold, and an empty text or table takes a key away.
pub(super) fn overlay_table(base: &Table, own: Table) -> Table {
    let mut both = base.clone();
    both.take_node("like");
    for (key, node) in own.iter() {
        // An empty verdict is a verdict.
        match node.is_nothing() && (key != VERDICT || node.as_text().is_some()) {
            true => drop(both.take_node(key)),
            false => both.set(key, node.clone()),
        }
    }
    both
}

/// What `[ballots]` says of every ballot.
struct BallotDefaults {
    shows: Option<Node>,
    voters: Option<Node>,
}

/// What a ballot is read with.
struct BallotContext<'a> {
    votes: usize,
    usual: &'a BallotDefaults,
    shown: &'a Table,
    lists: &'a Table,
    columns: &'a Columns,
}

fn low_ballot(mut ballot: Table, at: ValuePlace, whole: &BallotContext<'_>) -> Table {
    let fields = ballot.take_table("fields").unwrap_or_default();
    let second = ballot.take_table("second");
    let shows = ballot.take_node("shows").or_else(|| whole.usual.shows.clone());
    let (verdict, first, of_verdict) = match ballot.take_table("verdict") {
        Some(table) => {
            let verdict = verdict_of(&table);
            let drop = table.get("drops").map(|code| {
                let why = find_reason_field(&fields, &verdict.name, code);
                let because = why.map_or_else(|| quote_code(code), |why| format!("{why} or []"));
                Dropping { when: is_answer(FieldForm::Choice, &verdict.name, code), because, at: code.at }
            });
            (Some(verdict.clone()), Some(verdict_field(&table, &verdict, at)), drop)
        }
        None => (None, None, None),
    };
    let mut dropped: Vec<Dropping> = of_verdict.into_iter().chain(dropped_by_fields(&fields)).collect();
    let mut out = Table::default();
    for (key, node) in ballot.iter().filter(|(key, _)| !["optional_when", "waits_as"].contains(key)) {
        out.set(key, node.clone());
    }
    out.rename_keys(&KEYS, false);
    let mut passes = Table::default();
    for (from, to) in [("optional_when", "when"), ("waits_as", "lacks")] {
        if let Some(node) = ballot.get(from) {
            passes.set(to, node.clone());
        }
    }
    if !passes.is_empty() {
        out.set("passes", Node::from_table(passes, at));
    }
    if let Some(voters) = &whole.usual.voters {
        out.set_default("voters", voters.clone());
    }
    if let Some(shows) = shows {
        let low = shows.as_list().map(|list| low_shows(list, whole.shown));
        out.set("shows", low.unwrap_or(shows));
    }
    if !whole.columns.is_empty() {
        add_kept_columns(&mut out, &fields, whole);
    }
    let (asked_by, fields) = plain_fields(&fields, !whole.columns.is_empty());
    for (name, code) in asked_by.iter() {
        let mut all = out.take_table("asked_by").unwrap_or_default();
        all.set_default(name, code.clone());
        out.set("asked_by", Node::from_table(all, code.at));
    }
    let size = |name: &str| whole.lists.list(name).map_or(0, <[Node]>::len);
    let around = FieldContext { votes: whole.votes, verdict: verdict.as_ref(), size: &size };
    let mut low = low_fields(&fields, &around);
    if let (Some(first), Some(verdict)) = (first, &verdict) {
        let hangs = |field: &Node| {
            let when = field.as_table().and_then(|field| field.table("when"));
            when.and_then(|when| when.text("field")) == Some(verdict.name.as_str())
        };
        let place = low.iter().position(hangs).unwrap_or(0);
        low.insert(place, first);
    }
    if !low.is_empty() {
        out.set("fields", Node::from_list(low, at));
    }
    // What the ballot says itself comes first.
    if let Some(own) = out.get("drop").filter(|_| !dropped.is_empty()).and_then(Dropping::of_table) {
        out.take_node("drop");
        dropped.insert(0, own);
    }
    if let Some(dropped) = Dropping::join_all(dropped) {
        out.set_default("drop", dropped);
    }
    if let Some(mut second) = second {
        if let Some(fields) = second.take_table("fields") {
            let (asked_by, fields) = plain_fields(&fields, false);
            for (name, code) in asked_by.iter() {
                let mut all = out.take_table("asked_by").unwrap_or_default();
                all.set_default(name, code.clone());
                out.set("asked_by", Node::from_table(all, code.at));
            }
            let around = FieldContext { votes: 1, verdict: None, size: &size };
            second.set("fields", Node::from_list(low_fields(&fields, &around), at));
        }
        out.set("second", Node::from_table(second, at));
    }
    out
}

/// The columns of the answers, what is drafted, and what the ledger tells.
fn add_kept_columns(out: &mut Table, fields: &Table, whole: &BallotContext<'_>) {
    let shows = out.list("shows").unwrap_or_default().to_vec();
    let said = collect_kept(fields, whole.columns, whole.votes, &shows);
    let both = |usual: Table, own: Option<Table>| {
        let mut both = usual;
        for (key, node) in own.unwrap_or_default().iter() {
            both.set(key, node.clone());
        }
        both.without_nothing()
    };
    let draft = both(said.draft, out.take_table("draft"));
    let keeps = both(said.keeps, out.take_table("keeps"));
    for (key, usual) in ledger_columns(&said.bases, &keeps, whole.columns) {
        if let Some(usual) = usual {
            out.set_default(key, Node::from_text(usual, ValuePlace::default()));
        }
        if out.get(key).is_some_and(Node::is_nothing) {
            out.take_node(key);
        }
    }
    for (key, table) in [("draft", draft), ("keeps", keeps)] {
        let first = table.iter().next().map(|(_, node)| node.at);
        if let Some(first) = first {
            out.set(key, Node::from_table(table, first));
        }
    }
}

/// Which answers ask for a decision, and the fields without what was said of them elsewhere.
fn plain_fields(fields: &Table, with_columns: bool) -> (Table, Table) {
    let (mut asked_by, mut plain) = (Table::default(), Table::default());
    for (name, field) in fields.iter() {
        if field.is_text_or_words() {
            plain.set(name, field.clone());
            continue;
        }
        let mut table = table_of(field);
        if let Some(code) = table.take_node("adjudicate") {
            asked_by.set(name, code);
        }
        table.take_node("drops");
        if with_columns {
            ["draft", "into", "replaces"].into_iter().for_each(|key| drop(table.take_node(key)));
        }
        plain.set(name, Node::from_table(table, field.at));
    }
    (asked_by, plain)
}

pub(super) fn verdict_of(table: &Table) -> Verdict {
    let text = |key: &str, usual: &str| table.text(key).unwrap_or(usual).to_owned();
    Verdict {
        name: text("name", "verdict"),
        rewrites: text("rewrites", "rewrite"),
        accepts: text("accepts", "accept"),
    }
}

fn verdict_field(table: &Table, verdict: &Verdict, at: ValuePlace) -> Node {
    let mut field = Table::default();
    field.set("name", Node::from_text(verdict.name.as_str(), at));
    field.set("label", table.get("label").cloned().unwrap_or_else(|| usual_question(at)));
    field.set("kind", Node::from_text("choice", at));
    let options = table.get("options").map(low_options);
    field.set("options", options.unwrap_or_else(|| Node::from_text(VERDICT, at)));
    Node::from_table(field, at)
}

fn quote_code(code: &Node) -> String {
    format!("'{}'", code.as_text().unwrap_or_default())
}

/// The field that is asked after an answer alone: it holds the reasons.
pub(super) fn find_reason_field<'f>(fields: &'f Table, name: &str, code: &Node) -> Option<&'f str> {
    let asks = |field: &Node| {
        let asked = field.as_table().and_then(|field| field.table("if"));
        asked.and_then(Table::single_entry) == Some((name, code))
    };
    fields.iter().find(|(_, field)| asks(field)).map(|(name, _)| name)
}

/// What drops a record: a condition over the answers, and the reason as an expression.
struct Dropping {
    when: String,
    because: String,
    at: ValuePlace,
}

impl Dropping {
    /// `{ when = "…", because = "…" }`; `None` of anything else, which is reported where it is read.
    fn of_table(node: &Node) -> Option<Dropping> {
        let table = node.as_table()?;
        let [when, because] = ["when", "because"].map(|key| table.text(key).map(str::to_owned));
        Some(Dropping { when: when?, because: because?, at: node.at })
    }

    /// All of them as one table: each drops, and the first that does gives the reason.
    fn join_all(all: Vec<Dropping>) -> Option<Node> {
        let at = all.first()?.at;
        let joined = all.into_iter().rev().reduce(|rest, one| Dropping {
            because: format!("({}) if ({}) else ({})", one.because, one.when, rest.because),
            when: format!("({}) or ({})", one.when, rest.when),
            at: one.at,
        })?;
        let mut table = Table::default();
        table.set("when", Node::from_text(joined.when, at));
        table.set("because", Node::from_text(joined.because, at));
        Some(Node::from_table(table, at))
    }
}

/// Whether an answer is, or has, this code.
fn is_answer(form: FieldForm, name: &str, code: &Node) -> String {
    match form {
        FieldForm::Choices => format!("{} in ({name} or [])", quote_code(code)),
        // The mean of several scores is no whole number, and is written as none.
        FieldForm::Score => format!(
            "{name} is not none and {name} | float == {}",
            code.as_text()
                .and_then(|code| code.parse::<f64>().ok())
                .map_or_else(|| quote_code(code), |n| format!("{n:?}"))
        ),
        _ => format!("{name} == {}", quote_code(code)),
    }
}

/// Why a record is dropped by an answer to a field.
pub(super) fn explain_drop(fields: &Table, name: &str, field: &Table, code: &Node) -> String {
    match (find_reason_field(fields, name, code), form_of_field(field)) {
        (Some(why), FieldForm::YesNo) => why.to_owned(),
        (Some(why), _) => format!("{why} or {}", quote_code(code)),
        (None, _) => quote_code(code),
    }
}

fn dropped_by_fields(fields: &Table) -> impl Iterator<Item = Dropping> {
    fields.iter().filter_map(|(name, field)| {
        let table = field.as_table()?;
        let code = table.get("drops")?;
        let because = explain_drop(fields, name, table, code);
        Some(Dropping { when: is_answer(form_of_field(table), name, code), because, at: code.at })
    })
}
