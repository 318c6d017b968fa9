//! `explain`: one record's path, from the line of a dump to its last stage, and the records merged into it; and where many
//! records stopped, with one pass over each ledger for all of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::evidence::Detail;
use super::whereabouts::{Ending, RecordEnding, find_outdated, is_second, open_stages, select_entries};
use crate::recipe::Recipe;
use crate::record::{Entry, Link, Post, State, read_other_text};
use crate::stages::StageRows;
use crate::store::{Error, Filter, StageReader, Workspace, rows_where, select_rows};

/// The path of one record through one recipe.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    pub recipe: String,
    /// The record's id after import.
    pub id: String,
    /// `in` for a candidate, else the state in which it left.
    pub ends: String,
    /// The next stage, if it has not been run, or not since the record was there.
    pub next: Option<String>,
    /// Whether that stage was made before the record was there.
    pub outdated: bool,
    /// The first stage of its path that was made from other rows than the one before holds now: what it and the later
    /// ones did is of an earlier run.
    pub earlier: Option<String>,
    /// Why a record that reached the end is no row of the set, if it is none; empty until it is looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// The record of which it was made, if a step made several of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Its text as the last stage left it; empty until [`fill_texts`] fills it.
    pub text: Option<String>,
    /// The thread owner's note under it.
    pub note: Option<String>,
    /// What happened to it, stage by stage.
    pub way: Vec<StageEntry>,
    /// What happened to records merged into it.
    pub absorbed: Vec<StageEntry>,
}

/// What one stage did with one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageEntry {
    pub stage: String,
    /// The record that entered.
    pub id: String,
    /// How it left.
    pub outcome: String,
    /// The reason's code.
    pub reason: Option<String>,
    /// The code's meaning.
    pub definition: Option<String>,
    /// The evidence for the rule.
    pub evidence: Option<String>,
    /// The text before, if the stage changed it.
    pub before: Option<String>,
    /// The text after, if the stage changed it.
    pub after: Option<String>,
    /// What it became, or was merged into.
    pub into: Option<String>,
    /// The score of a merge.
    pub score: Option<f64>,
    /// For a merge, the text of the merged record; empty until [`fill_texts`] fills it.
    pub own_text: Option<String>,
    /// For a merge, the text of the record that was kept.
    pub into_text: Option<String>,
    /// Prompt, reply and votes of a stage with models or people; empty until [`super::evidence_details`] fills it.
    pub details: Vec<Detail>,
}

/// The whole path of a record, in both directions.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn explain_record(workspace: &Workspace, recipe: &'static Recipe, id: &str) -> Result<Explained, Error> {
    let mut explained = Explained {
        recipe: recipe.name.into(),
        id: id.into(),
        ends: String::new(),
        next: None,
        outdated: false,
        earlier: None,
        left_out: None,
        of: None,
        text: None,
        note: None,
        way: Vec::new(),
        absorbed: Vec::new(),
    };
    let stages = open_stages(workspace, recipe)?;
    let made = made_of(&stages, id)?;
    explained.of = made.last().map(|made| made.of.clone());
    let first = made.first().map_or(id, |made| made.of.as_str());
    let mut present: BTreeSet<String> = BTreeSet::from([first.to_string()]);
    let outdated = find_outdated(recipe, &stages);
    for (number, (stage, outdated)) in stages.iter().zip(outdated).enumerate() {
        let ids: Vec<&str> = present.iter().map(String::as_str).collect();
        let name = &stage.manifest().stage;
        let found = if number == 0 {
            // Import identifies records by their place in a dump; the resulting post is in `into`.
            let pages = select_rows::<Link>(stage, "links", &Filter::any_of("child", ids.iter().copied()))?;
            let pages: Vec<&str> = pages.iter().map(|link| link.parent.as_str()).collect();
            // An id may look like a place. What import set aside is called by its place, because nothing has its id.
            match select_entries(stage, &pages, &ids)? {
                found if found.is_empty() => select_entries(stage, &ids, &[])?,
                found => found,
            }
        } else {
            select_entries(stage, &ids, &ids)?
        };
        let mut next = BTreeSet::new();
        if outdated && !explained.way.is_empty() && !found.iter().any(|entry| present.contains(&entry.id)) {
            // The stage was made before the record was there: what it would do is not known yet.
            (explained.ends, explained.next, explained.outdated) = ("in".into(), Some(name.clone()), true);
            return Ok(explained);
        }
        if outdated && explained.earlier.is_none() && !explained.way.is_empty() {
            explained.earlier = Some(name.clone());
        }
        for mut entry in found {
            let of_ours = |id: &String| present.contains(id);
            if number > 0 && entry.outcome == State::Merged.code() && entry.into.as_ref().is_some_and(of_ours)
            {
                explained.absorbed.push(passage_of_entry(name, entry.clone()));
            }
            // Other records that became one of ours have paths of their own.
            if number > 0 && !of_ours(&entry.id) {
                continue;
            }
            // A record that came from two recipes goes on as the first one.
            let of_import = stage.manifest().tables.contains_key("files");
            if !of_import && is_second(&entry) {
                explained.way.push(passage_of_entry(name, entry));
                continue;
            }
            explained.ends = entry.outcome.clone();
            match State::from_code(&entry.outcome) {
                Some(State::Kept | State::Changed) => {
                    next.insert(entry.into.clone().unwrap_or_else(|| entry.id.clone()));
                }
                // A page continues as its posts, one of which is this record.
                Some(State::Expanded) if number == 0 => next.extend(present.iter().cloned()),
                Some(State::Expanded) => {
                    let links = select_rows::<Link>(stage, "links", &Filter::equals("parent", &entry.id))?;
                    let own = made.iter().find(|made| made.stage == number).map(|made| made.record.clone());
                    match own {
                        // Of the records that it became, this one.
                        Some(own) => {
                            entry.into = Some(own.clone());
                            next.insert(own);
                        }
                        None => {
                            let children: Vec<&str> = links.iter().map(|link| link.child.as_str()).collect();
                            let became = || format!("became {}", children.join(", "));
                            entry.evidence =
                                entry.evidence.take().or_else(|| (!children.is_empty()).then(became));
                            next.extend(links.iter().map(|link| link.child.clone()));
                        }
                    }
                }
                Some(State::Joined) => next.extend(entry.into.clone()),
                // A record read twice continues as the first one.
                Some(State::Merged) if number == 0 => {}
                _ => {}
            }
            explained.way.push(passage_of_entry(name, entry));
        }
        if next.is_empty() {
            return Ok(explained);
        }
        present = next;
    }
    explained.ends = "in".into();
    explained.next = recipe.steps_made(workspace)?.get(stages.len()).map(|step| step.name.to_owned());
    Ok(explained)
}

/// A record that a stage made of another one.
struct MadeRecord {
    /// The place of the stage.
    stage: usize,
    record: String,
    of: String,
}

/// How a record came to be that a later stage than the first made of another one: the first such stage first. Empty of a
/// record that has been there since its import.
fn made_of(stages: &[StageReader], id: &str) -> Result<Vec<MadeRecord>, Error> {
    let mut made: Vec<MadeRecord> = Vec::new();
    for (at, stage) in stages.iter().enumerate().skip(1).rev() {
        let record = made.last().map_or(id, |made| made.of.as_str()).to_owned();
        let links = select_rows::<Link>(stage, "links", &Filter::equals("child", &record))?;
        let Some(link) = links.into_iter().find(|link| link.parent != record) else { continue };
        // A record that several were joined into is one of them, and has its own way.
        let split = select_entries(stage, &[link.parent.as_str()], &[])?;
        if split.iter().any(|entry| entry.outcome == State::Expanded.code()) {
            made.push(MadeRecord { stage: at, record, of: link.parent });
        }
    }
    made.reverse();
    Ok(made)
}

impl Explained {
    /// Adds that it stopped behind the last stage, at a condition of what is released, for a reason that its folder puts into
    /// words; without words no split takes it for this reason, or, without one, it lacks what every row has.
    pub(crate) fn add_stop(&mut self, stage: &str, entry: Entry, says: Option<String>) {
        let Some(says) = says else {
            let lacks = || "a column that every row has is empty".to_owned();
            self.left_out = Some(entry.reason.unwrap_or_else(lacks));
            return;
        };
        self.ends.clone_from(&entry.outcome);
        self.way.push(StageEntry { definition: Some(says), ..passage_of_entry(stage, entry) });
    }

    /// The end of its path; `None` if no stage has the record.
    pub fn end_of_path(&self) -> Option<RecordEnding> {
        let last = self.way.last()?;
        let recipe = crate::recipe::find_recipe(&self.recipe)?;
        let left = (self.ends != "in").then_some(last);
        Some(RecordEnding {
            recipe: recipe.name,
            id: self.id.clone(),
            ending: self.ending(),
            stage: self.next.as_ref().unwrap_or(&last.stage).clone(),
            outcome: left.map(|passage| passage.outcome.clone()),
            reason: left.and_then(|passage| passage.reason.clone()),
            into: left.and_then(|passage| passage.into.clone()),
            outdated: self.outdated,
        })
    }

    /// Whether the record is in, out or waiting.
    pub fn ending(&self) -> Ending {
        match (self.ends.as_str(), &self.next) {
            ("in", None) => Ending::In,
            ("in", Some(_)) => Ending::Waiting,
            (state, _) => Ending::from_state(state),
        }
    }
}

/// Fills in the record's text, and both texts of each merge.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn fill_texts(
    workspace: &Workspace,
    recipe: &'static Recipe,
    explained: &mut Explained,
) -> Result<(), Error> {
    // A record that was made of another one is no post: the first passage has the one that is.
    let of_import = explained.way.first().and_then(|first| first.into.as_ref());
    let post = explained.of.as_ref().and(of_import).unwrap_or(&explained.id);
    let post = raw_post(workspace, recipe, post)?;
    let merged = |passage: &StageEntry| passage.outcome == State::Merged.code();
    let of_import =
        |stage: &str| recipe.origin_recipe().steps().first().is_some_and(|step| step.name == stage);
    // Each stage is read once, however many were merged there.
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let all = explained.way.iter().chain(&explained.absorbed);
    for passage in all.filter(|passage| merged(passage) && !of_import(&passage.stage)) {
        let Some(into) = passage.into.clone() else { continue };
        wanted.entry(passage.stage.clone()).or_default().extend([passage.id.clone(), into]);
    }
    let mut texts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (stage, ids) in wanted {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let of_stage = texts_entering(workspace, recipe, &stage, &ids)?;
        texts.insert(stage, of_stage);
    }
    for passage in explained.way.iter_mut().chain(&mut explained.absorbed).filter(|one| merged(one)) {
        let Some(into) = passage.into.clone() else { continue };
        if of_import(&passage.stage) {
            // If a later copy of an id has another text, the ledger has that.
            passage.into_text = post.as_ref().filter(|post| post.id == into).map(|post| post.text.clone());
            let other = passage.evidence.as_deref().and_then(read_other_text);
            passage.own_text = other.map(str::to_string).or_else(|| passage.into_text.clone());
            continue;
        }
        let text = |id: &str| texts.get(&passage.stage)?.get(id).cloned();
        (passage.own_text, passage.into_text) =
            (text(&passage.id), text(&into).filter(|_| passage.id != into));
    }
    explained.note = post.as_ref().and_then(|post| post.note.clone());
    let last = explained.way.iter().rev().find(|passage| passage.own_text.is_some());
    let own = last.and_then(|passage| passage.own_text.clone());
    let posts = |passage: &&StageEntry| {
        recipe.find_step(&passage.stage).is_some_and(|(_, step)| step.stage.rows() == StageRows::Posts)
    };
    // A stage may change a record and not its text: a published row that a rule would merge, a post that is embedded.
    let written = |text: &String| !text.trim().is_empty();
    let after = |passage: &StageEntry| passage.after.clone().filter(written);
    let changed = explained.way.iter().rev().filter(posts).find_map(after);
    let raw = |post: Post| match written(&post.text) {
        true => post.text,
        false => Post::join_title_and_content(post.title.as_deref(), post.content.as_deref()),
    };
    explained.text = own.filter(written).or(changed).or_else(|| post.map(raw).filter(written));
    Ok(())
}

/// A post as people wrote it; `None` if a recipe has none of this id.
///
/// # Errors
/// [`Error`] if a stage cannot be read.
pub fn raw_post(workspace: &Workspace, recipe: &'static Recipe, id: &str) -> Result<Option<Post>, Error> {
    let origin = recipe.origin_recipe();
    let Some(first) = origin.steps().first().filter(|step| step.stage.rows() == StageRows::Posts) else {
        return Ok(None);
    };
    let Some(reader) = StageReader::open(&workspace.stage_folder(origin.name, 1, first.name))? else {
        return Ok(None);
    };
    Ok(select_rows::<Post>(&reader, "rows", &Filter::equals("id", id))?.into_iter().next())
}

/// The texts of records as they entered a stage, by id.
fn texts_entering(
    workspace: &Workspace,
    recipe: &'static Recipe,
    stage: &str,
    ids: &[&str],
) -> Result<BTreeMap<String, String>, Error> {
    let mut texts = BTreeMap::new();
    let Some((_, step)) = recipe.find_step(stage) else { return Ok(texts) };
    for input in step.inputs.iter().filter_map(|input| recipe.find_input(input)) {
        let (from, number, step) = input;
        let Some(reader) = StageReader::open(&workspace.stage_folder(from.name, number, step.name))? else {
            continue;
        };
        let damaged = |e| Error::stale_file(&reader.folder().join("rows"), e);
        let wanted = Filter::any_of("id", ids.iter().copied());
        for frame in rows_where(&reader, "rows", &["id", "text", "question"], &wanted)? {
            let column = |name: &str| frame.column(name).and_then(|column| column.str());
            let column_of_texts = column("text").or_else(|_| column("question")).map_err(damaged)?;
            let known = column("id").map_err(damaged)?;
            let rows = known.iter().zip(column_of_texts.iter());
            texts.extend(rows.filter_map(|(id, text)| Some((id?.to_owned(), text?.to_owned()))));
        }
    }
    Ok(texts)
}

pub(super) fn passage_of_entry(stage: &str, entry: Entry) -> StageEntry {
    let definition = entry.reason.as_deref().and_then(crate::stages::define_code).map(str::to_string);
    StageEntry {
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
        own_text: None,
        into_text: None,
        details: Vec::new(),
    }
}

/// The last thing that happened to each of these records, from the import of the recipe's posts on; `None` if
/// no stage has it.
///
/// # Errors
/// [`Error`] if a ledger cannot be read.
pub fn last_passages(
    workspace: &Workspace,
    recipe: &'static Recipe,
    ids: &BTreeSet<&str>,
) -> Result<BTreeMap<String, StageEntry>, Error> {
    let mut last = BTreeMap::new();
    if ids.is_empty() {
        return Ok(last);
    }
    let origin = Some(recipe.origin_recipe()).filter(|origin| origin.name != recipe.name);
    for recipe in origin.into_iter().chain([recipe]) {
        for step in recipe.steps_made(workspace)? {
            let Some(stage) =
                StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))?
            else {
                break;
            };
            let these = |column| Filter::any_of(column, ids.iter().copied());
            // Import identifies records by their place in a dump.
            let (named, by_place) = match step.inputs.is_empty() {
                true => (these("id").or(these("into")), true),
                false => (these("id"), false),
            };
            for entry in select_rows::<Entry>(&stage, "ledger", &named)? {
                let id = match &entry.into {
                    Some(into) if by_place => into.clone(),
                    _ => entry.id.clone(),
                };
                // A second copy in the dumps says nothing of the first.
                if by_place && entry.outcome == "merged" {
                    continue;
                }
                last.insert(id, passage_of_entry(step.name, entry));
            }
        }
    }
    Ok(last)
}
