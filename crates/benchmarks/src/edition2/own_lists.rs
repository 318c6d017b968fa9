//! A list that one field alone names is that field's own: it is no list that the rest of a folder can see.

use super::tree::{Node, NodeValue, Table};

/// Puts the options of such lists into their fields. `rest`: the other files of the folder.
pub(super) fn inline_lists(ballots: &mut Table, other_files: [&Table; 2]) {
    let Some(mut lists) = ballots.take_table("list") else { return };
    let names: Vec<String> = lists.keys().map(str::to_owned).collect();
    for name in names {
        let users = lists_of_fields(ballots).iter().filter(|options| **options == name).count();
        let seen = |table: &Table| is_list_named(table, &name, "");
        if users != 1 || seen(ballots) || other_files.into_iter().any(seen) {
            continue;
        }
        if let Some(options) = lists.take_node(&name) {
            set_options(ballots, &name, &options);
        }
    }
    if !lists.is_empty() {
        let at = lists.iter().next().map(|(_, list)| list.at).unwrap_or_default();
        ballots.set("list", Node::from_table(lists, at));
    }
}

/// The lists that fields name.
fn lists_of_fields(ballots: &Table) -> Vec<String> {
    let of = |ballot: &Table| {
        let first = ballot.list("fields").unwrap_or_default();
        let second = ballot.table("second").and_then(|second| second.list("fields")).unwrap_or_default();
        let options = |field: &Node| Some(field.as_table()?.text("options")?.to_owned());
        first.iter().chain(second).filter_map(options).collect::<Vec<_>>()
    };
    let ballots = ballots.table("ballot").into_iter().flat_map(Table::iter);
    ballots.filter_map(|(_, ballot)| ballot.as_table()).flat_map(of).collect()
}

/// Whether something but a field's options names a list: a key that takes a list's name, or an expression.
fn is_list_named(table: &Table, name: &str, under: &str) -> bool {
    table.iter().any(|(key, node)| {
        // What is kept of answers names their fields.
        let skipped = ["options", "keeps"].contains(&key) && under != "reply";
        !skipped && says_node(node, name, key)
    })
}

fn says_node(node: &Node, name: &str, key: &str) -> bool {
    match &node.what {
        NodeValue::Text(text) => {
            let named = ["list", "label_of", "one_of", "parts", "by_list"].contains(&key) && text == name;
            named || text.contains(&format!("'{name}'"))
        }
        NodeValue::List(list) => list.iter().any(|node| says_node(node, name, key)),
        NodeValue::Table(table) => is_list_named(table, name, key),
        NodeValue::Flag(_) | NodeValue::Raw(_) => false,
    }
}

fn set_options(ballots: &mut Table, name: &str, options: &Node) {
    let Some(NodeValue::Table(all)) = ballots.get_mut("ballot").map(|all| &mut all.what) else { return };
    for (_, ballot) in all.iter_mut() {
        let NodeValue::Table(ballot) = &mut ballot.what else { continue };
        set_in(ballot, name, options);
        if let Some(NodeValue::Table(second)) = ballot.get_mut("second").map(|second| &mut second.what) {
            set_in(second, name, options);
        }
    }
}

fn set_in(round: &mut Table, name: &str, options: &Node) {
    let Some(NodeValue::List(fields)) = round.get_mut("fields").map(|fields| &mut fields.what) else {
        return;
    };
    for field in fields {
        let NodeValue::Table(field) = &mut field.what else { continue };
        if field.text("options") == Some(name) {
            field.set("options", options.clone());
        }
    }
}
