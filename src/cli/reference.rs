//! The reference of the documentation, generated from the code it describes: settings, commands, records,
//! outcomes, benchmarks and addresses. A test compares docs/reference with its output.

use std::fmt::Write as _;

use clap::{CommandFactory, ValueEnum};
use riddlemill_benchmarks::edition2::declared;

use super::args::{Cli, WrittenFile};
use super::exit;
use crate::config::sections::SECTIONS;
use crate::config::{self, Key, Section};
use crate::pages::profile::KEYS;
use crate::recipe::RECIPES;
use crate::record::{CellKind, Column, Entry, Link, Reason, State, Typed};
use crate::stages::StageRows;
use crate::web::{Rank, route_addresses};

/// Every page: its file in the folder of the reference, and its Markdown.
pub(super) fn reference_pages() -> Vec<(String, String)> {
    let pages = [
        ("settings.md", settings_page()),
        ("outcomes.md", outcomes_page()),
        ("records.md", records_page()),
        ("benchmarks.md", benchmarks_page()),
        ("addresses.md", addresses_page()),
        ("folders.md", folders_page()),
        ("profiles.md", profiles_page()),
    ];
    let pages = pages.into_iter().map(|(name, page)| (name.to_owned(), page));
    pages.chain(schema_pages()).chain(command_pages()).collect()
}

/// A cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

/// A cell formatted as code; empty for an empty text.
fn code_cell(text: &str) -> String {
    match text {
        "" => String::new(),
        _ => format!("`{}`", text.replace('|', "\\|")),
    }
}

fn settings_page() -> String {
    let mut page = "# Settings\n\nEvery table of `pipeline.toml` and every key in it. Settings for one \
                    recipe go under\n`[recipe.NAME.TABLE]`. `riddlemill config` prints the settings of a \
                    workspace and where each value comes from;\n\
        `riddlemill config --explain TABLE` prints a part of this page.\n"
        .to_owned();
    let tables = SECTIONS.iter().map(|table| (format!("[{}]", table.name), table));
    let repeated = config::TABLES.iter().map(|table| {
        let heading = match table.name {
            "llm" => "[llm.NAME]".to_owned(),
            name => format!("[[{name}]]"),
        };
        (heading, table)
    });
    for (heading, table) in tables.chain(repeated) {
        table_of_settings(&mut page, &heading, table);
    }
    page
}

/// What `config --schema=FILE` prints of each file; for pipeline.toml that of the built-in benchmarks.
fn schema_pages() -> impl Iterator<Item = (String, String)> {
    let schema = |file: &WrittenFile| {
        let name = file.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        (format!("{name}.schema.json"), format!("{:#}\n", super::config::file_schema(*file)))
    };
    WrittenFile::value_variants().iter().map(schema)
}

/// The keys of a benchmark's folder.
fn folders_page() -> String {
    let mut page = "# Keys of a benchmark's folder\n\nEvery table of the files of a [folder](../benchmark-folder.md), and every key in \
        it. NAME stands for a name of your own.\nThe files `*.zh.toml` have the Chinese of texts under the same keys.\n"
        .to_owned();
    for (file, _, keys) in declared::FILES {
        let _ = write!(page, "\n## {file}.toml\n");
        for (table, keys) in declared::list_tables(keys) {
            if !table.is_empty() {
                let _ = write!(page, "\n### [{table}]\n");
            }
            page.push('\n');
            table_of_keys(&mut page, keys.iter().map(|key| (key.name.to_owned(), key)));
        }
    }
    page
}

/// The keys of a site's profile.
fn profiles_page() -> String {
    let mut page = "# Keys of a site's profile\n\nEvery key of `profiles/NAME.toml`; `riddlemill profiles keys` prints the same. \
        [The chapter on crawling](../crawl.md) has examples.\n\n"
        .to_owned();
    table_of_keys(&mut page, KEYS.iter().map(|key| (key.name.to_owned(), key)));
    page
}

fn table_of_settings(page: &mut String, heading: &str, table: &Section) {
    let _ = write!(page, "\n## {heading}\n\n{}\n\n", table_cell(table.doc));
    table_of_keys(page, table.dotted_keys());
}

fn table_of_keys<'k>(page: &mut String, keys: impl IntoIterator<Item = (String, &'k Key)>) {
    page.push_str("| key | takes | default | what it does |\n|---|---|---|---|\n");
    for (name, key) in keys {
        let takes = table_cell(&key.kind.describe_expected());
        let _ =
            writeln!(page, "| `{name}` | {takes} | {} | {} |", code_cell(key.default), table_cell(key.doc));
    }
}

/// A page a verb, and one that lists them: all on one page would be as long as a book.
fn command_pages() -> Vec<(String, String)> {
    let mut list = "# Commands\n\nWhat `riddlemill COMMAND --help` prints, one page per command. Data goes to stdout, messages \
        to stderr.\n\n| command | what it does |\n|---|---|\n"
        .to_owned();
    let mut names = String::new();
    let mut pages = Vec::new();
    let mut root = Cli::command().term_width(100);
    root.build();
    for verb in root.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        let name = verb.get_name();
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(list, "| [`{name}`](commands/{name}.md) | {} |", table_cell(&about));
        let _ = writeln!(names, "commands/{name}");
        let mut page = String::new();
        help_of(&mut page, verb.clone(), "riddlemill", 1);
        pages.push((format!("commands/{name}.md"), page.trim_start().to_owned()));
    }
    let _ = write!(list, "\n```text\n{}\n```\n\n```{{toctree}}\n:hidden:\n\n{names}```\n", exit::HELP);
    pages.insert(0, ("commands.md".to_owned(), list));
    pages
}

/// The help of a command and of its subcommands.
fn help_of(page: &mut String, command: clap::Command, above: &str, level: usize) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    let below: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    // Options of every verb are only printed once, by `riddlemill --help`.
    let mut command = command.mut_args(|arg| match arg.is_global_set() {
        true => arg.hide(true),
        false => arg,
    });
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n{} {name}\n\n```text\n{}\n```\n", "#".repeat(level), help.join("\n").trim_end());
    for next in below {
        help_of(page, next, &name, level + 1);
    }
}

fn outcomes_page() -> String {
    let mut page = "# Outcomes and reasons\n\nEvery record that enters a stage leaves it in exactly one state. The ledger has its \
        code, and that of a reason\nfrom a closed list; a benchmark may add reasons of its own (`drop` of a ballot).\n\n## States\n\n"
        .to_owned();
    page.push_str("| state | meaning |\n|---|---|\n");
    for state in State::ALL {
        let _ = writeln!(page, "| `{}` | {} |", state.code(), table_cell(state.definition()));
    }
    page.push_str("\n## Reasons\n\n| reason | meaning |\n|---|---|\n");
    for reason in Reason::ALL {
        let _ = writeln!(page, "| `{}` | {} |", reason.code(), table_cell(reason.definition()));
    }
    page
}

fn records_page() -> String {
    let mut page = "# Records\n\nThe columns of the Parquet files in `staged/RECIPE/NN_STAGE/`. Every column may be null where its \
        record lacks the\nvalue; lists are plain lists of texts. Which stage writes which rows: [benchmarks](benchmarks.md).\n"
        .to_owned();
    columns_of(&mut page, "ledger/: what a stage did with a record", Entry::COLUMNS);
    columns_of(&mut page, "links/: what a record was made of", Link::COLUMNS);
    for rows in StageRows::every_kind() {
        columns_of(&mut page, &format!("rows/: {}", rows.name()), rows.columns());
    }
    page
}

fn columns_of(page: &mut String, heading: &str, columns: &[Column]) {
    let _ = write!(page, "\n## {heading}\n\n| column | type | what it holds |\n|---|---|---|\n");
    for column in columns {
        let kind = match column.kind {
            CellKind::Text => "text",
            CellKind::Count => "count",
            CellKind::Real => "number",
            CellKind::Flag => "flag",
            CellKind::Texts => "list of text",
        };
        let _ = writeln!(page, "| `{}` | {kind} | {} |", column.name, table_cell(column.about));
    }
}

fn benchmarks_page() -> String {
    let mut page = "# Built-in benchmarks\n\nTheir steps in order, and the columns of a release. `riddlemill benchmark show NAME` prints the \
        same of a benchmark\nof a workspace.\n"
        .to_owned();
    for recipe in RECIPES.iter() {
        let _ = write!(page, "\n## {}\n\n{}\n\n", recipe.name, table_cell(recipe.about));
        page.push_str("| step | does | rows | reads |\n|---|---|---|---|\n");
        for step in recipe.steps() {
            let (kind, about) = (step.stage.name(), step.stage.stage_detail());
            let does = if about.is_empty() { kind.to_owned() } else { format!("{kind}: {about}") };
            let rows = step.stage.rows().name();
            let _ = writeln!(
                page,
                "| `{}` | {} | {rows} | {} |",
                step.name,
                table_cell(&does),
                step.inputs.join(", ")
            );
        }
        let data =
            riddlemill_benchmarks::find_benchmark(recipe.name).and_then(|benchmark| benchmark.data.as_ref());
        let Some(data) = data else { continue };
        let _ = write!(
            page,
            "\nA release: {}\n\n| column | type | what it holds |\n|---|---|---|\n",
            table_cell(data.about)
        );
        for column in data.columns.iter().chain(&data.sometimes) {
            let null = if column.nullable { ", or null" } else { "" };
            let _ = writeln!(
                page,
                "| `{}` | {}{null} | {} |",
                column.name,
                column.kind.name(),
                table_cell(column.about)
            );
        }
        let files: Vec<String> =
            data.compat.files.iter().map(|compat| format!("`compat/{}`", compat.file)).collect();
        if !files.is_empty() {
            let _ = write!(page, "\nPublished files: {}.\n", files.join(", "));
        }
    }
    page
}

fn addresses_page() -> String {
    let mut page = "# Addresses of the pages\n\nThe pages of `riddlemill serve`. A token of `riddlemill \
                    access` opens the pages of its rank and of the ranks below\nit; without tokens, all \
                    pages can be opened on this machine only.\n\n| address | opens for |\n|---|---|\n"
        .to_owned();
    for (path, rank) in route_addresses() {
        let who = match rank {
            None => "anybody",
            Some(Rank::Annotator) => "annotators",
            Some(Rank::Reader) => "readers",
            Some(Rank::Curator) => "curators",
        };
        let _ = writeln!(page, "| `{path}` | {who} |");
    }
    page
}
