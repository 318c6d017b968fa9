//! The votes of a workspace: those of people, and those of the sample if there is one.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::config::{Config, sections};
use crate::stages::{StageError, Unusable};
use riddlemill_files::fence;
use riddlemill_review::votes::{AsideLine, Asides, SetAside};
use riddlemill_review::{Vote, VoteLog};
use riddlemill_tables::{Error, Workspace};
use riddlemill_text::text::count_with_noun;

/// All votes that count, people's first.
#[derive(Debug, Default)]
pub struct Votes {
    votes: Vec<Vote>,
    /// Current votes that do not count, each with the decision.
    aside: Vec<(Vote, SetAside)>,
    asides: Asides,
    damaged: Vec<String>,
}

impl Votes {
    /// Reads raw/votes and the sample that the recipe's settings name. Looking makes no folder.
    ///
    /// # Errors
    /// [`StageError`] where a log cannot be read, or a sample's line is not a synthetic vote.
    pub fn load(config: &Config, recipe: &str) -> Result<Votes, StageError> {
        Votes::load_with(config, recipe, &[])
    }

    /// [`load`](Votes::load) as it would be after these decisions.
    ///
    /// # Errors
    /// Those of [`load`](Votes::load).
    pub fn load_with(config: &Config, recipe: &str, more: &[SetAside]) -> Result<Votes, StageError> {
        let mut votes = Votes::default();
        let log = VoteLog::open(Workspace::new(&config.root).raw_folder().join("votes"))?;
        votes.damaged = log.damaged().to_vec();
        let decided = more.iter().cloned().map(AsideLine::SetAside);
        votes.asides = decided.fold(log.asides().clone(), Asides::with_line);
        let all: Vec<&Vote> = log.votes().iter().collect();
        let aside = votes.asides.aside_heads(&all);
        votes.aside = aside.into_iter().map(|(vote, by)| (vote.clone(), by.clone())).collect();
        votes.votes = votes.asides.counted_votes(all).into_iter().cloned().collect();
        let settings: sections::Review = config.typed_settings(Some(recipe), "review");
        if !settings.sample.is_empty() {
            votes.votes.extend(read_sample(config, &settings.sample)?);
        }
        Ok(votes)
    }

    /// The current votes of one step that do not count, each with the decision.
    pub fn set_aside(&self, recipe: &str, step: &str) -> impl Iterator<Item = &(Vote, SetAside)> {
        self.aside.iter().filter(move |(vote, _)| vote.step == step && vote.recipe == recipe)
    }

    /// What was decided on votes that do not count.
    pub fn asides(&self) -> &Asides {
        &self.asides
    }

    /// The votes of one step by item, with those that do not count: what they were cast on is kept for the case that
    /// they count again.
    pub fn stored_votes(&self, recipe: &str, step: &str) -> FxHashMap<&str, Vec<&Vote>> {
        let mut items = self.by_item(recipe, step);
        for (vote, _) in self.set_aside(recipe, step) {
            items.entry(&vote.item).or_default().push(vote);
        }
        items
    }

    /// The votes of one step that count, by item.
    pub fn by_item(&self, recipe: &str, step: &str) -> FxHashMap<&str, Vec<&Vote>> {
        let mut items: FxHashMap<&str, Vec<&Vote>> = FxHashMap::default();
        for vote in self.of_step(recipe, step) {
            items.entry(&vote.item).or_default().push(vote);
        }
        items
    }

    /// A step's votes as a manifest records them: `<how many> <hash of their ids>`.
    pub fn manifest_evidence(&self, recipe: &str, step: &str) -> String {
        let mut ids: Vec<String> = self.of_step(recipe, step).map(|vote| vote.id.to_string()).collect();
        ids.sort();
        format!("{} {}", ids.len(), &blake3::hash(ids.concat().as_bytes()).to_hex()[..16])
    }

    /// Lines of the log that are not votes; they are ignored.
    pub fn damaged_lines(&self) -> &[String] {
        &self.damaged
    }

    /// A sentence for each person whose votes on a recipe count although pipeline.toml no longer has them.
    pub fn missing_people(&self, config: &Config, recipe: &str) -> Vec<String> {
        let of_people = || self.votes.iter().filter(|vote| vote.recipe == recipe && !vote.synthetic);
        let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
        for vote in of_people() {
            if !config.annotators.iter().any(|person| person.name == vote.annotator) {
                *missing.entry(&vote.annotator).or_default() += 1;
            }
        }
        let all = of_people().count();
        let told = |(name, votes): (&str, usize)| {
            format!(
                "{recipe}: {votes} of {} that count are of {name}, whom no [[annotator]] in pipeline.toml names; they still count\n  \
                 hint: add an [[annotator]] of that name again, also for somebody who left or was renamed; \
                 `riddlemill review set-aside {name} --by NAME --why TEXT` if the votes are not to count",
                count_with_noun(all as u64, "vote")
            )
        };
        missing.into_iter().map(told).collect()
    }

    fn of_step(&self, recipe: &str, step: &str) -> impl Iterator<Item = &Vote> {
        self.votes.iter().filter(move |vote| vote.step == step && vote.recipe == recipe)
    }
}

fn read_sample(config: &Config, path: &str) -> Result<Vec<Vote>, StageError> {
    let place = config.root.join(path);
    let text = match fence::read_to_string(&place) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StageError::Store(Error::io("read", &place)(e))),
    };
    let vote = |(at, line): (usize, &str)| {
        let wrong = |what: String| StageError::from(Unusable::at_place(format!("{path}:{}", at + 1), what));
        let vote: Vote = serde_json::from_str(line).map_err(|e| wrong(e.to_string()))?;
        match (vote.synthetic, vote.compute_id() == vote.id) {
            (true, true) => Ok(vote),
            // Nobody's vote may slip in past the log.
            (false, _) => Err(wrong("a sample's vote says \"synthetic\": true".into())),
            (_, false) => Err(wrong(format!("its id {} is not that of its content", vote.id))),
        }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(vote).collect()
}
