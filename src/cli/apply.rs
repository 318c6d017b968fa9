//! `apply`: one stage as a filter, JSON Lines in and out.

mod books;
mod dedup;
mod import;
mod lines;
mod parted;

use rayon::prelude::*;

use super::args::{Apply, ApplyStage, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::{Config, FILE};
use crate::stages::apply::{Applied, Row, anonymise_stage, apply as decide};
use lines::{BATCH, Lines, output, parse, write};

pub(super) const HELP: &str = "\
Every row comes out in its place, with unknown fields passed through and always id, outcome, reason, evidence.
  clean          title, content (or text)  ->  text
  anonymise      text, names               ->  text
  filter         text                      ->  kept or dropped
  interrogative  text                      ->  is_question
  similarity     a, b                      ->  duplicate, verdict, score
  dedup          id, text                  ->  into, score (reads all rows first; --on-disk where they are many)
                 and with --against FILE   ->  resembles, resembles_score
Books are what several machines make of a stage, a line a record: its ledger entry, rows and links. `assemble`
writes them into staged/.
  import         a dump (--kind or --source)        ->  books
  settle         books of import, in order          ->  books; {again: [{row, same}], booked} names known ids
  clean, anonymise, filter with --books             ->  books
Dedup in parts, for rows that no machine holds. Between them lines are sorted by their bytes.
  dedup-keys     id, text                           ->  key, rank: rows with one key compare alike with all
  dedup-stats    id, text; or its own output        ->  counts; those of parts add up
  dedup-keys --stats FILE                           ->  key, role, rank, of, skip, size, signature (--texts: text)
  dedup-verify   those, sorted                      ->  from, into, verdict: maybe, copy; of texts same, borderline
  dedup-resolve  pairs                              ->  id, into, score, predicate
  dedup-book     {row, into: {id, text}, score, predicate}  ->  books
Settings come from the workspace where there is a pipeline.toml, else they are the defaults.";

pub(super) fn apply(args: &Apply, global: &Global) -> Result<Exit, Failure> {
    let config = match global.workspace.join(FILE).exists() || !global.set.is_empty() {
        true => output::load(global)?,
        false => Config::defaults(),
    };
    let recipe = args.recipe.as_deref();
    if let Some(name) = recipe.filter(|name| crate::recipe::find(name).is_none()) {
        return Err(Failure::usage(format!("unknown recipe {name:?}")));
    }
    let what = match args.stage {
        ApplyStage::Clean => Applied::Clean(config.typed(recipe, "clean")),
        ApplyStage::Anonymise => {
            let stage = anonymise_stage(&config.root, &config.typed(recipe, "anonymise"));
            Applied::Anonymise(Box::new(stage.map_err(|e| Failure::usage(e.to_string()))?))
        }
        ApplyStage::Filter => Applied::Filter(config.typed(recipe, "filter")),
        ApplyStage::Interrogative => Applied::Interrogative,
        ApplyStage::Similarity => Applied::Similarity,
        ApplyStage::Dedup => return dedup::dedup(args, &config, recipe),
        ApplyStage::Import => return import::import(args, &config, global),
        ApplyStage::Settle => return books::settle(),
        stage => return parted::parted(stage, args, &dedup::settings(args, &config, recipe)?),
    };
    if args.books {
        return books::each(&what);
    }
    let mut bad = 0;
    let mut out = output();
    let mut lines = Lines::new();
    while let Some(batch) = lines.batch(BATCH)? {
        let rows: Vec<Result<Row, Row>> =
            batch.into_par_iter().map(|(n, line)| parse(n, &line).map(|row| decide(&what, row))).collect();
        bad += rows.iter().filter(|r| r.is_err()).count();
        if !write(&mut out, rows.iter().map(|r: &Result<Row, Row>| r.as_ref().unwrap_or_else(|bad| bad)))? {
            return Ok(Exit::Done);
        }
    }
    write::<Row>(&mut out, [])?;
    Ok(if bad > 0 { Exit::Partial } else { Exit::Done })
}
