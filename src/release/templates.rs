//! The texts of a release, from templates and facts.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value};

use super::facts::{Facts, Shape};
use crate::text::{decimals, grouped};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("templates/", $name)))),+];
    };
}

templates! {
    "README.md", "DATASHEET.md", "CITATION.cff", "CHANGELOG.md", "CANARY.txt", "LICENSE", "source_licence.txt",
    "funnel.svg", "lm_eval.yaml", "utils.py", "inspect.py", "diff.html",
}

/// The text files of every folder, with paths. A candidate has no canary.
///
/// # Errors
/// If a template uses a value that the facts lack, which does not depend on the input.
pub fn render(facts: &Facts) -> Result<Vec<(String, String)>, Error> {
    let environment = environment()?;
    let all = Value::from(Serde(facts));
    let mut files = Vec::new();
    for name in ["README.md", "DATASHEET.md", "CHANGELOG.md", "LICENSE", "funnel.svg"] {
        files.push((name.to_string(), environment.get_template(name)?.render(all.clone())?));
    }
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
    for shape in &facts.configs {
        tasks(&environment, facts, shape, &mut files)?;
    }
    Ok(files)
}

/// A self-contained page.
pub(super) fn page(name: &str, shows: &impl serde::Serialize) -> Result<String, Error> {
    environment()?.get_template(name)?.render(Value::from(Serde(shows)))
}

fn tasks(
    environment: &Environment<'_>,
    facts: &Facts,
    shape: &Shape,
    files: &mut Vec<(String, String)>,
) -> Result<(), Error> {
    // Likeness to the reference, all that these programs would measure, is not the figure of a benchmark whose answers are judged.
    let Some(task) = shape.task.as_ref().filter(|task| !task.judged) else { return Ok(()) };
    let context = minijinja::context! {
        task => Value::from(Serde(task)), shape => Value::from(Serde(shape)),
        version => facts.version.clone(), recipe => facts.recipe,
    };
    for (template, path) in [
        ("lm_eval.yaml", format!("eval/lm_eval/{}.yaml", task.name)),
        ("utils.py", format!("eval/lm_eval/utils_{}.py", task.name)),
        ("inspect.py", format!("eval/inspect/{}.py", task.name)),
    ] {
        files.push((path, environment.get_template(template)?.render(context.clone())?));
    }
    Ok(())
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    // A missing value is an error instead of a gap on the card.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // In Markdown and Python the escapes of markup would be visible.
    environment.set_auto_escape_callback(|name| match name.ends_with(".svg") || name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    // A JSON string is also valid in YAML and Python.
    environment.add_filter("quoted", |value: Value| serde_json::to_string(&value).unwrap_or_default());
    environment.add_filter("grouped", grouped);
    environment.add_filter("decimals", |figure: f64, digits: usize| decimals(figure, digits));
    environment.add_filter("share", |part: u64, whole: u64| part as f64 / whole.max(1) as f64);
    environment.add_filter("worded", |value: Value| {
        serde_json::to_value(&value).map_or_else(|_| value.to_string(), |json| super::diff::as_text(&json))
    });
    // `capitalize` would also make `Chinese` lower case.
    environment.add_filter("sentence", |text: String| {
        let mut chars = text.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    });
    // A cell of a Markdown table is one line without bars.
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}
