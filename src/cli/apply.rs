//! `apply`: one stage as a filter of JSON Lines.

mod dedup;
mod import;
mod ledger;
mod lines;
mod parted;
mod rows;

use rayon::prelude::*;

use super::args::{Apply, ApplyStage, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::{Config, FILE};
use crate::decisions::{Decision, DecisionLog};
use crate::stages::anonymise_stage;
use crate::stages::apply::{Applied, RowObject, apply_stage as decide};
use crate::store::Workspace;
use lines::{BATCH, Lines, parse_line, row_output, write_rows};

/// Notes that `apply` follows the rules even if people decided otherwise.
fn note_decisions(stage: ApplyStage, recipe: Option<&str>, global: &Global) -> Result<(), Failure> {
    let names: &[&str] = match stage {
        ApplyStage::Clean => &["clean"],
        ApplyStage::Anonymise => &["anonymise"],
        ApplyStage::Filter => &["filter"],
        ApplyStage::Rows => &["clean", "anonymise", "filter"],
        ApplyStage::Dedup => &["dedup"],
        _ => return Ok(()),
    };
    let log = DecisionLog::read_folder(&Workspace::new(&global.workspace).decisions_folder())?;
    let of_stage = |d: &&Decision| {
        names.contains(&d.stage.as_str())
            && recipe.is_none_or(|recipe| d.is_for(recipe))
            && log.undo_of(d.id).is_none()
    };
    let count = log.all_decisions().iter().filter(of_stage).count();
    if count > 0 && !global.quiet {
        let (decisions, names) = (output::count(count as u64, "decision"), names.join(", "));
        eprintln!(
            "raw/decisions has {decisions} about {names}; `apply` follows only the rules, `run` follows both"
        );
    }
    Ok(())
}

pub(super) fn apply_stage(args: &Apply, global: &Global) -> Result<Exit, Failure> {
    let config = match global.workspace.join(FILE).exists() || !global.set.is_empty() {
        true => output::load_config(global)?,
        false => Config::defaults(),
    };
    let recipe = args.recipe.as_deref();
    // Only a check: with a wrong name the general settings would be used silently.
    recipe.map(output::find_recipe).transpose()?;
    note_decisions(args.stage, recipe, global)?;
    // Made on demand, so that a faulty setting of one stage does not prevent the others.
    let clean = || Applied::Clean(config.typed_settings(recipe, "clean"));
    let anonymise = || {
        let stage = anonymise_stage(&config.root, &config.typed_settings(recipe, "anonymise"));
        stage.map(|stage| Applied::Anonymise(Box::new(stage))).map_err(|e| Failure::usage(e.to_string()))
    };
    let filter = || Applied::Filter(config.typed_settings(recipe, "filter"));
    let what = match args.stage {
        ApplyStage::Clean => clean(),
        ApplyStage::Anonymise => anonymise()?,
        ApplyStage::Filter => filter(),
        ApplyStage::Rows => {
            let folder =
                args.ledgers.as_deref().ok_or_else(|| Failure::usage("rows needs --ledgers FOLDER"))?;
            return rows::apply_stages(&[clean(), anonymise()?, filter()], folder);
        }
        ApplyStage::Interrogative => Applied::Interrogative(config.stated_language(recipe)),
        ApplyStage::Similarity => Applied::Similarity(config.stated_language(recipe)),
        ApplyStage::Dedup => return dedup::dedup_posts(args, &config, recipe, global),
        ApplyStage::Census => return import::take_census(args, &config, global),
        ApplyStage::Import => return import::import_dump(args, &config, global),
        ApplyStage::Settle => return ledger::settle_posts(),
        stage => return parted::run_parted(stage, args, &dedup::dedup_settings(args, &config, recipe)?),
    };
    if args.ledger {
        return ledger::apply_each(&what);
    }
    let mut bad = 0;
    let mut out = row_output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.next_batch(BATCH)? {
        let rows: Vec<Result<RowObject, RowObject>> = batch
            .into_par_iter()
            .map(|(n, line)| parse_line(n, &line).map(|row| decide(&what, row)))
            .collect();
        bad += rows.iter().filter(|r| r.is_err()).count();
        if !write_rows(
            &mut out,
            rows.iter().map(|r: &Result<RowObject, RowObject>| r.as_ref().unwrap_or_else(|bad| bad)),
        )? {
            // `head` at the other end of the pipe has read enough, which is no failure.
            return Ok(Exit::Done);
        }
    }
    write_rows::<RowObject>(&mut out, [])?;
    Ok(if bad > 0 { Exit::Partial } else { Exit::Done })
}
