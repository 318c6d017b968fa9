//! The ways of rows for readers: what each stage did, how people voted, and which models drafted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::SiteError;
use super::names::{post_address, prompt_page};
use crate::audit::{RowPath, Stretch};
use crate::config::Config;
use crate::i18n::Language;
use crate::llm::Key;
use crate::pages::time::format_utc;
use crate::pipeline::review_items;
use crate::recipe::{Recipe, Step};
use crate::release::replies_of_records;
use crate::review::ballot::{AnswerKind, Field, KEEP, Round};
use crate::review::votes::current_votes;
use crate::review::{Ballot, Item, Value, Vote, resolve_item};
use crate::routes::faults::{answer_label, label_in};
use crate::store::{Manifest, Workspace};
use riddlemill_pipeline::stages::draft;
use riddlemill_pipeline::stages::review::Votes;

/// A text in English and in Chinese.
type Both = [String; 2];

/// The way of one row.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RowWay {
    /// Where the dumps have it.
    places: Vec<String>,
    /// Public addresses of its posts.
    addresses: Vec<String>,
    /// Other records that were merged into it.
    merged: usize,
    /// Further copies in the dumps.
    copies: usize,
    /// What happened, in order.
    stages: Vec<StagePassed>,
}

/// What one stage did.
#[derive(Clone, Debug, Serialize)]
struct StagePassed {
    stage: &'static str,
    outcome: String,
    reason: Option<String>,
    /// How many records of the row it did this with.
    records: usize,
    /// Whether a text was changed.
    changed: bool,
    /// Texts before and after; empty unless the settings publish them.
    texts: Vec<(String, String)>,
    votes: Option<Voted>,
    drafts: Vec<Drafted>,
}

/// The votes behind a decision, as counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Voted {
    /// Votes of people that count.
    people: usize,
    /// Votes written for the sample.
    sample: usize,
    /// Votes by round.
    rounds: Vec<(&'static str, usize)>,
    /// How often each option was chosen.
    answers: Vec<Answers>,
}

/// How often each option of one question was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Answers {
    question: Both,
    counts: Vec<(Both, usize)>,
}

/// Replies of one model that a row rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Drafted {
    /// The model; empty for replies written for the sample.
    model: String,
    /// The day they were received.
    day: Option<String>,
    /// The prompts, each with its page.
    prompts: Vec<(String, String)>,
    /// How many replies.
    replies: usize,
}

/// A prompt that drafts were asked with.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Prompt {
    pub(super) name: String,
    /// Its text, whole; empty if the workspace has it no longer.
    text: String,
    /// Whether the workspace's text is another one now than the drafts were asked with.
    changed: bool,
    /// The stages that asked it.
    stages: BTreeSet<&'static str>,
}

/// The ways of rows for readers, in the same order, and the prompts on them.
///
/// # Errors
/// [`SiteError`] if votes, replies, prompts or stages cannot be read.
pub(super) fn of_rows(
    config: &Config,
    ways: Vec<RowPath>,
    originals: bool,
) -> Result<(Vec<RowWay>, Vec<Prompt>), SiteError> {
    let votes = read_votes(config, &ways)?;
    let asked = AskedModels::read_drafts(config, &ways)?;
    let shown = ways.into_iter().map(|way| {
        // A record keeps what it rests on: what is new at a stage was drafted there.
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let stage = |stretch: Stretch| {
            let of_votes = || votes.get(&(stretch.recipe.name, stretch.step.name));
            let voted = stretch.ids.iter().filter_map(|id| of_votes()?.get(id)).cloned();
            StagePassed {
                votes: voted.reduce(Voted::add_votes),
                drafts: asked.drafts_of_stage(&stretch, &mut seen),
                stage: stretch.step.name,
                outcome: stretch.outcome,
                reason: stretch.reason,
                records: stretch.ids.len(),
                changed: !stretch.texts.is_empty(),
                texts: stretch.texts.into_iter().filter(|_| originals).collect(),
            }
        };
        RowWay {
            addresses: way.posts.iter().filter_map(|id| post_address(id)).collect(),
            places: way.places.into_iter().collect(),
            merged: way.merged,
            copies: way.copies,
            stages: way.stretches.into_iter().map(stage).collect(),
        }
    });
    let shown: Vec<RowWay> = shown.collect();
    Ok((shown, asked.prompts))
}

/// Votes as counts, by recipe and step, then by record.
type VotesOfSteps = FxHashMap<(&'static str, &'static str), FxHashMap<String, Voted>>;

/// The votes on the records of these ways.
fn read_votes(config: &Config, ways: &[RowPath]) -> Result<VotesOfSteps, SiteError> {
    let mut wanted: BTreeMap<(&str, &str), (&'static Recipe, &'static Step, FxHashSet<&str>)> =
        BTreeMap::new();
    for stretch in ways.iter().flat_map(|way| &way.stretches) {
        if stretch.step.stage.declared_review().is_some() {
            let key = (stretch.recipe.name, stretch.step.name);
            let (.., ids) =
                wanted.entry(key).or_insert_with(|| (stretch.recipe, stretch.step, FxHashSet::default()));
            ids.extend(stretch.ids.iter().map(String::as_str));
        }
    }
    let mut stored: BTreeMap<&str, Votes> = BTreeMap::new();
    let mut found = VotesOfSteps::default();
    for (recipe, step, ids) in wanted.into_values() {
        let Some(review) = step.stage.declared_review() else { continue };
        let Some((ballot, items)) = review_items(config, recipe, review.benchmark_and_ballot().1)? else {
            continue;
        };
        if !stored.contains_key(recipe.name) {
            stored.insert(recipe.name, Votes::load(config, recipe.name)?);
        }
        let Some(votes) = stored.get(recipe.name) else { continue };
        let by_item = votes.by_item(ballot.recipe, ballot.name);
        let of_step = found.entry((recipe.name, step.name)).or_default();
        for item in &items {
            // Of a list every element is an item, `RECORD#NUMBER`.
            let names = [item.id.as_str(), item.id.split('#').next().unwrap_or_default()];
            let Some(record) = names.into_iter().find(|name| ids.contains(name)) else { continue };
            let on = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let voted = Voted::count_votes(&ballot, item, on);
            if voted.people + voted.sample > 0 {
                let voted = match of_step.remove(record) {
                    Some(known) => known.add_votes(voted),
                    None => voted,
                };
                of_step.insert(record.to_owned(), voted);
            }
        }
    }
    Ok(found)
}

impl Voted {
    /// Counts the votes that count, those on the text as it is.
    fn count_votes(ballot: &Ballot, item: &Item, votes: &[&Vote]) -> Voted {
        let stale = resolve_item(ballot, item, votes).stale;
        let counted: Vec<&Vote> =
            current_votes(votes).into_iter().filter(|vote| !stale.contains(&vote.id)).collect();
        let sample = counted.iter().filter(|vote| vote.synthetic).count();
        let in_round = |round: Round| (round.name(), counted.iter().filter(|v| v.round == round).count());
        Voted {
            people: counted.len() - sample,
            sample,
            rounds: Round::ALL.into_iter().map(in_round).filter(|(_, n)| *n > 0).collect(),
            answers: ballot.fields.iter().filter_map(|field| count_answers(field, &counted)).collect(),
        }
    }

    /// The votes on several records of one row.
    fn add_votes(mut self, other: Voted) -> Voted {
        self.people += other.people;
        self.sample += other.sample;
        for (round, n) in other.rounds {
            match self.rounds.iter_mut().find(|(known, _)| *known == round) {
                Some((_, known)) => *known += n,
                None => self.rounds.push((round, n)),
            }
        }
        for answers in other.answers {
            match self.answers.iter_mut().find(|known| known.question == answers.question) {
                Some(known) => {
                    for (name, n) in answers.counts {
                        match known.counts.iter_mut().find(|(known, _)| *known == name) {
                            Some((_, known)) => *known += n,
                            None => known.counts.push((name, n)),
                        }
                    }
                }
                None => self.answers.push(answers),
            }
        }
        self
    }
}

/// How often each option of a field was chosen; `None` for a field without options. Texts that people wrote are not
/// counted, and not shown.
fn count_answers(field: &Field, votes: &[&Vote]) -> Option<Answers> {
    let both = |text: &dyn Fn(Language) -> String| [text(Language::En), text(Language::Zh)];
    let keep = matches!(field.kind, AnswerKind::Keep { .. }).then_some(KEEP);
    let codes = keep.into_iter().chain(field.options().iter().map(|option| option.code));
    let chosen = |vote: &&&Vote, code: &str| match vote.values.get(field.name) {
        Some(Value::Text(text)) => text == code,
        Some(Value::List(codes)) => codes.iter().any(|chosen| chosen == code),
        _ => false,
    };
    let count = |code: &'static str| {
        let n = votes.iter().filter(|vote| chosen(vote, code)).count();
        (n > 0).then(|| (both(&|language| answer_label(language, field, code)), n))
    };
    let counts: Vec<(Both, usize)> = codes.filter_map(count).collect();
    let question = both(&|language| label_in(language, field.label).to_owned());
    (!counts.is_empty()).then_some(Answers { question, counts })
}

/// What models were asked for the rows.
struct AskedModels {
    /// The prompts of each drafting stage, by recipe and step.
    of_stages: BTreeMap<(&'static str, &'static str), Vec<String>>,
    prompts: Vec<Prompt>,
    /// The replies that records rest on after each of these stages.
    basis: BTreeMap<(&'static str, &'static str), BTreeMap<String, BTreeSet<String>>>,
    /// The replies by name: model, day, template.
    replies: FxHashMap<String, (String, String, String)>,
}

impl AskedModels {
    fn read_drafts(config: &Config, ways: &[RowPath]) -> Result<AskedModels, SiteError> {
        let workspace = Workspace::new(&config.root);
        let known = draft::load_prompts(config)?;
        let mut of_stages: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        let mut prompts: BTreeMap<String, Prompt> = BTreeMap::new();
        let mut basis = BTreeMap::new();
        for stretch in ways.iter().flat_map(|way| &way.stretches) {
            let (of, step) = (stretch.recipe, stretch.step);
            if step.stage.declared_draft().is_none() || of_stages.contains_key(&(of.name, step.name)) {
                continue;
            }
            let manifest =
                Manifest::read_from_stage(&workspace.stage_folder(of.name, step.number, step.name))?;
            let evidence = manifest.map(|manifest| manifest.evidence).unwrap_or_default();
            let mut names = Vec::new();
            for (name, hash) in &evidence {
                let Some(name) = name.strip_prefix("prompt ") else { continue };
                let prompt = prompts.entry(name.to_owned()).or_insert_with(|| Prompt {
                    name: name.to_owned(),
                    text: known.prompt_source(name).unwrap_or_default().to_owned(),
                    changed: known.hash(name).ok() != Some(hash.as_str()),
                    stages: BTreeSet::new(),
                });
                prompt.stages.insert(step.name);
                names.push(name.to_owned());
            }
            of_stages.insert((of.name, step.name), names);
            basis.insert((of.name, step.name), replies_of_records(&workspace, of, step)?);
        }
        let became: FxHashSet<&str> = ways
            .iter()
            .flat_map(|way| &way.stretches)
            .flat_map(|stretch| &stretch.became)
            .map(String::as_str)
            .collect();
        basis.values_mut().for_each(|of_stage| of_stage.retain(|id, _| became.contains(id.as_str())));
        let replies = read_replies(config, &basis)?;
        Ok(AskedModels { of_stages, prompts: prompts.into_values().collect(), basis, replies })
    }

    /// The drafts of one stage that a row rests on. `seen` are those of the stages before.
    fn drafts_of_stage(&self, stretch: &Stretch, seen: &mut BTreeSet<String>) -> Vec<Drafted> {
        let key = (stretch.recipe.name, stretch.step.name);
        let Some(of_stage) = self.basis.get(&key) else { return Vec::new() };
        let names: BTreeSet<&String> =
            stretch.became.iter().filter_map(|id| of_stage.get(id)).flatten().collect();
        let prompts = self.of_stages.get(&key);
        let linked = |name: &String| (name.clone(), prompt_page(name));
        let mut drafts: BTreeMap<DraftKey, usize> = BTreeMap::new();
        for name in names {
            if !seen.insert(name.clone()) {
                continue;
            }
            let all = || prompts.into_iter().flatten().map(linked).collect::<Vec<_>>();
            let draft = match self.replies.get(name.as_str()) {
                Some((model, day, template)) => {
                    let own = prompts.is_some_and(|prompts| prompts.contains(template));
                    let of_reply = if own { vec![linked(template)] } else { all() };
                    (model.clone(), Some(day.clone()), of_reply)
                }
                None if name.starts_with("sample:") => (String::new(), None, all()),
                None => continue,
            };
            *drafts.entry(draft).or_default() += 1;
        }
        let drafted = |((model, day, prompts), replies)| Drafted { model, day, prompts, replies };
        drafts.into_iter().map(drafted).collect()
    }
}

/// What drafts have alike: the model, the day, and their prompts with the page of each.
type DraftKey = (String, Option<String>, Vec<(String, String)>);

/// The replies that records rest on, by name: model, day and template.
fn read_replies(
    config: &Config,
    basis: &BTreeMap<(&str, &str), BTreeMap<String, BTreeSet<String>>>,
) -> Result<FxHashMap<String, (String, String, String)>, SiteError> {
    let names: BTreeSet<&String> = basis.values().flat_map(|of_stage| of_stage.values()).flatten().collect();
    let named = |name: &&String| Some(((*name).clone(), name.strip_prefix("reply:")?.parse::<Key>().ok()?));
    let (names, keys): (Vec<String>, Vec<Key>) = names.iter().filter_map(named).unzip();
    if keys.is_empty() {
        return Ok(FxHashMap::default());
    }
    let stored =
        draft::open_store(config)?.get_many(&keys).map_err(riddlemill_pipeline::stages::StageError::from)?;
    let mut found = FxHashMap::default();
    for (name, reply) in names.into_iter().zip(stored) {
        let Some(reply) = reply else { continue };
        let at = format_utc(UNIX_EPOCH + Duration::from_millis(reply.at_ms));
        let day = at.get(..10).unwrap_or_default().to_owned();
        found.insert(name, (reply.request.model, day, reply.template));
    }
    Ok(found)
}
