//! Withdrawal and yanking.
//!
//! The scope of a withdrawal is the post, its copies, where their bytes are, and the releases that contain them. Yanking marks a
//! released version as not to be used any longer, wherever it is.
//!
//! The registry keeps the version, its numbers and its rows, so that nothing is reused. Its folder in output/
//! is rewritten with the notice on the card, in YANKED.md and in MANIFEST.json, and can still be verified.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::Serialize;

use super::error::ReleaseError;
use super::history::{Holder, find_holders};
use super::manifest::Yanked;
use super::numbered::lock_numbers;
use super::publish::check_date;
use super::registry::Registry;
use super::restore::{Restored, restore_versions};
use super::version::Version;
use crate::audit::{OtherReading, Resolver, raw_post};
use crate::config::Config;
use crate::pipeline::RunError;
use crate::recipe::{self, Recipe};
use crate::record::{Entry, Locator, Post, Reason, State};
use crate::search::DumpRecord;
use crate::stages::import::{Dump, FileRow, find_source_files};
use crate::stages::withdrawal::{Withdraw, text_key};
use crate::store::{Error, Filter, StageReader, Workspace, select_rows};

/// Where a post's bytes are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PostPlace {
    pub locator: Locator,
    /// The SHA-256 of the dump.
    pub sha256: String,
}

/// A post to withdraw: the one requested, or one with exactly the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Copy {
    pub id: String,
    /// Where it was read.
    pub places: Vec<PostPlace>,
    /// Its text; never printed.
    #[serde(skip)]
    text: Option<String>,
}

/// A similar post that is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NearPost {
    pub id: String,
    /// Its similarity, 0 to 1.
    pub score: f64,
}

/// The scope of a withdrawal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Request {
    /// The post, followed by its copies.
    pub posts: Vec<Copy>,
    /// Similar posts: they are kept, and may take its place.
    pub near: Vec<NearPost>,
    /// The released rows that were made from it.
    pub released: Vec<Holder>,
    /// What else the name could mean.
    pub others: Vec<OtherReading>,
    /// The post, since when, and why, if it is withdrawn already: then nothing remains to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already: Option<String>,
}

impl Request {
    /// The tombstones for these posts.
    pub fn make_tombstones(&self) -> Vec<Withdraw> {
        let tombstone = |copy: &Copy| {
            let dumps: BTreeSet<&String> = copy.places.iter().map(|place| &place.sha256).collect();
            let (id, text) = (Some(copy.id.clone()), copy.text.clone());
            Withdraw::Post { id, text, dumps: dumps.into_iter().cloned().collect() }
        };
        self.posts.iter().map(tombstone).collect()
    }
}

/// Looks up a post to remove: by its id, by that of a released row, by `SOURCE:LINE` or by a text that only
/// one post contains. A post that import set aside is found like one that it kept. An id that no dump contains yet is
/// accepted.
///
/// # Errors
/// [`ReleaseError::Target`] if no post or several match, or a stage or dump cannot be read.
pub fn look_up(config: &Config, target: &str) -> Result<Request, ReleaseError> {
    let workspace = Workspace::new(&config.root);
    let recipes: Vec<&'static Recipe> = recipe::used_recipes(config).collect();
    let resolver = Resolver::open(config, &recipes).map_err(RunError::from)?;
    let found = resolver.resolve_name(target, MOST).map_err(RunError::from)?;
    let wrong = |why: &str| ReleaseError::Target { target: target.into(), why: why.into() };
    if let (true, Some((id, tombstone))) = (found.records.is_empty(), found.withdrawn.first_key_value()) {
        let day = tombstone.at.get(..10).unwrap_or_default();
        let already = Some(format!("{id} is withdrawn already, since {day}: {}", tombstone.reason));
        return Ok(Request { already, ..Request::default() });
    }
    let mut named: Vec<(String, Option<&DumpRecord>)> = Vec::new();
    for record in &found.records {
        let own = record.name();
        // In several recipes a record has one id, unless only some of them have set it aside.
        let kept = record.at.iter().map(|at| &at.id).find(|id| import_has(&workspace, config, id));
        let name = kept.cloned().unwrap_or(own);
        if !named.iter().any(|(known, _)| *known == name) {
            named.push((name, record.recalled.as_ref()));
        }
    }
    let (ids, aside) = match &named[..] {
        [] if is_id(target) => (vec![target.to_string()], None),
        [] => {
            return Err(wrong(
                "no post in any stage or dump has this name\n  hint: `--text` withdraws every post with exactly this text, now and later",
            ));
        }
        [(name, recalled)] => {
            let recalled = recalled.cloned();
            let place = || name.parse::<Locator>().ok();
            let aside = match (import_has(&workspace, config, name), recalled, place()) {
                (true, ..) => None,
                (_, Some(recalled), _) => Some(recalled),
                (_, None, Some(place)) => {
                    let at = resolver.open_search().map_err(RunError::from)?.by_place(&place, false);
                    at.map_err(RunError::from)?.into_iter().next()
                }
                _ => None,
            };
            match aside {
                Some(aside) if !aside.ids.is_empty() => (aside.ids.clone(), Some(aside)),
                Some(_) => {
                    return Err(wrong(
                        "the record cannot be read, and so has no id and no text\n  hint: `--dump` withdraws its whole dump",
                    ));
                }
                None => (vec![name.clone()], None),
            }
        }
        _ => {
            let some: Vec<&str> = named.iter().take(20).map(|(name, _)| name.as_str()).collect();
            return Err(wrong(&format!("several posts contain it; name one of them: {}", some.join(", "))));
        }
    };
    let mut posts = Vec::new();
    let mut near = Vec::new();
    match &aside {
        // No stage has it, so it was compared with none.
        Some(record) => posts.extend(ids.into_iter().map(|id| set_aside(&resolver, id, record))),
        None => {
            for id in ids {
                let (copies, similar) = find_copies(&workspace, config, &id)?;
                near.extend(similar);
                for id in copies {
                    posts.push(read_copy(&workspace, config, id)?);
                }
            }
        }
    }
    let ids: Vec<&str> = posts.iter().map(|copy| copy.id.as_str()).collect();
    let released = find_holders(&workspace, &ids)?;
    Ok(Request { posts, near, released, others: found.others, already: None })
}

/// Most posts that a text names.
const MOST: usize = 20;

/// Whether import kept a post of this id.
fn import_has(workspace: &Workspace, config: &Config, id: &str) -> bool {
    importing_recipes(config).any(|recipe| {
        let post = raw_post(workspace, recipe, id);
        // A stage that cannot be read is reported by what reads all of it.
        post.is_ok_and(|post| post.is_some())
    })
}

/// A post that import set aside: what is known of it is in its dump.
fn set_aside(resolver: &Resolver<'_>, id: String, record: &DumpRecord) -> Copy {
    let sha256 = resolver
        .open_search()
        .ok()
        .and_then(|search| search.sha256_of_dump(record.locator.dump()).map(str::to_owned));
    let place = PostPlace { locator: record.locator.clone(), sha256: sha256.unwrap_or_default() };
    Copy { id, places: vec![place], text: Some(record.verbatim.clone()).filter(|text| !text.is_empty()) }
}

/// Looks up a dump by its name, `source/file`: its tombstone, and the released rows made from its posts.
///
/// # Errors
/// [`ReleaseError::Target`] if no source has it, or a stage or release cannot be read.
pub fn look_up_dump(config: &Config, name: &str) -> Result<(Withdraw, Vec<Holder>), ReleaseError> {
    let workspace = Workspace::new(&config.root);
    let mut known: BTreeMap<String, Dump> = BTreeMap::new();
    let mut posts = BTreeSet::new();
    for recipe in importing_recipes(config) {
        let dumps = find_source_files(config, recipe.name, recipe.is_of_riddles())
            .map_err(crate::pipeline::RunError::from)?;
        known.extend(dumps.into_iter().map(|dump| (format!("{}/{}", dump.source, dump.file), dump)));
        let Some(dump) = known.get(name) else { continue };
        if let Some(import) = open_import(&workspace, recipe)? {
            let of_dump = Filter::equals("source", &dump.source).and(Filter::equals("file", &dump.file));
            posts.extend(select_rows::<Post>(&import, "rows", &of_dump)?.into_iter().map(|post| post.id));
        }
    }
    let Some(dump) = known.get(name) else {
        let there: Vec<&str> = known.keys().map(String::as_str).collect();
        let why = format!("no source has such a dump\n  hint: there are {}", there.join(", "));
        return Err(ReleaseError::Target { target: name.into(), why });
    };
    let ids: Vec<&str> = posts.iter().map(String::as_str).collect();
    let released = find_holders(&workspace, &ids)?;
    let (file, sha256) = (name.to_string(), dump.sha256.clone());
    Ok((Withdraw::Dump { file, sha256, posts: posts.into_iter().collect() }, released))
}

/// The recipes that import dumps themselves.
fn importing_recipes(config: &Config) -> impl Iterator<Item = &'static Recipe> {
    recipe::used_recipes(config).filter(|recipe| recipe.origin_recipe().name == recipe.name)
}

fn open_import(workspace: &Workspace, recipe: &'static Recipe) -> Result<Option<StageReader>, Error> {
    let step = recipe.steps().first().filter(|step| step.stage.is_import());
    step.map_or(Ok(None), |step| StageReader::open(&workspace.stage_folder(recipe.name, 1, step.name)))
}

fn is_id(target: &str) -> bool {
    target.is_ascii() && target.contains(':') && !target.contains([' ', '/'])
}

/// The post and those with the same text, and those that dedup found similar.
fn find_copies(
    workspace: &Workspace,
    config: &Config,
    id: &str,
) -> Result<(Vec<String>, Vec<NearPost>), Error> {
    let (mut copies, mut near) = (vec![id.to_string()], BTreeMap::new());
    // Two equal posts may both have been merged into a third that is only similar to them.
    for recipe in importing_recipes(config) {
        let Some(import) = open_import(workspace, recipe)? else { continue };
        let own = select_rows::<Post>(&import, "rows", &Filter::equals("id", id))?;
        let Some(key) = own.first().and_then(|post| text_key(&post.text)) else { continue };
        for part in import.read_parts::<Post>("rows") {
            let same = |post: Post| (text_key(&post.text).as_ref() == Some(&key)).then_some(post.id);
            let found: Vec<String> = part?.into_par_iter().filter_map(same).collect();
            copies.extend(found.into_iter().filter(|found| found != id));
        }
    }
    // The post itself stays first.
    copies.sort_by_key(|copy| (copy != id, copy.clone()));
    copies.dedup();
    for recipe in importing_recipes(config) {
        for step in recipe.steps().iter().filter(|step| step.stage.merges_posts()) {
            let Some(stage) =
                StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))?
            else {
                continue;
            };
            // The second round finds copies of the record into which it was merged.
            for _ in 0..2 {
                let own: Vec<&str> = copies.iter().map(String::as_str).collect();
                let of_these =
                    Filter::any_of("id", own.iter().copied()).or(Filter::any_of("into", own.iter().copied()));
                let merged = Filter::equals("outcome", State::Merged.code());
                let found = select_rows::<Entry>(&stage, "ledger", &merged.and(of_these))?;
                for entry in found {
                    let is_exact = entry.reason.as_deref() == Some(Reason::ExactDuplicate.code());
                    for other in [Some(&entry.id), entry.into.as_ref()].into_iter().flatten() {
                        if copies.contains(other) {
                            continue;
                        }
                        match is_exact {
                            true => copies.push(other.clone()),
                            false => drop(near.insert(other.clone(), entry.score.unwrap_or_default())),
                        }
                    }
                }
            }
        }
    }
    near.retain(|id, _| !copies.contains(id));
    let near = near.into_iter().map(|(id, score)| NearPost { id, score });
    Ok((copies, near.collect()))
}

/// A post with its text and where it was read.
fn read_copy(workspace: &Workspace, config: &Config, id: String) -> Result<Copy, Error> {
    let (mut text, mut places) = (None, BTreeSet::new());
    for recipe in importing_recipes(config) {
        let Some(import) = open_import(workspace, recipe)? else { continue };
        let own = select_rows::<Post>(&import, "rows", &Filter::equals("id", &id))?;
        text = text.or_else(|| own.first().map(|post| post.text.clone()));
        let dumps: BTreeMap<String, String> =
            import.read_table::<FileRow>("files")?.into_iter().map(|file| (file.id, file.sha256)).collect();
        let entries = select_rows::<Entry>(&import, "ledger", &Filter::equals("into", &id))?;
        // A post of a page has no entry of its own in the ledger.
        let pages =
            own.iter().map(|post| Locator::new(format!("{}/{}", post.source, post.file), post.position));
        let of_ledger = entries.into_iter().filter_map(|entry| entry.id.parse::<Locator>().ok());
        for locator in of_ledger.chain(pages) {
            let sha256 = dumps.get(locator.dump()).cloned().unwrap_or_default();
            places.insert(PostPlace { locator, sha256 });
        }
    }
    Ok(Copy { id, text, places: places.into_iter().collect() })
}

/// Marks a version as yanked, in the registry and in output/. Returns what was rewritten.
///
/// # Errors
/// [`ReleaseError`] if there is no such version, it was yanked before, or a file cannot be written.
pub fn yank_version(
    workspace: &Workspace,
    recipe: &'static Recipe,
    version: Version,
    yanked: Yanked,
) -> Result<Vec<Restored>, ReleaseError> {
    check_date(&yanked.date)?;
    let _locks = lock_numbers(workspace, recipe)?;
    let mut registry = Registry::open(workspace, recipe.name)?;
    if registry.find_release(version).is_none() {
        let known = registry.releases.iter().map(|release| release.version.to_string()).collect();
        return Err(ReleaseError::NoRelease { recipe: recipe.name.into(), version, known });
    }
    if let Some(before) = registry.yanked.get(&version) {
        let date = before.date.clone();
        return Err(ReleaseError::YankedBefore { recipe: recipe.name.into(), version, date });
    }
    // First, because `restore` follows the registry: after a stop in between it marks the folder later.
    registry.record_yank(version, yanked)?;
    restore_versions(workspace, recipe)
}
