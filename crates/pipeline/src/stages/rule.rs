//! What all stages that decide record by record have in common: a published row passes as it was published, people's
//! decisions replace what a rule says, and the ledger tells both. A stage adds the rule.

use super::overrule::overrule_outcome;
use super::published::{Publishable, Published, let_through};
use riddlemill_record::{Outcome, Reason, Record, is_published};
use riddlemill_review::decisions::{Ruling, StageDecisions, seen_text};

/// A rule over one record.
pub trait Rule<R: Record, T: Record = R>: Sync {
    /// What becomes of a record by the rule alone.
    fn outcome_by_rule(&self, record: R) -> Outcome<T>;

    /// A published record as it goes on, whatever the rule says; `None` if it does not.
    fn published_record(&self, record: &R) -> Option<T>;

    /// The text of a record as people see it who decide about it.
    fn text_for_people(&self, _: &R) -> String {
        String::new()
    }

    /// The record that goes on where a person lets it through and the rule stops it; `None` if it cannot.
    fn passed_record(&self, _: R) -> Option<T> {
        None
    }

    /// What becomes of a record that people decided about.
    fn outcome_by_ruling(&self, record: R, ruling: &Ruling<'_>) -> Outcome<T>
    where
        R: Clone,
    {
        overrule_outcome(self.outcome_by_rule(record.clone()), ruling, || self.passed_record(record))
    }
}

/// A rule that nobody overrules: a function over a record.
pub struct Plain<F>(pub F);

impl<R: Publishable, F: Fn(R) -> Outcome<R> + Sync> Rule<R> for Plain<F> {
    fn outcome_by_rule(&self, record: R) -> Outcome<R> {
        (self.0)(record)
    }

    fn published_record(&self, record: &R) -> Option<R> {
        Some(record.as_published())
    }
}

/// A rule that people may overrule.
pub struct Overrulable<R, F, P> {
    /// What becomes of a record by the rule alone.
    pub rule: F,
    /// The text of a record as people see it who decide about it.
    pub seen: fn(&R) -> String,
    /// The record that goes on where a person lets it through and the rule stops it.
    pub passing: P,
}

impl<R, F, P> Rule<R> for Overrulable<R, F, P>
where
    R: Publishable,
    F: Fn(R) -> Outcome<R> + Sync,
    P: Fn(R) -> R + Sync,
{
    fn outcome_by_rule(&self, record: R) -> Outcome<R> {
        (self.rule)(record)
    }

    fn published_record(&self, record: &R) -> Option<R> {
        Some(record.as_published())
    }

    fn text_for_people(&self, record: &R) -> String {
        (self.seen)(record)
    }

    fn passed_record(&self, record: R) -> Option<R> {
        Some((self.passing)(record))
    }
}

/// What stands above the rule of a step.
pub struct Above {
    /// The step's name.
    pub step: &'static str,
    /// What people decided about its records.
    pub people: StageDecisions,
    /// The rows of published sets that its records come from.
    pub published: Published,
}

impl Above {
    /// Whether there is nothing, so that the rule alone decides.
    pub fn is_empty(&self) -> bool {
        self.people.is_empty() && self.published.is_empty()
    }

    /// What becomes of a record.
    pub fn decide_record<R: Record + Clone, T: Record>(
        &self,
        rule: &impl Rule<R, T>,
        record: R,
    ) -> Outcome<T> {
        let passing = if is_published(record.id()) { rule.published_record(&record) } else { None };
        let outcome = match self.people.ruling_on(record.id(), || seen_text(&rule.text_for_people(&record))) {
            Some(ruling) => rule.outcome_by_ruling(record, &ruling),
            None => rule.outcome_by_rule(record),
        };
        match passing.filter(|_| !is_of_people(&outcome)) {
            Some(passing) => let_through(&self.published, self.step, &passing, &outcome),
            None => outcome,
        }
    }
}

/// Whether a person of this workspace decided it.
fn is_of_people<T>(outcome: &Outcome<T>) -> bool {
    let decided = |code: &str| {
        [Reason::DecidedKeep, Reason::DecidedText, Reason::DecidedTwo]
            .iter()
            .any(|reason| reason.code() == code)
    };
    match outcome {
        Outcome::Changed { rule, .. } => decided(rule),
        Outcome::Dropped { reason, .. } => *reason == Reason::DecidedDrop,
        Outcome::Held { reason, .. } => *reason == Reason::DecidedHold,
        Outcome::Merged { reason, .. } => *reason == Reason::DecidedOne,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::published::PublishedRow;
    use riddlemill_record::Post;
    use riddlemill_review::decisions::{Decision, DecisionLog, Verdict};

    fn above(decided: &[(&str, Verdict, &str)], published: &[&str]) -> Above {
        let decision = |(record, verdict, seen): &(&str, Verdict, &str)| Decision {
            id: seen_text(""),
            recipe: None,
            stage: "filter".into(),
            record: (*record).into(),
            other: None,
            verdict: *verdict,
            text: None,
            seen: seen_text(seen),
            by: "meta-1".into(),
            why: "it is one".into(),
            at: "2026-11-23T00:00:00Z".into(),
            source: "test".into(),
            base: None,
        };
        let folder = tempfile::tempdir().unwrap();
        DecisionLog::append_decisions(folder.path(), decided.iter().map(decision).collect()).unwrap();
        let row = |record: &&str| PublishedRow {
            id: (*record).into(),
            record: (*record).into(),
            benchmark: "flub".into(),
            role: String::new(),
            source: "flub".into(),
            file: "flub.json".into(),
            position: 1,
            sha256: "00".repeat(32),
            number: None,
            json: "{}".into(),
        };
        Above {
            step: "filter",
            people: DecisionLog::read_folder(folder.path()).unwrap().of_stage("flub", "filter"),
            published: Published::index(published.iter().map(row).collect()),
        }
    }

    /// What a rule that drops every post makes of one: the reason's code, and whether it goes on.
    fn decided(above: &Above, id: &str) -> (&'static str, bool) {
        let rule = Overrulable {
            rule: |_: Post| Outcome::Dropped { reason: Reason::Empty, evidence: String::new() },
            seen: |post: &Post| post.text.clone(),
            passing: |post| post,
        };
        let post = Post { id: id.into(), text: "云会恐高吗".into(), ..Post::default() };
        match above.decide_record(&rule, post) {
            Outcome::Changed { rule, .. } => (rule, true),
            Outcome::Dropped { reason, .. } => (reason.code(), false),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn published_rows_and_people_stand_above_a_rule() {
        let (post, row, text) = ("tieba:1", "published:flub:1", "云会恐高吗");
        let nothing = above(&[], &[]);
        assert!(nothing.is_empty());
        assert_eq!(decided(&nothing, post), (Reason::Empty.code(), false));
        let people = above(&[(post, Verdict::Keep, text), (row, Verdict::Drop, text)], &[row]);
        assert_eq!(decided(&people, post), (Reason::DecidedKeep.code(), true));
        // A decision about a text that the record has no longer counts for nothing.
        let outdated = above(&[(post, Verdict::Keep, "云")], &[]);
        assert_eq!(decided(&outdated, post), (Reason::Empty.code(), false));
        let published = above(&[], &[row]);
        assert_eq!(decided(&published, row), (Reason::Published.code(), true));
        assert_eq!(decided(&people, row), (Reason::DecidedDrop.code(), false));
    }
}
