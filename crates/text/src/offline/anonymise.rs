//! Anonymise: personal data is replaced by marks; posts with listed terms are held for a person.

use std::collections::BTreeMap;

use super::settings::{self, Language, Treatment};
use crate::text::anonymise::{Action, AnonymiseSettings, Anonymiser};
use crate::text::language::detect;
use crate::text::policy::{ListError, Policy, SHIPPED};
use riddlemill_record::{Outcome, Post, Reason, Row};

/// The word lists named in the settings, as name and content.
#[derive(Clone, Debug, Default)]
pub struct Lists(Vec<(String, String)>);

impl Lists {
    /// Reads lists by name: `builtin` from the program, others through `read`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read_lists<E>(names: &[String], read: impl Fn(&str) -> Result<String, E>) -> Result<Lists, E> {
        let mut lists = Vec::new();
        for name in names {
            match name.as_str() {
                "builtin" => lists.extend(SHIPPED.map(|(name, text)| (name.to_string(), text.to_string()))),
                name => lists.push((name.to_string(), read(name)?)),
            }
        }
        Ok(Lists(lists))
    }

    /// What the manifest records: each list's name and hash.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
        self.0.iter().map(|(name, text)| (format!("list {name}"), hash(text))).collect()
    }
}

/// The rules for texts of a language.
#[derive(Debug)]
struct Anonymisers {
    own: Anonymiser,
    /// Marks instead of refusing, for posts that a person lets through.
    marking: Anonymiser,
    /// Marks what is no link and no name, for what people and models write.
    written: Anonymiser,
}

/// The stage, built once from its settings.
#[derive(Debug)]
pub struct Anonymise {
    /// With marks in Chinese, for texts in Chinese.
    chinese: Anonymisers,
    /// With marks in English, for all others.
    english: Anonymisers,
    /// The language of texts that come without one.
    language: Option<Language>,
    policy: Policy,
}

impl Anonymise {
    /// Compiles settings and lists.
    ///
    /// # Errors
    /// [`ListError`] naming the list and line that cannot be used.
    pub fn new(settings: &settings::Anonymise, lists: &Lists) -> Result<Anonymise, ListError> {
        let action = |treatment: Treatment| match treatment {
            Treatment::Drop => Action::Refuse,
            Treatment::Keep => Action::Keep,
            Treatment::Mark => Action::Mark,
        };
        let marking = |treatment: Treatment| match action(treatment) {
            Action::Refuse => Action::Mark,
            other => other,
        };
        let by = |action: &dyn Fn(Treatment) -> Action, of_posts: bool, english: bool| {
            let contacts = action(settings.contacts);
            let in_posts = |treatment| if of_posts { action(treatment) } else { Action::Keep };
            Anonymiser::new(AnonymiseSettings {
                links: in_posts(settings.links),
                names: in_posts(settings.names),
                emails: contacts,
                phones: contacts,
                qq: contacts,
                wechat: contacts,
                id_cards: action(settings.identity),
                accounts: action(settings.identity),
                addresses: action(settings.addresses),
                english,
                ..AnonymiseSettings::default()
            })
        };
        let of = |english| Anonymisers {
            own: by(&action, true, english),
            marking: by(&marking, true, english),
            written: by(&marking, false, english),
        };
        let policy = Policy::new(lists.0.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        Ok(Anonymise { chinese: of(false), english: of(true), language: settings.language, policy })
    }

    /// The rules for a text, whose own language comes first.
    fn rules_of(&self, own: Option<Language>, text: &str) -> &Anonymisers {
        match own.or(self.language).unwrap_or_else(|| detect(text).language) {
            Language::Zh => &self.chinese,
            Language::En | Language::Und => &self.english,
        }
    }

    /// Anonymises a post. The ledger records kinds and counts, never the words; the text before is only in
    /// the previous stage, which is private.
    pub fn anonymise_post(&self, mut post: Post) -> Outcome<Post> {
        let mentions = std::mem::take(&mut post.mentions);
        let names: Vec<&str> = mentions.iter().map(String::as_str).collect();
        let rules = self.rules_of(post.language, &post.text);
        // A note is shown but not published: personal data in it is marked, and a note that the settings
        // refuse is removed.
        post.note = post.note.and_then(|note| {
            let done = rules.own.apply(&note, &names);
            (!done.refused).then(|| done.text.into_owned())
        });
        match self.judge_text(rules, &post.text, &names) {
            AnonymiseVerdict::Refused(evidence) => {
                Outcome::Dropped { reason: Reason::PersonalData, evidence }
            }
            AnonymiseVerdict::Listed(evidence) => {
                Outcome::Held { reason: Reason::ListedTerm, evidence: evidence.into() }
            }
            AnonymiseVerdict::Clean => Outcome::Kept(post),
            AnonymiseVerdict::Marked(text, evidence) => {
                post.text = text;
                let after = post.text.clone();
                let evidence = evidence.into();
                Outcome::Changed { rule: MARKED, evidence, before: String::new(), after, row: post }
            }
        }
    }

    /// Anonymises these columns of text of a record like [`Anonymise::anonymise_post`].
    pub fn anonymise_columns(&self, mut row: Row, columns: &[&str]) -> Outcome<Row> {
        let mut evidence_lines = Vec::new();
        for column in columns {
            let named = |evidence: String| format!("{column}: {evidence}");
            let text = row.text(column).unwrap_or_default();
            match self.judge_text(self.rules_of(None, text), text, &[]) {
                AnonymiseVerdict::Refused(evidence) => {
                    return Outcome::Dropped { reason: Reason::PersonalData, evidence: named(evidence) };
                }
                AnonymiseVerdict::Listed(evidence) => {
                    return Outcome::Held { reason: Reason::ListedTerm, evidence: named(evidence).into() };
                }
                AnonymiseVerdict::Clean => {}
                AnonymiseVerdict::Marked(marked, evidence) => {
                    row.set_text(column, marked);
                    evidence_lines.push(named(evidence));
                }
            }
        }
        if evidence_lines.is_empty() {
            return Outcome::Kept(row);
        }
        let texts: Vec<&str> = columns.iter().map(|column| row.text(column).unwrap_or_default()).collect();
        let after = texts.join("\n");
        Outcome::Changed {
            rule: MARKED,
            evidence: evidence_lines.join("; ").into(),
            before: String::new(),
            after,
            row,
        }
    }

    /// A post that a person lets through: its personal data is marked, even where the settings would refuse
    /// it or a list hold it.
    pub fn mark_post(&self, mut post: Post) -> Post {
        let mentions = std::mem::take(&mut post.mentions);
        let names: Vec<&str> = mentions.iter().map(String::as_str).collect();
        let rules = self.rules_of(post.language, &post.text);
        post.text = rules.marking.apply(&post.text, &names).text.into_owned();
        post
    }

    /// The same for columns of a record.
    pub fn marked_columns(&self, mut row: Row, columns: &[&str]) -> Row {
        for column in columns {
            if let Some(text) = row.text(column) {
                let marked = self.rules_of(None, text).marking.apply(text, &[]).text.into_owned();
                row.set_text(column, marked);
            }
        }
        row
    }

    /// Marks personal data in what somebody wrote about a post: `None` if it has none, else the text with marks and what was
    /// marked.
    pub fn mark_written(&self, text: &str) -> Option<(String, String)> {
        let done = self.rules_of(None, text).written.apply(text, &[]);
        let evidence = done.evidence();
        (!done.marks.is_empty()).then(|| (done.text.into_owned(), evidence))
    }

    /// Anonymises one text: `None` if it is unchanged, else the text with marks and what was marked.
    ///
    /// # Errors
    /// The reason to drop or hold the text, and the evidence.
    pub fn anonymise_text(&self, text: &str) -> Result<Option<(String, String)>, (Reason, String)> {
        match self.judge_text(self.rules_of(None, text), text, &[]) {
            AnonymiseVerdict::Refused(evidence) => Err((Reason::PersonalData, evidence)),
            AnonymiseVerdict::Listed(evidence) => Err((Reason::ListedTerm, evidence)),
            AnonymiseVerdict::Clean => Ok(None),
            AnonymiseVerdict::Marked(marked, evidence) => Ok(Some((marked, evidence))),
        }
    }

    fn judge_text(&self, rules: &Anonymisers, text: &str, names: &[&str]) -> AnonymiseVerdict {
        let done = rules.own.apply(text, names);
        let evidence = done.evidence();
        if done.refused {
            return AnonymiseVerdict::Refused(evidence);
        }
        let marked = (!done.marks.is_empty()).then(|| done.text.into_owned());
        // After marking, so that no person is asked about words that are marked anyway.
        let hits = self.policy.check(marked.as_deref().unwrap_or(text));
        if !hits.is_empty() {
            let hits: Vec<String> = hits.iter().map(|hit| format!("{}: {}", hit.list, hit.term)).collect();
            return AnonymiseVerdict::Listed(hits.join(", "));
        }
        marked.map_or(AnonymiseVerdict::Clean, |marked| AnonymiseVerdict::Marked(marked, evidence))
    }
}

/// The rule's name in the ledger.
pub const MARKED: &str = "personal_data_marked";

/// The decision on a text, with evidence.
enum AnonymiseVerdict {
    Clean,
    Marked(String, String),
    Listed(String),
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_record::{CellKind, Column};

    const COLUMNS: &[Column] = {
        const fn column(name: &'static str) -> Column {
            Column { name, kind: CellKind::Text, filled: true, about: "" }
        }
        &[column("id"), column("question"), column("answer")]
    };

    #[test]
    fn columns_are_marked_in_english() {
        let settings = settings::Anonymise { language: Some(Language::En), ..settings::Anonymise::default() };
        let anonymise = Anonymise::new(&settings, &Lists::default()).unwrap();
        let puzzle = |question: &str, answer: &str| {
            let mut row = Row::new(COLUMNS, "a");
            row.set_text("question", question);
            row.set_text("answer", answer);
            row
        };
        let anonymised = |puzzle: Row| anonymise.anonymise_columns(puzzle, &["question", "answer"]);
        let plain = puzzle("Anna has 7 sons, at 3 o'clock. Why?", "They are twins.");
        assert_eq!(anonymised(plain.clone()), Outcome::Kept(plain));
        let outcome = anonymised(puzzle("Write to owner@example.org. Why?", "See www.example.org/a."));
        let Outcome::Changed { row, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (row.text("question"), row.text("answer")),
            (Some("Write to [e-mail]. Why?"), Some("See [link]."))
        );
        assert_eq!(evidence, "question: email 1; answer: link 1");
    }
}
