//! Decisions about records and pairs, made on the pages that show them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;

use crate::app::{App, find_recipe, read_blocking};
use crate::config::Config;
use crate::decisions::{Decision, DecisionLog, Verdict, seen_text};
use crate::error::PageError;
use crate::form::Form;
use crate::pipeline::current_time;
use crate::pipeline::decide::{self, Act, DecideError, DecisionRequest, check_entitled};
use crate::recipe::{Recipe, Step};
use crate::review::Digest;
use crate::store::Workspace;
use crate::view;
use crate::visitor::Visitor;

/// Most characters of a reason.
const WHY_CHARS: usize = 500;

/// The decisions possible on a stage's records as they enter it.
pub(super) fn possible_decisions(step: &Step) -> Vec<&'static str> {
    let posts = step.stage.touched_columns().is_some();
    let verdicts = [Verdict::Keep, Verdict::Drop, Verdict::Hold].into_iter();
    verdicts.filter(|verdict| posts && step.stage.may_be_overruled(*verdict)).map(Verdict::name).collect()
}

/// What a page offers to people who may decide.
#[derive(Debug, Default, Serialize)]
pub(crate) struct DecisionDesk {
    /// Whether the visitor may decide.
    may: bool,
    /// Without tokens: the people in pipeline.toml who may decide, one of whom is chosen in the form.
    people: Vec<String>,
    /// The possible decisions about the record, with the hash of its text.
    choices: Vec<VerdictChoice>,
    /// Decisions made.
    made: Vec<MadeDecision>,
    /// How many decisions the log held when the page was made: later ones were not seen.
    looked: usize,
}

#[derive(Debug, Serialize)]
struct VerdictChoice {
    verdict: &'static str,
    stage: &'static str,
    seen: String,
}

/// A decision, with its state in the page's recipe.
#[derive(Debug, Serialize)]
pub(super) struct MadeDecision {
    #[serde(flatten)]
    decision: Decision,
    state: decide::DecisionState,
}

/// Who may decide here.
pub(crate) fn decision_desk(config: &Config, visitor: &Visitor) -> Result<DecisionDesk, PageError> {
    let may = visitor.rank() >= Some(crate::access::Rank::Curator);
    let people = config.annotators.iter().map(|person| person.name.clone());
    let people =
        people.filter(|name| may && visitor.name().is_none() && check_entitled(config, name).is_ok());
    let log = DecisionLog::read_folder(&Workspace::new(&config.root).decisions_folder())
        .map_err(PageError::internal_error)?;
    let looked = log.all_decisions().len();
    Ok(DecisionDesk { may, people: people.collect(), looked, ..DecisionDesk::default() })
}

/// The existing and possible decisions about a record.
pub(crate) fn desk_of(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    id: &str,
    visitor: &Visitor,
) -> Result<DecisionDesk, PageError> {
    let mut desk = decision_desk(config, visitor)?;
    if desk.may {
        let choices = decide::possible_decisions(config, recipe, id).map_err(decision_refused)?;
        let choice = |(verdict, stage, seen): (Verdict, &'static str, Digest)| VerdictChoice {
            verdict: verdict.name(),
            stage,
            seen: seen.to_string(),
        };
        desk.choices = choices.into_iter().map(choice).collect();
    }
    desk.made = decisions_of(app, config, recipe, |d| d.record == id || d.other.as_deref() == Some(id))?;
    Ok(desk)
}

/// The decisions for a recipe that are wanted, in the order in which they were made.
pub(super) fn decisions_of(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    wanted: impl Fn(&Decision) -> bool,
) -> Result<Vec<MadeDecision>, PageError> {
    let log =
        DecisionLog::read_folder(&app.workspace.decisions_folder()).map_err(PageError::internal_error)?;
    let found = decide::states_of_decisions(config, &log, wanted)?
        .into_iter()
        .filter(|found| found.recipe == recipe.name);
    Ok(found.map(|found| MadeDecision { decision: found.decision, state: found.state }).collect())
}

/// Makes or withdraws a decision.
pub(crate) async fn submit_decision(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    form: Form,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let back = form.get("back").to_string();
    // Redirect only to one of our pages.
    let own = back.starts_with('/') && !back.starts_with("//") && !back.contains('\\');
    let back = match own {
        // In a queue the next one stands there, and whoever chose a name stays that person.
        true if !form.get("queue").is_empty() => with_part(&back, "as", form.get("as")),
        true => with_word(&back, form.get("record")),
        false => format!("/{}/record/{}#decide", recipe.name, view::encode_segment(form.get("record"))),
    };
    read_blocking(move || store_decision(&app, recipe, &visitor, &form)).await?;
    Ok(Redirect::to(&back).into_response())
}

/// The page to return to, with the record decided on: the page confirms that the decision is stored and where
/// it can be withdrawn. A record's own page lists its decisions.
fn with_word(back: &str, record: &str) -> String {
    let path = back.split(['#', '?']).next().unwrap_or_default();
    if path.contains("/record/") {
        return back.to_string();
    }
    // The confirmation of an earlier decision is replaced.
    with_part(back, "decided", record)
}

/// An address with one part of its query set; unchanged if the value is empty.
fn with_part(back: &str, key: &str, value: &str) -> String {
    if value.is_empty() {
        return back.to_string();
    }
    let (page, place) = back.split_once('#').map_or((back, None), |(page, place)| (page, Some(place)));
    let (path, query) = page.split_once('?').unwrap_or((page, ""));
    let own = |part: &&str| part.split('=').next() == Some(key);
    let kept = query.split('&').filter(|part| !part.is_empty() && !own(part));
    let word = format!("{key}={}", view::encode_segment(value));
    let query = kept.chain([word.as_str()]).collect::<Vec<_>>().join("&");
    format!("{path}?{query}{}", place.map(|place| format!("#{place}")).unwrap_or_default())
}

/// Who decides: the owner of a curator's token; without tokens, the person chosen in the form.
pub(super) fn find_decider(config: &Config, visitor: &Visitor, form: &Form) -> Result<String, PageError> {
    match visitor.name() {
        Some(name) => Ok(name.to_owned()),
        None => {
            check_entitled(config, form.get("as")).map_err(decision_refused)?;
            Ok(form.get("as").to_owned())
        }
    }
}

fn store_decision(
    app: &App,
    recipe: &'static Recipe,
    visitor: &Visitor,
    form: &Form,
) -> Result<(), PageError> {
    let (config, _) = app.current_config();
    let by = find_decider(&config, visitor, form)?;
    let of_act = if form.get("undo").is_empty() { form.get("verdict") } else { "undo" };
    let written = form.text_within("why", WHY_CHARS)?;
    // A queue says under the field which reason is stored where none is written.
    let why = match written.is_empty() {
        true => form.get(&format!("why.{of_act}")).trim().to_owned(),
        false => written,
    };
    let folder = app.workspace.decisions_folder();
    let at = current_time();
    if !form.get("undo").is_empty() {
        let id: Digest = form.get("undo").parse().map_err(|e| PageError::bad_request(format!("{e}")))?;
        if why.is_empty() {
            return Err(decision_refused(DecideError::NoReason));
        }
        let is_new =
            DecisionLog::withdraw_decision(&folder, id, &by, &why, &at).map_err(PageError::internal_error)?;
        let log = DecisionLog::read_folder(&folder).map_err(PageError::internal_error)?;
        return match log.undo_of(id) {
            // Pressed twice, it is undone once.
            Some(undo) if !is_new && (&undo.by, &undo.why) != (&by, &why) => Err(decided_before(format!(
                "{} had undone this already: {}; the new reason is not stored",
                undo.by, undo.why
            ))),
            _ => Ok(()),
        };
    }
    let verdict = form.get("verdict");
    let verdict = Verdict::from_name(verdict)
        .ok_or_else(|| PageError::bad_request(format!("no verdict {verdict:?}")))?;
    // Verdicts overrule different stages, where the record may have different texts.
    let own = form.get(&format!("seen.{verdict}")).to_owned();
    let seen = if own.is_empty() { form.get("seen") } else { &own };
    let optional =
        |name: &str| Some(form.get(name)).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let recipe = match form.get("scope") {
        "all" => None,
        "one" | "" => Some(recipe.name.to_owned()),
        other => {
            let told = format!("a decision is for all recipes or for one, not for {other:?}");
            return Err(PageError::bad_request(told).about("scope"));
        }
    };
    // The field holds the present text, which whoever decides something else leaves as it is.
    let is_new = |text: &String| verdict.is_edit() || hash_shown_text(text) != form.get("shown");
    let wish = DecisionRequest {
        verdict,
        record: form.get("record").to_owned(),
        other: optional("other").filter(|_| verdict.is_of_pair()),
        text: optional("text").filter(is_new),
        recipe,
        stage: optional("stage"),
        seen: Some(seen.parse().map_err(|e| PageError::bad_request(format!("{e}")))?),
    };
    let act = Act { by: &by, why: &why, at: &at, source: "page" };
    let decisions = decide::make_decisions(&config, &wish, act).map_err(decision_refused)?;
    // A form without the number has seen none.
    let looked = form.get("looked").parse().unwrap_or(0);
    let receipt = DecisionLog::append_after(&folder, decisions, looked).map_err(PageError::internal_error)?;
    let log = DecisionLog::read_folder(&folder).map_err(PageError::internal_error)?;
    let find = |id: Digest| log.all_decisions().iter().find(|d| d.id == id);
    if let Some(Decision { by, verdict, why, .. }) = receipt.overtaken.and_then(find) {
        return Err(PageError::new(StatusCode::CONFLICT, "decided_since").with_detail(format!(
            "{by} has decided {verdict} since this page was opened: {why}; whoever still decides otherwise sends it again"
        )));
    }
    let known = receipt.known.first().copied().filter(|_| receipt.added.is_empty()).and_then(find);
    match known {
        // Pressed twice, it is stored once.
        Some(known) if (known.by.as_str(), known.why.as_str()) != (&by, why.trim()) => {
            Err(decided_before(format!(
                "{} decided this already ({}): {}; the new reason is not stored",
                known.by, known.verdict, known.why
            )))
        }
        _ => Ok(()),
    }
}

/// What is decided already stays as it is, and nothing is stored.
fn decided_before(told: String) -> PageError {
    PageError::new(StatusCode::CONFLICT, "decided_before").with_detail(told)
}

/// The hash of a text in a form; browsers send its line breaks as CRLF, and its ends do not matter.
pub(super) fn hash_shown_text(text: &str) -> String {
    seen_text(text.replace("\r\n", "\n").trim()).to_string()
}

/// Why a decision is refused, for the visitor.
fn decision_refused(error: DecideError) -> PageError {
    match error {
        DecideError::Run(error) => error.into(),
        DecideError::Outdated { .. } => {
            PageError::new(StatusCode::CONFLICT, "item_changed").with_detail(error)
        }
        DecideError::NotEntitled { .. } => {
            PageError::new(StatusCode::FORBIDDEN, "not_decided").with_detail(error).about("as")
        }
        DecideError::NoReason => {
            PageError::new(StatusCode::UNPROCESSABLE_ENTITY, "not_decided").with_detail(error).about("why")
        }
        DecideError::NoText(_) | DecideError::UnusedText(_) => {
            PageError::new(StatusCode::UNPROCESSABLE_ENTITY, "not_decided").with_detail(error).about("text")
        }
        _ => PageError::new(StatusCode::UNPROCESSABLE_ENTITY, "not_decided").with_detail(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{with_part, with_word};

    #[test]
    fn a_list_says_what_was_decided_last_and_a_record_lists_it_itself() {
        assert_eq!(with_word("/flub/duplicates", "tieba:1"), "/flub/duplicates?decided=tieba:1");
        assert_eq!(
            with_word("/flub/stage/filter?page=2&decided=tieba:1#rows", "tieba:2"),
            "/flub/stage/filter?page=2&decided=tieba:2#rows"
        );
        assert_eq!(with_word("/flub/record/tieba:1#decide", "tieba:1"), "/flub/record/tieba:1#decide");
        assert_eq!(with_part("/flub/pairs?at=2&as=x", "as", "meta-1"), "/flub/pairs?at=2&as=meta-1");
        assert_eq!(with_part("/flub/pairs?at=2", "as", ""), "/flub/pairs?at=2");
    }
}
