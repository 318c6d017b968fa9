//! `config`: the settings in force with their origins; or the explanation of a table.

use serde_json::Value;

use super::args;
use super::args::{Global, WrittenFile};
use super::exit::{Exit, Failure};
use super::output;
use super::terminal::{HANG, Tone, tint_text};
use crate::config::sections::SECTIONS;
use crate::config::{self, Key, Section, json_schema, unknown};
use crate::pages::profile;
use crate::recipe;
use crate::report::{ExplainedRecipe, ExplainedTable, KeyRow, SettingRow, SettingsReport, TableRow};
use riddlemill_benchmarks::edition2::declared;
use riddlemill_benchmarks::setting::Setting;

pub(super) fn print_config(args: &args::Config, global: &Global) -> Result<Exit, Failure> {
    if let Some(topic) = &args.explain {
        return explain_topic(topic, global);
    }
    if let Some(file) = args.schema {
        output::print_json(&file_schema(file))?;
        return Ok(Exit::Done);
    }
    let config = output::load_config(global)?;
    let report = SettingsReport::from_config(&config);
    if global.json {
        output::print_json(&report)?;
        return Ok(Exit::Done);
    }
    let line = |row: &SettingRow| (format!("{} = {}", row.key, row.value), row.origin.clone());
    let lines: Vec<(String, String)> = report.settings.iter().map(line).collect();
    // One long value must not push all origins off the screen.
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(48);
    let mut text = String::new();
    for (line, origin) in lines {
        text.push_str(&format!("{line:width$}  # {origin}\n"));
    }
    for source in report.sources {
        let kind = serde_json::to_value(source.kind).unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default();
        text.push_str(&format!(
            "source {} = {kind} {}  # {}:{}\n",
            source.name,
            source.path,
            crate::config::FILE,
            source.line
        ));
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// The schema of a file.
pub(super) fn file_schema(file: WrittenFile) -> Value {
    let of_folder = |name: &str| declared::json_schema(name).unwrap_or_default();
    match file {
        WrittenFile::Pipeline => json_schema(&recipe::recipe_names()),
        WrittenFile::Benchmark => of_folder("benchmark"),
        WrittenFile::Ballots => of_folder("ballots"),
        WrittenFile::Report => of_folder("report"),
        WrittenFile::Profile => profile::json_schema(),
    }
}

/// Explains a table or one of its keys; without a table, lists all. Needs no workspace.
fn explain_topic(topic: &str, global: &Global) -> Result<Exit, Failure> {
    // People copy a table's name from pipeline.toml with its brackets.
    let topic = topic.trim_matches(['[', ']']).trim();
    if let Some(of_recipe) = topic.strip_prefix("recipe.") {
        return explain_own(of_recipe, global);
    }
    let tables: Vec<&Section> = SECTIONS.iter().chain(config::TABLES).collect();
    if topic.is_empty() {
        if global.json {
            let tables: Vec<TableRow> = tables.into_iter().map(TableRow::from).collect();
            output::print_json(&tables)?;
        } else {
            let line = |table: &&Section| format!("{:<12}{HANG}{}\n", table.name, table.doc);
            let of_recipe = "Settings for one recipe go into [recipe.<name>.<table>]; --explain \
                             recipe.<name> lists those that its benchmark adds.\n";
            output::print_text(&(tables.iter().map(line).collect::<String>() + of_recipe))?;
        }
        return Ok(Exit::Done);
    }
    let (name, key) = topic.split_once('.').map_or((topic, None), |(name, key)| (name, Some(key)));
    let table = config::find_section(name);
    let table =
        table.ok_or_else(|| Failure::usage(unknown("table", name, tables.iter().map(|table| table.name))))?;
    let mut keys: Vec<(String, &Key)> = table.dotted_keys();
    if let Some(wanted) = key {
        let known = keys.clone();
        keys.retain(|(name, _)| name == wanted || name.starts_with(&format!("{wanted}.")));
        if keys.is_empty() {
            let known = known.iter().map(|(name, _)| name.as_str());
            return Err(Failure::usage(unknown(&format!("key of [{name}]"), wanted, known)));
        }
    }
    let keys = keys.into_iter().map(KeyRow::from).collect();
    let explained = ExplainedTable { table: table.into(), keys };
    if global.json {
        output::print_json(&explained)?;
        return Ok(Exit::Done);
    }
    let mut text = format!("{}\n", explained.table.about);
    explained.keys.iter().for_each(|key| text.push_str(&describe_key(key)));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// The settings declared by a benchmark: all, those of a table, or one.
fn explain_own(topic: &str, global: &Global) -> Result<Exit, Failure> {
    let mut parts = topic.splitn(3, '.');
    let recipe = output::find_recipe(parts.next().unwrap_or_default())?;
    let (section, name) = (parts.next(), parts.next());
    let benchmark = riddlemill_benchmarks::find_benchmark(recipe.name);
    let declared = benchmark.map(|found| found.own.declared.as_slice()).unwrap_or_default();
    let wanted = |own: &&Setting| {
        section.is_none_or(|section| section == own.section) && name.is_none_or(|name| name == own.key.name)
    };
    let found: Vec<&Setting> = declared.iter().filter(wanted).collect();
    if let (true, Some(section)) = (found.is_empty(), section) {
        let asked = name.map_or_else(|| section.to_owned(), |name| format!("{section}.{name}"));
        let known: Vec<String> =
            declared.iter().flat_map(|own| [own.section.to_owned(), dotted_name(own)]).collect();
        let what = format!("setting of {}'s own", recipe.name);
        return Err(Failure::usage(unknown(&what, &asked, known.iter().map(String::as_str))));
    }
    let keys = found.into_iter().map(KeyRow::from).collect();
    let explained = ExplainedRecipe { recipe: recipe.name, keys };
    if global.json {
        output::print_json(&explained)?;
        return Ok(Exit::Done);
    }
    let mut text = match explained.keys.is_empty() {
        true => format!("{} declares no settings\n", recipe.name),
        false => format!("Settings of {} itself, under [recipe.{}.<table>].\n", recipe.name, recipe.name),
    };
    explained.keys.iter().for_each(|key| text.push_str(&describe_key(key)));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// A key: what it means, what it takes, and its default.
fn describe_key(key: &KeyRow) -> String {
    let default = match key.written {
        "" => String::new(),
        default => format!("; default: {default}"),
    };
    let name = tint_text(Tone::Head, &key.key);
    format!("\n  {name}\n    {HANG}{}\n    {HANG}{}{default}\n", key.about, key.expected)
}

fn dotted_name(own: &Setting) -> String {
    format!("{}.{}", own.section, own.key.name)
}
