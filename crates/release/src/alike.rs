//! Rows that are alike since people rewrote their texts: two posts that dedup told apart may have become one sentence.
//! They are compared as dedup compares posts, and shown to whoever decides; nothing is merged by it.

use rustc_hash::FxHashMap;

use super::layout::Layout;
use super::manifest::{AlikePair, CandidateManifest};
use super::row::Row;
use super::row_faults::record_of;
use super::source::open_stage;
use crate::config::{Config, sections};
use crate::decisions::{DecisionLog, Verdict};
use crate::join::Unwatched;
use crate::offline::dedup::similar_pairs;
use crate::pipeline::{RunError, Withheld};
use crate::recipe::{Recipe, Step};
use crate::record::Post;
use crate::store::{Error, Workspace};
use crate::text::language::{detect, tag_language};
use crate::text::normalise::{Fold, fold};

/// Most pairs that are kept in a manifest.
const KEPT: usize = 1000;

/// Most pairs that are told by name.
const TOLD: usize = 5;

/// Most characters of a text that are told.
const QUOTED: usize = 40;

/// The predicate of equal texts.
const IDENTICAL: &str = "identical";

/// The texts of a set's rows, with the records that they were made from.
pub(super) struct RowTexts {
    /// The step that compared the posts, if people may have rewritten them since.
    compared: Option<&'static Step>,
    rows: Vec<(String, String)>,
}

impl RowTexts {
    /// No texts yet of a recipe's rows.
    pub(super) fn new(recipe: &'static Recipe) -> RowTexts {
        let steps = recipe.steps();
        let dedup = steps.iter().position(|step| step.stage.merges_posts());
        let reviewed = |at: &usize| steps[*at..].iter().any(|step| step.stage.declared_review().is_some());
        RowTexts { compared: dedup.filter(reviewed).map(|at| &steps[at]), rows: Vec::new() }
    }

    /// Notes rows, in order.
    pub(super) fn look_at(&mut self, layout: &Layout, rows: &[Row]) {
        let place = layout.text_column().and_then(|name| layout.place_of_column(name));
        let Some(place) = place.filter(|_| self.compared.is_some()) else { return };
        self.rows
            .extend(rows.iter().map(|row| (record_of(layout, row), row.text_of_column(place).to_owned())));
    }

    /// The pairs that are alike, without those that a person decided are two.
    ///
    /// # Errors
    /// [`RunError`] if the posts or the decisions cannot be read.
    pub(super) fn find_alike_pairs(
        self,
        config: &Config,
        workspace: &Workspace,
        recipe: &'static Recipe,
    ) -> Result<Vec<AlikePair>, RunError> {
        let Some(step) = self.compared else { return Ok(Vec::new()) };
        let rewritten = self.mark_rewritten(workspace, recipe, step)?;
        if !rewritten.contains(&true) {
            return Ok(Vec::new());
        }
        let settings: sections::Dedup = config.typed_settings(Some(recipe.name), "dedup");
        let language = |text: &str| settings.language.unwrap_or_else(|| detect(text).language);
        let texts: Vec<_> = self.rows.iter().map(|(_, text)| tag_language(text, language(text))).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (groups, similar) = similar_pairs(&texts, &settings, &Unwatched);
        let mut found: Vec<(usize, usize, f64, &str)> = Vec::new();
        // Within a group of equal texts, each with the first; of two groups, those that were rewritten, or else the first.
        for rows in &groups {
            let first = rows.first().map_or(0, |row| *row as usize);
            let others = rows.iter().skip(1).map(|row| *row as usize);
            let new = others.filter(|other| rewritten[*other] || rewritten[first]);
            found.extend(new.map(|other| (first, other, 1.0, IDENTICAL)));
        }
        for pair in similar.iter().filter(|pair| pair.same) {
            let of_group = |group: u32| {
                let rows = &groups[group as usize];
                let row = rows.iter().find(|row| rewritten[**row as usize]).or_else(|| rows.first());
                row.map(|row| *row as usize)
            };
            let both = of_group(pair.a).zip(of_group(pair.b));
            let both = both.filter(|(one, other)| rewritten[*one] || rewritten[*other]);
            found.extend(
                both.map(|(one, other)| (one.min(other), one.max(other), pair.score, pair.predicate)),
            );
        }
        found.sort_unstable_by_key(|(one, other, ..)| (*one, *other));
        let log = DecisionLog::read_folder(&workspace.decisions_folder()).map_err(Error::from)?;
        let two = |one: &str, other: &str| {
            log.all_decisions().iter().any(|decision| {
                let pair = (decision.record.as_str(), decision.other.as_deref().unwrap_or_default());
                decision.verdict == Verdict::Two
                    && (pair == (one, other) || pair == (other, one))
                    && decision.is_for(recipe.name)
                    && log.undo_of(decision.id).is_none()
                    && !log.is_disputed(decision.id)
                    && log.overruling_decision(decision, recipe.name).is_none()
            })
        };
        let pair = |(one, other, score, predicate): (usize, usize, f64, &str)| {
            let [(a, text_a), (b, text_b)] = [&self.rows[one], &self.rows[other]].map(Clone::clone);
            AlikePair { a, b, score, predicate: predicate.to_owned(), text_a, text_b }
        };
        // Equal texts were hardly equal when somebody said that they are two.
        let open = |pair: &AlikePair| pair.predicate == IDENTICAL || !two(&pair.a, &pair.b);
        Ok(found.into_iter().map(pair).filter(open).take(KEPT).collect())
    }

    /// Which rows read otherwise than the posts that were compared.
    fn mark_rewritten(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &'static Step,
    ) -> Result<Vec<bool>, RunError> {
        let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, (record, _)) in self.rows.iter().enumerate() {
            places.entry(record.as_str()).or_default().push(at);
        }
        let mut rewritten = vec![false; self.rows.len()];
        for part in open_stage(workspace, recipe, step)?.read_parts::<Post>("rows") {
            for post in part? {
                for at in places.get(post.id.as_str()).into_iter().flatten() {
                    rewritten[*at] = fold(&post.text, Fold::KEY) != fold(&self.rows[*at].1, Fold::KEY);
                }
            }
        }
        Ok(rewritten)
    }
}

/// The pairs of a recipe's candidate that are alike since people rewrote texts, without those that were withdrawn since.
///
/// # Errors
/// [`Error`] if the candidate or the withdrawals cannot be read.
pub fn alike_pairs(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<AlikePair>, Error> {
    let Some(candidate) = CandidateManifest::read_manifest(&workspace.candidate_folder(recipe.name))? else {
        return Ok(Vec::new());
    };
    if candidate.alike.is_empty() {
        return Ok(Vec::new());
    }
    let withheld = Withheld::open(workspace, recipe)?;
    let sides = candidate.alike.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]);
    let withdrawn = withheld.withdrawn_among(sides)?;
    let stands = |pair: &&AlikePair| {
        ![&pair.a, &pair.b].into_iter().any(|side| withdrawn.contains(side.as_str()))
            && ![&pair.text_a, &pair.text_b].into_iter().any(|text| withheld.is_withdrawn_text(text))
    };
    Ok(candidate.alike.iter().filter(stands).cloned().collect())
}

/// What is told about such pairs, with what decides them: of many the first, and how many there are further.
pub fn alike_told(recipe: &Recipe, pairs: &[AlikePair]) -> Vec<String> {
    let name = recipe.name;
    let told = |pair: &AlikePair| {
        format!(
            "{} and {} are alike since their texts were rewritten, {:.2}: \"{}\", \"{}\"",
            pair.a,
            pair.b,
            pair.score,
            shorten_text(&pair.text_a),
            shorten_text(&pair.text_b)
        )
    };
    let mut lines: Vec<String> = pairs.iter().take(TOLD).map(told).collect();
    if pairs.len() > TOLD {
        lines.push(format!("and {} more pairs like these", pairs.len() - TOLD));
    }
    if let Some(pair) = pairs.first() {
        lines.push(format!(
            "`riddlemill decide one {a} {b} --recipe {name} --by NAME --why TEXT` leaves one of two, `decide two` both; `riddlemill show \
             dedup --borderline --recipe {name}` shows them",
            a = pair.a,
            b = pair.b
        ));
    }
    lines
}

fn shorten_text(text: &str) -> String {
    match text.chars().count() > QUOTED {
        true => text.chars().take(QUOTED).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
