//! What is stored of a vote: the vote itself, a remark, and the guideline under which it was cast.

use crate::pipeline::now;
use crate::recipe::Recipe;
use crate::review::ballot::Round;
use crate::review::votes::PAGE;
use crate::review::{Annotator, Ballot, Digest, Item, Values, Vote};
use crate::web::app::App;
use crate::web::error::PageError;
use crate::web::guard::Form;
use crate::web::voting::{Guide, Note};

/// Longest time that counts as work on one item, in seconds; beyond it somebody was away.
const LONGEST: f64 = 3600.0;
/// Most characters of a remark.
const REMARK_CHARS: usize = 2000;

/// Additions to a vote: the step, the remark, and the guideline if it has to be stored first.
pub(super) type Remarked = (String, Note, Option<Box<Guide>>);

/// Stores a remark if it differs from the previous one.
pub(super) fn remark(app: &App, recipe: &Recipe, (step, new, came_with): Remarked) -> Result<(), PageError> {
    // Concurrent remarks wait for each other instead of failing.
    let _turn = app.assigning.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let found = app.desk.kept_guides(recipe.name, &step)?;
    if let Some(guide) = came_with.filter(|new| !found.iter().any(|guide| guide.version() == new.version())) {
        app.desk.guide(recipe.name, &step, &guide)?;
    }
    let notes = app.desk.notes(recipe.name, &step)?;
    let same_seat =
        |old: &&Note| (&old.item, &old.annotator, old.round) == (&new.item, &new.annotator, new.round);
    let (text, flag) = notes.iter().rev().find(same_seat).map_or(("", false), |old| (&old.text, old.flag));
    if (text, flag) != (new.text.as_str(), new.flag) {
        app.desk.note(recipe.name, &step, &new)?;
    }
    Ok(())
}

/// The remark that came with a vote.
pub(super) fn note_of(item: &Item, person: &Annotator, round: Round, form: &Form) -> Note {
    Note {
        item: item.id.clone(),
        annotator: person.name.clone(),
        round,
        // Browsers send line breaks as CRLF.
        text: form.get("n.text").trim().replace("\r\n", "\n").chars().take(REMARK_CHARS).collect(),
        flag: !form.get("n.flag").is_empty(),
        at: now(),
    }
}

/// The vote of a page.
pub(super) fn vote_of(
    step: &Ballot,
    item: &Item,
    person: &Annotator,
    round: Round,
    values: Values,
    base: Option<Digest>,
    seconds: Option<f64>,
) -> Vote {
    Vote {
        annotator: person.name.clone(),
        role: person.role,
        round,
        values,
        at: now(),
        source: PAGE.to_string(),
        order: item.shown_order(),
        seconds: seconds.map(|seconds| seconds.min(LONGEST)),
        base,
        ..Vote::on(step, item)
    }
}
