//! `withdraw`: removes a post or a dump.

use serde::Serialize;

use super::args::{Global, Withdraw as Args};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::Config;
use crate::pipeline;
use crate::release::{Holder, Request, look_up, look_up_dump};
use crate::stages::withdrawal::{
    Tombstone, TombstoneSubject, Withdraw, Withdrawals, append_withdrawals as append,
};
use crate::store::Workspace;

/// What a withdrawal concerns, and whether it was made.
#[derive(Serialize)]
struct Withdrawal<'r> {
    withdrawn: bool,
    concerns: &'r Request,
}

pub(super) fn withdraw_posts(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    if args.list {
        return list_withdrawals(&config, global);
    }
    let target = args.target.as_deref().unwrap_or_default();
    let reason = args.reason.as_deref().unwrap_or_default();
    if args.undo {
        return undo_withdrawal(&config, target, reason);
    }
    let (request, tombstones) = if args.dump {
        let (dump, released) = look_up_dump(&config, target)?;
        (Request { released, ..Request::default() }, vec![dump])
    } else if args.text {
        let text = Withdraw::Post { id: None, text: Some(target.into()), dumps: Vec::new() };
        (Request::default(), vec![text])
    } else {
        let request = look_up(&config, target)?;
        let tombstones = request.make_tombstones();
        (request, tombstones)
    };
    if !args.dry_run && request.already.is_none() {
        append(&Workspace::new(&config.root), &tombstones, reason, &pipeline::current_time())?;
    }
    if global.json {
        output::print_json(&Withdrawal { withdrawn: !args.dry_run, concerns: &request })?;
        return Ok(Exit::Done);
    }
    // Withdrawn is what it was to become, perhaps by a call that was interrupted.
    if let Some(already) = &request.already {
        output::print_text(&format!("{already}\n"))?;
        return Ok(Exit::Done);
    }
    let verb = if args.dry_run { "would be withdrawn" } else { "withdrawn" };
    let mut text = match (args.dump, args.text) {
        (true, _) => format!("{target}: the whole dump, {verb}\n"),
        (_, true) => format!("posts with exactly this text: {verb}\n"),
        _ => describe_posts(&request, verb),
    };
    text.push_str(&describe_released(&request.released));
    request.others.iter().for_each(|other| text.push_str(&format!("  {other}\n")));
    if !args.dry_run {
        text.push_str(
            "  hint: `riddlemill run` removes it from the stages and candidates; its bytes in raw/dumps are yours to delete. What stays, \
             and no command edits: the texts that annotators saw (raw/seen), and released versions that have it, yanked or not \
             (raw/releases, output)\n",
        );
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn describe_posts(request: &Request, verb: &str) -> String {
    let mut text = String::new();
    for (i, copy) in request.posts.iter().enumerate() {
        let what = if i == 0 { "" } else { ", which has the same text" };
        text.push_str(&format!("{}{what}: {verb}\n", copy.id));
        if copy.places.is_empty() {
            text.push_str("  in no dump yet: it will be left out if a later dump contains it\n");
        }
        for place in &copy.places {
            text.push_str(&format!("  its bytes: {}\n", place.locator));
        }
    }
    for near in &request.near {
        text.push_str(&format!("  nearly the same at {:.3}, but stays: {}\n", near.score, near.id));
    }
    text
}

/// The releases that contain it, with the command that marks them.
fn describe_released(holders: &[Holder]) -> String {
    const SHOWN: usize = 5;
    let mut versions: Vec<(&str, String, bool, Vec<&str>)> = Vec::new();
    for holder in holders {
        let version = holder.version.to_string();
        match versions.iter_mut().find(|(recipe, known, ..)| *recipe == holder.recipe && *known == version) {
            Some((.., rows)) => rows.push(holder.row.as_str()),
            None => versions.push((holder.recipe, version, holder.yanked, vec![holder.row.as_str()])),
        }
    }
    let mut text = String::new();
    for (recipe, version, yanked, rows) in versions {
        let more = if rows.len() > SHOWN { ", …" } else { "" };
        let hint = match yanked {
            true => "; the version is yanked".to_string(),
            false => format!("\n    hint: `riddlemill release yank {version} --recipe {recipe} --why …`"),
        };
        text.push_str(&format!(
            "  released in {recipe} {version}: {} ({}{more}){hint}\n",
            count(rows.len() as u64, "row"),
            rows[..rows.len().min(SHOWN)].join(", ")
        ));
    }
    text
}

fn undo_withdrawal(config: &Config, target: &str, reason: &str) -> Result<Exit, Failure> {
    let workspace = Workspace::new(&config.root);
    let withdrawals = Withdrawals::load(&workspace)?;
    let wanted = match withdrawals.of_file(target).map(|found| &found.what) {
        Some(TombstoneSubject::Dump { sha256, .. }) => Withdraw::UndoDump(sha256.clone()),
        _ if withdrawals.of_post(target, target).is_some() => Withdraw::UndoPost(target.into()),
        _ => return Err(Failure::usage(format!("{target:?} is not withdrawn"))),
    };
    append(&workspace, &[wanted], reason, &pipeline::current_time())?;
    output::print_text(&format!(
        "{target}: no longer withdrawn\n  hint: `riddlemill run` includes it again if a dump still \
         contains it\n"
    ))?;
    Ok(Exit::Done)
}

/// Lists withdrawals. Posts are only identified by their hash.
fn list_withdrawals(config: &Config, global: &Global) -> Result<Exit, Failure> {
    let withdrawals = Withdrawals::load(&Workspace::new(&config.root))?;
    let current: Vec<&Tombstone> = withdrawals.current_tombstones().collect();
    if global.json {
        output::print_json(&current)?;
        return Ok(Exit::Done);
    }
    let line = |tombstone: &&Tombstone| {
        let what = match &tombstone.what {
            TombstoneSubject::Post { id, text, .. } => {
                let hash = id.as_ref().or(text.as_ref()).map_or("", |hash| &hash[..hash.len().min(8)]);
                format!("a post ({hash})")
            }
            TombstoneSubject::Dump { file, .. } => format!("the dump {file}"),
            TombstoneSubject::Undone { .. } => String::new(),
        };
        format!("{}  {what}: {}\n", tombstone.at.get(..10).unwrap_or_default(), tombstone.reason)
    };
    output::print_text(&match current.is_empty() {
        true => "nothing is withdrawn\n".to_string(),
        false => current.iter().map(line).collect(),
    })?;
    Ok(Exit::Done)
}
