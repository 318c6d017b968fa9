//! What the tables of figures are called in files and on pages: by the benchmark, the figure and the part, in words.

use riddlemill_benchmarks::Benchmark;
use riddlemill_benchmarks::figure::{Division, Figure, FigureKind};
use riddlemill_benchmarks::table::{Drawn, Shape as Declared};

use super::Found;
use super::numbers::{numbers_of_parts, stack_numbers};
use crate::figures::{Cell, Column, Plot, Row, Shape, Table, stem};

pub(super) fn division_of_figure<'d>(
    declared: &'d riddlemill_benchmarks::figure::Report,
    figure: &Figure,
) -> Option<&'d Division> {
    declared.parts.get(figure.part?)
}

/// The tables of all figures, `found` for each one or one a part: without what only JSON and lines have, and without those that
/// have no row.
pub(super) fn name_tables(benchmark: &Benchmark, found: &[Vec<Found>]) -> Vec<Table> {
    let declared = &benchmark.report;
    let mut tables = Vec::new();
    for (figure, found) in declared.figures.iter().zip(found) {
        let division = division_of_figure(declared, figure);
        for (at, found) in found.iter().enumerate() {
            let part = division.and_then(|division| division.values.get(at)).copied();
            let of_figure = found.tables.iter().filter(|table| !table.rows.is_empty());
            tables.extend(of_figure.map(|table| name_table(benchmark, figure, part, table)));
        }
    }
    tables.extend(name_numbers(benchmark, None, found));
    tables
        .extend(declared.parts.iter().filter_map(|division| name_numbers(benchmark, Some(division), found)));
    tables
}

fn name_table(benchmark: &Benchmark, figure: &Figure, part: Option<&str>, table: &Table) -> Table {
    let of_part = part.map(|part| format!("{part}-")).unwrap_or_default();
    let (of_table, more) = match table.name.as_str() {
        "" => (String::new(), String::new()),
        name => (format!("-{name}"), format!(" ({})", name.replace('_', " "))),
    };
    let set =
        part.map_or_else(|| name_of_set(benchmark), |part| format!("{}, {part}", name_of_set(benchmark)));
    let mut table = Table {
        name: stem(&format!("{}-{of_part}{}{of_table}", benchmark.name, figure.name)),
        title: format!("{set}: {}{more}", caption_of_figure(figure)),
        about: figure.about.to_owned(),
        paper: figure.paper.to_owned(),
        plot: figure
            .drawn
            .first()
            .and_then(|drawn| plot_as_declared(figure, drawn, table.plot.as_ref()?, &set)),
        ..table.clone()
    };
    name_columns(figure, &mut table.columns);
    let mut table = table.without_hidden();
    if let (Some(plot), Some(first)) = (table.plot.as_mut(), table.columns.first()) {
        plot.axes[0] = first.title.to_lowercase();
    }
    table
}

/// Headings as the folder calls what is in the columns.
fn name_columns(figure: &Figure, columns: &mut [Column]) {
    for (key, cell) in &figure.keys {
        let title = name_in_words(key);
        match cell.source() {
            // The name of an option stands in the first column, whatever else is known of it.
            "value" | "label" => {
                columns.first_mut().into_iter().for_each(|first| first.title = title.clone())
            }
            "label_zh" => {}
            source => {
                for column in columns.iter_mut().filter(|of| of.key == source && !of.title.is_empty()) {
                    let sign = if column.title.ends_with(", %") { ", %" } else { "" };
                    column.title = format!("{title}{sign}");
                }
            }
        }
    }
}

/// How a table is drawn: a histogram as one, others as their folder says.
fn plot_as_declared(figure: &Figure, drawn: &Drawn, usual: &Plot, set: &str) -> Option<Plot> {
    let (shape, most) = match (&figure.kind, drawn.shape) {
        (FigureKind::Bars(_), _) => (usual.shape, usize::MAX),
        (_, Declared::Bars(most)) => (Shape::Bars, most),
        (_, Declared::Stacked) => (Shape::Stacked, usize::MAX),
        (_, Declared::Lines | Declared::Scatter) => return None,
    };
    let title = Some(drawn.title).filter(|title| *title != figure.heading);
    let columns = usual.columns.iter().copied().take(most).collect();
    Some(Plot { shape, columns, title: title.map(|title| format!("{set}: {title}")), ..usual.clone() })
}

/// The single numbers of the set, or those of parts with a column for each, in one table.
fn name_numbers(benchmark: &Benchmark, division: Option<&Division>, found: &[Vec<Found>]) -> Option<Table> {
    let declared = &benchmark.report;
    let is_of = |figure: &Figure| {
        division_of_figure(declared, figure).map(|of| of.name) == division.map(|division| division.name)
    };
    let parts = division.map(|division| division.values.as_slice()).unwrap_or_default();
    let titles: Vec<String> = parts.iter().map(|part| name_in_words(part)).collect();
    let mut tables = Vec::new();
    let mut first = None;
    for (figure, found) in declared.figures.iter().zip(found).filter(|(figure, _)| is_of(figure)) {
        let of_parts: Vec<&Table> = found.iter().filter_map(|found| found.numbers.as_ref()).collect();
        if !of_parts.is_empty() {
            first = first.or(Some(figure).filter(|figure| !figure.caption.is_empty()));
            tables.push(match division {
                Some(_) => numbers_of_parts(&titles, &of_parts),
                None => stack_numbers(&of_parts),
            });
        }
    }
    let columns = tables.first()?.columns.clone();
    // Numbers without a label have their keys for one.
    let row = |mut row: Row| {
        if let Some(Cell::Text(label)) = row.first_mut() {
            *label = label.replace('_', " ");
        }
        row
    };
    let of_division = division.map(|division| format!("{}-", division.name)).unwrap_or_default();
    let caption = first.map_or("numbers", |figure| figure.caption);
    let named = Table {
        name: stem(&format!("{}-{of_division}numbers", benchmark.name)),
        title: format!("{}: {caption}", name_of_set(benchmark)),
        about: first.map(|figure| figure.about.to_owned()).unwrap_or_default(),
        paper: first.map(|figure| figure.paper.to_owned()).unwrap_or_default(),
        columns,
        rows: tables.into_iter().flat_map(|table| table.rows).map(row).collect(),
        ..Table::default()
    };
    Some(named.without_hidden())
}

/// What a benchmark is called: as its paper spells it, with what tells it from others of the paper: `RuozhiBench-MC`.
fn name_of_set(benchmark: &Benchmark) -> String {
    let (set, name) = (benchmark.paper.set, benchmark.name);
    if set.is_empty() || !name.get(..set.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(set)) {
        return name.to_owned();
    }
    // A short one is an abbreviation.
    let spell = |word: &str| if word.len() < 3 { word.to_uppercase() } else { name_in_words(word) };
    set.to_owned() + &name[set.len()..].split('-').map(spell).collect::<Vec<_>>().join("-")
}

/// The caption that a folder declares; else its title, if that is one sentence of words alone and names no table of a paper,
/// one of its kind, or its name in words.
fn caption_of_figure(figure: &Figure) -> String {
    let is_plain = !figure.heading.is_empty()
        && !["{{", "{%", "  ", ": "].iter().any(|part| figure.heading.contains(part));
    match figure.caption {
        "" if is_plain => figure.heading.to_owned(),
        "" => match figure.kind {
            FigureKind::Shortcuts(_) => "What can be guessed without the question".to_owned(),
            FigureKind::Reviews => "What became of the drafts".to_owned(),
            FigureKind::Agreement { .. } => "Agreement of the voters".to_owned(),
            FigureKind::PooledAgreement(_) => "Agreement over all questions".to_owned(),
            FigureKind::JudgePairs(_) => "Agreement of judges".to_owned(),
            FigureKind::Ratings(_) => "Ratings by judge and model".to_owned(),
            FigureKind::ScoresByPart { .. } => "Mean ratings by part, 0 to 100".to_owned(),
            FigureKind::Wins(_) => "Winning rates by opponent".to_owned(),
            _ => name_in_words(figure.name),
        },
        caption => caption.to_owned(),
    }
}

/// A key as a heading: `human_wins` is `Human wins`.
pub(super) fn name_in_words(name: &str) -> String {
    let word = |word: &str| if word == "llm" { "LLM".to_owned() } else { word.to_owned() };
    let mut words = name.split('_').map(word).collect::<Vec<_>>().join(" ");
    if let Some(first) = words.get(..1) {
        let first = first.to_uppercase();
        words.replace_range(..1, &first);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        let words = ["human_wins", "llm_wins", "双关", ""].map(name_in_words);
        assert_eq!(words, ["Human wins", "LLM wins", "双关", ""]);
    }

    /// The two of one paper are told apart.
    #[test]
    fn sets_are_called_as_their_papers_spell_them() {
        let name = |of: &str| name_of_set(riddlemill_benchmarks::find_benchmark(of).unwrap());
        assert_eq!(
            ["flub", "brainteaser", "ruozhibench-mc", "ruozhibench-gen"].map(name),
            ["FLUB", "BrainTeaser", "RuozhiBench-MC", "RuozhiBench-Gen"]
        );
    }

    /// Numbers stand in one table, which the first caption is of.
    #[test]
    fn tables_of_the_five_have_captions_in_both_languages() {
        for benchmark in riddlemill_benchmarks::all_benchmarks() {
            let is_number =
                |of: &FigureKind| matches!(of, FigureKind::WordsKept(_) | FigureKind::PuzzleStatistics(_));
            let is_table = |figure: &&Figure| {
                !figure.name.is_empty()
                    && !is_number(&figure.kind)
                    && !matches!(figure.kind, FigureKind::Lines(_))
            };
            for figure in benchmark.report.figures.iter().filter(is_table) {
                let (of, name) = (benchmark.name, figure.name);
                let zh =
                    crate::audit::chinese::translate_figure(&format!("X: {}", caption_of_figure(figure)));
                assert!(zh.is_some_and(|zh| zh.starts_with("X：")), "{of}: {name}");
            }
        }
    }
}
