//! Anonymise: personal data becomes a mark, listed terms hold the post for a person.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::StageError;
use crate::config::sections;
use crate::record::{Outcome, Post, Reason};
use crate::text::anonymise::{Action, Anonymiser, Settings};
use crate::text::policy::{Policy, SHIPPED};

/// The word lists that the settings name, read.
#[derive(Clone, Debug)]
pub struct Lists(Vec<(String, String)>);

/// Reads the word lists that the settings name.
///
/// # Errors
/// [`StageError::Settings`] naming the list that cannot be read.
pub fn policy_lists(root: &Path, settings: &sections::Anonymise) -> Result<Lists, StageError> {
    let mut lists = Vec::new();
    for name in &settings.policy {
        if name == "builtin" {
            lists.extend(SHIPPED.map(|(name, text)| (name.to_string(), text.to_string())));
            continue;
        }
        let text = fs::read_to_string(root.join(name)).map_err(|e| {
            StageError::Settings(format!(
                "anonymise.policy: cannot read the list {name:?}: {e}\n  hint: \"builtin\", or a path relative to pipeline.toml"
            ))
        })?;
        lists.push((name.clone(), text));
    }
    Ok(Lists(lists))
}

impl Lists {
    /// What a manifest records: each list's name and hash.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
        self.0.iter().map(|(name, text)| (format!("list {name}"), hash(text))).collect()
    }
}

/// The stage, built once from its settings.
#[derive(Debug)]
pub struct Anonymise {
    anonymiser: Anonymiser,
    policy: Policy,
}

impl Anonymise {
    /// Compiles settings and lists.
    ///
    /// # Errors
    /// [`StageError::Settings`] naming the list and line that cannot be used.
    pub fn new(settings: &sections::Anonymise, lists: &Lists) -> Result<Anonymise, StageError> {
        let action = |word: &str| match word {
            "drop" => Action::Refuse,
            "keep" => Action::Keep,
            _ => Action::Mark,
        };
        let contacts = action(&settings.contacts);
        let anonymiser = Anonymiser::new(Settings {
            links: action(&settings.links),
            names: action(&settings.names),
            emails: contacts,
            phones: contacts,
            qq: contacts,
            wechat: contacts,
            id_cards: action(&settings.identity),
            addresses: action(&settings.addresses),
            ..Settings::default()
        });
        let policy = Policy::new(lists.0.iter().map(|(name, text)| (name.as_str(), text.as_str())))
            .map_err(|e| StageError::Settings(format!("anonymise.policy: {e}")))?;
        Ok(Anonymise { anonymiser, policy })
    }

    /// Anonymises a post. The ledger says kinds and counts, never the words; the text before stands in
    /// the stage before, which is private.
    pub fn post(&self, mut post: Post) -> Outcome<Post> {
        let mentions = std::mem::take(&mut post.mentions);
        let names: Vec<&str> = mentions.iter().map(String::as_str).collect();
        let done = self.anonymiser.apply(&post.text, &names);
        let evidence = done.evidence();
        if done.refused {
            return Outcome::Dropped { reason: Reason::PersonalData, evidence };
        }
        let marked = (!done.marks.is_empty()).then(|| done.text.into_owned());
        let hits = self.policy.check(marked.as_deref().unwrap_or(&post.text));
        if !hits.is_empty() {
            let hits: Vec<String> = hits.iter().map(|hit| format!("{}: {}", hit.list, hit.term)).collect();
            return Outcome::Held { reason: Reason::ListedTerm, evidence: hits.join(", ") };
        }
        match marked {
            None => Outcome::Kept(post),
            Some(text) => {
                post.text = text;
                Outcome::Changed {
                    rule: "personal_data_marked",
                    evidence,
                    before: String::new(),
                    after: post.text.clone(),
                    row: post,
                }
            }
        }
    }
}
