//! `benchmark`: shows a benchmark's parts, checks its folder, and tries it on one post.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::args::{BenchmarkVerb, Global, TryPost};
use super::convert;
use super::exit::{Exit, Failure};
use super::output;
use super::rehearse::{Examples, GivenPost, rehearse_recipe};
use crate::config::Config;
use crate::pipeline;
use crate::recipe::{self, RECIPES, Recipe};
use crate::record::{Post, PostKind, Record, Row};
use crate::release;
use crate::stages::native::WrittenRecord;
use crate::stages::{self, DraftItem, StageRows, draft, subject};
use riddlemill_benchmarks::Benchmark;
use riddlemill_benchmarks::figure;

pub(super) fn run_benchmark_verb(verb: &BenchmarkVerb, global: &Global) -> Result<Exit, Failure> {
    match verb {
        BenchmarkVerb::List => list_benchmarks(global)?,
        BenchmarkVerb::Show { name } => show_benchmark(output::find_recipe(name)?, global)?,
        BenchmarkVerb::Check { name } => check_benchmarks(name.as_deref(), global)?,
        BenchmarkVerb::Convert { folder, out } => return convert::convert_folder(folder, out, global),
        BenchmarkVerb::Try { name, asked } if asked.replies.is_none() && asked.votes.is_none() => {
            let config = output::load_or_default(global)?;
            let post = build_post(&asked.post, asked.answer.as_deref(), parse_columns(&asked.column)?);
            try_post(&config, output::find_recipe(name)?, post, global)?;
        }
        BenchmarkVerb::Try { name, asked } => {
            return with_examples(output::find_recipe(name)?, asked, global);
        }
    }
    Ok(Exit::Done)
}

fn declared_benchmark(recipe: &Recipe) -> &'static Benchmark {
    riddlemill_benchmarks::find_benchmark(recipe.name)
        .unwrap_or_else(|| unreachable!("every recipe has a benchmark: {}", recipe.name))
}

/// The place of its folder.
fn folder_origin(name: &str, global: &Global) -> &'static str {
    match global.workspace.join("benchmarks").join(name).is_dir() {
        true => "benchmarks/",
        false => "built in",
    }
}

fn list_benchmarks(global: &Global) -> Result<(), Failure> {
    convert::hint_convert(RECIPES.iter(), global);
    if global.json {
        let row = |recipe: &Recipe| json!({ "name": recipe.name, "about": recipe.about, "from": folder_origin(recipe.name, global), "steps": recipe.steps().len() });
        return output::print_json(&RECIPES.iter().map(row).collect::<Vec<_>>());
    }
    let width = RECIPES.iter().map(|recipe| recipe.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for recipe in RECIPES.iter() {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:width$}  {:11}  {}",
            recipe.name,
            folder_origin(recipe.name, global),
            recipe.about
        );
    }
    for aside in riddlemill_benchmarks::set_aside_folders() {
        let problems = output::count(aside.problems.len() as u64, "problem");
        let _ =
            writeln!(text, "{:width$}  {:11}  left out until mended: {problems}", aside.name, "benchmarks/");
    }
    output::print_text(&text)
}

fn show_benchmark(recipe: &'static Recipe, global: &Global) -> Result<(), Failure> {
    let benchmark = declared_benchmark(recipe);
    if global.json {
        let steps: Vec<Json> = recipe
            .steps()
            .iter()
            .map(|step| {
                let (kind, about) = (step.stage.name(), step.stage.stage_detail());
                json!({ "name": step.name, "kind": kind, "reads": step.inputs, "about": about })
            })
            .collect();
        let columns = |data: &riddlemill_benchmarks::Data| {
            let column = |column: &riddlemill_benchmarks::data::Column| json!({ "name": column.name, "type": column.kind.name(), "about": column.about });
            data.columns.iter().chain(&data.sometimes).map(column).collect::<Vec<_>>()
        };
        return output::print_json(&json!({
            "name": recipe.name,
            "about": recipe.about,
            "from": folder_origin(recipe.name, global),
            "steps": steps,
            "settings": benchmark.own.declared.iter().map(|own| json!({
                "key": format!("{}.{}", own.section, own.key.name), "default": own.default,
                "expected": own.key.kind.describe_expected(), "about": own.key.doc,
            })).collect::<Vec<_>>(),
            "prompts": benchmark.prompts.iter().map(|prompt| prompt.name).collect::<Vec<_>>(),
            "columns": benchmark.data.as_ref().map(columns).unwrap_or_default(),
            "figures": declared_figures(benchmark).map(|(name, kind, title)| json!({ "name": name, "kind": kind, "title": title })).collect::<Vec<_>>(),
            "compat": benchmark.data.iter().flat_map(|data| &data.compat.files).map(|c| c.file).collect::<Vec<_>>(),
        }));
    }
    let mut text =
        format!("{}: {} ({})\n\nsteps\n", recipe.name, recipe.about, folder_origin(recipe.name, global));
    let width = recipe.steps().iter().map(|step| step.name.len()).max().unwrap_or(0);
    for step in recipe.steps() {
        let (kind, about) = (step.stage.name(), step.stage.stage_detail());
        let _ = writeln!(text, "{}", format!("  {:width$}  {kind:9}  {about}", step.name).trim_end());
    }
    if !benchmark.own.declared.is_empty() {
        let _ = writeln!(text, "\nsettings of its own, under [recipe.{}.<table>]", recipe.name);
    }
    for own in &benchmark.own.declared {
        let _ = writeln!(text, "  {}.{} = {}  {}", own.section, own.key.name, own.key.default, own.key.doc);
    }
    if let Some(data) = &benchmark.data {
        let _ = writeln!(text, "\ncolumns of a release: {}", data.about);
        let width = data.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        for column in data.columns.iter().chain(&data.sometimes) {
            let _ = writeln!(text, "  {:width$}  {}", column.name, column.about);
        }
        let files: Vec<&str> = data.compat.files.iter().map(|compat| compat.file).collect();
        if !files.is_empty() {
            let _ = writeln!(text, "\npublished files: {}", files.join(", "));
        }
    }
    let figures: Vec<_> = declared_figures(benchmark).collect();
    if !figures.is_empty() {
        text += "\nfigures of report.toml\n";
    }
    let width = |of: fn(&(String, &str, &str)) -> usize| figures.iter().map(of).max().unwrap_or(0);
    let (names, kinds) = (width(|(name, ..)| name.len()), width(|(_, kind, _)| kind.len()));
    for (name, kind, title) in &figures {
        let _ = writeln!(text, "{}", format!("  {name:names$}  {kind:kinds$}  {title}").trim_end());
    }
    output::print_text(&text)
}

/// The figures that its report.toml declares: the names in JSON, kind and title of each.
fn declared_figures(
    benchmark: &'static Benchmark,
) -> impl Iterator<Item = (String, &'static str, &'static str)> {
    let has_file = benchmark.files.iter().any(|(path, _)| *path == "report.toml");
    let declared = benchmark.report.figures.iter().filter(move |_| has_file);
    declared.map(|figure| {
        let name = match &figure.kind {
            figure::FigureKind::Numbers(numbers) => {
                numbers.iter().map(|number| number.name).collect::<Vec<_>>().join(", ")
            }
            _ => figure.name.to_owned(),
        };
        (name, figure.kind.name(), figure.heading)
    })
}

/// Reports success: a problem would have been an error when the folders were loaded.
fn check_benchmarks(name: Option<&str>, global: &Global) -> Result<(), Failure> {
    let named: Vec<&'static Recipe> = match name {
        Some(name) => vec![output::find_recipe(name)?],
        None => match riddlemill_benchmarks::set_aside_folders() {
            [] => RECIPES.iter().collect(),
            aside => return Err(output::problems_set_aside(aside).into()),
        },
    };
    convert::hint_convert(named.iter().copied(), global);
    let mut lacking = Vec::new();
    // What is wrong in pipeline.toml is said by the verbs that work with it.
    if let Ok(config) = output::load_or_default(global) {
        let used: Vec<&str> = recipe::used_recipes(&config).map(|recipe| recipe.name).collect();
        for recipe in named.iter().filter(|recipe| name.is_some() || used.contains(&recipe.name)) {
            let of_recipe = pipeline::list_lacking(&config, recipe)?;
            lacking.extend(of_recipe.into_iter().map(|one| (recipe.name, one)));
        }
    }
    if global.json {
        let lacks: Vec<Json> = lacking
            .iter()
            .map(|(name, one)| json!({ "benchmark": name, "step": one.step, "what": one.what }))
            .collect();
        return output::print_json(
            &json!({ "benchmarks": named.iter().map(|r| r.name).collect::<Vec<_>>(), "problems": [], "lacks": lacks }),
        );
    }
    let names: Vec<&str> = named.iter().map(|recipe| recipe.name).collect();
    let mut text = format!("no problem in {}\n", names.join(", "));
    for recipe in named.iter().filter(|recipe| !release::is_published(recipe)) {
        let _ = writeln!(text, "  {} has no [data] yet: it runs, but cannot be released", recipe.name);
    }
    for (name, one) in &lacking {
        let _ = writeln!(text, "  warning: {name} {}: {}", one.step, one.what);
    }
    output::print_text(&text)
}

/// The further columns that the flags give.
fn parse_columns(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let column = |given: &String| match given.split_once('=') {
        Some((name, text)) => Ok((name.trim().to_owned(), text.to_owned())),
        None => Err(Failure::usage(format!("--column {given}: expected NAME=TEXT"))),
    };
    given.iter().map(column).collect()
}

/// The post described by the flags.
fn build_post(text: &str, answer: Option<&str>, columns: Vec<(String, String)>) -> Post {
    Post {
        id: "tried".into(),
        kind: if answer.is_some() { PostKind::Riddle } else { PostKind::Plain },
        text: Post::join_title_and_content(Some(text), answer),
        title: Some(text.into()),
        content: answer.map(str::to_owned),
        source: "tried".into(),
        note: (!columns.is_empty()).then(|| stages::import::note_of(columns)),
        ..Post::default()
    }
}

/// The whole way of a post, with example replies and votes.
fn with_examples(recipe: &'static Recipe, args: &TryPost, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_or_default(global)?;
    let columns = parse_columns(&args.column)?;
    let given = GivenPost { text: &args.post, answer: args.answer.as_deref(), columns: &columns };
    let examples = Examples { replies: args.replies.as_deref(), votes: args.votes.as_deref(), id: &args.id };
    let rehearsed = rehearse_recipe(&config, recipe, &given, &examples, global)?;
    let mut parts = rehearsed.parts;
    if global.json && !rehearsed.problems.is_empty() {
        parts.push(json!({ "problems": rehearsed.problems }));
    }
    print_parts(&parts, global)?;
    rehearsed.problems.iter().for_each(|problem| eprintln!("{problem}"));
    Ok(if rehearsed.problems.is_empty() { Exit::Done } else { Exit::Partial })
}

fn try_post(config: &Config, recipe: &'static Recipe, post: Post, global: &Global) -> Result<(), Failure> {
    let mut shown: Vec<Json> = Vec::new();
    let prompts = draft::load_prompts(config)?;
    let seed = config.typed_settings::<crate::config::sections::Options>(Some(recipe.name), "options").seed;
    let review: crate::config::sections::Review = config.typed_settings(Some(recipe.name), "review");
    for step in recipe.steps() {
        if let Some(kind) = step.stage.declared_draft() {
            let record = record_of_post(recipe, config, kind.subject_rows(), post.clone());
            let items = record.map(|record| subject::draft_items(&record, kind)).transpose();
            let shown_of = |text: Json| json!({ "step": step.name, "asks": "a model", "text": text });
            let of_item = |item: DraftItem| {
                let asked = item.prompt_for_slot(kind, &draft::Slot::default())?;
                let mut part = shown_of(match prompts.render_prompt(asked.template, asked.values) {
                    Ok(rendered) => json!(rendered.messages),
                    Err(e) => json!(format!("cannot be rendered for this post yet: {e}")),
                });
                if !item.called.is_empty() {
                    part["about"] = json!(item.called);
                }
                Some(part)
            };
            let parts: Vec<Json> = match items {
                Ok(items) => items.into_iter().flatten().filter_map(of_item).collect(),
                Err(trouble) => {
                    vec![shown_of(json!(format!("cannot be asked about this post yet: {trouble}")))]
                }
            };
            match (parts.is_empty(), kind.draft_declaration().over.as_ref()) {
                (false, _) => shown.extend(parts),
                (true, None) => shown.push(shown_of(json!("asks nothing about this post"))),
                (true, Some(over)) => {
                    let none =
                        format!("asks about each of {}, of which this post has none yet", over.list.source());
                    shown.push(shown_of(json!(none)));
                }
            }
        }
        if let Some(kind) = step.stage.declared_review() {
            let ballot = kind.ballot_by_settings(&review);
            let items = record_of_post(recipe, config, kind.subject_rows(), post.clone())
                .map(|record| subject::items_of_record(&record, &ballot, seed))
                .unwrap_or_default();
            let fields: Vec<&str> = ballot.fields.iter().map(|field| field.name).collect();
            let contents: Vec<Json> = items.iter().map(|item| json!(item.content)).collect();
            shown.push(json!({
                    "step": step.name, "asks": "people", "title": ballot.title.en, "shows": contents, "fields": fields,
                }));
        }
    }
    print_parts(&shown, global)
}

fn print_parts(parts: &[Json], global: &Global) -> Result<(), Failure> {
    if global.json {
        return output::print_json(&parts);
    }
    let mut text = String::new();
    for part in parts {
        if let Some(outcomes) = part["outcomes"].as_array() {
            came_of(&part["step"], outcomes, &mut text);
        } else if let Some(rows) = part["rows"].as_array() {
            append_released(rows, &part["left_out"], &mut text);
        } else {
            append_question(part, &mut text);
        }
    }
    output::print_text(&text)
}

/// A prompt or a ballot. Writing to a text cannot fail.
fn append_question(part: &Json, text: &mut String) {
    let about = match (part["about"].as_str(), part["record"].as_str()) {
        (Some(about), _) => format!(" about {about}"),
        (None, Some(record)) => format!(" {} about {record}", value_text(&part["template"])),
        (None, None) => String::new(),
    };
    let _ = writeln!(text, "── {} asks {}{about}", value_text(&part["step"]), value_text(&part["asks"]));
    match part["text"].as_array() {
        Some(messages) => {
            for message in messages {
                let _ = writeln!(
                    text,
                    "{}:\n{}\n",
                    value_text(&message["role"]),
                    value_text(&message["content"])
                );
            }
        }
        None if part["text"].is_string() => {
            let _ = writeln!(text, "{}\n", value_text(&part["text"]));
        }
        None => {
            let _ = writeln!(text, "{}", value_text(&part["title"]));
            for (at, item) in part["shows"].as_array().into_iter().flatten().enumerate() {
                if let Some(id) = part["items"][at].as_str() {
                    let _ = writeln!(text, "  item {id}");
                }
                item.as_object()
                    .into_iter()
                    .flatten()
                    .for_each(|(key, value)| append_field(key, value, text));
            }
            let fields: Vec<String> =
                part["fields"].as_array().into_iter().flatten().map(value_text).collect();
            let _ = writeln!(text, "  asks for: {}\n", fields.join(", "));
        }
    }
}

fn append_field(key: &str, value: &Json, text: &mut String) {
    let value = match value.as_array() {
        Some(list) => list.iter().map(value_text).collect::<Vec<_>>().join("\n    "),
        None => value_text(value),
    };
    let _ = writeln!(text, "  {key}: {value}");
}

/// What a step did with its records.
fn came_of(step: &Json, outcomes: &[Json], text: &mut String) {
    let _ = writeln!(text, "── {} gives", value_text(step));
    for one in outcomes {
        let reason = one["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let _ = writeln!(text, "  {} {}{reason}", value_text(&one["id"]), value_text(&one["outcome"]));
        // What goes on says what it became, and what does not says why.
        let said = ["after", "evidence"].iter().find_map(|key| one[*key].as_str());
        for line in said.into_iter().flat_map(str::lines) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push('\n');
}

/// The rows of a release.
fn append_released(rows: &[Json], left_out: &Json, text: &mut String) {
    let _ = writeln!(text, "── {} at the end", output::count(rows.len() as u64, "row"));
    for row in rows {
        row.as_object().into_iter().flatten().for_each(|(key, value)| append_field(key, value, text));
        text.push('\n');
    }
    for one in left_out.as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "  left out: {} {} ({})",
            value_text(&one["stage"]),
            value_text(&one["state"]),
            value_text(&one["reason"])
        );
    }
}

/// The record of a post at the first step with models or people.
fn record_of_post(recipe: &'static Recipe, config: &Config, of: StageRows, post: Post) -> Option<Row> {
    let mut written = WrittenRecord::from(post);
    for step in recipe.steps().iter().filter(|step| step.stage.is_of_riddles()) {
        if let Ok(Some(rule)) = step.stage.text_rereader(config, recipe.name) {
            written = rule(written)?;
        }
    }
    match written {
        WrittenRecord::Post(post) => Some(subject::of_post(of, *post)),
        // Only operations on posts can be shown without earlier steps.
        WrittenRecord::Row(row) => (row.columns() == of.columns()).then_some(row),
    }
}

fn value_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
