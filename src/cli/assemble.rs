//! `assemble`: a stage from ledger records made by a cluster.

use std::path::{Path, PathBuf};

use super::args::{Assemble, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::pipeline::{AssembleError, assemble_stage};
use crate::record::State;
use crate::store::Error;

pub(super) fn assemble_partitions(args: &Assemble, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let recipe = output::find_recipe(&args.recipe)?;
    let ledgers = list_partitions(&args.ledgers)?;
    let pairs = list_partitions(&args.pairs)?;
    let manifest = assemble_stage(&config, recipe, &args.stage, &ledgers, &pairs, args.names.as_deref())
        .map_err(assemble_failure)?;
    if global.json {
        output::print_json(&manifest)?;
    } else if !global.quiet {
        eprintln!(
            "{}/{}: {} in, {} out",
            recipe.name, manifest.stage, manifest.counts.records_in, manifest.counts.records_out
        );
    }
    Ok(if manifest.counts.records_in_state(State::Failed) > 0 { Exit::Partial } else { Exit::Done })
}

/// Files unchanged, and for folders the files that a cluster writes into them, sorted by name.
fn list_partitions(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut parts = Vec::new();
        for entry in std::fs::read_dir(path).map_err(Error::io("list", path))? {
            parts.push(entry.map_err(Error::io("list", path))?.path());
        }
        // Spark also writes markers and checksums into its folders.
        parts.retain(|part| file_name(part).starts_with("part-"));
        parts.sort();
        files.extend(parts);
    }
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn assemble_failure(error: AssembleError) -> Failure {
    match error {
        AssembleError::Run(error) => error.into(),
        AssembleError::Incomplete { .. } => Failure { exit: Exit::Gap, message: error.to_string() },
        AssembleError::Line { .. }
        | AssembleError::Pair { .. }
        | AssembleError::Names { .. }
        | AssembleError::Stranger(_)
        | AssembleError::Decided { .. }
        | AssembleError::Published { .. }
        | AssembleError::Stage { .. } => Failure::usage(error.to_string()),
    }
}
