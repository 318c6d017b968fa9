//! `raw merge`: merges the work of a workspace that diverged.

use std::path::Path;

use serde_json::json;

use super::args::{Global, RawVerb};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::Config;
use crate::decisions::DecisionLine;
use crate::pipeline::{MergeError, Merged, merge_workspace};
use crate::review::Vote;
use crate::warc::MergedFile;

pub(super) fn run_raw_verb(verb: &RawVerb, global: &Global) -> Result<Exit, Failure> {
    let RawVerb::Merge { other, dry_run } = verb;
    merge_raw(&output::load_config(global)?, other, *dry_run, global)
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Failure {
        match error {
            MergeError::NoWorkspace(_) | MergeError::Itself(_) => Failure::usage(error.to_string()),
            MergeError::File(error) => error.into(),
            MergeError::Replies(error) => error.into(),
            other => Failure { exit: Exit::Io, message: other.to_string() },
        }
    }
}

fn merge_raw(config: &Config, other: &Path, dry_run: bool, global: &Global) -> Result<Exit, Failure> {
    let merged = merge_workspace(config, other, dry_run)?;
    if global.json {
        print_json(&merged, dry_run)?;
    } else {
        output::print_text(&describe_merged(&merged, dry_run))?;
    }
    for refused in &merged.refused {
        eprintln!("not copied: {refused}");
    }
    Ok(if merged.refused.is_empty() { Exit::Done } else { Exit::Partial })
}

fn print_json(merged: &Merged, dry_run: bool) -> Result<(), Failure> {
    let replies = &merged.replies;
    let answers = replies.replies.iter();
    let answers: Vec<_> = answers
        .map(|((model, template), n)| json!({ "model": model, "template": template, "replies": n }))
        .collect();
    let archives: Vec<_> = merged
        .archives
        .iter()
        .map(|taken| json!({ "file": taken.path(), "how": how_taken(taken) }))
        .collect();
    output::print_json(&json!({
        "taken_over": !dry_run,
        "votes": merged.votes,
        "contradicting": merged.contradicting,
        "decisions": merged.decisions,
        "replies": {
            "new": answers,
            "second": replies.second,
            "attempts": replies.attempts,
            "charged_picousd": replies.charged,
            "forgotten": replies.forgotten,
        },
        "tasks": merged.tasks,
        "seen": merged.seen,
        "withdrawn": merged.withdrawn,
        "archives": archives,
        "left": merged.left,
        "refused": merged.refused,
    }))
}

fn how_taken(taken: &MergedFile) -> &'static str {
    match taken {
        MergedFile::New(_) => "new",
        MergedFile::Longer(_) => "continues the local one",
        MergedFile::Beside(_) => "kept next to the local one, which continues differently",
    }
}

/// What was new, line by line, and what is left to do.
fn describe_merged(merged: &Merged, dry_run: bool) -> String {
    let mut text = String::new();
    let mut add_line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for vote in &merged.votes {
        let disputed = merged.contradicting.contains(&vote.id);
        add_line(format!(
            "vote {}{}",
            of_vote(vote),
            if disputed { "  (contradicts one in this workspace)" } else { "" }
        ));
    }
    for line in &merged.decisions {
        add_line(match line {
            DecisionLine::Decide(decision) => {
                format!("decision {}", super::decide::describe_decision(decision))
            }
            DecisionLine::Dispute(decision) => {
                format!(
                    "decision {}  (contradicts one in this workspace)",
                    super::decide::describe_decision(decision)
                )
            }
            DecisionLine::Undo(undo) => {
                format!("decision {} undone by {}: {}", undo.undoes, undo.by, undo.why)
            }
        });
    }
    let replies = &merged.replies;
    for ((model, template), n) in &replies.replies {
        // Texts for embeddings are sent without a prompt, so they have no template.
        let template = if template.is_empty() { "an embedding" } else { template };
        add_line(format!("{} of {model} to {template}", count(*n, "reply")));
    }
    if replies.second > 0 {
        let what = "to requests that have a reply here, too: the local reply stays the answer";
        add_line(format!("{} {what}", count(replies.second, "reply")));
    }
    if replies.forgotten > 0 {
        add_line(format!("{} forgotten", count(replies.forgotten, "reply")));
    }
    for (budget, charged) in &replies.charged {
        add_line(format!("{} also counts against {budget}", charged));
    }
    for (file, n) in &merged.tasks {
        add_line(format!("{} of raw/{}", count(*n as u64, "line"), file.display()));
    }
    if merged.seen > 0 {
        add_line(format!("{} that voters saw", count(merged.seen as u64, "text")));
    }
    if merged.withdrawn > 0 {
        add_line(count(merged.withdrawn as u64, "withdrawal"));
    }
    for taken in &merged.archives {
        add_line(format!("archive raw/warc/{}: {}", taken.path().display(), how_taken(taken)));
    }
    if merged.is_empty() {
        add_line("nothing is new there".into());
    } else if dry_run {
        add_line("nothing was copied: `--dry-run`".into());
    } else {
        add_line("`riddlemill run` applies it".into());
    }
    let disputed = merged.decisions.iter().any(|line| matches!(line, DecisionLine::Dispute(_)));
    if !merged.contradicting.is_empty() {
        add_line("  hint: `riddlemill review adjudicate STEP` shows both answers; their voter votes again, or an adjudicator decides".into());
    }
    if disputed {
        add_line(
            "  hint: `riddlemill decide list` shows both decisions; the next decision settles it".into(),
        );
    }
    merged.left.iter().for_each(|left| add_line(format!("not copied: {left}")));
    text
}

/// `flub/type tieba:1 by a1: type=paradox`
fn of_vote(vote: &Vote) -> String {
    let answers: Vec<String> = vote.values.iter().map(|(field, value)| format!("{field}={value}")).collect();
    let Vote { recipe, step, item, annotator, .. } = vote;
    format!("{recipe}/{step} {item} by {annotator}: {}", answers.join(", "))
}
