//! The stages of texts: clean, anonymise (with the word lists that settings name) and filter decide about a post by that post
//! alone, and people about each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use riddlemill_files::reading::decode_text;
use riddlemill_record::{Outcome, Post, Reason};
use riddlemill_review::decisions::{Decision, Ruling, Verdict};
use riddlemill_tables::ColumnAccess;
use riddlemill_text::offline::{Anonymise, Lists, clean_post, filter_post};
use riddlemill_text::text::policy::ListError;

use super::Unusable;
use super::context::{About, NewRows, StageError, StageRows};
use super::job::{Job, StepContext};
use super::native::{Rewrite, WrittenRecord, continued_row};
use super::overrule::{by_rule, describe_ruling, edit_parts, overrule_outcome};
use super::published::Publishable;
use super::rule::{Overrulable, Rule};
use super::stage::Stage;
use crate::config::{Config, sections};

/// How a rule over posts would write a text today.
fn rereader_of_rule(rule: impl Fn(Post) -> Outcome<Post> + Sync + 'static) -> Option<Rewrite> {
    Some(Box::new(move |written| match written {
        WrittenRecord::Post(post) => continued_row(rule(*post)).map(WrittenRecord::from),
        other => Some(other),
    }))
}

const CLEAN: ColumnAccess = ColumnAccess {
    reads: &["id", "kind", "title", "content", "score", "number", "language"],
    writes: &["text", "title", "content", "score", "number"],
};

const ANONYMISE: ColumnAccess = ColumnAccess {
    reads: &["id", "text", "mentions", "note", "language"],
    writes: &["text", "mentions", "note"],
};

const FILTER: ColumnAccess = ColumnAccess { reads: &["id", "text", "images", "language"], writes: &[] };

/// The text of a post without the forum's additions.
#[derive(Debug)]
pub struct Cleaning;

impl Stage for Cleaning {
    fn describe_stage(&self) -> About {
        // 2 keeps titles that only announce a repost, and bars in names where the heading has one. 3 goes by the language of
        // the record. 4 removes more invisible characters, from English texts, too.
        About { name: "clean", version: 5, section: "clean", rows: StageRows::Posts, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        job.decide_each_post(CLEAN, &Clean(job.step_settings()))
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        !verdict.is_of_pair()
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn text_rereader(&self, config: &Config, recipe: &str) -> Result<Option<Rewrite>, StageError> {
        let settings: sections::Clean = config.typed_settings(Some(recipe), "clean");
        Ok(rereader_of_rule(move |post| clean_post(post, &settings)))
    }

    fn touched_columns(&self) -> Option<ColumnAccess> {
        Some(CLEAN)
    }

    // Clean is the stage that joins title and content into the text.
    fn text_of(&self, post: Post) -> String {
        Post::join_title_and_content(post.title.as_deref(), post.content.as_deref())
    }
}

struct Clean(sections::Clean);

impl Rule<Post> for Clean {
    fn outcome_by_rule(&self, post: Post) -> Outcome<Post> {
        clean_post(post, &self.0)
    }

    fn published_record(&self, post: &Post) -> Option<Post> {
        Some(post.as_published())
    }

    fn text_for_people(&self, post: &Post) -> String {
        Post::join_title_and_content(post.title.as_deref(), post.content.as_deref())
    }

    fn outcome_by_ruling(&self, mut post: Post, ruling: &Ruling<'_>) -> Outcome<Post> {
        let before = self.text_for_people(&post);
        edit_parts(&mut post, ruling);
        let edits = describe_ruling(ruling);
        let whole = Post { text: self.text_for_people(&post), ..post.clone() };
        let outcome = self.outcome_by_rule(post);
        let by_rule = by_rule(&outcome);
        let outcome = match (outcome, ruling.text) {
            (outcome, None) if edits.is_empty() => outcome,
            (Outcome::Kept(row) | Outcome::Changed { row, .. }, text) => {
                changed_text(row, text, before, &edits, &by_rule)
            }
            // The rule would stop it, but a person wrote its text, with which it continues.
            (_, Some(text)) => changed_text(strip_texts(whole.clone()), Some(text), before, &edits, &by_rule),
            (Outcome::Dropped { reason, evidence }, None) => {
                Outcome::Dropped { reason, evidence: format!("{evidence}; {edits}") }
            }
            (outcome, None) => outcome,
        };
        overrule_outcome(outcome, ruling, || Some(strip_texts(whole)))
    }
}

fn changed_text(
    mut row: Post,
    text: Option<&Decision>,
    before: String,
    edits: &str,
    by_rule: &str,
) -> Outcome<Post> {
    if let Some(text) = text.and_then(|decision| decision.text.as_ref()) {
        row.text.clone_from(text);
    }
    let after = row.text.clone();
    let evidence = format!("{edits}; {by_rule}").into();
    Outcome::Changed { row, rule: Reason::DecidedText.code(), evidence, before, after }
}

/// A post without title and content, so that the rules have nothing to change.
fn strip_texts(mut post: Post) -> Post {
    (post.title, post.content) = (None, None);
    post
}

/// Personal data out of the texts.
#[derive(Debug)]
pub struct Anonymising;

impl Stage for Anonymising {
    fn describe_stage(&self) -> About {
        // 2 takes the end of one word and the start of the next for no listed term. 3 goes by the language of the record. 4
        // knows personal data in English, and names within other words.
        About { name: "anonymise", version: 5, section: "anonymise", rows: StageRows::Posts, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let stage = anonymise_stage(&job.step.config.root, &job.step_settings())?;
        let rule = Overrulable {
            rule: |post| stage.anonymise_post(post),
            seen: |post: &Post| post.text.clone(),
            // A post that somebody lets through still has its personal data marked.
            passing: |post| stage.mark_post(post),
        };
        job.decide_each_post(ANONYMISE, &rule)
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(policy_lists(&step.config.root, &step.section_settings("anonymise"))?.evidence())
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn text_rereader(&self, config: &Config, recipe: &str) -> Result<Option<Rewrite>, StageError> {
        let stage = anonymise_stage(&config.root, &config.typed_settings(Some(recipe), "anonymise"))?;
        Ok(rereader_of_rule(move |post| stage.anonymise_post(post)))
    }

    fn touched_columns(&self) -> Option<ColumnAccess> {
        Some(ANONYMISE)
    }
}

/// Posts of the recipe's kind.
#[derive(Debug)]
pub struct Filtering;

impl Stage for Filtering {
    fn describe_stage(&self) -> About {
        // 2 takes a question word before a full stop for no question. 3 asks jieba for words; knows tasks with somebody
        // named, premises, and answers with a reason. 4 takes what somebody says after a colon for reported, and advice
        // for an answer. 5 goes by the language of the record, and knows tasks in English.
        About { name: "filter", version: 5, section: "filter", rows: StageRows::Posts, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let settings: sections::Filter = job.step_settings();
        let rule = Overrulable {
            rule: |post| filter_post(post, &settings),
            seen: |post: &Post| post.text.clone(),
            passing: |post| post,
        };
        job.decide_each_post(FILTER, &rule)
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn is_kind_filter(&self) -> bool {
        true
    }

    fn text_rereader(&self, config: &Config, recipe: &str) -> Result<Option<Rewrite>, StageError> {
        let settings: sections::Filter = config.typed_settings(Some(recipe), "filter");
        Ok(rereader_of_rule(move |post| filter_post(post, &settings)))
    }

    fn touched_columns(&self) -> Option<ColumnAccess> {
        Some(FILTER)
    }
}

/// Reads the word lists that the settings name.
///
/// # Errors
/// [`StageError::Settings`] naming the list that cannot be read.
pub fn policy_lists(root: &Path, settings: &sections::Anonymise) -> Result<Lists, StageError> {
    Lists::read_lists(&settings.policy, |name| {
        fs::read(root.join(name)).and_then(|bytes| decode_text(&bytes)).map_err(|e| {
            let unreadable =
                Unusable::at_place("anonymise.policy", format!("cannot read the list {name:?}: {e}"));
            unreadable.with_hint("\"builtin\", or a path relative to pipeline.toml").into()
        })
    })
}

impl From<ListError> for StageError {
    fn from(error: ListError) -> StageError {
        Unusable::at_place("anonymise.policy", error).into()
    }
}

/// The anonymise stage of settings, with its lists read relative to a folder.
///
/// # Errors
/// [`StageError`] naming the list that cannot be used.
pub fn anonymise_stage(root: &Path, settings: &sections::Anonymise) -> Result<Anonymise, StageError> {
    Ok(Anonymise::new(settings, &policy_lists(root, settings)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::stages::anonymise_stage;
    use proptest::prelude::*;
    use riddlemill_record::{Cell, Cells, Language, Outcome, Post, PostKind, Record, Typed};

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[云会恐高吗？为什么a1 。]{0,12}",
            Just("如题".into()),
            Just("@示例用户 看 www.example.org，打13800138000".into()),
            Just("3．分数：8.5 云会恐高吗？".into()),
        ]
    }

    fn post() -> impl Strategy<Value = Post> {
        let kind = prop_oneof![Just(PostKind::Thread), Just(PostKind::Numbered), Just(PostKind::Plain)];
        let texts = (
            text(),
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(text()),
        );
        let lists = (prop::collection::vec(text(), 0..3), prop::collection::vec(text(), 0..3));
        let language =
            prop::sample::select(vec![None, Some(Language::Zh), Some(Language::En), Some(Language::Und)]);
        let figures = (prop::option::of(0.0..10.0), prop::option::of(0u64..9), 0u64..3, 1u64..99, language);
        (kind, texts, lists, figures).prop_map(
            |(kind, texts, lists, (score, number, images, position, language))| Post {
                id: "tieba:7".into(),
                kind,
                text: texts.0.clone(),
                title: texts.1,
                content: texts.2,
                author: Some("a1b2".into()),
                mentions: lists.0,
                links: lists.1,
                time: texts.3,
                score,
                number,
                note: texts.4,
                images,
                source: "posts".into(),
                file: texts.0,
                position,
                licence: Some("cc".into()),
                language,
                language_certainty: Some(0.5),
            },
        )
    }

    /// A row's cells in words, column by column.
    fn cells(post: &Post) -> Vec<String> {
        struct TextCells(Vec<String>);
        impl Cells for TextCells {
            fn append(&mut self, cell: Cell<'_>) {
                self.0.push(format!("{cell:?}"));
            }
        }
        let mut columns = TextCells(Vec::new());
        post.append_to(&mut columns);
        columns.0
    }

    /// A post with only the columns that a stage reads.
    fn seen(post: &Post, touched: ColumnAccess) -> Post {
        let Post { id, kind, text, title, content, mentions, note, score, number, images, language, .. } =
            post.clone();
        let reads = |name| touched.reads.contains(&name);
        Post {
            id: if reads("id") { id } else { String::new() },
            kind: if reads("kind") { kind } else { PostKind::default() },
            text: if reads("text") { text } else { String::new() },
            title: title.filter(|_| reads("title")),
            content: content.filter(|_| reads("content")),
            note: note.filter(|_| reads("note")),
            mentions: if reads("mentions") { mentions } else { Vec::new() },
            score: score.filter(|_| reads("score")),
            number: number.filter(|_| reads("number")),
            images: if reads("images") { images } else { 0 },
            language: language.filter(|_| reads("language")),
            ..Post::default()
        }
    }

    proptest! {
        #[test]
        fn a_stage_touches_what_it_says(post in post()) {
            let config = Config::defaults();
            let settings = config.typed_settings(None, "anonymise");
            let anonymise = anonymise_stage(std::path::Path::new("."), &settings).unwrap();
            let stages: [&dyn Stage; 3] = [&Cleaning, &Anonymising, &Filtering];
            for stage in stages {
                let touched = stage.touched_columns().unwrap();
                prop_assert_eq!(touched.reads[0], "id");
                let touched = ColumnAccess { reads: &touched.reads[1..], ..touched };
                let decide = |post: Post| match stage.name() {
                    "clean" => clean_post(post, &config.typed_settings(None, "clean")),
                    "anonymise" => anonymise.anonymise_post(post),
                    _ => filter_post(post, &config.typed_settings(None, "filter")),
                };
                let (whole, part) = (decide(post.clone()), decide(seen(&post, touched)));
                let (Outcome::Kept(a) | Outcome::Changed { row: a, .. }, Outcome::Kept(b) | Outcome::Changed { row: b, .. }) =
                    (&whole, &part)
                else {
                    prop_assert_eq!(whole, part);
                    continue;
                };
                let (before, a, b) = (cells(&post), cells(a), cells(b));
                for (at, column) in Post::COLUMNS.iter().enumerate() {
                    if touched.writes.contains(&column.name) {
                        prop_assert_eq!(&a[at], &b[at], "{:?} {}", stage, column.name);
                    } else {
                        prop_assert_eq!(&a[at], &before[at], "{:?} {}", stage, column.name);
                    }
                }
            }
        }
    }
}
