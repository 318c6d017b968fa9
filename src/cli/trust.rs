//! `trust`: what this machine's user allowed a workspace to do beyond its own folder.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::args::{Global, TrustVerb};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::{Config, Overrides};
use crate::recipe;
use crate::trust::{Given, TRUST, Trust, Wish};

pub(super) fn run_trust_verb(verb: Option<&TrustVerb>, global: &Global) -> Result<Exit, Failure> {
    match verb {
        None => list_wishes(false, global),
        Some(TrustVerb::List { all }) => list_wishes(*all, global),
        Some(TrustVerb::Add { words }) => add(words, global),
        Some(TrustVerb::Withdraw { words }) => withdraw_trust(words, global),
    }
}

/// What the workspace wants, whether it was agreed to or not.
fn read_wishes(global: &Global) -> Result<(Config, Vec<Wish>), Failure> {
    // Listed before anything is agreed to.
    let overrides = Overrides { ask: None, unasked: true, ..output::collect_overrides(global, &[]) };
    let config =
        Config::load(&global.workspace, &recipe::recipe_names(), &recipe::changed_defaults(), &overrides)?;
    let hosts = config
        .endpoints
        .iter()
        .flat_map(|endpoint| [endpoint.needed_wish(), endpoint.command_wish()])
        .flatten();
    let wishes: BTreeSet<Wish> =
        hosts.chain(config.wished_places()).chain(linked_folders(&config.trust, &config)).collect();
    Ok((config, wishes.into_iter().collect()))
}

/// The workspace's own folders that are links to elsewhere.
fn linked_folders(trust: &Trust, config: &Config) -> Vec<Wish> {
    let leads = |name: &str| {
        let path = config.root.join(name);
        let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let target = trust.leads_out(Path::new(name)).filter(|_| is_link)?;
        Some(Wish::Folder { name: name.to_owned(), target })
    };
    ["raw", "staged", "output"].into_iter().filter_map(leads).collect()
}

/// What a workspace wants, and what was agreed to.
#[derive(Serialize)]
struct Trusted<'t> {
    wants: Vec<TrustWish<'t>>,
    agreed: Vec<&'t Given>,
    file: Option<&'t Path>,
}

/// Something beyond its own folder.
#[derive(Serialize)]
struct TrustWish<'t> {
    wish: &'t Wish,
    word: String,
    agreed: bool,
}

fn list_wishes(all: bool, global: &Global) -> Result<Exit, Failure> {
    let (config, wishes) = match read_wishes(global) {
        // What was agreed to elsewhere can be listed anywhere.
        Err(_) if all => (Config::defaults(), Vec::new()),
        found => found?,
    };
    let trust = Trust::for_workspace(&global.workspace, global.trust.iter().cloned());
    let given = trust.list_answers();
    let shown: Vec<_> = given.iter().filter(|given| all || given.here).collect();
    if global.json {
        let want = |wish| TrustWish { wish, word: wish.trust_word(), agreed: config.trust.is_agreed(wish) };
        let wants = wishes.iter().map(want).collect();
        output::print_json(&Trusted { wants, agreed: shown, file: trust.answers_file() })?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for wish in &wishes {
        let state = if config.trust.is_agreed(wish) { "agreed" } else { "not agreed" };
        text.push_str(&format!("{state:<12} {wish}\n"));
    }
    // What was agreed to and is not wanted any more can be taken back, too.
    for given in shown.iter().filter(|given| given.here) {
        match &given.wish {
            None => text.push_str("made here    places anywhere on this machine\n"),
            Some(wish) if !wishes.contains(wish) => {
                text.push_str(&format!("agreed       {wish} (not in pipeline.toml)\n"))
            }
            Some(_) => {}
        }
    }
    for given in shown.iter().filter(|given| !given.here) {
        let what = given.wish.as_ref().map_or("places anywhere: made here".to_owned(), Wish::to_string);
        text.push_str(&format!("{}: {what}\n", given.workspace));
    }
    if text.is_empty() {
        text.push_str("this workspace wants nothing beyond its own folder\n");
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn add(words: &[String], global: &Global) -> Result<Exit, Failure> {
    let (_, wishes) = read_wishes(global)?;
    let trust = Trust::for_workspace(&global.workspace, []);
    for word in words {
        let meant: Vec<&Wish> = wishes.iter().filter(|wish| wish.is_named(word)).collect();
        if meant.is_empty() {
            let wanted: Vec<String> = wishes.iter().map(Wish::trust_word).collect();
            let wanted = if wanted.is_empty() { "nothing".to_owned() } else { wanted.join(", ") };
            return Err(Failure::usage(format!(
                "this workspace does not ask for {word:?}\n  hint: it asks for {wanted}"
            )));
        }
        for wish in meant {
            trust.record_agreement(wish)?;
            if !global.quiet {
                eprintln!("agreed, for this workspace on this machine: {wish}");
            }
        }
    }
    Ok(Exit::Done)
}

fn withdraw_trust(words: &[String], global: &Global) -> Result<Exit, Failure> {
    let trust = Trust::for_workspace(&global.workspace, []);
    let mut all = 0;
    match words {
        [] => all = trust.withdraw_answers(None)?,
        words => {
            for word in words {
                let withdrawn = trust.withdraw_answers(Some(word))?;
                if withdrawn == 0 {
                    let what = format!(
                        "{word:?} was not agreed to for this workspace\n  hint: `riddlemill trust list` shows what was"
                    );
                    return Err(Failure { exit: Exit::Gap, message: what });
                }
                all += withdrawn;
            }
        }
    }
    if !global.quiet {
        eprintln!("{} withdrawn", count(all as u64, "agreement"));
        if std::env::var_os(TRUST).is_some() {
            eprintln!("note: {TRUST} is set, and agrees to what it names");
        }
    }
    Ok(Exit::Done)
}
