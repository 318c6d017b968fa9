//! `release`: a version for a candidate; and what `run` gives back of older ones.

use std::path::Path;

use super::args::{Global, Release};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::Config;
use crate::pipeline;
use crate::recipe::{self, Recipe};
use crate::release::{self, Version};
use crate::store::Workspace;

pub(super) fn release(args: &Release, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let unknown =
        || format!("unknown recipe {:?}\n  hint: there are {}", args.recipe, recipe::names().join(", "));
    let recipe = recipe::find(&args.recipe).ok_or_else(|| Failure::usage(unknown()))?;
    if let Some(published) = &args.adopt {
        return adopt(&config, recipe, published, global);
    }
    let version = args.version.as_deref().map(str::parse::<Version>).transpose();
    let version = version.map_err(|e| Failure::usage(e.to_string()))?;
    let date = args.date.clone().unwrap_or_else(today);
    let (proposal, manifest) = release::release(&config, recipe, version, &date)?;
    let place =
        Workspace::new(&config.root).candidate(recipe.name).with_file_name(proposal.version.to_string());
    if global.json {
        output::json(&serde_json::json!({
            "recipe": recipe.name, "version": proposal.version, "bump": proposal.bump,
            "changes": proposal.changes, "draft": proposal.draft, "rows": manifest.configs, "folder": place,
        }))?;
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{} {}: {} in {}\n",
        recipe.name,
        proposal.version,
        count(manifest.rows, "row"),
        place.display()
    );
    text.push_str(&match &proposal.changes.since {
        Some(version) => {
            format!("  since {version}: {}; {}\n", proposal.changes.words(), proposal.bump.word())
        }
        None => "  the first release\n".into(),
    });
    for why in &proposal.draft {
        text.push_str(&format!("  a draft: {why}\n"));
    }
    output::print(&text)?;
    Ok(Exit::Done)
}

/// Takes over published numbers; a run shows them in the candidate.
fn adopt(
    config: &Config,
    recipe: &'static Recipe,
    published: &Path,
    global: &Global,
) -> Result<Exit, Failure> {
    let adopted = release::adopt(config, recipe, published)?;
    if global.json {
        output::json(&serde_json::json!({
            "published": adopted.published, "found": adopted.found, "new": adopted.new,
        }))?;
        return Ok(Exit::Done);
    }
    output::print(&format!(
        "{}: {} published, {} found here, {} of their numbers new in the registry\n  hint: `riddlemill run --recipe {}` shows them in the candidate\n",
        recipe.name,
        count(adopted.published as u64, "item"),
        adopted.found,
        adopted.new,
        recipe.name,
    ))?;
    Ok(Exit::Done)
}

/// Gives back the versions that output/ lacks, and says so.
pub(super) fn restore(
    workspace: &Workspace,
    recipe: &'static Recipe,
    global: &Global,
) -> Result<(), Failure> {
    for restored in release::restore(workspace, recipe)? {
        if !global.quiet {
            eprintln!("{} {}: given back from raw/releases", recipe.name, restored.version);
        }
        for file in &restored.differs {
            eprintln!(
                "warning: {} {}: {file} is not the released one byte for byte; the riddlemill that wrote it would give it back",
                recipe.name, restored.version
            );
        }
    }
    Ok(())
}

/// Today in UTC: the only clock that a release reads, once, for the registry to keep.
fn today() -> String {
    let mut now = pipeline::now();
    now.truncate("2024-03-05".len());
    now
}
