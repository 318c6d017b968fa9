//! Looks up a record in the stages of a recipe.

use std::cell::RefCell;

use crate::config::{Config, sections};
use crate::pipeline::RunError;
use crate::recipe::{Recipe, Step};
use crate::stages::native::full_text;
use crate::stages::review::{passing_answers, seen_items};
use crate::stages::{ReviewStep, StageRows, subject};
use riddlemill_record::{Entry, Post, Record, Row, State};
use riddlemill_review::decisions::{seen_pair, seen_text};
use riddlemill_review::{Digest, Item};
use riddlemill_tables::{Error, Filter, StageReader, Workspace, select_of, select_rows};

/// The existing stages of a recipe.
pub(super) struct Stages<'c> {
    config: &'c Config,
    pub(super) recipe: &'static Recipe,
    steps: &'static [Step],
    made: Vec<Option<StageReader>>,
    /// The last record looked up, and where it ended, because every verdict asks for it.
    last: RefCell<Option<(String, Option<CurrentState>)>>,
}

/// The id of a record that a step does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Absent(pub String);

/// Where a record ended.
#[derive(Clone, Debug)]
pub struct CurrentState {
    /// The last stage that it entered.
    pub step: Option<&'static Step>,
    /// Its outcome there.
    pub outcome: String,
    /// The reason's code.
    pub reason: Option<String>,
    /// The evidence for the rule.
    pub evidence: Option<String>,
    /// What it was merged into.
    pub into: Option<String>,
}

impl CurrentState {
    /// Whether it ends there.
    pub fn is_stopped(&self) -> bool {
        let stops = [State::Dropped, State::Held, State::Failed].map(State::code);
        stops.contains(&self.outcome.as_str())
    }

    pub(super) fn is_at_import(&self) -> bool {
        (self.is_stopped() || self.outcome == State::Merged.code())
            && self.step.is_some_and(|step| step.stage.is_import())
    }
}

impl<'c> Stages<'c> {
    pub(super) fn open(config: &'c Config, recipe: &'static Recipe) -> Result<Stages<'c>, RunError> {
        let workspace = Workspace::new(&config.root);
        let open = |step: &Step| match StageReader::open(&workspace.stage_folder(
            recipe.name,
            step.number,
            step.name,
        )) {
            // The next run remakes a stage of another layout; until then it counts as missing.
            Err(Error::Layout { .. }) => Ok(None),
            found => found,
        };
        let steps = recipe.steps_made(&workspace)?;
        let made = steps.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Stages { config, recipe, steps, made, last: RefCell::default() })
    }

    pub(super) fn stage_reader(&self, step: &str) -> Option<&StageReader> {
        let (_, step) = self.recipe.find_step(step)?;
        let place = self.steps.iter().position(|made| made.name == step.name)?;
        self.made[place].as_ref()
    }

    /// The input of a step; if another recipe feeds it, that recipe's rows.
    pub(super) fn input_of_step(&self, step: &Step) -> Option<(StageRows, &StageReader)> {
        let input = step.inputs.first()?;
        let (recipe, _, before) = self.recipe.find_input(input)?;
        (recipe.name == self.recipe.name).then_some(())?;
        Some((before.stage.rows(), self.stage_reader(before.name)?))
    }

    /// Where a record ended; `None` if no stage has it.
    pub(super) fn find_end(&self, id: &str) -> Result<Option<CurrentState>, Error> {
        if let Some((_, known)) = self.last.borrow().as_ref().filter(|(last, _)| last == id) {
            return Ok(known.clone());
        }
        let ended = self.look_for_its_end(id)?;
        *self.last.borrow_mut() = Some((id.to_owned(), ended.clone()));
        Ok(ended)
    }

    fn look_for_its_end(&self, id: &str) -> Result<Option<CurrentState>, Error> {
        let mut last = None;
        for (step, stage) in self.steps.iter().zip(&self.made) {
            let Some(stage) = stage else { break };
            let of_import = step.stage.is_import();
            let named = match of_import {
                true => Filter::equals("into", id).or(Filter::equals("id", id)),
                false => Filter::equals("id", id),
            };
            let mut entries = select_rows::<Entry>(stage, "ledger", &named)?;
            // An id may look like the place of another record: the record that has the id is meant.
            if of_import && entries.iter().any(|entry| entry.into.as_deref() == Some(id)) {
                entries.retain(|entry| entry.into.as_deref() == Some(id));
            }
            // A record that was read twice continues as the first one; a single post of a page has no entry.
            let second =
                entries.iter().position(|entry| entry.id == id && entry.outcome == State::Merged.code());
            let second = second.map(|at| entries[at].clone()).filter(|_| of_import);
            entries.retain(|entry| !of_import || entry.outcome != State::Merged.code());
            let Some(entry) = entries.into_iter().next().or(second) else {
                // A record that a later step made of another one's element is in no step before it.
                if of_import || last.is_none() {
                    continue;
                }
                break;
            };
            let (outcome, reason, evidence, into) = (entry.outcome, entry.reason, entry.evidence, entry.into);
            let standing = CurrentState { step: Some(step), outcome, reason, evidence, into };
            let goes_on = [State::Kept, State::Changed].map(State::code).contains(&standing.outcome.as_str());
            last = Some(standing);
            if !goes_on {
                break;
            }
        }
        Ok(last)
    }

    /// The hash of what a person sees of a record, or of two, at a step.
    pub(super) fn digest_of_seen(
        &self,
        step: &Step,
        id: &str,
        other: Option<&str>,
    ) -> Result<Result<Digest, Absent>, RunError> {
        if let Some(review) = step.stage.declared_review() {
            let items = self.items_of_record(review, step, id)?;
            return Ok(items.map(|items| seen_items(items.iter())).ok_or_else(|| Absent(id.to_owned())));
        }
        let Some(text) = self.text_at_step(step, id)? else { return Ok(Err(Absent(id.to_owned()))) };
        let Some(other) = other else { return Ok(Ok(seen_text(&text))) };
        let Some(text_of_other) = self.text_at_step(step, other)? else {
            return Ok(Err(Absent(other.to_owned())));
        };
        Ok(Ok(seen_pair((id, &text), (other, &text_of_other))))
    }

    /// [`Stages::digest_of_seen`] for one record with a known text.
    pub(super) fn seen_of(
        &self,
        step: &Step,
        id: &str,
        text: Option<&str>,
    ) -> Result<Result<Digest, Absent>, RunError> {
        match (step.stage.declared_review(), text) {
            (Some(_), _) => self.digest_of_seen(step, id, None),
            (_, Some(text)) => Ok(Ok(seen_text(text))),
            (_, None) => Ok(Err(Absent(id.to_owned()))),
        }
    }

    /// A record's text as it enters a step.
    pub(super) fn text_at_step(&self, step: &Step, id: &str) -> Result<Option<String>, Error> {
        Ok(self.texts_at_step(step, &[id])?.into_iter().next().map(|(_, text)| text))
    }

    /// The texts of records as they enter a step, by id.
    pub(super) fn texts_at_step(&self, step: &Step, ids: &[&str]) -> Result<Vec<(String, String)>, Error> {
        let Some((rows, reader)) = self.input_of_step(step) else { return Ok(Vec::new()) };
        let wanted = Filter::any_of("id", ids.iter().copied());
        if rows != StageRows::Posts && (step.stage.compares_pairs() || step.stage.has_selection()) {
            let records = select_of::<Row>(rows.columns(), reader, "rows", &wanted)?.into_iter();
            return Ok(records
                .map(|record| (record.id().to_owned(), step.stage.text_of_record(&record)))
                .collect());
        }
        Ok(match rows {
            StageRows::Posts => {
                let posts = select_rows::<Post>(reader, "rows", &wanted)?.into_iter();
                posts.map(|post| (post.id.clone(), step.stage.text_of(post))).collect()
            }
            StageRows::Kind(_) if !rows.has_column("text") => {
                let records = select_of::<Row>(rows.columns(), reader, "rows", &wanted)?.into_iter();
                records.map(|record| (record.id().to_owned(), full_text(&record))).collect()
            }
            // Items are made of posts.
            _ => {
                let posts = self.steps.iter().rev().find(|step| step.stage.rows() == StageRows::Posts);
                let Some(reader) = posts.and_then(|step| self.stage_reader(step.name)) else {
                    return Ok(Vec::new());
                };
                let posts = select_rows::<Post>(reader, "rows", &wanted)?.into_iter();
                posts.map(|post| (post.id, post.text)).collect()
            }
        })
    }

    /// What annotators see of a record at a review.
    fn items_of_record(
        &self,
        review: ReviewStep,
        step: &Step,
        id: &str,
    ) -> Result<Option<Vec<Item>>, RunError> {
        let Some((rows, reader)) = self.input_of_step(step) else { return Ok(None) };
        let recipe = Some(self.recipe.name);
        let ballot =
            review.ballot_by_settings(&self.config.typed_settings::<sections::Review>(recipe, "review"));
        let seed = self.config.typed_settings::<sections::Options>(recipe, "options").seed;
        let wanted = Filter::equals("id", id);
        let record = match rows {
            StageRows::Posts => {
                let post = select_rows::<Post>(reader, "rows", &wanted)?.into_iter().next();
                post.map(|post| subject::of_post(review.subject_rows(), post))
            }
            rows => select_of(rows.columns(), reader, "rows", &wanted)?.into_iter().next(),
        };
        Ok(record.map(|record: Row| subject::items_of_record(&record, &ballot, seed)))
    }

    /// Whether a record that a person lets through at a step is complete enough to continue.
    pub(super) fn can_pass(&self, step: &Step, id: &str) -> Result<bool, RunError> {
        let Some(review) = step.stage.declared_review() else { return Ok(true) };
        let settings = self.config.typed_settings::<sections::Review>(Some(self.recipe.name), "review");
        let items = self.items_of_record(review, step, id)?.unwrap_or_default();
        Ok(passing_answers(&review.ballot_by_settings(&settings), items.iter()).is_some())
    }
}
