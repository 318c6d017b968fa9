//! `replies`: the store of models' replies.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::args::{Global, RepliesVerb};
use super::batches;
use super::exit::{Exit, Failure};
use super::output::{self, count, number};
use crate::llm::{HalfReply, Key, Store, half_replies};
use crate::stages::draft;
use crate::store::Error;

/// Most characters shown of a reply.
const SHOWN: usize = 60;

pub(super) fn replies(verb: &RepliesVerb, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    // A damaged store must open here, because `verify` is how people find the damage.
    let store = draft::open_damaged_store(&config)?;
    match verb {
        RepliesVerb::Stats => stats(&store, global),
        RepliesVerb::Export { file } => export(&store, file.as_deref()),
        RepliesVerb::Import { file } => import(&store, file, global),
        RepliesVerb::Verify => verify(&store, global),
        RepliesVerb::Forget { key, why } => forget(&store, key, why, global),
        RepliesVerb::Cut { forget } => halves(&store, *forget, global),
        RepliesVerb::Batches => batches::batches(&config, global),
        RepliesVerb::Cancel { batch, lost } => batches::cancel(&config, store, batch, *lost, global),
    }
}

/// A reply that was forgotten.
#[derive(Serialize)]
struct Forgotten<'r> {
    key: &'r Key,
    why: &'r str,
}

fn forget(store: &Store, begins: &str, why: &str, global: &Global) -> Result<Exit, Failure> {
    if why.trim().is_empty() {
        return Err(Failure::usage("--why is blank\n  hint: say what was wrong with the reply".to_owned()));
    }
    let keys = store.keys(begins).map_err(failed)?;
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
    store.forget(key, why.trim()).map_err(failed)?;
    if global.json {
        output::json(&Forgotten { key, why: why.trim() })?;
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
fn halves(store: &Store, forget: bool, global: &Global) -> Result<Exit, Failure> {
    const WHY: &str = "cut or refused, and used by an earlier version";
    let halves = half_replies(store).map_err(failed)?;
    if forget {
        for half in &halves {
            store.forget(&half.key, WHY).map_err(failed)?;
        }
    }
    if global.json {
        let rows: Vec<HalfRow<'_>> = halves.iter().map(|half| HalfRow { half, forgotten: forget }).collect();
        output::json(&rows)?;
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
    output::print(&text)?;
    Ok(Exit::Done)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Io, message: error.to_string() }
}

fn stats(store: &Store, global: &Global) -> Result<Exit, Failure> {
    let stats = store.stats().map_err(failed)?;
    if global.json {
        output::json(&stats)?;
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{} in {} ({}), {} failed, {} without an outcome\n",
        count(stats.replies, "reply"),
        count(stats.segments, "segment"),
        count(stats.bytes, "byte"),
        count(stats.failed_attempts, "attempt"),
        number(stats.open_attempts),
    );
    for model in &stats.models {
        text.push_str(&format!(
            "  {}  {}  {}  {} in, {} out, {}\n",
            model.identity,
            model.template,
            number(model.replies),
            number(model.prompt_tokens),
            number(model.completion_tokens),
            model.charged,
        ));
    }
    for (scope, charged, attempts) in &stats.budgets {
        text.push_str(&format!("  {scope}  {charged} in {}\n", count(*attempts, "attempt")));
    }
    output::print(&text)?;
    Ok(Exit::Done)
}

fn export(store: &Store, file: Option<&Path>) -> Result<Exit, Failure> {
    let exported = match file {
        Some(path) => {
            let mut out = BufWriter::new(File::create(path).map_err(Error::io("create", path))?);
            let exported = store.export(&mut out).map_err(failed)?;
            // Dropping the writer would ignore a full disk.
            out.flush().map_err(Error::io("write", path))?;
            exported
        }
        None => store.export(io::stdout().lock()).map_err(failed)?,
    };
    eprintln!("{} exported", number(exported.replies));
    Ok(Exit::Done)
}

fn import(store: &Store, file: &Path, global: &Global) -> Result<Exit, Failure> {
    let input = BufReader::new(File::open(file).map_err(Error::io("read", file))?);
    let imported = store.import(input).map_err(failed)?;
    for (line, why) in &imported.refused {
        eprintln!("{}:{line}: {why}", file.display());
    }
    if global.json {
        output::json(&imported)?;
    } else {
        let refused = imported.refused.len() as u64;
        let forgotten = match imported.forgotten {
            0 => String::new(),
            n => format!("{} forgotten here, ", number(n)),
        };
        let summary = format!(
            "{} added, {} known, {forgotten}{} refused\n",
            number(imported.added),
            number(imported.known),
            number(refused)
        );
        output::print(&summary)?;
    }
    Ok(if imported.refused.is_empty() { Exit::Done } else { Exit::Partial })
}

fn verify(store: &Store, global: &Global) -> Result<Exit, Failure> {
    let verified = store.verify().map_err(failed)?;
    if global.json {
        output::json(&verified)?;
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
        output::print(&text)?;
    }
    Ok(if verified.findings.is_empty() { Exit::Done } else { Exit::Gap })
}
