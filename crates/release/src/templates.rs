//! The texts of a release, from templates and facts.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use super::eval_files::{ExportedTask, ScoringForm, python_name};
use super::facts::Facts;
use crate::audit::chinese;
use crate::figures::{funnel, render_svg};
use crate::markup::compact_template;
use crate::recipe;
use crate::text::{format_decimals, group_digits};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("templates/", $name)))),+];
    };
}

templates! {
    "README.md", "README.zh.md", "DATASHEET.md", "CITATION.cff", "CHANGELOG.md", "CANARY.txt", "LICENSE", "source_licence.txt",
    "eval/scoring.py", "eval/lm_eval.yaml", "eval/utils.py", "eval/inspect.py",
    "eval/opencompass.py", "eval/riddlemill_evaluator.py",
}

/// The text files of every folder, with paths. A candidate has no canary.
///
/// # Errors
/// If a template uses a value that the facts lack, which does not depend on the input.
pub fn render_files(facts: &Facts) -> Result<Vec<(String, String)>, Error> {
    let environment = create_environment()?;
    let all = Value::from(Serde(facts));
    let mut files = Vec::new();
    for name in ["README.md", "README.zh.md", "DATASHEET.md", "CHANGELOG.md", "LICENSE"] {
        files.push((name.to_string(), environment.get_template(name)?.render(all.clone())?));
    }
    let left = facts.funnel.iter().map(|step| (step.stage.clone(), step.records_out));
    let read = facts.funnel.first().map(|step| step.records_in);
    files.push(("funnel.svg".to_owned(), render_svg(&funnel(facts.recipe, read, left))));
    // The format requires an author, and nobody is one whom the curator did not name.
    if !facts.authors.is_empty() {
        files.push(("CITATION.cff".into(), environment.get_template("CITATION.cff")?.render(all.clone())?));
    }
    if facts.canary.is_some() {
        files.push(("CANARY.txt".into(), environment.get_template("CANARY.txt")?.render(all.clone())?));
    }
    let mut sources: Vec<&str> = facts.raw.iter().filter_map(|r| r.file.split('/').next()).collect();
    sources.sort_unstable();
    sources.dedup();
    for source in sources {
        let raw: Vec<_> = facts.raw.iter().filter(|r| r.file.split('/').next() == Some(source)).collect();
        let context = minijinja::context! { source, raw => Value::from(Serde(&raw)) };
        files.push((
            format!("LICENSES/{source}.txt"),
            environment.get_template("source_licence.txt")?.render(context)?,
        ));
    }
    render_tasks(&environment, facts, &mut files)?;
    Ok(files)
}

/// A diff as a self-contained page.
pub(super) fn diff_page(shows: &impl serde::Serialize) -> Result<String, Error> {
    let [style, template] =
        [include_str!("templates/diff.css"), include_str!("templates/diff.html")].map(compact_template);
    let mut environment = create_environment()?;
    environment.add_template("diff.css", &style)?;
    environment.add_template("diff.html", &template)?;
    environment.get_template("diff.html")?.render(Value::from(Serde(shows)))
}

/// The files that ask the items of eval/items: those for lm_eval and OpenCompass, which have no judge, of the tasks whose
/// answers need none.
fn render_tasks(
    environment: &Environment<'_>,
    facts: &Facts,
    files: &mut Vec<(String, String)>,
) -> Result<(), Error> {
    let asked: Vec<&ExportedTask> = facts.exported.iter().filter(|task| task.items > 0).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let mut put = |template: &str, path: String, context: Value| {
        let text = environment.get_template(template)?.render(context)?;
        files.push((path, text));
        Ok::<_, Error>(())
    };
    let divided = asked.iter().any(|task| !task.splits.with_items.is_empty());
    let confidence = asked.iter().any(|task| task.confidence);
    put("eval/scoring.py", "eval/scoring.py".into(), scoring_context(divided, confidence))?;
    let scored: Vec<&ExportedTask> = asked.iter().copied().filter(|task| !task.is_judged()).collect();
    let of_figures: Vec<Value> =
        scored.iter().filter(|task| task.form != ScoringForm::Text).map(|task| task_context(task)).collect();
    if !scored.is_empty() {
        let context = minijinja::context! { tasks => of_figures, divided };
        put("eval/utils.py", "eval/lm_eval/utils.py".into(), context)?;
    }
    if scored.iter().any(|task| task.form != ScoringForm::Text) {
        let path = "eval/opencompass/riddlemill_evaluator.py".to_owned();
        put("eval/riddlemill_evaluator.py", path, minijinja::context! {})?;
    }
    for shape in &facts.configs {
        let set = python_name(shape.name);
        let of_set: Vec<&ExportedTask> =
            asked.iter().copied().filter(|task| task.config == shape.name).collect();
        for task in of_set.iter().filter(|task| !task.is_judged()) {
            let context = minijinja::context! { task => task_context(task), set => set.clone(), version => facts.version.clone() };
            put("eval/lm_eval.yaml", format!("eval/lm_eval/{}.yaml", task.name), context)?;
        }
        if !of_set.is_empty() {
            let all: Vec<Value> = of_set.iter().map(|task| task_context(task)).collect();
            put(
                "eval/inspect.py",
                format!("eval/inspect/{set}.py"),
                minijinja::context! { set => set.clone(), tasks => all, divided },
            )?;
        }
        let measured = of_set.iter().filter(|task| !task.is_judged() && task.form != ScoringForm::Text);
        let measured: Vec<Value> = measured.map(|task| task_context(task)).collect();
        if !measured.is_empty() {
            let path = format!("eval/opencompass/datasets/{set}.py");
            put("eval/opencompass.py", path, minijinja::context! { set => set.clone(), tasks => measured })?;
        }
    }
    let scoring = |task: &&ExportedTask| {
        let mut how = serde_json::json!({
            "task": task.task, "config": task.config, "form": task.form, "groups": task.groups, "f1_of_set": task.f1,
        });
        if let (false, Some(how)) = (task.splits.with_items.is_empty(), how.as_object_mut()) {
            how.insert("splits".into(), serde_json::json!(task.splits.with_items));
            how.insert("evaluated".into(), serde_json::json!(task.splits.evaluated));
        }
        if let (true, Some(how)) = (task.samples > 1, how.as_object_mut()) {
            how.insert("samples".into(), task.samples.into());
        }
        if let (true, Some(how)) = (task.confidence, how.as_object_mut()) {
            how.insert("confidence".into(), true.into());
        }
        (task.name.clone(), how)
    };
    let how: serde_json::Map<String, serde_json::Value> = asked.iter().map(scoring).collect();
    files.push(("eval/tasks.json".into(), format!("{:#}\n", serde_json::Value::Object(how))));
    Ok(())
}

/// What scoring.py reads answers by.
fn scoring_context(divided: bool, confidence: bool) -> Value {
    let (words, marks) = (crate::llm::parse::reading_words(), crate::llm::reasoning_marks());
    minijinja::context! { divided, confidence, words, marks }
}

/// A task for the templates.
fn task_context(task: &ExportedTask) -> Value {
    minijinja::context! {
        name => task.name.clone(), form => Value::from(Serde(&task.form)), figures => task.figure_names(),
        judged => task.is_judged(), system => task.system, splits => Value::from(Serde(&task.splits)), notes => task.notes.clone(),
    }
}

/// What the Chinese card says in other words than the English one. Names of a benchmark's own stay.
fn in_chinese(environment: &mut Environment<'_>) {
    environment.add_filter("in_chinese", |text: String| chinese::translate_sentence(&text).unwrap_or(text));
    environment.add_filter("about_zh", |name: String| {
        recipe::find_recipe(&name).map(|recipe| recipe.about_zh).unwrap_or_default()
    });
    environment.add_filter("stage_zh", |name: String| {
        let review = name.strip_prefix("review:");
        let known = chinese::stage_names(review.unwrap_or(&name)).map(|(_, zh)| zh);
        match review {
            Some(field) => format!("评审：{}", known.unwrap_or(field)),
            None => known.map_or_else(|| name.clone(), str::to_owned),
        }
    });
    environment.add_filter("state_zh", |code: String| chinese::state_name(&code).map_or(code, str::to_owned));
    environment.add_filter("reason_zh", |code: String| match chinese::describe_reason(&code) {
        Some((short, _)) => short.to_owned(),
        None => chinese::translate_sentence(&code).unwrap_or(code),
    });
    environment.add_filter("meaning_zh", |code: String, otherwise: String| {
        chinese::describe_reason(&code).map_or(otherwise, |(_, meaning)| meaning.to_owned())
    });
}

fn create_environment<'a>() -> Result<Environment<'a>, Error> {
    let mut environment = Environment::new();
    // A missing value is an error instead of a gap on the card.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // In Markdown and Python the escapes of markup would be visible.
    environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    // A JSON string is also valid in YAML and Python.
    environment.add_filter("quoted", |value: Value| serde_json::to_string(&value).unwrap_or_default());
    environment.add_filter("grouped", group_digits);
    environment.add_filter("python_name", |name: String| python_name(&name));
    environment.add_filter("decimals", |figure: f64, digits: usize| format_decimals(figure, digits));
    environment.add_filter("worded", |value: Value| {
        serde_json::to_value(&value).map_or_else(|_| value.to_string(), |json| super::diff::as_text(&json))
    });
    // `capitalize` would also make `Chinese` lower case.
    environment.add_filter("sentence", |text: String| {
        let mut chars = text.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    });
    in_chinese(&mut environment);
    // A cell of a Markdown table is one line without bars.
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use serde_json::{Value as Json, json};

    use super::*;

    /// Reads every reply of the table and says which are read as something else.
    const SCRIPT: &str = "import json, scoring\n\
        for at, case in enumerate(json.load(open('replies.json', encoding='utf-8'))):\n\
        \x20   item = {key: case[key] for key in ('choices', 'options') if key in case}\n\
        \x20   for reply, expected in case['replies']:\n\
        \x20       found = scoring.answer(str(at), item, reply)\n\
        \x20       if found != expected: print(ascii((case['form'], reply, expected, found)))\n\
        print('read')";

    #[test]
    fn scoring_reads_every_reply_of_the_table_as_evaluate_does() {
        let replies = include_str!("../../../tests/fixtures/replies.json");
        let table: Vec<Json> = serde_json::from_str(replies).unwrap();
        let forms = table
            .iter()
            .enumerate()
            .map(|(at, case)| (at.to_string(), json!({ "form": case["form"], "task": null })));
        let forms: serde_json::Map<String, Json> = forms.collect();
        for confidence in [false, true] {
            let environment = create_environment().unwrap();
            let template = environment.get_template("eval/scoring.py").unwrap();
            let folder = tempfile::tempdir().unwrap();
            let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
            write("scoring.py", &template.render(scoring_context(false, confidence)).unwrap());
            write("tasks.json", &Json::Object(forms.clone()).to_string());
            write("replies.json", replies);
            let python = Command::new("python3")
                .args(["-c", SCRIPT])
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .current_dir(folder.path())
                .output();
            // Where there is no Python, nobody runs the file.
            let Ok(output) = python else { return };
            let said = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert_eq!(said.trim(), "read", "{confidence}");
        }
    }
}
