//! The tables and figures of the papers, below a recipe's funnel.

use crate::audit::{
    Agreement, ChoiceTables, DeclaredTables, JokeTables, PuzzleKind, PuzzleTables, QuestionTables, Reviewed,
    Tables, TextTables,
};
use crate::judges::{JudgePair, Measures};
use crate::review::Voted;
use crate::shortcuts::{Share, Shortcuts};

/// What a paper says about a finished set.
pub(super) fn print(tables: &Tables) -> String {
    match tables {
        Tables::Questions(tables) => questions(tables),
        Tables::Choices(tables) => choices(tables),
        Tables::Texts(tables) => texts(tables),
        Tables::Jokes(tables) => jokes(tables),
        Tables::Puzzles(tables) => puzzles(tables),
        Tables::Declared(tables) => declared(tables),
    }
}

/// What the columns of a declared set hold.
fn declared(tables: &DeclaredTables) -> String {
    let mut text = format!("  {} records at the end, {} of them items\n", tables.records, tables.items);
    for counted in &tables.labels {
        text.push_str(&format!("  {}\n", counted.column));
        for (value, count) in &counted.values {
            text.push_str(&format!("    {value:<30} {count:>6}\n"));
        }
    }
    if !tables.figures.is_empty() {
        text.push_str("  columns                               items      mean     least      most\n");
    }
    for figure in &tables.figures {
        let name = match figure.characters {
            true => format!("{}, characters", figure.column),
            false => figure.column.to_owned(),
        };
        // Whole numbers are told as such.
        let end = |value: f64| if value.fract() == 0.0 { value.to_string() } else { format!("{value:.2}") };
        text.push_str(&format!(
            "    {name:<32} {:>6} {:>9.2} {:>9} {:>9}\n",
            figure.items,
            figure.mean,
            end(figure.least),
            end(figure.most)
        ));
    }
    if let Some(figures) = &tables.shortcuts {
        text.push_str(&shortcuts(figures));
    }
    text + &reviews(&tables.reviews)
}

/// Tables 1 and 2 of RuozhiBench, and what became of the drafts.
fn questions(tables: &QuestionTables) -> String {
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
    text + &reviews(&tables.reviews)
}

/// FLUB: instances a type, agreement, modifications, shortcuts.
fn texts(tables: &TextTables) -> String {
    let mut text = format!(
        "  appendix D.2: {} texts, {} questions, {} rewritten; instances a type\n",
        tables.texts, tables.questions, tables.rewritten
    );
    for kind in &tables.types {
        text.push_str(&format!("    {:<18} {:>6}  {}\n", kind.name, kind.texts, kind.zh));
    }
    if let Some(agreement) = &tables.agreement {
        let kappa =
            agreement.fleiss.map_or("-".into(), |[k, low, high]| format!("{k:.3} [{low:.3}, {high:.3}]"));
        text.push_str(&format!(
            "  section 2.2: Fleiss' kappa of the types {kappa} on {} texts{}\n",
            agreement.items,
            of_sample(agreement)
        ));
    }
    if let Some(modified) = tables.modified_percent {
        text.push_str(&format!("    modified by seniors: {modified:.2} % of {}\n", tables.reviewed));
    }
    if tables.wrong_by_model > 0 {
        text.push_str(&format!("    wrong answers by a model: {} texts\n", tables.wrong_by_model));
    }
    if let Some(figures) = &tables.shortcuts {
        text.push_str(&shortcuts(figures));
    }
    text + &reviews(&tables.reviews)
}

/// Chumor: winning rates, agreement, kinds of error.
fn jokes(tables: &JokeTables) -> String {
    let mut text = format!(
        "  section 2: {} jokes, {} of annual threads, {} recommended",
        tables.jokes, tables.annual, tables.recommended
    );
    if tables.others > 0 {
        text.push_str(&format!(", {} of other sources", tables.others));
    }
    if let Some(chars) = tables.explanation_chars {
        text.push_str(&format!("; {chars:.1} characters an explanation"));
    }
    text.push_str(
        "\n  figure 1: winning rates in %              human      llm      tie undecided  jokes  agreement\n",
    );
    for one in &tables.opponents {
        let agreement = one.agreement.map_or("-".into(), |percent| format!("{percent:.2}"));
        text.push_str(&format!(
            "    {:<36} {:>8.1} {:>8.1} {:>8.1} {:>9.1} {:>6} {agreement:>10}\n",
            one.model, one.human_wins, one.llm_wins, one.ties, one.undecided, one.jokes
        ));
    }
    if let Some(Agreement { percent: Some(percent), .. }) = &tables.agreement {
        let sample = tables.agreement.as_ref().map(of_sample).unwrap_or_default();
        text.push_str(&format!("    agreement on all: {percent:.2} %{sample}\n"));
    }
    if tables.opponents.iter().any(|one| one.judged > 0) {
        text.push_str("  figure 3: kinds of error in %\n");
    }
    for one in tables.opponents.iter().filter(|one| one.judged > 0) {
        let shares: Vec<String> = one.errors.iter().map(|e| format!("{} {:.1}", e.code, e.percent)).collect();
        text.push_str(&format!("    {:<22} of {}: {}\n", one.model, one.judged, shares.join(", ")));
    }
    text + &reviews(&tables.reviews)
}

/// RuozhiBench-MC: judges, means, what was drawn, shortcuts.
fn choices(tables: &ChoiceTables) -> String {
    let mut text = String::new();
    for (pairs, on, responses) in [
        (&tables.judges, "trick questions", tables.responses),
        (&tables.judges_normal, "normal questions", tables.normal_responses),
    ] {
        if !pairs.is_empty() {
            text.push_str(&format!(
                "  table 3: judges of {responses} answers to {on}\n    {:<40} {:>19} {:>19} {:>19}\n    {:<40} {}\n",
                "",
                "Pearson",
                "difference",
                "2 or more apart, %",
                "",
                format!("{:>9} {:>9} ", "single", "mean").repeat(3).trim_end()
            ));
        }
        pairs.iter().for_each(|pair| text.push_str(&judges(pair)));
    }
    text.push_str("  figures 5 and 6: ratings                                0     1     2     3     4\n");
    for row in &tables.ratings {
        let kind = if row.normal { "normal" } else { "trick" };
        let model = row.model.as_deref().unwrap_or("all models");
        let counts: Vec<String> = row.counts.iter().map(|count| format!("{count:>5}")).collect();
        text.push_str(&format!("    {:<20} {model:<20} {kind:<7} {}\n", row.judge, counts.join(" ")));
    }
    text.push_str("  figure 4: means, 0 to 100\n");
    let mut models: Vec<&str> = Vec::new();
    tables.means.iter().for_each(|cell| {
        if !models.contains(&cell.model.as_str()) {
            models.push(&cell.model);
        }
    });
    for model in models {
        let cells = tables.means.iter().filter(|cell| cell.model == model);
        let cells: Vec<String> = cells
            .map(|cell| format!("{} {:.2}", cell.category.as_deref().unwrap_or("all"), cell.score))
            .collect();
        text.push_str(&format!("    {model:<20} {}\n", cells.join("  ")));
    }
    text.push_str(&format!(
        "  figure 14: {} items, {} with the highest and the lowest\n",
        tables.items, tables.fallback
    ));
    for drawn in &tables.drawn {
        text.push_str(&format!("    {:<20} good {:>6}  bad {:>6}\n", drawn.model, drawn.good, drawn.bad));
    }
    text.push_str("  figure 15: gaps\n");
    for bar in tables.gaps.iter().filter(|bar| bar.items > 0) {
        text.push_str(&format!("    {:.1} to {:.1} {:>6}\n", bar.over, bar.to, bar.items));
    }
    if let Some(figures) = &tables.shortcuts {
        text.push_str(&shortcuts(figures));
    }
    text
}

fn judges(pair: &JudgePair) -> String {
    let number = |n: Option<f64>| n.map_or("-".to_owned(), |n| format!("{n:.3}"));
    let both = |of: fn(&Measures) -> Option<f64>| {
        format!("{:>9} {:>9}", number(of(&pair.individual)), number(of(&pair.mean)))
    };
    format!(
        "    {:<40} {} {} {}\n",
        pair.judges.join(" vs "),
        both(|measures| measures.pearson),
        both(|measures| measures.difference),
        both(|measures| measures.large_percent)
    )
}

fn shortcuts(figures: &Shortcuts) -> String {
    let percent = |share: &Share| {
        format!("{:>5.1} % [{:.1}, {:.1}]", share.value * 100.0, share.low * 100.0, share.high * 100.0)
    };
    let mut text = format!(
        "  what may be guessed of {} items; chance is {:.1} %\n",
        figures.items,
        figures.lengths.longest.chance * 100.0
    );
    text.push_str(&format!(
        "    right options by place    {:?}, chi-square {:.2}, p {:.3}\n",
        figures.positions.counts, figures.positions.chi_square, figures.positions.p
    ));
    let ranks: Vec<String> = figures.lengths.ranks.iter().map(|rank| format!("{rank:.1}")).collect();
    text.push_str(&format!(
        "    by length, longest first  [{}], chi-square {:.2}, p {:.3}\n",
        ranks.join(", "),
        figures.lengths.chi_square,
        figures.lengths.p
    ));
    let rules = [
        ("the longest", &figures.lengths.longest),
        ("the shortest", &figures.lengths.shortest),
        ("most of the question", &figures.overlap.most),
        ("least of the question", &figures.overlap.least),
    ];
    for (rule, share) in rules {
        text.push_str(&format!("    {rule:<25} {}\n", percent(share)));
    }
    if let Some(baseline) = &figures.baseline {
        text.push_str(&format!("    {:<25} {}\n", "options-only classifier", percent(&baseline.accuracy)));
    }
    text + &format!(
        "    {} pairs of options hardly differ, {} options occur in several items\n",
        figures.near_equal.len(),
        figures.reused.len()
    )
}

fn of_sample(agreement: &Agreement) -> &'static str {
    if agreement.sample { " (of the sample)" } else { "" }
}

/// What became of the drafts.
fn reviews(reviews: &[Reviewed]) -> String {
    let mut text = String::from("  reviews\n");
    for review in reviews {
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
        for line in voted(&review.voted) {
            text.push_str(&format!("      {line}\n"));
        }
    }
    text
}

/// What votes come to, a line each: agreement in each field, disputes, what seniors changed, trials.
pub(super) fn voted(voted: &Voted) -> Vec<String> {
    let figure = |e: Option<[f64; 3]>| e.map_or("-".to_owned(), |[value, ..]| format!("{value:.3}"));
    let sample = if voted.sample { " (of the sample)" } else { "" };
    let mut lines: Vec<String> = Vec::new();
    // What may be marked is told as a whole, not option by option.
    for field in voted.fields.iter().filter(|field| !field.field.contains(':')) {
        let cohen = match field.cohen {
            Some([mean, least, most]) if field.pairs > 1 => {
                format!("{mean:.3} ({least:.3} to {most:.3}, {} pairs)", field.pairs)
            }
            other => figure(other),
        };
        lines.push(format!(
            "{}{sample}: {} items, pairs that agree {}, alpha {}, Fleiss {}, Cohen {cohen}",
            field.field,
            field.items,
            figure(field.percent),
            figure(field.alpha),
            figure(field.fleiss)
        ));
    }
    if voted.settled + voted.disputed > 0 {
        lines.push(format!("disputes: {} settled by adjudication, {} open", voted.settled, voted.disputed));
    }
    if let Some((modified, of)) = voted.modified {
        let share = 100.0 * modified as f64 / of as f64;
        lines.push(format!("seniors modified {modified} of {of} ({share:.2} %)"));
    }
    if let Some(trial) = voted.trial.filter(|trial| trial.passed + trial.by_hand + trial.failed > 0) {
        let failed =
            if trial.failed > 0 { format!(", {} not any more", trial.failed) } else { String::new() };
        lines.push(format!(
            "may vote: {} by a trial, {} by qualified = true alone{failed}",
            trial.passed, trial.by_hand
        ));
    }
    lines
}

/// BrainTeaser: tables 3 and 6, a column a kind, and agreement on validity.
fn puzzles(tables: &PuzzleTables) -> String {
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
    for (field, agreement) in &tables.validity {
        let kappa =
            agreement.fleiss.map_or("-".into(), |[k, low, high]| format!("{k:.3} [{low:.3}, {high:.3}]"));
        text.push_str(&format!(
            "  section 3.5: Fleiss' kappa of {field} {kappa} on {} groups{}\n",
            agreement.items,
            of_sample(agreement)
        ));
    }
    if let Some(rated) = &tables.rated {
        let sample = if rated.sample { "; by synthetic votes of the sample" } else { "" };
        text.push_str(&format!("  section 3.5: {}{sample}\n", rated.describe()));
    }
    for kind in &tables.kinds {
        if let Some(figures) = &kind.shortcuts {
            text.push_str(&format!("  {} puzzles\n{}", kind.kind, shortcuts(figures)));
        }
    }
    text + &reviews(&tables.reviews)
}
