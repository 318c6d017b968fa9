//! `replies`: the store of models' replies.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::args::{Global, RepliesVerb};
use super::batches;
use super::exit::{Exit, Failure};
use super::output::{self, count, format_count};
use crate::llm::{HalfReply, Key, Store, half_replies};
use crate::stages::draft;
use crate::store::Error;

/// Most characters shown of a reply.
const SHOWN: usize = 60;

pub(super) fn run_replies_verb(verb: &RepliesVerb, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    // A damaged store must open here, because `verify` is how people find the damage.
    let store = draft::open_damaged_store(&config)?;
    match verb {
        RepliesVerb::Stats => print_stats(&store, global),
        RepliesVerb::Export { file } => export_replies(&store, file.as_deref()),
        RepliesVerb::Import { file } => import_replies(&store, file, global),
        RepliesVerb::Verify => verify_replies(&store, global),
        RepliesVerb::Forget { key, why } => forget_replies(&store, key, why, global),
        RepliesVerb::Cut { forget } => list_halves(&store, *forget, global),
        RepliesVerb::Batches => batches::list_batches(&config, global),
        RepliesVerb::Cancel { batch, lost } => batches::cancel_batch(&config, store, batch, *lost, global),
    }
}

/// A reply that was forgotten.
#[derive(Serialize)]
struct Forgotten<'r> {
    key: &'r Key,
    why: &'r str,
}

fn forget_replies(store: &Store, begins: &str, why: &str, global: &Global) -> Result<Exit, Failure> {
    if why.trim().is_empty() {
        return Err(Failure::usage("--why is blank\n  hint: say what was wrong with the reply".to_owned()));
    }
    let keys = store.keys_with_prefix(begins).map_err(store_failure)?;
    let key = match &keys[..] {
        [key] => key,
        [] => {
            let message = format!(
                "no stored reply has a key that begins with {begins:?}\n  hint: `riddlemill replies export` prints them"
            );
            return Err(Failure { exit: Exit::Gap, message });
        }
        _ => {
            return Err(Failure::usage(format!(
                "{} with keys that begin with {begins:?}\n  hint: give more of it",
                count(keys.len() as u64, "reply")
            )));
        }
    };
    store.forget_reply(key, why.trim()).map_err(store_failure)?;
    if global.json {
        output::print_json(&Forgotten { key, why: why.trim() })?;
    } else if !global.quiet {
        eprintln!("{key} is asked for again by the next run that needs it and may ask");
    }
    Ok(Exit::Done)
}

/// Half a reply, and whether it is forgotten now.
#[derive(Serialize)]
struct HalfRow<'h> {
    #[serde(flatten)]
    half: &'h HalfReply,
    forgotten: bool,
}

/// Lists what an earlier version took for whole, or forgets it.
fn list_halves(store: &Store, forget: bool, global: &Global) -> Result<Exit, Failure> {
    const WHY: &str = "cut or refused, and used by an earlier version";
    let halves = half_replies(store).map_err(store_failure)?;
    if forget {
        for half in &halves {
            store.forget_reply(&half.key, WHY).map_err(store_failure)?;
        }
    }
    if global.json {
        let rows: Vec<HalfRow<'_>> = halves.iter().map(|half| HalfRow { half, forgotten: forget }).collect();
        output::print_json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for half in &halves {
        let how = match half.is_refusal {
            true => "refused".to_owned(),
            false => format!("cut at {}", half.max_tokens),
        };
        let words = half.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = words.chars().take(SHOWN).collect();
        let more = if words.chars().count() > SHOWN { "…" } else { "" };
        let key = half.key.to_string();
        text.push_str(&format!("{}  {}  {}  {how}: {short}{more}\n", &key[..12], half.template, half.model));
    }
    text.push_str(&match (halves.len() as u64, forget) {
        (0, _) => "no reply that is used was cut or refused\n".to_owned(),
        (n, true) => format!("{} asked for again by the next run that needs them and may ask\n", count(n, "reply")),
        (n, false) => format!(
            "{} used though cut or refused; `riddlemill replies cut --forget` has them asked for again, and votes on \
             what was made of them count only for the same text\n",
            count(n, "reply")
        ),
    });
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn store_failure(error: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Io, message: error.to_string() }
}

fn print_stats(store: &Store, global: &Global) -> Result<Exit, Failure> {
    let stats = store.compute_stats().map_err(store_failure)?;
    if global.json {
        output::print_json(&stats)?;
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{} in {} ({}), {} failed, {} without an outcome\n",
        count(stats.replies, "reply"),
        count(stats.segments, "segment"),
        count(stats.bytes, "byte"),
        count(stats.failed_attempts, "attempt"),
        format_count(stats.open_attempts),
    );
    for model in &stats.models {
        text.push_str(&format!(
            "  {}  {}  {}  {} in, {} out, {}\n",
            model.identity,
            model.template,
            format_count(model.replies),
            format_count(model.prompt_tokens),
            format_count(model.completion_tokens),
            model.charged,
        ));
    }
    for (scope, charged, attempts) in &stats.budgets {
        text.push_str(&format!("  {scope}  {charged} in {}\n", count(*attempts, "attempt")));
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn export_replies(store: &Store, file: Option<&Path>) -> Result<Exit, Failure> {
    let exported = match file {
        Some(path) => {
            let mut out = BufWriter::new(File::create(path).map_err(Error::io("create", path))?);
            let exported = store.export_replies(&mut out).map_err(store_failure)?;
            // Dropping the writer would ignore a full disk.
            out.flush().map_err(Error::io("write", path))?;
            exported
        }
        None => store.export_replies(io::stdout().lock()).map_err(store_failure)?,
    };
    eprintln!("{} exported", format_count(exported.replies));
    Ok(Exit::Done)
}

fn import_replies(store: &Store, file: &Path, global: &Global) -> Result<Exit, Failure> {
    let input = BufReader::new(File::open(file).map_err(Error::io("read", file))?);
    let imported = store.import_replies(input).map_err(store_failure)?;
    for (line, why) in &imported.refused {
        eprintln!("{}:{line}: {why}", file.display());
    }
    if global.json {
        output::print_json(&imported)?;
    } else {
        let refused = imported.refused.len() as u64;
        let forgotten = match imported.forgotten {
            0 => String::new(),
            n => format!("{} forgotten here, ", format_count(n)),
        };
        let summary = format!(
            "{} added, {} known, {forgotten}{} refused\n",
            format_count(imported.added),
            format_count(imported.known),
            format_count(refused)
        );
        output::print_text(&summary)?;
    }
    Ok(if imported.refused.is_empty() { Exit::Done } else { Exit::Partial })
}

fn verify_replies(store: &Store, global: &Global) -> Result<Exit, Failure> {
    let verified = store.verify_segments().map_err(store_failure)?;
    if global.json {
        output::print_json(&verified)?;
    } else {
        let mut text = String::new();
        let notes = verified.notes.iter().map(|note| ("note: ", note));
        for (kind, told) in verified.findings.iter().map(|finding| ("", finding)).chain(notes) {
            let at = told.at.map(|at| format!(" at byte {at}")).unwrap_or_default();
            text.push_str(&format!("{kind}segment {:06}{at}: {}\n", told.segment, told.what));
        }
        text.push_str(&format!(
            "{}, {}, {}: {}\n",
            count(verified.segments, "segment"),
            count(verified.lines, "line"),
            count(verified.replies, "reply"),
            if verified.findings.is_empty() { "all intact" } else { "see above" },
        ));
        output::print_text(&text)?;
    }
    Ok(if verified.findings.is_empty() { Exit::Done } else { Exit::Gap })
}
