//! The tables of RuozhiBench-Gen's paper, below its funnel.

use crate::audit::Tables;

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
