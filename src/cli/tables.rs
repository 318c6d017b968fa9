//! The tables of the papers, below a funnel.

use crate::audit::{PuzzleKind, PuzzleTables, Tables};

/// Tables 1 and 2, and what became of the drafts.
pub(super) fn print(tables: &Tables) -> String {
    let mut text = String::from("  table 1: questions by category\n");
    for category in &tables.categories {
        let label = format!("{} {}", category.number, category.name);
        text.push_str(&format!("    {label:<30} {:>6}\n", category.questions));
    }
    text.push_str(&format!(
        "  table 2: {} questions, {} with a pair; words:       average   max   min\n",
        tables.questions, tables.with_pair
    ));
    let lengths = [
        ("question", tables.question_words),
        ("irrationality", tables.irrationality_words),
        ("pair", tables.pair_words),
    ];
    for (name, length) in lengths {
        if let Some(length) = length {
            text.push_str(&format!(
                "    {name:<46} {:>7.2} {:>5} {:>5}\n",
                length.average, length.max, length.min
            ));
        }
    }
    text.push_str("  reviews\n");
    for review in &tables.reviews {
        let mut parts = Vec::new();
        let counts = [
            (review.confirmed, "confirmed"),
            (review.rewritten, "rewritten"),
            (review.sample_confirmed, "confirmed by the sample"),
            (review.sample_rewritten, "rewritten by the sample"),
            (review.provisional, "provisional"),
            (review.rejected, "rejected"),
            (review.held, "held"),
        ];
        parts.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
        let share = review.share_rewritten().filter(|share| *share > 0.0);
        let share = share.map(|share| format!("; {:.0} % rewritten", share * 100.0)).unwrap_or_default();
        text.push_str(&format!("    {:<22} {}{share}\n", review.stage, parts.join(", ")));
    }
    text
}

/// BrainTeaser's tables 3 and 6, a column a kind.
pub(super) fn print_puzzles(tables: &PuzzleTables) -> String {
    let mut text = format!("  {:<46} {:>10} {:>10}\n", "table 3", "sentence", "word");
    let mut line = |name: &str, figure: &dyn Fn(&PuzzleKind) -> Option<String>| {
        let cells = tables.kinds.iter().map(|kind| figure(kind).unwrap_or_else(|| "-".into()));
        let cells: String = cells.map(|cell| format!(" {cell:>10}")).collect();
        text.push_str(&format!("    {name:<44}{cells}\n"));
    };
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    line("groups", &|kind| Some(kind.groups.to_string()));
    line("groups with none of above", &|kind| Some(kind.none.to_string()));
    line("puzzles", &|kind| Some(kind.figures?.puzzles.to_string()));
    line("average question tokens", &|kind| Some(format!("{:.2}", kind.figures?.question_tokens)));
    line("long questions (over 30 tokens)", &|kind| Some(percent(kind.figures?.long_questions)));
    line("average answer tokens", &|kind| Some(format!("{:.2}", kind.figures?.answer_tokens)));
    line("standard deviation of choice tokens", &|kind| {
        Some(format!("{:.2}", kind.figures?.choice_tokens_std))
    });
    line("words kept in other words", &|kind| Some(percent(kind.kept_in_semantic?)));
    line("words kept in another situation", &|kind| Some(percent(kind.kept_in_context?)));
    for kind in tables.kinds.iter().filter(|kind| !kind.topics.is_empty()) {
        text.push_str(&format!("  table 6: topics of {} puzzles, as drafted\n", kind.kind));
        for topic in &kind.topics {
            text.push_str(&format!("    {:<46} {:>7}\n", topic.topic, topic.frequency));
        }
    }
    text
}
