//! `audit`: proves that every record is accounted for.

use super::args::{Global, RecipeArgs};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::audit::{Proof, prove_freshness, prove_stages};
use crate::store::Workspace;

pub(super) fn audit_recipes(args: &RecipeArgs, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let workspace = Workspace::new(&config.root);
    let mut proof = Proof::default();
    for recipe in output::select_recipes(&config, args)? {
        prove_stages(&workspace, recipe, &mut proof);
        prove_freshness(&config, recipe, &mut proof)?;
    }
    if global.json {
        output::print_json(&proof)?;
    } else {
        let mut text: String =
            proof.gaps.iter().map(|g| format!("{} {}: {}\n", g.recipe, g.stage, g.what)).collect();
        let looked = format!(
            "{}, {}, {}",
            count(proof.stages as u64, "stage"),
            count(proof.files as u64, "file"),
            count(proof.records, "ledger entr")
                .replace("entrs", "entries")
                .replace("1 ledger entr", "1 ledger entry"),
        );
        let verdict = match proof.gaps.len() {
            0 if proof.stages == 0 => "nothing to audit: no stage was made yet".to_string(),
            0 => format!("{looked}: every record is accounted for"),
            n => format!("{looked}: {}", count(n as u64, "gap")),
        };
        text.push_str(&format!("{verdict}\n"));
        output::print_text(&text)?;
    }
    Ok(if proof.gaps.is_empty() { Exit::Done } else { Exit::Gap })
}
