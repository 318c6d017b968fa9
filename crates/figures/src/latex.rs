//! A table for LaTeX with booktabs.

use std::fmt::Write as _;

use super::{Column, ColumnUnit, Table};

/// A `table` with its caption and label. Columns of numbers stand on the right.
pub fn render_latex(table: &Table) -> String {
    let (header, rows) =
        (table.column_titles(), table.rows.iter().map(|row| table.cell_texts(row)).collect::<Vec<_>>());
    // The first column names the rows, also where the names are numbers.
    let side =
        |(at, column): (usize, &Column)| if at == 0 || column.unit == ColumnUnit::Text { 'l' } else { 'r' };
    let columns: String = table.columns.iter().enumerate().map(side).collect();
    let line = |cells: &[&str]| {
        let cells: Vec<String> = cells.iter().map(|cell| escape_latex(cell)).collect();
        let line = cells.join(" & ");
        // After the end of a line these would be read as its options.
        let guard = if line.starts_with(['[', '*']) { "{}" } else { "" };
        format!("    {guard}{line} \\\\\n")
    };
    let mut text = String::from(
        "% \\usepackage{booktabs}; Chinese needs XeLaTeX or LuaLaTeX, with xeCJK or luatexja.\n",
    );
    let _ = write!(
        text,
        "\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n  \\label{{tab:{}}}\n  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n",
        escape_latex(&table.title),
        latex_label(&table.name)
    );
    text.push_str(&line(&header));
    text.push_str("    \\midrule\n");
    for row in &rows {
        text.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    text.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n");
    text
}

/// A name that `\label` takes.
fn latex_label(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-.:".contains(c) { c } else { '-' }).collect()
}

/// A text in which nothing is a command.
pub(super) fn escape_latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A number's sign is a minus, not a hyphen.
    let rest = match text.strip_prefix('-') {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
            out.push_str("$-$");
            number
        }
        _ => text,
    };
    for c in rest.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
