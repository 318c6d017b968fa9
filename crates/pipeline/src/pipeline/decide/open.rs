//! Records and pairs to decide about: stopped records, and similar pairs.

use std::collections::BTreeMap;

use super::look::Stages;
use crate::config::Config;
use crate::pipeline::RunError;
use crate::recipe::{Recipe, Step};
use crate::stages::NearPair;
use riddlemill_record::{Entry, State};
use riddlemill_review::Digest;
use riddlemill_review::decisions::{Verdict, seen_pair};
use riddlemill_tables::{Filter, select_rows};

/// What to list.
#[derive(Clone, Debug)]
pub enum Listed {
    /// Records that left a stage in this state, or any stage if none is given.
    Records { stage: Option<String>, state: State },
    /// Similar pairs, down to the margin under the threshold.
    Pairs,
}

/// A record or pair to decide about.
#[derive(Clone, Debug)]
pub struct Open {
    pub record: String,
    /// The other one of a pair.
    pub other: Option<String>,
    pub stage: &'static str,
    /// State, reason and evidence, or for a pair the verdict and score.
    pub state: String,
    /// The text as it enters the stage.
    pub text: String,
    /// The other one's text.
    pub text_of_other: Option<String>,
    /// The hash of what is shown.
    pub seen: Digest,
}

/// The records or pairs of a recipe that people may decide about, in the order of the stages.
///
/// # Errors
/// [`RunError`] if a stage cannot be read.
pub fn open_records(
    config: &Config,
    recipe: &'static Recipe,
    listed: &Listed,
) -> Result<Vec<Open>, RunError> {
    let stages = Stages::open(config, recipe)?;
    let mut open = Vec::new();
    for step in recipe.steps() {
        match listed {
            Listed::Pairs if step.stage.may_be_overruled(Verdict::Two) => {
                list_open_pairs(&stages, step, &mut open)?
            }
            Listed::Records { stage, state }
                if stage.as_ref().is_none_or(|name| name == step.name)
                    && (step.stage.may_be_overruled(Verdict::Keep)
                        || step.stage.may_be_overruled(Verdict::Answer)) =>
            {
                list_open_records(&stages, step, *state, &mut open)?;
            }
            _ => {}
        }
    }
    Ok(open)
}

fn list_open_records(
    stages: &Stages<'_>,
    step: &'static Step,
    state: State,
    open: &mut Vec<Open>,
) -> Result<(), RunError> {
    let Some(stage) = stages.stage_reader(step.name) else { return Ok(()) };
    let entries = select_rows::<Entry>(stage, "ledger", &Filter::equals("outcome", state.code()))?;
    let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let texts: BTreeMap<String, String> = stages.texts_at_step(step, &ids)?.into_iter().collect();
    for entry in &entries {
        let Ok(seen) = stages.seen_of(step, &entry.id, texts.get(&entry.id).map(String::as_str))? else {
            continue;
        };
        let reason = entry.reason.as_deref().unwrap_or_default();
        let evidence = entry.evidence.as_deref().unwrap_or_default();
        open.push(Open {
            record: entry.id.clone(),
            other: None,
            stage: step.name,
            state: format!("{} ({reason}): {evidence}", entry.outcome),
            text: texts.get(&entry.id).cloned().unwrap_or_default(),
            text_of_other: None,
            seen,
        });
    }
    Ok(())
}

fn list_open_pairs(stages: &Stages<'_>, step: &'static Step, open: &mut Vec<Open>) -> Result<(), RunError> {
    let Some(stage) = stages.stage_reader(step.name) else { return Ok(()) };
    let mut pairs: Vec<NearPair> = stage.read_table("pairs")?;
    pairs.sort_by(|x, y| y.score.total_cmp(&x.score).then_with(|| (&x.a, &x.b).cmp(&(&y.a, &y.b))));
    let ids: Vec<&str> = pairs.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]).collect();
    let texts: BTreeMap<String, String> = stages.texts_at_step(step, &ids)?.into_iter().collect();
    for pair in &pairs {
        let (Some(a), Some(b)) = (texts.get(&pair.a), texts.get(&pair.b)) else { continue };
        let veto = pair.veto.as_ref().map(|veto| format!(", veto {veto}")).unwrap_or_default();
        open.push(Open {
            record: pair.a.clone(),
            other: Some(pair.b.clone()),
            stage: step.name,
            state: format!("{} ({} {:.3}{veto})", pair.verdict, pair.predicate, pair.score),
            text: a.clone(),
            text_of_other: Some(b.clone()),
            seen: seen_pair((&pair.a, a), (&pair.b, b)),
        });
    }
    Ok(())
}
