//! Stages of which the folder says what they read: personal data in the groups of records, and the order of options.

use std::collections::BTreeMap;

use riddlemill_benchmarks::option_steps::{Marked, Options};
use riddlemill_record::{Outcome, Reason, Record, Row};
use riddlemill_text::options::{LETTERS, draw_choices};
use serde_json::json;

use super::context::{About, NewRows, StageError, StageRows};
use super::job::{Job, StepContext};
use super::rule::Plain;
use super::stage::Stage;
use super::subject::{self, declared::RecordGroups};
use super::texts::{anonymise_stage, policy_lists};
use crate::config::sections;
use riddlemill_text::offline::Anonymise;

/// Personal data out of the texts of a declared record.
#[derive(Debug)]
pub struct Marking(pub &'static Marked);

impl Stage for Marking {
    fn describe_stage(&self) -> About {
        About { name: "anonymise", version: 2, section: "anonymise", rows: StageRows::Groups, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut settings: sections::Anonymise = job.step_settings();
        match self.0.english {
            Some(true) => settings.language = Some(sections::Language::En),
            Some(false) => settings.language = Some(sections::Language::Zh),
            None => {}
        }
        let anonymise = anonymise_stage(&job.step.config.root, &settings)?;
        job.each_in_memory(&Plain(|record: Row| mark_personal_data(record, self.0, &anonymise)))
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(policy_lists(&step.config.root, &step.section_settings("anonymise"))?.evidence())
    }
}

/// The options of a multiple choice.
#[derive(Debug)]
pub struct Choosing(pub &'static Options);

impl Stage for Choosing {
    fn describe_stage(&self) -> About {
        let rows = StageRows::of_kind(self.0.records);
        // Those of records with columns were not what the folder says.
        let version = if rows == StageRows::Groups { 1 } else { 2 };
        About { name: "options", version, section: "options", rows, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let settings: sections::Options = job.step_settings();
        job.each_in_memory(&Plain(|record: Row| order_options(record, self.0, &settings)))
    }

    fn stage_detail(&self) -> String {
        format!("{} of them", self.0.number)
    }
}

/// Marks personal data in the texts that the step names.
fn mark_personal_data(mut record: Row, marked: &Marked, anonymise: &Anonymise) -> Outcome<Row> {
    let mut groups = RecordGroups::parse_groups(&record);
    let (mut after, mut evidence) = (Vec::new(), Vec::new());
    for (group, field) in &marked.texts {
        let fields = groups.of_step(group);
        let Some(text) = fields.get(*field).and_then(|text| text.as_str()).map(str::to_owned) else {
            continue;
        };
        match anonymise.anonymise_text(&text) {
            Ok(None) => {}
            Ok(Some((marked, found))) => {
                let text_marked = record.text("text").unwrap_or_default().replace(&text, &marked);
                record.set_text("text", text_marked);
                fields.insert((*field).to_owned(), json!(marked));
                evidence.push(format!("{group}.{field}: {found}"));
                after.push(marked);
            }
            Err((reason, evidence)) => {
                let evidence = format!("{group}.{field}: {evidence}");
                return match reason {
                    Reason::ListedTerm => Outcome::Held { reason, evidence: evidence.into() },
                    _ => Outcome::Dropped { reason, evidence },
                };
            }
        }
    }
    if evidence.is_empty() {
        return Outcome::Kept(record);
    }
    groups.write_into(&mut record);
    Outcome::Changed {
        row: record,
        rule: riddlemill_text::offline::MARKED,
        evidence: evidence.join("; ").into(),
        before: String::new(),
        after: after.join("\n"),
    }
}

/// Orders a record's options, or returns what is missing for that.
fn order_options(mut record: Row, options: &Options, settings: &sections::Options) -> Outcome<Row> {
    let hold = |evidence: String| Outcome::Held { reason: Reason::OptionsMissing, evidence: evidence.into() };
    let scope = subject::in_scope(&record, options.benchmark);
    let (right, wrong) = match (scope.compute_text(&options.right), scope.compute_texts(&options.wrong)) {
        (Ok(right), Ok(wrong)) => (right, wrong),
        (Err(trouble), _) | (_, Err(trouble)) => return hold(trouble.to_string()),
    };
    let Some(right) = right.filter(|right| !right.trim().is_empty()) else {
        return hold("it has no right answer".into());
    };
    if wrong.len() + 1 != options.number {
        return hold(format!("it has {} wrong answers, not {}", wrong.len(), options.number - 1));
    }
    match draw_choices(&right, &wrong, settings.seed, options.purpose, record.id()) {
        Err(alike) => hold(alike.to_string()),
        Ok(made) => {
            let troubles = subject::write_options(&mut record, options, &made.options, made.answer);
            if let Some(trouble) = troubles.into_iter().next() {
                return Outcome::Failed { reason: Reason::NotComputed, evidence: trouble.into() };
            }
            Outcome::Changed {
                row: record,
                rule: Reason::Ordered.code(),
                evidence: format!("the right answer is {}", LETTERS[made.answer]).into(),
                before: String::new(),
                after: made.options.join("\n"),
            }
        }
    }
}

/// Why a step of a benchmark cannot be made; `None` where it can.
pub(crate) fn find_step_problem(step: &riddlemill_benchmarks::Step) -> Option<String> {
    use riddlemill_benchmarks::StepKind;
    Some(match step.kind {
        StepKind::Draft(_) => format!(
            "[step.{}] lacks `prompt` and `reply`: what a model is asked, and how it is read",
            step.name
        ),
        StepKind::Options => {
            let keeps = if step.records.is_some() { ", and `keeps`: the columns that get them" } else { "" };
            format!("[step.{}] lacks `right` and `wrong`: which answers are put in order{keeps}", step.name)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_different_options_or_none_where_the_folder_has_no_table_of_them() {
        let flub = riddlemill_benchmarks::find_benchmark("flub").unwrap();
        let options = flub.options.iter().find(|options| options.name == "options").unwrap();
        let text = |wrong: &[&str]| {
            let mut text = Row::new(StageRows::of_benchmark("flub").columns(), "tieba:1");
            text.set_text("explanation", "对");
            text.set_list("wrong", wrong.iter().map(ToString::to_string).collect());
            text
        };
        let settings = sections::Options { seed: 1 };
        let order = |text| order_options(text, options, &settings);
        let Outcome::Changed { row, .. } = order(text(&["甲", "乙", "丙"])) else { panic!() };
        assert_eq!(row.list("options").len(), 4);
        assert_eq!(row.list("options")[row.count("answer").unwrap() as usize], "对");
        let mut empty = text(&["甲", "乙", "丙"]);
        empty.set_text("explanation", " ");
        for lacking in [text(&["甲", "乙"]), text(&["甲", "乙", "对。"]), text(&["甲", "乙", "乙"]), empty]
        {
            let outcome = order(lacking);
            assert!(matches!(outcome, Outcome::Held { reason: Reason::OptionsMissing, .. }), "{outcome:?}");
        }
    }
}
