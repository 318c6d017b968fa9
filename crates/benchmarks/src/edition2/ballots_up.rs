//! `ballots.toml` of the first edition in the second.

use super::ballots::{
    KEYS, VERDICT, explain_drop, find_reason_field, overlay_table, usual_question, usual_verdict,
};
use super::fields::{FieldContext, Verdict, table_of, up_fields, up_options};
use super::kept::{Columns, up_kept};
use super::shows::{find_common_shows, up_shows};
use super::tree::{Node, NodeValue, Table, ValuePlace};

/// The file in the second edition. What cannot be said is told in `lost` and stays as it is.
pub(super) fn up_ballots(file: &Table, columns: &Columns, lost: &mut Vec<String>) -> Table {
    let mut file = file.clone();
    let at = ValuePlace::default();
    let mut every = file.take_table("every").unwrap_or_default();
    let votes = every.get("votes").and_then(Node::as_number).unwrap_or(1);
    let source = file.take_table("ballot").unwrap_or_default();
    let mut up =
        Up { lists: Table::default(), first: file.take_table("list").unwrap_or_default(), core: false };
    up.core = up.first.get(VERDICT) == Some(&usual_verdict());
    for (name, list) in up.first.clone().iter().filter(|(name, _)| !(up.core && *name == VERDICT)) {
        match up_options(list) {
            Some(list) => up.lists.set(name, list),
            None => lost.push(format!(
                "ballots.toml [list.{name}]: an option says more than label, meaning, example"
            )),
        }
    }
    let all = || source.iter().filter_map(|(_, ballot)| ballot.as_table());
    let shown = find_common_shows(all());
    let voters = most_common_node(all().map(|ballot| ballot.get("voters").cloned()))
        .filter(|_| !every.has_key("voters"));
    if let Some(voters) = &voters {
        every.set("voters", voters.clone());
    }
    let shows = |ballot: &Table| ballot.list("shows").and_then(|list| up_shows(list, &shown));
    let usual = most_common_node(all().map(shows));
    if let Some(usual) = &usual {
        every.set("shows", usual.clone());
    }
    let mut ballots = Table::default();
    for (name, written) in source.iter() {
        let Some(ballot) = written.as_table() else { continue };
        let votes = ballot.get("votes").and_then(Node::as_number).unwrap_or(votes);
        let mut made = up.raise_ballot(name, ballot, votes, columns).unwrap_or_else(|| {
            lost.push(format!("ballots.toml [ballot.{name}]: its fields stay as they are"));
            ballot.clone()
        });
        if voters.is_some() && ballot.get("voters") == voters.as_ref() {
            made.take_node("voters");
        }
        if let Some(shows) = shows(ballot) {
            let same = usual.as_ref() == Some(&shows);
            made.take_node("shows");
            if !same {
                made.set("shows", shows);
            }
        }
        for key in ["keeps", "fields"] {
            if let Some(node) = made.take_node(key) {
                made.set(key, node);
            }
        }
        ballots.set(name, Node::from_table(made, written.at));
    }
    link_alike_ballots(&mut ballots);
    let mut out = Table::default();
    for (key, table) in [("ballots", every), ("shown", shown), ("list", up.lists), ("ballot", ballots)] {
        if !table.is_empty() {
            out.set(key, Node::from_table(table, at));
        }
    }
    for (key, node) in file.iter() {
        out.set(key, node.clone());
    }
    out
}

/// What all have, and more than one alike.
fn most_common_node(all: impl Iterator<Item = Option<Node>>) -> Option<Node> {
    let all: Vec<Node> = all.collect::<Option<_>>()?;
    let count = |one: &Node| all.iter().filter(|other| *other == one).count();
    let best = all.iter().map(count).max()?;
    all.iter().find(|one| count(one) == best).filter(|_| best > 1).cloned()
}

struct Up {
    /// The lists of the second edition.
    lists: Table,
    /// Those of the first.
    first: Table,
    /// Whether the list of the verdict is the usual one.
    core: bool,
}

impl Up {
    fn raise_ballot(&mut self, name: &str, ballot: &Table, votes: usize, columns: &Columns) -> Option<Table> {
        let mut out = ballot.clone();
        let shows = ballot.list("shows").unwrap_or_default().to_vec();
        let mut fields = out.take_list("fields").unwrap_or_default();
        let second = out.take_table("second");
        let passes = out.take_table("passes");
        for (from, to) in [("when", "optional_when"), ("lacks", "waits_as")] {
            if let Some(node) = passes.as_ref().and_then(|passes| passes.get(from)) {
                out.set(to, node.clone());
            }
        }
        out.rename_keys(&KEYS, true);
        self.hoist_options(&mut fields, name)?;
        let first = self.first.clone();
        let size = |name: &str| first.list(name).map_or(0, <[Node]>::len);
        let verdict = self.take_verdict(&mut fields, &mut out);
        if !fields.is_empty() {
            let around = FieldContext { votes, verdict: verdict.as_ref(), size: &size };
            let up = up_fields(&fields, &around)?;
            out.set("fields", Node::from_table(up, ValuePlace::default()));
        }
        up_drop(&mut out, verdict.as_ref());
        up_asked_by(&mut out);
        if !columns.is_empty() {
            up_kept(&mut out, columns, votes, &shows);
        }
        if let Some(mut second) = second {
            if let Some(mut fields) = second.take_list("fields") {
                self.hoist_options(&mut fields, name)?;
                let first = self.first.clone();
                let size = |name: &str| first.list(name).map_or(0, <[Node]>::len);
                let around = FieldContext { votes: 1, verdict: None, size: &size };
                second.set("fields", Node::from_table(up_fields(&fields, &around)?, ValuePlace::default()));
            }
            out.set("second", Node::from_table(second, ValuePlace::default()));
        }
        Some(out)
    }

    /// Gives options that a field wrote out a list of their own, so that each has its line.
    fn hoist_options(&mut self, fields: &mut [Node], ballot: &str) -> Option<()> {
        for field in fields {
            let NodeValue::Table(field) = &mut field.what else { return None };
            let kind = field.text("kind").unwrap_or_default().to_owned();
            let Some(options) = field.get("options").filter(|options| options.as_list().is_some()).cloned()
            else {
                continue;
            };
            if !["choice", "choices", "keep"].contains(&kind.as_str()) || is_yes_no(&options) {
                continue;
            }
            let up = up_options(&options)?;
            let known = self.lists.iter().find(|(_, list)| **list == up).map(|(name, _)| name.to_owned());
            let own = field.text("name").unwrap_or_default().to_owned();
            let free = |name: &String| {
                !self.lists.has_key(name)
                    && !["verdict", "text", "integer", "number", "flag"].contains(&name.as_str())
            };
            let under = ballot.replace('-', "_");
            let name = known.unwrap_or_else(|| {
                let names = [own.clone(), under.clone(), format!("{under}_{own}")];
                names.into_iter().find(free).unwrap_or(format!("{under}_{own}_options"))
            });
            self.lists.set(&name, up);
            self.first.set(&name, options);
            field.set("options", Node::from_text(name, ValuePlace::default()));
        }
        Some(())
    }

    /// Takes the verdict out of the fields: a choice after which texts are written or are the draft's.
    fn take_verdict(&self, fields: &mut Vec<Node>, out: &mut Table) -> Option<Verdict> {
        let (at, verdict) = (0..fields.len()).find_map(|at| Some((at, hangs_on(fields, at)?)))?;
        let field = fields.remove(at).into_table()?;
        let mut table = Table::default();
        let place = ValuePlace::default();
        let mut say = |key: &str, text: &str, usual: &str| {
            if text != usual {
                table.set(key, Node::from_text(text, place));
            }
        };
        say("name", &verdict.name, "verdict");
        say("accepts", &verdict.accepts, "accept");
        say("rewrites", &verdict.rewrites, "rewrite");
        if let Some(label) = field.get("label").filter(|label| **label != usual_question(place)) {
            table.set("label", label.clone());
        }
        let options = field.get("options")?;
        if !(self.core && options.as_text() == Some(VERDICT)) {
            let up = if options.as_text().is_some() { options.clone() } else { up_options(options)? };
            table.set("options", up);
        }
        out.set("verdict", Node::from_table(table, place));
        Some(verdict)
    }
}

fn is_yes_no(options: &Node) -> bool {
    let option = |option: &Node, code: &str| {
        let label = option.as_table().and_then(|option| option.get("label"));
        label.is_some_and(|label| *label == super::fields::yes_no(code, ValuePlace::default()))
    };
    matches!(options.as_list(), Some([yes, no]) if option(yes, "yes") && option(no, "no"))
}

/// The verdict that the field at a place is, if texts hang on it as they do on verdicts.
fn hangs_on(fields: &[Node], at: usize) -> Option<Verdict> {
    let field = fields.get(at)?.as_table()?;
    let name = field.text("name")?;
    let plain = field.len() == 4 && ["label", "kind", "options"].into_iter().all(|key| field.has_key(key));
    if !plain || field.text("kind") != Some("choice") {
        return None;
    }
    let rest: Vec<&Table> = fields
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != at)
        .filter_map(|(_, field)| field.as_table())
        .collect();
    let texts: Vec<&Table> =
        rest.iter().copied().filter(|field| field.text("kind") == Some("text")).collect();
    if texts.iter().any(|field| !field.has_key("when")) {
        return None;
    }
    let pair = |field: &&Table| {
        let when = field.table("when")?;
        (when.text("field") == Some(name)).then_some(())?;
        Some((when.get("write")?.as_texts().join("\0"), when.get("draft")?.as_texts().join("\0")))
    };
    let pairs: Vec<(String, String)> = texts.iter().filter_map(pair).collect();
    let (rewrites, accepts) = pairs.first()?.clone();
    if pairs.iter().any(|other| *other != (rewrites.clone(), accepts.clone()))
        || rewrites.contains('\0')
        || accepts.contains('\0')
    {
        return None;
    }
    // It stands before the first field that hangs on it.
    let first =
        rest.iter().position(|field| field.table("when").and_then(|when| when.text("field")) == Some(name));
    (first == Some(at)).then(|| Verdict { name: name.to_owned(), rewrites, accepts })
}

/// Says which answer drops a record at the field or verdict itself.
fn up_drop(out: &mut Table, verdict: Option<&Verdict>) {
    let Some(dropped) = out.table("drop") else { return };
    let (Some(when), Some(why)) = (dropped.text("when"), dropped.text("because")) else { return };
    let Some((name, code)) = when.split_once(" == ") else { return };
    let Some(code) = code.strip_prefix('\'').and_then(|code| code.strip_suffix('\'')) else { return };
    if code.contains('\'') || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return;
    }
    let (name, why, code) = (name.to_owned(), why.to_owned(), Node::from_text(code, ValuePlace::default()));
    let fields = out.table("fields").cloned().unwrap_or_default();
    if verdict.is_some_and(|verdict| verdict.name == name) {
        let usual = match find_reason_field(&fields, &name, &code) {
            Some(field) => format!("{field} or []"),
            None => format!("'{}'", code.as_text().unwrap_or_default()),
        };
        if usual == why
            && let Some(mut verdict) = out.take_table("verdict")
        {
            verdict.set("drops", code);
            out.set("verdict", Node::from_table(verdict, ValuePlace::default()));
            out.take_node("drop");
        }
        return;
    }
    let Some(field) = fields.get(&name).map(table_of) else { return };
    if explain_drop(&fields, &name, &field, &code) == why {
        let (mut fields, mut field) = (fields, field);
        field.set("drops", code);
        fields.set(&name, Node::from_table(field, ValuePlace::default()));
        out.set("fields", Node::from_table(fields, ValuePlace::default()));
        out.take_node("drop");
    }
}

/// Says at the field which of its answers ask for a decision.
fn up_asked_by(out: &mut Table) {
    let Some(asked_by) = out.take_table("adjudicate") else { return };
    let mut fields = out.take_table("fields").unwrap_or_default();
    let mut rest = Table::default();
    for (name, code) in asked_by.iter() {
        match fields.get(name).map(table_of) {
            Some(mut field) => {
                field.set("adjudicate", code.clone());
                fields.set(name, Node::from_table(field, ValuePlace::default()));
            }
            None => rest.set(name, code.clone()),
        }
    }
    if !rest.is_empty() {
        out.set("adjudicate", Node::from_table(rest, ValuePlace::default()));
    }
    if !fields.is_empty() {
        out.set("fields", Node::from_table(fields, ValuePlace::default()));
    }
}

/// Ballots that have guideline and fields of one before them: `like`.
fn link_alike_ballots(ballots: &mut Table) {
    let names: Vec<String> = ballots.keys().map(str::to_owned).collect();
    for (i, name) in names.iter().enumerate() {
        let Some(own) = ballots.table(name).cloned() else { continue };
        let like = names[..i].iter().rev().find(|other| {
            ballots.table(other).is_some_and(|base| {
                !base.has_key("like")
                    && own.has_key("guideline")
                    && base.get("guideline") == own.get("guideline")
                    && base.get("fields") == own.get("fields")
            })
        });
        let Some((like, base)) = like.and_then(|like| Some((like, ballots.table(like)?))) else { continue };
        let mut short = Table::default();
        short.set("like", Node::from_text(like.as_str(), ValuePlace::default()));
        for (key, node) in own.iter().filter(|(key, node)| base.get(key) != Some(*node)) {
            short.set(key, node.clone());
        }
        for key in base.keys().filter(|key| !own.has_key(key)) {
            short.set(key, Node::from_text("", ValuePlace::default()));
        }
        let mut again = short.clone();
        again.take_node("like");
        if overlay_table(base, again) == own {
            ballots.set(name, Node::from_table(short, ValuePlace::default()));
        }
    }
}
