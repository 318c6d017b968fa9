//! Options and fields of a ballot: what a field is follows from its keys.

use super::chinese::label_from_code;
use super::tree::{Node, NodeValue, Table, ValuePlace, make_words};

/// The verdict before a ballot's texts: its field, and the codes at which they are written or are the draft's.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) name: String,
    pub(super) rewrites: String,
    pub(super) accepts: String,
}

/// What the fields of a ballot hang on.
pub(super) struct FieldContext<'a> {
    /// How many vote.
    pub(super) votes: usize,
    pub(super) verdict: Option<&'a Verdict>,
    /// How many options a shared list has.
    pub(super) size: &'a dyn Fn(&str) -> usize,
}

/// Ordinals of `{nth}`.
pub(super) const NTH: [(&str, &str); 5] =
    [("First", "一"), ("Second", "二"), ("Third", "三"), ("Fourth", "四"), ("Fifth", "五")];

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldForm {
    Choice,
    Choices,
    YesNo,
    Pick,
    Score,
    Keep,
    Prefers,
    Text,
}

/// What a field is, by its keys.
pub(super) fn form_of_field(field: &Table) -> FieldForm {
    let forms = [
        ("choice", FieldForm::Choice),
        ("choices", FieldForm::Choices),
        ("pick", FieldForm::Pick),
        ("score", FieldForm::Score),
        ("keep", FieldForm::Keep),
        ("prefers", FieldForm::Prefers),
    ];
    let found = forms.into_iter().find(|(key, _)| field.has_key(key)).map(|(_, form)| form);
    let yes_no = || (field.has_key("yes") && field.has_key("no")).then_some(FieldForm::YesNo);
    found.or_else(yes_no).unwrap_or(FieldForm::Text)
}

/// A field as a table: a text alone is its label.
pub(super) fn table_of(field: &Node) -> Table {
    match (&field.what, field.is_words()) {
        (NodeValue::Table(table), false) => table.clone(),
        _ => {
            let mut table = Table::default();
            table.set("label", field.clone());
            table
        }
    }
}

/// A text with its ordinal.
pub(super) fn add_ordinal(text: &Node, ordinal: usize) -> Node {
    let (en, zh) = NTH[ordinal.min(NTH.len() - 1)];
    text.map_languages(|text, chinese| text.replace("{nth}", if chinese { zh } else { en }))
}

/// The options of a list: `code = "meaning"`, or `[label, meaning, example]`.
pub(super) fn low_options(node: &Node) -> Node {
    let Some(table) = node.as_table() else { return node.clone() };
    let option = |(code, written): (&str, &Node)| {
        let at = written.at;
        let mut option = Table::default();
        option.set("code", Node::from_text(code, at));
        match written.as_list() {
            Some(list) => {
                for (key, part) in ["label", "means", "example"].into_iter().zip(list) {
                    option.set(key, part.clone());
                }
            }
            None => {
                option.set("label", Node::from_text(label_from_code(code), at));
                option.set("means", written.clone());
            }
        }
        Node::from_table(option, at)
    };
    Node::from_list(table.iter().map(option).collect(), node.at)
}

/// The inverse of [`low_options`]; `None` if an option says more.
pub(super) fn up_options(node: &Node) -> Option<Node> {
    let mut out = Table::default();
    for option in node.as_list()? {
        let option = option.as_table()?;
        let code = option.text("code")?;
        let label = option.get("label")?;
        if option.keys().any(|key| !["code", "label", "means", "example"].contains(&key))
            || (option.has_key("example") && !option.has_key("means"))
        {
            return None;
        }
        let parts: Vec<Node> =
            ["label", "means", "example"].into_iter().filter_map(|key| option.get(key).cloned()).collect();
        let short = label.as_text() == Some(&label_from_code(code)) && parts.len() == 2;
        let at = label.at;
        out.set(code, if short { parts[1].clone() } else { Node::from_list(parts, at) });
    }
    Some(Node::from_table(out, node.at))
}

/// The labels of yes and no.
pub(super) fn yes_no(code: &str, at: ValuePlace) -> Node {
    make_words(code, Some(if code == "yes" { "是" } else { "否" }), at)
}

/// The fields of the first edition for those of the second.
pub(super) fn low_fields(fields: &Table, around: &FieldContext<'_>) -> Vec<Node> {
    let picks: Vec<&str> = fields
        .iter()
        .filter(|(_, field)| field.as_table().is_some_and(|table| table.has_key("pick")))
        .map(|(name, _)| name)
        .collect();
    fields.iter().flat_map(|(name, field)| low_field(name, field, around, &picks)).collect()
}

fn low_field(name: &str, field: &Node, around: &FieldContext<'_>, picks: &[&str]) -> Vec<Node> {
    let at = field.at;
    let mut field = table_of(field);
    let times = field.take_node("times").and_then(|times| times.as_number()).unwrap_or(0);
    (0..times.max(1))
        .map(|i| Node::from_table(one_field(name, field.clone(), (times, i), around, picks, at), at))
        .collect()
}

/// One of the fields that a field with `times` stands for.
fn one_field(
    name: &str,
    mut field: Table,
    (times, i): (usize, usize),
    around: &FieldContext<'_>,
    picks: &[&str],
    at: ValuePlace,
) -> Table {
    let form = form_of_field(&field);
    let mut out = Table::default();
    let text = |text: &str| Node::from_text(text, at);
    let numbered = |name: &str| if times > 0 { format!("{name}_{}", i + 1) } else { name.to_owned() };
    out.set("name", text(&numbered(name)));
    let label = field.take_node("label").unwrap_or_else(|| text(""));
    out.set("label", if times > 0 { add_ordinal(&label, i) } else { label });
    let optional = field.get("optional").and_then(Node::as_flag) == Some(true);
    let kind = match form {
        FieldForm::Choice | FieldForm::Keep => {
            let key = if form == FieldForm::Keep { "keep" } else { "choice" };
            set_options(&mut out, field.take_node(key));
            key
        }
        FieldForm::Choices => {
            let written = field.take_node("choices");
            let size = match written.as_ref() {
                Some(node) => match node.as_text() {
                    Some(list) => (around.size)(list),
                    None => node.as_table().map_or(0, Table::len),
                },
                None => 0,
            };
            set_options(&mut out, written);
            out.set(
                "min",
                field.take_node("min").unwrap_or_else(|| Node::from_number(usize::from(!optional), at)),
            );
            out.set("max", field.take_node("max").unwrap_or_else(|| Node::from_number(size, at)));
            "choices"
        }
        FieldForm::YesNo => {
            let option = |(code, means): (&str, Option<Node>)| {
                let mut option = Table::default();
                option.set("code", text(code));
                option.set("label", yes_no(code, at));
                option.set("means", means.unwrap_or_else(|| text("")));
                Node::from_table(option, at)
            };
            let both = [("yes", field.take_node("yes")), ("no", field.take_node("no"))];
            out.set("options", Node::from_list(both.into_iter().map(option).collect(), at));
            "choice"
        }
        FieldForm::Score => {
            if let Some([least, most]) = field.list("score") {
                out.set("min", least.clone());
                out.set("max", most.clone());
            }
            field.take_node("score");
            "score"
        }
        FieldForm::Prefers => {
            if let Some(sides) = field.take_node("prefers") {
                out.set("sides", sides);
            }
            if let Some(tie) = field.take_node("tie") {
                let tie = low_options(&tie);
                out.set("tie", tie.as_list().and_then(|list| list.first()).cloned().unwrap_or(tie.clone()));
            }
            if let Some(otherwise) = field.take_node("otherwise") {
                out.set("else", otherwise);
                out.set("rule", field.take_node("rule").unwrap_or_else(|| text("majority")));
            }
            "preference"
        }
        FieldForm::Pick => {
            if let Some(from) = field.take_node("pick") {
                out.set("from", from);
            }
            match field.take_node("count") {
                Some(count) if count.as_text() == Some("any") => out.set("any", Node::from_flag(true, at)),
                Some(count) => out.set("k", count),
                None => out.set("k", Node::from_number(1, at)),
            }
            if let Some(beside) = field.take_node("compared_with") {
                out.set("beside", beside);
            }
            "pick"
        }
        FieldForm::Text if field.text("edits").is_some_and(|edits| picks.contains(&edits)) => {
            if let Some(pick) = field.take_node("edits") {
                out.set("pick", pick);
            }
            "edited"
        }
        FieldForm::Text => {
            if let Some(edits) = field.take_text("edits") {
                out.set("edits", text(&numbered(&edits)));
                // A text that stands in its field may be left as it is.
                let given = field.take_node("optional").unwrap_or_else(|| Node::from_flag(true, at));
                if given.as_flag() != Some(false) {
                    out.set("optional", given);
                }
            }
            "text"
        }
    };
    out.set("kind", text(kind));
    asked_if(&mut out, &mut field, around.verdict, kind, at);
    let rule = field.take_node("rule").unwrap_or_else(|| text(usual_rule(kind, around.votes)));
    if rule.as_text() != Some("majority") {
        out.set_default("rule", rule);
    }
    for (key, node) in field.iter() {
        out.set(key, node.clone());
    }
    out
}

fn set_options(field: &mut Table, written: Option<Node>) {
    if let Some(written) = written {
        field.set("options", low_options(&written));
    }
}

/// The rule that decides on a field that names none.
pub(super) fn usual_rule(kind: &str, votes: usize) -> &'static str {
    match kind {
        "choices" => "union",
        "score" => "mean",
        "text" if votes > 1 => "collect",
        _ => "majority",
    }
}

/// After which answers a field is asked: `if`, or the verdict.
fn asked_if(out: &mut Table, field: &mut Table, verdict: Option<&Verdict>, kind: &str, at: ValuePlace) {
    let mut when = Table::default();
    let list = |node: &Node| Node::from_texts(node.as_texts(), node.at);
    let given = field.take_table("if");
    match (given.as_ref().and_then(Table::single_entry), verdict) {
        (Some((name, codes)), _) => {
            when.set("field", Node::from_text(name, codes.at));
            when.set("write", list(codes));
            if let Some(takes) = field.take_node("takes") {
                when.set("draft", list(&takes));
            }
        }
        (None, Some(verdict)) if kind == "text" => {
            when.set("field", Node::from_text(verdict.name.as_str(), at));
            when.set("write", Node::from_texts([verdict.rewrites.as_str()], at));
            when.set("draft", Node::from_texts([verdict.accepts.as_str()], at));
        }
        _ => return,
    }
    out.set("when", Node::from_table(when, at));
}

/// The fields of the second edition for those of the first, in their order; `None` where one cannot be said.
pub(super) fn up_fields(fields: &[Node], around: &FieldContext<'_>) -> Option<Table> {
    let each: Vec<(String, Table)> =
        fields.iter().map(|field| up_field(field.as_table()?, around)).collect::<Option<_>>()?;
    let mut out = Table::default();
    let mut i = 0;
    while let Some((name, field)) = each.get(i) {
        let at = fields[i].at;
        let run = name.strip_suffix("_1").and_then(|stem| run_of(stem, &each[i..]));
        let (name, field, length) = match run {
            Some((stem, field, length)) => (stem.to_owned(), field, length),
            None => (name.clone(), field.clone(), 1),
        };
        let label = field.single_entry().filter(|(key, _)| *key == "label").map(|(_, label)| label.clone());
        out.set(&name, label.unwrap_or(Node::from_table(field, at)));
        i += length;
    }
    Some(out)
}

/// Fields `STEM_1`, `STEM_2`, … that are the same but for their ordinals: the one with `times`, and how many they are.
fn run_of<'s>(stem: &'s str, each: &[(String, Table)]) -> Option<(&'s str, Table, usize)> {
    let bare = |i: usize| -> Option<Table> {
        let (name, field) = each.get(i)?;
        let (en, zh) = NTH.get(i)?;
        let label = field.get("label")?;
        let spoken =
            label.english_text()?.contains(en) && label.chinese_text().is_none_or(|text| text.contains(zh));
        if !spoken || *name != format!("{stem}_{}", i + 1) {
            return None;
        }
        let mut field = field.clone();
        let put = |text: &str, chinese: bool| text.replacen(if chinese { zh } else { en }, "{nth}", 1);
        field.set("label", label.map_languages(put));
        if let Some(edits) = field.text("edits").map(str::to_owned) {
            let at = field.get("edits").map(|node| node.at).unwrap_or_default();
            field.set("edits", Node::from_text(edits.strip_suffix(&format!("_{}", i + 1))?, at));
        }
        Some(field)
    };
    let mut first = bare(0)?;
    let mut length = 1;
    while length < NTH.len() && bare(length).as_ref() == Some(&first) {
        length += 1;
    }
    if length < 2 {
        return None;
    }
    first.set("times", Node::from_number(length, ValuePlace::default()));
    Some((stem, first, length))
}

fn up_field(field: &Table, around: &FieldContext<'_>) -> Option<(String, Table)> {
    let mut field = field.clone();
    let name = field.take_text("name")?;
    let kind = field.take_text("kind")?;
    let mut out = Table::default();
    out.set("label", field.take_node("label")?);
    let number = |node: Option<Node>, usual: usize| node.map_or(Some(usual), |node| node.as_number());
    let up = |node: Node| if node.as_text().is_some() { Some(node) } else { up_options(&node) };
    match kind.as_str() {
        "choice" => {
            let options = up(field.take_node("options")?)?;
            let yes_no_of = |table: &Table| -> Option<(Node, Node)> {
                let of = |code: &str| match table.list(code)? {
                    [label, means] if *label == yes_no(code, ValuePlace::default()) => Some(means.clone()),
                    _ => None,
                };
                (table.keys().eq(["yes", "no"])).then_some(())?;
                Some((of("yes")?, of("no")?))
            };
            match options.as_table().and_then(yes_no_of) {
                Some((yes, no)) => {
                    out.set("yes", yes);
                    out.set("no", no);
                }
                None => out.set("choice", options),
            }
        }
        "choices" => {
            let options = up(field.take_node("options")?)?;
            let size = options.as_text().map(|list| (around.size)(list));
            let size = size.or_else(|| options.as_table().map(Table::len))?;
            out.set("choices", options);
            let (least, most) = (number(field.take_node("min"), 0)?, number(field.take_node("max"), size)?);
            let optional = field.get("optional").and_then(Node::as_flag) == Some(true);
            if least != usize::from(!optional) {
                out.set("min", Node::from_number(least, ValuePlace::default()));
            }
            if most != size {
                out.set("max", Node::from_number(most, ValuePlace::default()));
            }
        }
        "keep" => out.set("keep", up(field.take_node("options")?)?),
        "score" => {
            let one = |node: Option<Node>, usual| {
                node.unwrap_or_else(|| Node::from_number(usual, ValuePlace::default()))
            };
            let both = vec![one(field.take_node("min"), 1), one(field.take_node("max"), 5)];
            out.set("score", Node::from_list(both, ValuePlace::default()));
        }
        "preference" => {
            out.set("prefers", field.take_node("sides")?);
            let tie = field.take_node("tie")?;
            let at = tie.at;
            out.set("tie", up_options(&Node::from_list(vec![tie], at))?);
            if let Some(otherwise) = field.take_node("else") {
                out.set("otherwise", otherwise);
            }
        }
        "pick" => {
            out.set("pick", field.take_node("from")?);
            let (count, any) = (field.take_node("k"), field.take_node("any").and_then(|any| any.as_flag()));
            if any == Some(true) {
                out.set("count", Node::from_text("any", ValuePlace::default()));
            } else if let Some(count) = count.filter(|count| count.as_number() != Some(1)) {
                out.set("count", count);
            }
            if let Some(beside) = field.take_node("beside") {
                out.set("compared_with", beside);
            }
        }
        "edited" => out.set("edits", field.take_node("pick")?),
        "text" => {
            if let Some(edits) = field.take_node("edits") {
                out.set("edits", edits);
                if field.take_node("optional").and_then(|optional| optional.as_flag()) != Some(true) {
                    out.set("optional", Node::from_flag(false, ValuePlace::default()));
                }
            }
        }
        _ => return None,
    }
    up_when(&mut out, &mut field, around.verdict, &kind)?;
    let rule = field.take_node("rule").unwrap_or_else(|| Node::from_text("majority", ValuePlace::default()));
    let usual = if out.has_key("otherwise") { "majority" } else { usual_rule(&kind, around.votes) };
    if rule.as_text() != Some(usual) {
        out.set("rule", rule);
    }
    for (key, node) in field.iter() {
        out.set(key, node.clone());
    }
    Some((name, out))
}

/// The inverse of [`asked_if`]; `None` if the field is asked whatever the verdict.
fn up_when(out: &mut Table, field: &mut Table, verdict: Option<&Verdict>, kind: &str) -> Option<()> {
    let when = field.take_table("when");
    let mut usual = (Table::default(), Table::default());
    asked_if(&mut usual.0, &mut usual.1, verdict, kind, ValuePlace::default());
    match (when, usual.0.table("when")) {
        (None, None) => Some(()),
        (None, Some(_)) => None,
        (Some(when), usual) if usual == Some(&when) => Some(()),
        (Some(when), _) => {
            let one = |node: &Node| match node.as_list() {
                Some([only]) => only.clone(),
                _ => node.clone(),
            };
            let mut of = Table::default();
            of.set(when.text("field")?, one(when.get("write")?));
            out.set("if", Node::from_table(of, ValuePlace::default()));
            if let Some(draft) = when.get("draft") {
                out.set("takes", one(draft));
            }
            Some(())
        }
    }
}
