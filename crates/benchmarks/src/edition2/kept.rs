//! Where answers of a ballot and replies of a draft stand in records with columns: in the columns of their names, unless a
//! field says otherwise (`draft`, `into`, `replaces`).

use super::fields::{FieldForm, form_of_field, table_of};
use super::tree::{Node, Table, ValuePlace};

/// The columns of the records that a folder's steps fill: their names and types; empty of records that are groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns(Vec<(String, String)>);

impl Columns {
    /// Those of the kind that `records` names, from lowered `[columns]`.
    pub(super) fn from_benchmark(benchmark: &Table) -> Columns {
        let kind = benchmark.text("records").unwrap_or_default();
        let columns = benchmark.table("columns").and_then(|kinds| kinds.table(kind));
        let column = |(name, column): (&str, &Node)| {
            let kind = column.as_table().and_then(|column| column.text("type")).unwrap_or("text");
            (name.to_owned(), kind.to_owned())
        };
        Columns(columns.into_iter().flat_map(Table::iter).map(column).collect())
    }

    pub(super) fn has_column(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_list(&self, name: &str) -> bool {
        self.0.iter().any(|(known, kind)| known == name && kind == "list of text")
    }
}

/// What the fields of a ballot say of a record.
#[derive(Debug, Default)]
pub(super) struct KeptFields {
    /// What is drafted, by field.
    pub(super) draft: Table,
    /// The expressions that this rests on.
    pub(super) bases: Vec<String>,
    /// What is kept, by column.
    pub(super) keeps: Table,
}

/// What fields say of a record. `shows`: those of the first edition.
pub(super) fn collect_kept(fields: &Table, columns: &Columns, votes: usize, shows: &[Node]) -> KeptFields {
    let mut kept = KeptFields::default();
    for (name, field) in fields.iter() {
        of_field(name, &table_of(field), field.at, columns, votes, shows, &mut kept);
    }
    kept
}

fn of_field(
    name: &str,
    field: &Table,
    at: ValuePlace,
    columns: &Columns,
    votes: usize,
    shows: &[Node],
    kept: &mut KeptFields,
) {
    let form = form_of_field(field);
    let times = field.get("times").and_then(Node::as_number).unwrap_or(0);
    let usual = |end: &str| Some(format!("{name}{end}")).filter(|column| columns.has_column(column));
    let own = |key: &str, end: &str| match field.get(key) {
        Some(node) => node.as_text().filter(|text| !text.is_empty()).map(|text| (text.to_owned(), node.at)),
        None => usual(end).map(|column| (column, at)),
    };
    if let Some((draft, at)) = own("draft", "_draft") {
        for i in 0..times {
            let part = if votes > 1 { format!("{draft}[{i}::{times}]") } else { format!("{draft}[{i}]") };
            kept.draft.set(&format!("{name}_{}", i + 1), Node::from_text(part, at));
        }
        if times == 0 {
            let whole =
                if form == FieldForm::YesNo { format!("'yes' if {draft} else 'no'") } else { draft.clone() };
            kept.draft.set(name, Node::from_text(whole, at));
        }
        if !kept.bases.contains(&draft) {
            kept.bases.push(draft);
        }
    }
    let said = |i: usize| format!("said.{name}_{}", i + 1);
    if let Some(column) = field.get("replaces").filter(|column| !column.is_nothing()) {
        let into = column.as_text().unwrap_or_default();
        let each = |i: usize| format!("{} or {into}[{i}]", said(i));
        let expression = match times {
            0 => format!("said.{name} or {into}"),
            _ => format!("[{}]", (0..times).map(each).collect::<Vec<_>>().join(", ")),
        };
        kept.keeps.set(into, Node::from_text(expression, column.at));
        return;
    }
    let Some((into, at)) = own("into", "") else { return };
    let picked = || {
        let from = field.text("pick")?;
        let shown = shows.iter().filter_map(Node::as_table).find(|one| one.text("key") == Some(from))?;
        Some(format!("said.{name} | picked({})", shown.text("is").unwrap_or(from)))
    };
    let expression = match (times, form) {
        (1.., _) => format!("[{}] | select | list", (0..times).map(said).collect::<Vec<_>>().join(", ")),
        (0, FieldForm::Pick) => picked().unwrap_or_else(|| format!("said.{name}")),
        (0, FieldForm::YesNo) => format!("said.{name} == 'yes' if said.{name}"),
        (0, _) => format!("said.{name}"),
    };
    kept.keeps.set(&into, Node::from_text(expression, at));
}

/// `before` and `after` in the ledger, unless the ballot says them: the draft, if there is one; the column that is kept, if
/// there is one.
pub(super) fn ledger_columns(
    bases: &[String],
    keeps: &Table,
    columns: &Columns,
) -> [(&'static str, Option<String>); 2] {
    let before = match bases {
        [base] => Some(base.clone()),
        _ => None,
    };
    let after = keeps.single_entry().map(|(column, _)| match columns.is_list(column) {
        true => column.to_owned(),
        false => format!("{column} or 'none'"),
    });
    [("before", before), ("after", after)]
}

/// Says on the fields of a ballot what its `draft` and `keeps` say, as far as fields can; the rest stays in these.
pub(super) fn up_kept(ballot: &mut Table, columns: &Columns, votes: usize, shows: &[Node]) {
    let Some(mut fields) = ballot.take_table("fields") else { return };
    let drafts = ballot.take_table("draft").unwrap_or_default();
    let keeps = ballot.take_table("keeps").unwrap_or_default();
    let at = ValuePlace::default();
    let names: Vec<String> = fields.keys().map(str::to_owned).collect();
    for name in &names {
        let Some(field) = fields.get(name).map(table_of) else { continue };
        let mut more: Vec<(&str, String)> = Vec::new();
        let with = |key: &str, text: &str| {
            let (mut one, mut changed) = (Table::default(), field.clone());
            changed.set(key, Node::from_text(text, at));
            one.set(name, Node::from_table(changed, at));
            collect_kept(&one, columns, votes, shows)
        };
        let times = field.get("times").and_then(Node::as_number).unwrap_or(0);
        let first = if times > 0 { format!("{name}_1") } else { name.clone() };
        match drafts.text(&first) {
            Some(expression) => {
                let base = base_of(expression, times, form_of_field(&field));
                let said = with("draft", base).draft;
                if said.iter().all(|(key, node)| drafts.get(key) == Some(node))
                    && (base != format!("{name}_draft") || !columns.has_column(base))
                {
                    more.push(("draft", base.to_owned()));
                }
            }
            None if columns.has_column(&format!("{name}_draft")) => more.push(("draft", String::new())),
            None => {}
        }
        let says = |column: &str, node: &Node| {
            let whole = |key: &'static str| {
                let said = with(key, column).keeps;
                (said.single_entry() == Some((column, node))).then_some(key)
            };
            whole("into").or_else(|| whole("replaces"))
        };
        match keeps.iter().find_map(|(column, node)| Some((column, says(column, node)?))) {
            Some((column, "into")) if column == name && columns.has_column(name) => {}
            Some((column, key)) => more.push((key, column.to_owned())),
            None if columns.has_column(name) && !keeps.has_key(name) => more.push(("into", String::new())),
            None => {}
        }
        if !more.is_empty() {
            let mut field = field.clone();
            for (key, text) in more {
                field.set(key, Node::from_text(text, at));
            }
            fields.set(name, Node::from_table(field, at));
        }
    }
    let said = collect_kept(&fields, columns, votes, shows);
    for (key, had, usual) in [("draft", &drafts, &said.draft), ("keeps", &keeps, &said.keeps)] {
        let rest = rest_of(had, usual);
        if !rest.is_empty() {
            ballot.set(key, Node::from_table(rest, at));
        }
    }
    for (key, usual) in ledger_columns(&said.bases, &keeps, columns) {
        let Some(usual) = usual else { continue };
        match ballot.text(key) {
            Some(text) if text == usual => drop(ballot.take_node(key)),
            Some(_) => {}
            None => ballot.set(key, Node::from_text("", at)),
        }
    }
    ballot.set("fields", Node::from_table(fields, at));
}

/// The expression that a drafted field was made from.
fn base_of(expression: &str, times: usize, form: FieldForm) -> &str {
    let part = expression.strip_suffix(&format!("[0::{times}]")).or_else(|| expression.strip_suffix("[0]"));
    let yes_no = expression.strip_prefix("'yes' if ").and_then(|rest| rest.strip_suffix(" else 'no'"));
    match (times, form) {
        (1.., _) => part.unwrap_or(expression),
        (0, FieldForm::YesNo) => yes_no.unwrap_or(expression),
        (0, _) => expression,
    }
}

/// What a table has beside the usual; an empty text for what is usual and it has not.
fn rest_of(had: &Table, usual: &Table) -> Table {
    let mut rest = Table::default();
    for (key, node) in had.iter().filter(|(key, node)| usual.get(key) != Some(*node)) {
        rest.set(key, node.clone());
    }
    for key in usual.keys().filter(|key| !had.has_key(key)) {
        rest.set(key, Node::from_text("", ValuePlace::default()));
    }
    rest
}
