//! `benchmark try` with example replies and votes: the recipe is run on the post in a folder of its own, so that every later
//! prompt, ballot, option and row is what a run would make of them.

use std::path::Path;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::args::Global;
use super::example_replies::Replies;
use super::example_votes::Votes;
use super::exit::Failure;
use super::output;
use super::progress::RunConsole;
use crate::config::{Config, FILE, Overrides};
use crate::llm::RequestContent;
use crate::pipeline::{self, Selection, shown_items};
use crate::recipe::{self, Recipe, Step};
use crate::record::{Entry, Record, Row, State};
use crate::release;
use crate::stages::draft::{self, Request};
use crate::stages::{DraftStep, StageRows, Stop, read_subjects};
use crate::store::{Error, Manifest, StageReader, Workspace, durable};

/// A byte of the secrets of a rehearsal, which hides nothing from anybody.
const SECRET: &str = "42";

/// What stands in for models and people.
pub(super) struct Examples<'e> {
    /// A pack of replies.
    pub replies: Option<&'e Path>,
    /// Votes, in JSON Lines.
    pub votes: Option<&'e Path>,
    /// The id of the post, `SITE:NUMBER`.
    pub id: &'e str,
}

/// The post as the flags describe it.
pub(super) struct GivenPost<'g> {
    /// The text, or a riddle's question.
    pub text: &'g str,
    /// A riddle's answer.
    pub answer: Option<&'g str>,
    /// Further columns, each with its text.
    pub columns: &'g [(String, String)],
}

/// What came of a post, and what is wrong with the examples.
pub(super) struct Rehearsed {
    /// What was asked and what came of it, step by step, and the rows at the end.
    pub parts: Vec<Json>,
    /// Lines of the examples that are not used, each with its place and a hint.
    pub problems: Vec<String>,
}

/// The folder of a rehearsal.
pub(super) struct RehearsalFolder {
    /// The settings of the workspace, with the post as the only source and the pack behind every endpoint.
    pub(super) config: Config,
    /// The recipe, after those whose records it continues.
    pub(super) recipes: Vec<&'static Recipe>,
    _folder: TempDir,
}

/// Runs a recipe on a post with examples.
pub(super) fn rehearse_recipe(
    config: &Config,
    recipe: &'static Recipe,
    given: &GivenPost<'_>,
    examples: &Examples<'_>,
    global: &Global,
) -> Result<Rehearsed, Failure> {
    let replies = Replies::read_pack(examples.replies)?;
    let stand = RehearsalFolder::new(config, recipe, given, examples, global)?;
    let mut votes = Votes::read_file(examples.votes, recipe, &stand.recipes)?;
    let mut made = stand.run_stages()?;
    while votes.cast_votes(&stand.config)? {
        made = stand.run_stages()?;
    }
    let mut parts = Vec::new();
    let mut problems = Vec::new();
    let mut asked = Vec::new();
    for of in stand.recipes.iter().copied() {
        for step in of.steps() {
            let name = if of.name == recipe.name {
                step.name.to_owned()
            } else {
                format!("{}/{}", of.name, step.name)
            };
            let entries = stand.read_entries(of, step)?;
            if let Some(kind) = draft_of(step) {
                let records = stand.read_records(of, step, kind.subject_rows())?;
                let requests = stand.build_requests(of, kind, &records)?;
                parts.extend(show_prompts(&name, &requests, records.is_empty()));
                problems.extend(replies.list_failures(&records, &requests, &entries));
                asked.extend(requests.into_iter().map(|request| request.ask));
            }
            if let Some(ballot) = ballot_of(step) {
                parts.extend(stand.show_ballot(of, &name, ballot)?);
            }
            parts.extend(show_outcomes(&name, is_import(step), &entries));
        }
    }
    let drafts = stand.recipes.iter().flat_map(|of| of.steps()).filter_map(draft_of);
    let templates: Vec<&str> = drafts.flat_map(|draft| draft.templates()).copied().collect();
    problems.extend(replies.unused_lines(&templates, &asked));
    problems.extend(votes.into_problems());
    parts.extend(stand.show_rows(recipe, &made)?);
    Ok(Rehearsed { parts, problems })
}

/// What a step asks models.
fn draft_of(step: &Step) -> Option<DraftStep> {
    step.stage.declared_draft()
}

/// The ballot of a step.
fn ballot_of(step: &Step) -> Option<&'static str> {
    step.stage.declared_review().map(|review| review.benchmark_and_ballot().1)
}

/// Whether a step makes records of posts.
fn is_import(step: &Step) -> bool {
    step.stage.is_import()
}

impl RehearsalFolder {
    fn new(
        config: &Config,
        recipe: &'static Recipe,
        given: &GivenPost<'_>,
        examples: &Examples<'_>,
        global: &Global,
    ) -> Result<RehearsalFolder, Failure> {
        let root = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("tried-").tempdir();
        let folder = folder.map_err(Error::io("create a folder in", &root))?;
        let here = folder.path();
        let mut recipes = Vec::new();
        collect_upstream(recipe, &mut recipes);
        let dumps = here.join("raw/dumps");
        durable::create_folder(&dumps)?;
        durable::replace_file(
            &here.join(FILE),
            settings_text(config, recipe, given, examples.id)?.as_bytes(),
        )?;
        durable::replace_file(
            &dumps.join("tried.jsonl"),
            format!("{}\n", source_line(given, examples.id)).as_bytes(),
        )?;
        let pack =
            examples.replies.map(|file| std::fs::read(file).map_err(Error::io("read", file))).transpose()?;
        durable::replace_file(&here.join("raw/replies.jsonl"), &pack.unwrap_or_default())?;
        // Drawn ones would show the lists that people pick from in another order each time.
        for secret in ["raw/salt", "raw/blinding"] {
            durable::replace_file(&here.join(secret), format!("{}\n", SECRET.repeat(32)).as_bytes())?;
        }
        for own in ["prompts", "raw/premises"] {
            copy_files(&config.root.join(own), &here.join(own))?;
        }
        // Where the settings lead was agreed to when they were read.
        let overrides = Overrides { unasked: true, ..output::collect_overrides(global, &[]) };
        let own = Config::load(here, &recipe::recipe_names(), &recipe::changed_defaults(), &overrides)?;
        // Without the steps that ask embeddings: one post is near no other.
        recipe::give_settings(&own);
        let mut stand = own.clone();
        if config.root.join(FILE).exists() {
            stand.clone_from(config);
            (stand.sources, stand.endpoints) = (own.sources, own.endpoints);
            stand.crawls.clear();
            stand.root = here.to_path_buf();
        }
        // A trial says nothing about an example.
        stand.annotators.iter_mut().for_each(|person| person.qualified = true);
        Ok(RehearsalFolder { config: stand, recipes, _folder: folder })
    }

    /// Makes every stage, and returns those of the last recipe.
    fn run_stages(&self) -> Result<Vec<Manifest>, Failure> {
        let selection = Selection { offline: true, ..Selection::default() };
        let console = RunConsole::new(true, false, None);
        let mut made = Vec::new();
        for &recipe in &self.recipes {
            made = pipeline::run_recipe(&self.config, recipe, &selection, &Stop::default(), &console)?;
        }
        console.finish();
        Ok(made)
    }

    fn open_stage(
        &self,
        recipe: &Recipe,
        number: usize,
        step: &Step,
    ) -> Result<Option<StageReader>, Failure> {
        Ok(StageReader::open(&Workspace::new(&self.config.root).stage_folder(
            recipe.name,
            number,
            step.name,
        ))?)
    }

    /// What a step says of its records.
    fn read_entries(&self, recipe: &Recipe, step: &Step) -> Result<Vec<Entry>, Failure> {
        Ok(match self.open_stage(recipe, step.number, step)? {
            Some(stage) => stage.read_table("ledger")?,
            None => Vec::new(),
        })
    }

    /// The records that a step works on.
    fn read_records(&self, recipe: &'static Recipe, step: &Step, of: StageRows) -> Result<Vec<Row>, Failure> {
        let mut records: Vec<Row> = Vec::new();
        for (from, number, before) in step.inputs.iter().filter_map(|input| recipe.find_input(input)) {
            let Some(stage) = self.open_stage(from, number, before)? else { continue };
            for record in read_subjects(&stage, before.stage.rows(), of)? {
                if records.iter().all(|known| known.id() != record.id()) {
                    records.push(record);
                }
            }
        }
        Ok(records)
    }

    /// What a step asks models about records.
    fn build_requests(
        &self,
        recipe: &Recipe,
        draft: DraftStep,
        records: &[Row],
    ) -> Result<Vec<Request>, Failure> {
        let prompts = draft::load_prompts(&self.config)?;
        let endpoints = draft::endpoints_of_draft(draft, &self.config, recipe.name)?;
        let slots = draft::slots_of_draft(draft, &self.config, recipe.name, &endpoints)?;
        Ok(draft::requests_of_step(draft, &prompts, &slots, records)?)
    }

    /// What people are shown at a ballot, item by item.
    fn show_ballot(
        &self,
        recipe: &'static Recipe,
        name: &str,
        ballot: &str,
    ) -> Result<Option<Json>, Failure> {
        let Some((ballot, items)) = shown_items(&self.config, recipe, ballot)? else { return Ok(None) };
        let fields: Vec<&str> = ballot.fields.iter().map(|field| field.name).collect();
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        let shows: Vec<Json> = items.iter().map(|item| json!(item.content)).collect();
        Ok(Some(json!({
            "step": name, "asks": "people", "title": ballot.title.en, "items": ids, "shows": shows, "fields": fields,
        })))
    }

    /// The rows at the end of a recipe, and what is left out of them.
    fn show_rows(&self, recipe: &'static Recipe, made: &[Manifest]) -> Result<Option<Json>, Failure> {
        if made.len() < recipe.steps().len() || !release::is_published(recipe) {
            return Ok(None);
        }
        let (candidate, _) = release::build_candidate(&self.config, recipe, made)?;
        let rows = release::rows_json(&Workspace::new(&self.config.root), recipe)?;
        Ok(Some(json!({ "rows": rows, "left_out": candidate.left_out })))
    }
}

/// A recipe after those whose steps its own read.
fn collect_upstream(recipe: &'static Recipe, found: &mut Vec<&'static Recipe>) {
    let inputs = recipe.steps().iter().flat_map(|step| step.inputs);
    for (other, ..) in inputs.filter_map(|input| recipe.find_input(input)) {
        if other.name != recipe.name && found.iter().all(|known| known.name != other.name) {
            collect_upstream(other, found);
        }
    }
    if found.iter().all(|known| known.name != recipe.name) {
        found.push(recipe);
    }
}

/// The two parts of an id, `SITE:NUMBER`.
fn parts_of(id: &str) -> Option<(&str, &str)> {
    let (site, number) = id.split_once(':')?;
    let plain = |text: &str| !text.is_empty() && !text.contains(['{', '}', ' ']);
    (plain(site) && plain(number)).then_some((site, number))
}

/// The source and the endpoints of the folder.
fn settings_text(
    config: &Config,
    recipe: &'static Recipe,
    given: &GivenPost<'_>,
    id: &str,
) -> Result<String, Failure> {
    let Some((site, _)) = parts_of(id) else {
        return Err(Failure::usage(format!(
            "--id {id}: expected SITE:NUMBER\n  hint: as in riddle:1, the name in a pack of replies"
        )));
    };
    let origins = recipe.origin_recipes();
    let riddle = given.answer.is_some() || origins.iter().any(|origin| origin.is_of_riddles());
    let fields = match (riddle, given.answer) {
        (true, Some(_)) => "title = \"title\", content = \"content\"",
        (true, None) => "title = \"title\"",
        (false, _) => "content = \"content\"",
    };
    let columns =
        given.columns.iter().map(|(name, _)| format!("{} = {}", json!(name), json!(column_key(name))));
    let columns: Vec<String> = columns.collect();
    let columns = match columns.is_empty() {
        true => String::new(),
        false => format!("columns = {{ {} }}\n", columns.join(", ")),
    };
    let names: Vec<String> = origins.iter().map(|origin| json!(origin.name).to_string()).collect();
    let mut text = format!(
        "version = 1\n[[source]]\nname = \"tried\"\nkind = \"table\"\npath = \"raw/dumps/tried.jsonl\"\n\
         fields = {{ id = {}, {fields} }}\n{columns}recipes = [{}]\n",
        json!(format!("{site}:{{number}}")),
        names.join(", ")
    );
    let own = config.endpoints.iter().map(|endpoint| (endpoint.name.as_str(), endpoint.identity()));
    let mut endpoints: Vec<(&str, &str)> = own.collect();
    if endpoints.iter().all(|(name, _)| *name != "sample") {
        endpoints.push(("sample", ""));
    }
    for (name, model) in endpoints {
        // Steps name elements by the model, and a line of a pack may be of one model alone.
        let model = if model.is_empty() { String::new() } else { format!("model = {}\n", json!(model)) };
        text +=
            &format!("[llm.{}]\nprovider = \"sample\"\n{model}pack = \"raw/replies.jsonl\"\n", json!(name));
    }
    Ok(text)
}

/// The key of a further column: none of those of the post.
fn column_key(name: &str) -> String {
    format!("column {name}")
}

/// The post as a line of the source.
fn source_line(given: &GivenPost<'_>, id: &str) -> Json {
    let number = parts_of(id).map_or("", |(_, number)| number);
    let mut row =
        json!({ "number": number, "title": given.text, "content": given.answer.unwrap_or(given.text) });
    for (name, text) in given.columns {
        row[column_key(name)] = json!(text);
    }
    row
}

/// Copies the files of a folder, if it is there.
fn copy_files(from: &Path, to: &Path) -> Result<(), Failure> {
    if !from.is_dir() {
        return Ok(());
    }
    durable::create_folder(to)?;
    for entry in std::fs::read_dir(from).map_err(Error::io("list", from))? {
        let path = entry.map_err(Error::io("list", from))?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
            durable::replace_file(&to.join(name), &bytes)?;
        }
    }
    Ok(())
}

/// The prompts of a step, each once however often it is asked.
fn show_prompts(step: &str, requests: &[Request], unreached: bool) -> Vec<Json> {
    let mut told: Vec<(&str, &str)> = Vec::new();
    let mut parts = Vec::new();
    for Request { ask, .. } in requests {
        if told.contains(&(ask.template.as_str(), ask.record.as_str())) {
            continue;
        }
        told.push((&ask.template, &ask.record));
        let text = match &ask.what {
            RequestContent::Chat { messages, .. } => json!(messages),
            _ => json!(ask.text),
        };
        parts.push(json!({
            "step": step, "asks": "a model", "text": text, "template": ask.template, "record": ask.record,
        }));
    }
    if parts.is_empty() {
        let what = if unreached { "is not reached by this post" } else { "asks nothing about this post" };
        parts.push(json!({ "step": step, "asks": "a model", "text": what }));
    }
    parts
}

/// What a step did with its records, if it did anything with them.
fn show_outcomes(step: &str, of_import: bool, entries: &[Entry]) -> Option<Json> {
    let kept = |entry: &Entry| entry.outcome == State::Kept.code();
    // Import names places instead of records, and makes a record of each.
    let dull = entries.iter().all(|entry| kept(entry) || (of_import && entry.into.is_some()));
    if dull {
        return None;
    }
    let outcome = |entry: &Entry| {
        json!({
            "id": entry.id, "outcome": entry.outcome, "reason": entry.reason, "evidence": entry.evidence, "after": entry.after,
        })
    };
    Some(json!({ "step": step, "outcomes": entries.iter().map(outcome).collect::<Vec<_>>() }))
}
