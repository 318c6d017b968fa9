//! `explain`: one record's whole way, from the line of a dump to its last stage, and what went into it.

use std::collections::BTreeSet;

use polars::prelude::{Expr, col, lit};
use serde::Serialize;

use super::evidence::Detail;
use crate::recipe::Recipe;
use crate::record::{Entry, Link, Post, State};
use crate::stages::Rows;
use crate::store::{Error, StageReader, Workspace, any_of, select};
use crate::text::normalise::{Fold, fold};

/// The way of one record through one recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The recipe.
    pub recipe: String,
    /// The record's id after import.
    pub id: String,
    /// `in` where it is a candidate, else the state in which it left.
    pub ends: String,
    /// What happened to it, stage by stage.
    pub way: Vec<Passage>,
    /// What happened to records that went into it.
    pub absorbed: Vec<Passage>,
}

/// What one stage did with one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// The stage.
    pub stage: String,
    /// The record that entered.
    pub id: String,
    /// How it left.
    pub outcome: String,
    /// The reason's code.
    pub reason: Option<String>,
    /// What that code means.
    pub definition: Option<String>,
    /// What made the rule fire.
    pub evidence: Option<String>,
    /// The text that went in, where the stage changed it.
    pub before: Option<String>,
    /// The text that came out, where it did.
    pub after: Option<String>,
    /// What it became, or went into.
    pub into: Option<String>,
    /// The score of a merge.
    pub score: Option<f64>,
    /// Prompt, reply and votes of a stage that asked; empty until [`super::details`] fills it.
    pub details: Vec<Detail>,
}

/// Records that a description fits: an id, `source:line`, `source/file:line`, or a text.
///
/// # Errors
/// [`Error`] where a stage cannot be read.
pub fn find(workspace: &Workspace, recipe: &'static Recipe, target: &str) -> Result<Vec<String>, Error> {
    let stages = stages(workspace, recipe)?;
    let Some(import) = stages.first() else { return Ok(Vec::new()) };
    let mut ids = BTreeSet::new();
    let by_locator = locator(target);
    for entry in select::<Entry>(
        import,
        "ledger",
        by_locator.unwrap_or_else(|| col("id").eq(lit(target.to_string()))),
    )? {
        ids.insert(entry.into.unwrap_or(entry.id));
    }
    if ids.is_empty() {
        for stage in &stages {
            let known = any_of("id", [target]).or(any_of("into", [target]));
            if let Some(entry) = select::<Entry>(stage, "ledger", known)?.first() {
                ids.insert(if entry.id == target { entry.id.clone() } else { target.to_string() });
                break;
            }
        }
    }
    if ids.is_empty() {
        let posts = recipe.steps.iter().zip(&stages).filter(|(step, _)| step.stage.rows() == Rows::Posts);
        ids.extend(by_text(posts.map(|(_, stage)| stage), target)?);
    }
    Ok(ids.into_iter().collect())
}

/// `source:line` and `source/file:line`, as the import ledger writes them.
fn locator(target: &str) -> Option<Expr> {
    let (place, position) = target.rsplit_once(':')?;
    position.parse::<u64>().ok()?;
    let exact = col("id").eq(lit(target.to_string()));
    if place.contains('/') {
        return Some(exact);
    }
    let of_source = col("id").str().starts_with(lit(format!("{place}/")));
    Some(exact.or(of_source.and(col("id").str().ends_with(lit(format!(":{position}"))))))
}

/// Posts whose text holds the target, without regard to width, script, spaces and punctuation, as they
/// were imported or as any later stage left them; those that are nothing but the target come alone.
fn by_text<'a>(
    stages: impl Iterator<Item = &'a StageReader>,
    target: &str,
) -> Result<BTreeSet<String>, Error> {
    let wanted = fold(target, Fold::KEY);
    let (mut equal, mut holding) = (BTreeSet::new(), BTreeSet::new());
    if wanted.is_empty() {
        return Ok(equal);
    }
    for stage in stages {
        for part in stage.parts::<Post>("rows") {
            for post in part? {
                let texts = [Some(&post.text), post.title.as_ref(), post.content.as_ref()];
                for text in texts.into_iter().flatten().map(|t| fold(t, Fold::KEY)) {
                    if text == wanted {
                        equal.insert(post.id.clone());
                    } else if text.contains(&wanted) {
                        holding.insert(post.id.clone());
                    }
                }
            }
        }
        if !equal.is_empty() {
            return Ok(equal);
        }
    }
    Ok(holding)
}

/// Finds entries of a stage's ledger by name. Somebody who asks often keeps what they need to know where
/// a name stands.
pub trait Books {
    /// The entries of these ids, and those that became or went into one of `into`, in the ledger's order.
    ///
    /// # Errors
    /// [`Error`] where the ledger cannot be read.
    fn entries(&self, stage: &StageReader, ids: &[&str], into: &[&str]) -> Result<Vec<Entry>, Error>;
}

/// Reads through the whole ledger each time.
pub struct OnDisk;

impl Books for OnDisk {
    fn entries(&self, stage: &StageReader, ids: &[&str], into: &[&str]) -> Result<Vec<Entry>, Error> {
        let named = |column: &str, names: &[&str]| any_of(column, names.iter().copied());
        select::<Entry>(stage, "ledger", named("id", ids).or(named("into", into)))
    }
}

/// The whole way of a record, both directions.
///
/// # Errors
/// [`Error`] where a stage cannot be read.
pub fn explain(workspace: &Workspace, recipe: &'static Recipe, id: &str) -> Result<Explained, Error> {
    explain_by(workspace, recipe, id, &OnDisk)
}

/// [`explain`], with the entries as `books` find them.
///
/// # Errors
/// [`Error`] where a stage cannot be read.
pub fn explain_by(
    workspace: &Workspace,
    recipe: &'static Recipe,
    id: &str,
    books: &dyn Books,
) -> Result<Explained, Error> {
    let mut explained = Explained {
        recipe: recipe.name.into(),
        id: id.into(),
        ends: String::new(),
        way: Vec::new(),
        absorbed: Vec::new(),
    };
    let mut present: BTreeSet<String> = BTreeSet::from([id.to_string()]);
    for (number, stage) in stages(workspace, recipe)?.iter().enumerate() {
        let ids: Vec<&str> = present.iter().map(String::as_str).collect();
        let name = &stage.manifest().stage;
        let entries = if number == 0 {
            // Import knows records by their place in a dump; what they became stands in `into`.
            let pages = select::<Link>(stage, "links", any_of("child", ids.clone()))?;
            let pages = pages.iter().map(|link| link.parent.as_str());
            books.entries(stage, &ids.iter().copied().chain(pages).collect::<Vec<_>>(), &ids)?
        } else {
            books.entries(stage, &ids, &ids)?
        };
        let mut next = BTreeSet::new();
        for entry in entries {
            let of_ours = |id: &String| present.contains(id);
            if number > 0 && entry.outcome == State::Merged.code() && entry.into.as_ref().is_some_and(of_ours)
            {
                explained.absorbed.push(passage(name, entry.clone()));
            }
            // What else became one of ours went its own way.
            if number > 0 && !of_ours(&entry.id) {
                continue;
            }
            explained.ends = entry.outcome.clone();
            match State::from_code(&entry.outcome) {
                Some(State::Kept | State::Changed) => {
                    next.insert(entry.into.clone().unwrap_or_else(|| entry.id.clone()));
                }
                // A page goes on as its posts, of which this record is one.
                Some(State::Expanded) if number == 0 => next.extend(present.iter().cloned()),
                Some(State::Expanded) => {
                    let links = select::<Link>(stage, "links", any_of("parent", [entry.id.as_str()]))?;
                    next.extend(links.into_iter().map(|l| l.child));
                }
                Some(State::Joined) => next.extend(entry.into.clone()),
                // A record read twice goes on as the first of its name.
                Some(State::Merged) if number == 0 => {}
                _ => {}
            }
            explained.way.push(passage(name, entry));
        }
        if next.is_empty() {
            return Ok(explained);
        }
        present = next;
    }
    explained.ends = "in".into();
    Ok(explained)
}

fn passage(stage: &str, entry: Entry) -> Passage {
    let definition = entry.reason.as_deref().and_then(crate::stages::definition).map(str::to_string);
    Passage {
        stage: stage.into(),
        id: entry.id,
        outcome: entry.outcome,
        reason: entry.reason,
        definition,
        evidence: entry.evidence,
        before: entry.before,
        after: entry.after,
        into: entry.into,
        score: entry.score,
        details: Vec::new(),
    }
}

/// The stages that were made, in order, up to the first that was not.
fn stages(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<StageReader>, Error> {
    let mut stages = Vec::new();
    for (i, step) in recipe.steps.iter().enumerate() {
        match StageReader::open(&workspace.stage(recipe.name, i + 1, step.name))? {
            Some(stage) => stages.push(stage),
            None => break,
        }
    }
    Ok(stages)
}
