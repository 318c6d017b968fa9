//! Which keys there are. One that is not known is reported with the nearest, or with all of them, and left out.

use riddlemill_schema::hint::unknown_key;

use super::languages::LANGUAGES;
use super::tree::{Node, Place, Table, What};

/// The keys of the tables of a folder. A word of the first edition has its new name in [`RENAMED`].
pub(super) const BENCHMARK: &[&str] = &[
    "about",
    "order",
    "was",
    "records",
    "steps",
    "prompts",
    "renamed",
    "replies_as",
    "settings",
    "profile",
    "setting",
    "fields",
    "step",
    "data",
    "compat",
    "published",
    "tasks",
    "task",
    "table",
    "paper",
    "columns",
];
/// `[step.NAME]`.
pub(super) const STEP: &[&str] = &[
    "kind",
    "like",
    "op",
    "for",
    "from",
    "records",
    "when",
    "prompt",
    "with",
    "reply",
    "case",
    "ask",
    "keeps",
    "endpoint",
    "replies",
    "samples",
    "majority",
    "at_least",
    "barred",
    "also_from",
    "sample",
    "translates",
    "pack_id",
    "reason",
    "ledger",
    "discards",
    "checks",
    "checks_each",
    "for_each",
    "named_by",
    "id_role",
    "right",
    "wrong",
    "number",
    "purpose",
    "gap",
    "texts",
    "language",
    "drop_if",
    "hold_if",
    "record_for_each",
    "text",
    "requires",
];
/// `reply` of a step.
pub(super) const REPLY: &[&str] =
    &["text", "whole", "json", "label", "rating", "numbers", "reader", "gives", "refuses"];
/// `[data]`.
pub(super) const DATA: &[&str] = &[
    "about",
    "rests_on",
    "rests_when",
    "when",
    "reason",
    "group",
    "parts",
    "counted",
    "checks",
    "requires",
    "columns",
    "number",
    "harness",
    "splits",
];
/// `[compat."FILE"]`.
pub(super) const COMPAT: &[&str] = &["keys", "back", "when", "like", "config", "labels"];
/// `[published]`.
pub(super) const PUBLISHED: &[&str] =
    &["id", "text", "number", "group", "role", "question", "answer", "like", "at"];
/// `[task.NAME]`, and `[tasks]` for all of them.
pub(super) const TASK: &[&str] = &[
    "about",
    "prompt",
    "reasoned",
    "with",
    "when",
    "samples",
    "confidence",
    "conversation",
    "choose",
    "classify",
    "rate",
    "tag",
    "free_text",
    "judge",
    "people",
    "shots",
    "form",
    "rubric",
    "released",
    "outputs",
    "on_request",
    "other_order_of",
    "exported_when",
    "result_name",
    "pack_key",
    "id_role",
];
/// `[table.NAME]`.
pub(super) const TABLE: &[&str] = &[
    "title",
    "about",
    "paper",
    "paper_of_settings",
    "layout",
    "rows",
    "tasks",
    "columns",
    "parts",
    "part",
    "part_key",
    "chart",
    "drawn",
    "by_list",
    "by_judge",
    "other",
    "ratings",
];
/// `[ballots]`, for all ballots.
pub(super) const BALLOTS: &[&str] = &["languages", "voters", "votes", "trial", "drafts", "shows"];
/// `[ballot.NAME]`.
pub(super) const BALLOT: &[&str] = &[
    "like",
    "title",
    "guideline",
    "examples",
    "paper",
    "languages",
    "voters",
    "votes",
    "trial",
    "drafts",
    "settles",
    "on_demand",
    "not_by",
    "when",
    "shows",
    "draft",
    "ranked",
    "keeps",
    "before",
    "after",
    "fills",
    "warns",
    "for_each",
    "named_by",
    "id_role",
    "compares",
    "optional_when",
    "waits_as",
    "distinct_from",
    "drop",
    "adjudicate",
    "verdict",
    "fields",
    "second",
    "requires",
];
/// A verdict of a ballot.
pub(super) const VERDICT: &[&str] = &["name", "label", "options", "accepts", "rewrites", "drops"];
/// A field of a ballot.
pub(super) const FIELD: &[&str] = &[
    "label",
    "choice",
    "choices",
    "min",
    "max",
    "yes",
    "no",
    "pick",
    "count",
    "compared_with",
    "score",
    "keep",
    "prefers",
    "tie",
    "otherwise",
    "edits",
    "if",
    "takes",
    "times",
    "optional",
    "distinct",
    "rule",
    "tolerance",
    "draft",
    "into",
    "replaces",
    "adjudicate",
    "drops",
];
/// The second round of a ballot.
pub(super) const SECOND: &[&str] = &["by", "again", "fields"];
/// `report.toml`.
pub(super) const REPORT: &[&str] = &["figure", "part"];
/// `[figure.NAME]`.
pub(super) const FIGURE: &[&str] = &[
    "layout",
    "title",
    "line",
    "indent",
    "step",
    "records",
    "part",
    "among",
    "of",
    "by",
    "list",
    "column",
    "questions",
    "keys",
    "numbers",
    "ballot",
    "field",
    "fields",
    "question",
    "answer",
    "options",
    "gold",
    "group",
    "apart",
    "text",
    "from",
    "to",
    "wide",
    "most",
    "label",
    "opponents",
    "verdicts",
    "votes",
    "marks",
    "shares",
    "parts",
    "judges",
    "model",
    "normal",
    "ratings",
];

/// Words of the first edition, and what they are called now.
const RENAMED: &[(&str, &str)] = &[
    ("every", "ballots"),
    ("prompts_of", "replies_as"),
    ("asks", "endpoint"),
    ("known_as", "pack_id"),
    ("made", "also_from"),
    ("native", "reader"),
    ("labels", "counted"),
    ("poses", "harness"),
    ("called", "named_by"),
    ("found", "pack_key"),
    ("usual", "exported_when"),
    ("over", "for_each"),
    ("apart", "distinct_from"),
    ("standing", "fills"),
    ("finds", "warns"),
    ("asked_by", "adjudicate"),
    ("passes", "optional_when"),
    ("beside", "compared_with"),
    ("k", "count"),
    ("any", "count"),
    ("role", "id_role"),
    ("words", "free_text"),
    ("is", "expression"),
];

type Found = Vec<(Place, String)>;

/// Takes unknown keys out of benchmark.toml, ballots.toml and report.toml, and reports them.
pub(super) fn check([benchmark, ballots, report]: [&mut Table; 3], found: &mut Found) {
    known(benchmark, BENCHMARK, found);
    each(
        benchmark,
        "step",
        |step, found| {
            known(step, STEP, found);
            reply(step, found);
            within(step, "prompt", &LANGUAGES, found);
            if let Some(What::List(cases)) = step.get_mut("case").map(|cases| &mut cases.what) {
                for case in cases {
                    if let What::Table(case) = &mut case.what {
                        reply(case, found);
                        within(case, "prompt", &LANGUAGES, found);
                    }
                }
            }
        },
        found,
    );
    within(benchmark, "data", DATA, found);
    within(benchmark, "published", PUBLISHED, found);
    within(benchmark, "tasks", TASK, found);
    each(benchmark, "compat", |file, found| known(file, COMPAT, found), found);
    each(benchmark, "task", |task, found| known(task, TASK, found), found);
    each(benchmark, "table", |table, found| known(table, TABLE, found), found);
    known(ballots, &["ballots", "shown", "list", "ballot"], found);
    within(ballots, "ballots", BALLOTS, found);
    each(
        ballots,
        "ballot",
        |ballot, found| {
            known(ballot, BALLOT, found);
            within(ballot, "verdict", VERDICT, found);
            each(ballot, "fields", field, found);
            if let Some(What::Table(second)) = ballot.get_mut("second").map(|second| &mut second.what) {
                known(second, SECOND, found);
                each(second, "fields", field, found);
            }
        },
        found,
    );
    known(report, REPORT, found);
    each(report, "figure", |figure, found| known(figure, FIGURE, found), found);
}

fn field(field: &mut Table, found: &mut Found) {
    if field.keys().all(|key| key == "en" || key == "zh") {
        return;
    }
    known(field, FIELD, found);
    let score = field.get("score").filter(|score| !matches!(score.as_list(), Some([_, _])));
    if let Some(at) = score.map(|score| score.at) {
        found.push((at, "score: expected [least, most]".to_owned()));
        field.take("score");
    }
    let when = field.get("if").filter(|when| when.as_table().and_then(Table::only).is_none());
    if let Some(at) = when.map(|when| when.at) {
        found.push((at, "if: expected one field and its answers, as { verdict = \"reject\" }".to_owned()));
        field.take("if");
    }
}

fn reply(of: &mut Table, found: &mut Found) {
    within(of, "reply", REPLY, found);
}

fn within(table: &mut Table, key: &str, keys: &[&str], found: &mut Found) {
    if let Some(What::Table(table)) = table.get_mut(key).map(|node| &mut node.what) {
        known(table, keys, found);
    }
}

fn each(table: &mut Table, key: &str, check: impl Fn(&mut Table, &mut Found), found: &mut Found) {
    let Some(What::Table(tables)) = table.get_mut(key).map(|node| &mut node.what) else { return };
    for (_, node) in tables.iter_mut() {
        if let What::Table(table) = &mut node.what {
            check(table, found);
        }
    }
}

fn known(table: &mut Table, keys: &[&str], found: &mut Found) {
    let unknown: Vec<(String, Place)> = table
        .places()
        .filter(|(key, ..)| !keys.contains(key))
        .map(|(key, at, _): (&str, Place, &Node)| (key.to_owned(), at))
        .collect();
    for (key, at) in unknown {
        table.take(&key);
        let renamed = RENAMED.iter().find(|(old, now)| *old == key && keys.contains(now));
        let what = match renamed {
            // What it is called now is no matter of spelling.
            Some((_, now)) => {
                unknown_key(&key, [], Some(format!("it is called {now:?} in the second edition")))
            }
            None => unknown_key(&key, keys.iter().copied(), None),
        };
        found.push((at, what));
    }
}
