//! `prompt = { zh = "…", en = "…" }`: the prompt by the language of the record, of drafts and of the tasks of an evaluation.

use super::kept::Columns;
use super::tree::{Node, Table, ValuePlace};

/// The languages that a record may have.
const LANGUAGES: [&str; 3] = ["zh", "en", "und"];

/// Prompts by language as cases of a draft. The first is asked where the record's language has none, and a finding says so.
pub(super) fn by_language(step: &mut Table, columns: &Columns) {
    let name = if columns.has_column("language") { "language" } else { "post.language" };
    let mut asked: Option<Vec<String>> = None;
    let mut cases = Vec::new();
    match step.table("prompt").filter(|prompts| !prompts.is_empty()).cloned() {
        Some(prompts) => {
            step.take_node("prompt");
            let mut base = Table::default();
            if let Some(with) = step.take_node("with") {
                base.set("with", with);
            }
            asked = Some(prompts.keys().map(str::to_owned).collect());
            cases = make_cases(&prompts, &base, name);
        }
        None => {
            for case in step.take_list("case").unwrap_or_default() {
                let table = case.as_table().cloned().unwrap_or_default();
                let Some(prompts) = table.table("prompt").filter(|prompts| !prompts.is_empty()) else {
                    cases.push(case);
                    continue;
                };
                let mut base = table.clone();
                base.take_node("prompt");
                asked.get_or_insert_with(|| prompts.keys().map(str::to_owned).collect());
                cases.extend(make_cases(prompts, &base, name));
            }
        }
    }
    if let Some(first) = cases.first() {
        let at = first.at;
        step.set("case", Node::from_list(cases, at));
    }
    let told = columns.is_empty() || columns.has_column("flags");
    if let Some(asked) = asked.filter(|_| told) {
        add_finding(step, &asked, name);
    }
}

/// A case for each prompt: the first one last, without a condition of its own.
fn make_cases(prompts: &Table, base: &Table, name: &str) -> Vec<Node> {
    let case = |(at, (language, prompt)): (usize, (&str, &Node))| {
        let mut case = base.clone();
        if at > 0 {
            let is_it = format!("{name} == '{language}'");
            let when =
                base.text("when").map_or_else(|| is_it.clone(), |when| format!("({when}) and {is_it}"));
            case.set("when", Node::from_text(when, prompt.at));
        }
        case.set("prompt", prompt.clone());
        Node::from_table(case, prompt.at)
    };
    let mut cases: Vec<Node> = prompts.iter().enumerate().map(case).collect();
    cases.rotate_left(1);
    cases
}

/// The same of a prompt of a task, which has no cases of its own: a list of prompts with their conditions. Returns the finding
/// on rows whose language has none.
pub(super) fn of_task(table: &mut Table, key: &str, name: &str) -> Option<String> {
    let prompts = table.table(key).filter(|prompts| !prompts.is_empty())?.clone();
    let cases = make_cases(&prompts, &Table::default(), name);
    let at = cases.first()?.at;
    table.set(key, Node::from_list(cases, at));
    make_finding(&prompts.keys().map(str::to_owned).collect::<Vec<_>>(), name)
}

/// The expression of what is found on a record whose language has no prompt; `None` if every language has one.
fn make_finding(asked: &[String], name: &str) -> Option<String> {
    let first = asked.first().filter(|_| asked.len() < LANGUAGES.len())?;
    let quoted: Vec<String> = asked.iter().map(|language| format!("'{language}'")).collect();
    Some(format!(
        "'no prompt is in its language, ' ~ {name} ~ ': the one for {first} was asked' if {name} not in [{}]",
        quoted.join(", ")
    ))
}

/// Adds the finding on a record whose language has no prompt.
fn add_finding(step: &mut Table, asked: &[String], name: &str) {
    let Some(check) = make_finding(asked, name) else { return };
    // `checks` that is no list stays where it is, and is reported.
    if step.has_key("checks") && step.list("checks").is_none() {
        return;
    }
    let at = ValuePlace::default();
    let mut checks = step.take_list("checks").unwrap_or_default();
    checks.push(Node::from_text(check, at));
    step.set("checks", Node::from_list(checks, at));
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse_table;
    use super::*;

    fn low(text: &str) -> Table {
        let mut step = parse_table(0, "", text).unwrap();
        by_language(&mut step, &Columns::default());
        step
    }

    #[test]
    fn the_first_prompt_is_for_every_language_without_one() {
        let step = low("prompt = { en = 'why', zh = 'why_zh' }\nwith = { joke = 'text' }\n");
        let cases = step.list("case").unwrap();
        let of = |at: usize, key: &str| cases[at].as_table().unwrap().text(key).map(str::to_owned);
        assert_eq!(
            (of(0, "when").as_deref(), of(0, "prompt").as_deref()),
            (Some("post.language == 'zh'"), Some("why_zh"))
        );
        assert_eq!((of(1, "when"), of(1, "prompt").as_deref()), (None, Some("why")));
        assert!(cases.iter().all(|case| case.as_table().unwrap().has_key("with")) && !step.has_key("with"));
        let checks = step.list("checks").unwrap();
        assert!(checks[0].as_text().unwrap().ends_with("if post.language not in ['en', 'zh']"));
    }

    #[test]
    fn cases_keep_their_conditions_and_one_prompt_stays_as_it_is() {
        let step = low("case = [{ when = 'a or b', prompt = { zh = 'x', en = 'y' } }, { prompt = 'z' }]\n");
        let cases = step.list("case").unwrap();
        let when: Vec<Option<&str>> =
            cases.iter().map(|case| case.as_table().unwrap().text("when")).collect();
        assert_eq!(when, [Some("(a or b) and post.language == 'en'"), Some("a or b"), None]);
        let plain = low("prompt = 'why'\nchecks = ['x']\n");
        assert_eq!((plain.text("prompt"), plain.list("checks").unwrap().len()), (Some("why"), 1));
        let no_list = low("prompt = { en = 'why', zh = 'why_zh' }\nchecks = 'x'\n");
        assert_eq!(no_list.text("checks"), Some("x"), "it is reported, not replaced");
    }
}
