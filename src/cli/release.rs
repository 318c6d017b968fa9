//! `release`: assigns a version to a candidate; also restores older versions for `run`.

use std::path::Path;

use super::args::{Global, Release, ReleaseVerb, Yank};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::Config;
use crate::pipeline;
use crate::recipe::{self, Recipe};
use crate::release::registry::Registry;
use crate::release::{self, Version, Wanted, Yanked};
use crate::report::{ReleasedVersion, YankedVersion};
use crate::store::Workspace;

pub(super) fn run_release(args: &Release, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    if let Some(ReleaseVerb::Yank(args)) = &args.verb {
        return yank_version(&config, args, global);
    }
    let recipe = output::find_recipe(args.recipe.as_deref().unwrap_or_default())?;
    if let Some(published) = &args.adopt {
        return adopt_published(&config, recipe, published, global);
    }
    let version = args.version.as_deref().map(str::parse::<Version>).transpose();
    let version = version.map_err(|e| Failure::usage(e.to_string()))?;
    let date = args.date.clone().unwrap_or_else(today_utc);
    let wanted = Wanted { version, date: &date, draft: args.draft, partial: args.partial };
    // Completes a release that was stopped after it was registered and before its folder existed.
    restore_versions(&Workspace::new(&config.root), recipe, global)?;
    let before = Registry::open(&Workspace::new(&config.root), recipe.name)?;
    let (proposal, manifest) = release::make_release(&config, recipe, wanted)?;
    if let Some(earlier) =
        proposal.changes.since.as_ref().and_then(|version| before.find_release(version.parse().ok()?))
        && date < earlier.date
    {
        eprintln!(
            "warning: {} is of {date}, before {}, which it follows and which is of {}\n  hint: look at --date and the clock; the registry keeps the day",
            proposal.version, earlier.version, earlier.date
        );
    }
    let place = Workspace::new(&config.root)
        .candidate_folder(recipe.name)
        .with_file_name(proposal.version.to_string());
    if global.json {
        output::print_json(&ReleasedVersion::new(recipe, &proposal, &manifest, &place))?;
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
            format!("  since {version}: {}; {}\n", proposal.changes.describe(), proposal.bump.level_name())
        }
        None => "  the first release\n".into(),
    });
    if let Some(licence) = &proposal.changes.licence {
        text.push_str(&format!("  the licence: {licence}\n"));
    }
    for why in &proposal.draft {
        text.push_str(&format!("  a draft: {why}\n"));
    }
    for left in &manifest.left_out {
        text.push_str(&format!("  left out: {}\n", left.describe()));
    }
    for (one, other) in &manifest.crossing {
        text.push_str(&format!(
            "  in two splits: {one} and {other} became near after their release, and stay where they are\n"
        ));
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// Marks a version as yanked. Without a recipe, the only one that has released it is meant.
fn yank_version(config: &Config, args: &Yank, global: &Global) -> Result<Exit, Failure> {
    let version: Version =
        args.version.parse().map_err(|e: release::NoVersion| Failure::usage(e.to_string()))?;
    let workspace = Workspace::new(&config.root);
    let mut recipes = Vec::new();
    match &args.recipe {
        Some(name) => recipes.push(output::find_recipe(name)?),
        None => {
            for recipe in recipe::RECIPES.iter() {
                if Registry::open(&workspace, recipe.name)?.find_release(version).is_some() {
                    recipes.push(recipe);
                }
            }
        }
    }
    let [recipe] = recipes[..] else {
        let names: Vec<&str> = recipes.iter().map(|recipe| recipe.name).collect();
        return Err(Failure::usage(match names.is_empty() {
            true => format!("no recipe has released {version}"),
            false => format!(
                "several recipes have released {version}\n  hint: --recipe names one of {}",
                names.join(", ")
            ),
        }));
    };
    let yanked = Yanked { date: args.date.clone().unwrap_or_else(today_utc), reason: args.reason.clone() };
    release::yank_version(&workspace, recipe, version, yanked.clone())?;
    if global.json {
        output::print_json(&YankedVersion { recipe: recipe.name, version, yanked })?;
        return Ok(Exit::Done);
    }
    output::print_text(&format!(
        "{} {version}: yanked on {}; its card in output/ and the registry say so\n",
        recipe.name, yanked.date
    ))?;
    Ok(Exit::Done)
}

/// Adopts published numbers; a run shows them in the candidate.
fn adopt_published(
    config: &Config,
    recipe: &'static Recipe,
    published: &Path,
    global: &Global,
) -> Result<Exit, Failure> {
    let adopted = release::adopt_numbers(config, recipe, published)?;
    if global.json {
        output::print_json(&adopted)?;
        return Ok(Exit::Done);
    }
    output::print_text(&format!(
        "{}: {} published, {} found here, {} of their numbers new in the registry\n  hint: `riddlemill run --recipe {}` shows them in the candidate\n",
        recipe.name,
        count(adopted.published as u64, "item"),
        adopted.found,
        adopted.new,
        recipe.name,
    ))?;
    Ok(Exit::Done)
}

/// Restores the versions that output/ lacks, and reports it.
pub(super) fn restore_versions(
    workspace: &Workspace,
    recipe: &'static Recipe,
    global: &Global,
) -> Result<(), Failure> {
    for restored in release::restore_versions(workspace, recipe)? {
        if !global.quiet {
            eprintln!("{} {}: restored from raw/releases", recipe.name, restored.version);
        }
        for file in &restored.differs {
            eprintln!(
                "warning: {} {}: {file} differs from the released one; the riddlemill that wrote it would restore it byte for byte",
                recipe.name, restored.version
            );
        }
    }
    Ok(())
}

/// Today in UTC: the only use of a clock in a release; the registry stores it.
fn today_utc() -> String {
    let mut now = pipeline::current_time();
    now.truncate("2024-03-05".len());
    now
}
