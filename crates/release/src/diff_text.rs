//! A diff for the terminal and as a page.

use std::fmt::Write;

use super::diff::{ConfigDiff, Diff, Moves, as_text};
use super::templates;
use riddlemill_text::text::count_with_noun;

impl Diff {
    /// The differences for a terminal.
    pub fn render_text(&self) -> String {
        let mut text: String = self.configs.iter().map(describe_config).collect();
        for (when, left_out) in [("before", &self.left_out_before), ("now", &self.left_out)] {
            for left in left_out {
                let _ = writeln!(text, "left out {when}: {}", left.describe());
            }
        }
        text
    }

    /// The differences as a self-contained page.
    ///
    /// # Errors
    /// If the template uses a value that a diff lacks, which does not depend on the input.
    pub fn render_html(&self) -> Result<String, minijinja::Error> {
        templates::diff_page(self)
    }
}

// Writing into a string cannot fail.
fn describe_config(config: &ConfigDiff) -> String {
    let mut out = String::new();
    let moved = if config.moved { ", order changed" } else { "" };
    let _ = writeln!(
        out,
        "{}: {}, {} before; {} added, {} removed, {} changed{moved}",
        config.config,
        count_with_noun(config.rows.1, "row"),
        config.rows.0,
        config.added.len(),
        config.removed.len(),
        config.changed.len(),
    );
    for (sign, columns) in [("+", &config.columns_added), ("-", &config.columns_removed)] {
        for column in columns {
            let _ = writeln!(out, "  {sign} column {column}");
        }
    }
    for (sign, sides) in [("+", &config.added), ("-", &config.removed)] {
        for side in sides {
            let _ = writeln!(out, "  {sign} {}  {}", side.id, mark_line_breaks(&side.text));
            write_cause(&mut out, side.cause.as_deref());
        }
    }
    for changed in &config.changed {
        for field in &changed.fields {
            let (before, after) =
                (mark_line_breaks(&as_text(&field.before)), mark_line_breaks(&as_text(&field.after)));
            let _ = writeln!(out, "  ~ {} {}: {before} -> {after}", changed.id, field.column);
            write_cause(&mut out, field.cause.as_deref());
        }
    }
    for (column, moves) in &config.labels {
        out.push_str(&format_matrix(column, moves));
    }
    out
}

fn write_cause(out: &mut String, cause: Option<&str>) {
    if let Some(cause) = cause {
        let _ = writeln!(out, "      {}", mark_line_breaks(cause));
    }
}

fn mark_line_breaks(text: &str) -> String {
    text.replace('\n', "⏎")
}

/// Values before as rows, values after as columns named by letters.
fn format_matrix(column: &str, moves: &Moves) -> String {
    let mut out = format!("  {column}: rows by value before (down) and after (across)\n");
    let wide = moves.counts.iter().flatten().max().map_or(1, |n| n.to_string().len()).max(3);
    let head: String = (1..=moves.values.len()).map(|n| format!(" {n:>wide$}")).collect();
    let _ = writeln!(out, "       {head}");
    for (i, (value, counts)) in moves.values.iter().zip(&moves.counts).enumerate() {
        let cells: String = counts.iter().map(|n| format!(" {n:>wide$}")).collect();
        let _ = writeln!(out, "    {:>3}{cells}  {}", i + 1, mark_line_breaks(value));
    }
    out
}
