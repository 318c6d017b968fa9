//! Posts by their texts in the stages, as imported and as a stage changed them, and how similar they are to one that somebody
//! partly remembers.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::whereabouts::open_stages;
use crate::recipe::Recipe;
use crate::record::{Entry, Post};
use crate::stages::StageRows;
use crate::store::{Error, Filter, Workspace, select_parts};
use crate::text::normalise::{Fold, fold};

/// Posts with this text, as imported or else as a stage left them.
pub(super) fn find_by_text(
    workspace: &Workspace,
    recipe: &'static Recipe,
    target: &str,
) -> Result<Vec<String>, Error> {
    let wanted = fold(target, Fold::KEY);
    let mut found = TextMatches::default();
    let import = recipe.steps().first().filter(|step| step.stage.rows() == StageRows::Posts);
    for stage in open_stages(workspace, recipe)?.iter().take(import.into_iter().count()) {
        for part in stage.read_parts::<Post>("rows") {
            found.search_texts(&wanted, part?.into_iter().map(|post| (post.id, post.text)).collect());
        }
    }
    match found.found_ids() {
        ids if ids.is_empty() => find_changed(workspace, recipe, target),
        ids => Ok(ids),
    }
}

/// Posts with this text after a stage changed them, ignoring width, script, spaces and punctuation: no dump
/// contains it like that. If some are equal to the target, only these.
fn find_changed(workspace: &Workspace, recipe: &'static Recipe, target: &str) -> Result<Vec<String>, Error> {
    let wanted = fold(target, Fold::KEY);
    let mut found = TextMatches::default();
    for stage in open_stages(workspace, recipe)? {
        for part in select_parts::<Entry>(&stage, "ledger", Some(Filter::Present("after"))) {
            let texts = part?.into_iter().filter_map(|entry| Some((entry.id, entry.after?)));
            found.search_texts(&wanted, texts.collect());
        }
    }
    Ok(found.found_ids())
}

/// Records equal to a text, and those that contain it.
#[derive(Default)]
struct TextMatches {
    equal: BTreeSet<String>,
    holding: BTreeSet<String>,
}

impl TextMatches {
    /// Searches texts of records for a folded text; an empty one is never found.
    fn search_texts(&mut self, wanted: &str, texts: Vec<(String, String)>) {
        let hit = |(id, text): (String, String)| {
            let text = fold(&text, Fold::KEY);
            (!wanted.is_empty() && text.contains(wanted)).then_some((text == wanted, id))
        };
        let hits: Vec<(bool, String)> = texts.into_par_iter().filter_map(hit).collect();
        for (same, id) in hits {
            let ids = if same { &mut self.equal } else { &mut self.holding };
            ids.insert(id);
        }
    }

    fn found_ids(self) -> Vec<String> {
        if self.equal.is_empty() { self.holding } else { self.equal }.into_iter().collect()
    }
}

/// Smallest relevant share of common character pairs.
const LEAST: f64 = 0.5;

/// A text to search for, folded once.
pub(super) struct SoughtText {
    folded: String,
    pairs: BTreeSet<(char, char)>,
}

impl SoughtText {
    pub(super) fn for_text(text: &str) -> SoughtText {
        let folded = fold(text, Fold::KEY);
        SoughtText { pairs: text_bigrams(&folded), folded }
    }

    /// 0.5 to 1 if the text, or a part of it, is similar to the wanted one. Half of the figure is the share
    /// of the wanted text's character pairs that it contains, half the Dice coefficient of both, so that of
    /// two texts that contain all of them the shorter one comes first.
    pub(super) fn score_text(&self, text: &str) -> Option<f64> {
        let other = fold(text, Fold::KEY);
        if self.folded == other {
            return Some(1.0);
        }
        // A single character has no pairs.
        if self.pairs.is_empty() {
            return (!self.folded.is_empty() && other.contains(&self.folded)).then_some(LEAST);
        }
        let theirs = text_bigrams(&other);
        let common = self.pairs.intersection(&theirs).count() as f64;
        let share = common / self.pairs.len() as f64;
        let dice = 2.0 * common / (self.pairs.len() + theirs.len()) as f64;
        (share >= LEAST).then_some((share + dice) / 2.0)
    }
}

fn text_bigrams(text: &str) -> BTreeSet<(char, char)> {
    text.chars().zip(text.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_finds_the_whole_and_the_nearer_one_scores_more() {
        let likeness = SoughtText::for_text("冰箱里的灯");
        let near = likeness.score_text("冰箱里的燈，怕黑吗").unwrap();
        let far = likeness.score_text("冰箱里的灯在门关上以后是不是一个人偷偷地亮着呢").unwrap();
        assert!(near > far && far > 0.4);
        assert_eq!(likeness.score_text("冰箱里的灯？"), Some(1.0));
        assert_eq!(likeness.score_text("雨伞怕不怕淋雨"), None);
        assert!(SoughtText::for_text("灯").score_text("关灯").is_some());
    }
}
