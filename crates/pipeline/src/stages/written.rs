//! What people and models write: personal data in it is marked as in posts, before it leaves the votes and replies in raw/.

use serde_json::Value as Json;

use super::context::StageError;
use crate::config::{Config, sections};
use riddlemill_review::{Value, Values};
use riddlemill_text::offline::settings::Treatment;
use riddlemill_text::offline::{Anonymise, Lists};

/// The settings by which it is kept, for a stage's manifest; `None` where all of it is marked.
pub fn settings_of_written(config: &Config, recipe: &str) -> Option<(String, Json)> {
    let settings: sections::Anonymise = config.typed_settings(Some(recipe), "anonymise");
    let all =
        [("contacts", settings.contacts), ("identity", settings.identity), ("addresses", settings.addresses)];
    let kept: Vec<&str> =
        all.into_iter().filter(|(_, how)| *how == Treatment::Keep).map(|(name, _)| name).collect();
    (!kept.is_empty()).then(|| ("written".to_owned(), kept.into()))
}

/// The rules for what is written in a recipe.
#[derive(Debug)]
pub struct WrittenRules(Anonymise);

impl WrittenRules {
    /// By the settings of `[anonymise]`: what they keep is kept here, too. Links and names that somebody writes are meant, and
    /// no list holds an answer.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the settings cannot be used.
    pub fn by_settings(config: &Config, recipe: &str) -> Result<WrittenRules, StageError> {
        let settings: sections::Anonymise = config.typed_settings(Some(recipe), "anonymise");
        Ok(WrittenRules(Anonymise::new(&settings, &Lists::default())?))
    }

    /// Marks personal data in the texts of answers. Returns what was marked: field, kinds and counts.
    pub fn mark_answers(&self, values: &mut Values) -> Vec<String> {
        let mut found = Vec::new();
        let fields: Vec<String> = values.iter().map(|(field, _)| field.to_owned()).collect();
        for field in fields {
            let mut mark = |text: &String| match self.0.mark_written(text) {
                Some((marked, what)) => {
                    found.push(format!("{field}: {what}"));
                    marked
                }
                None => text.clone(),
            };
            let marked = match values.get(&field) {
                Some(Value::Text(text)) => Value::Text(mark(text)),
                Some(Value::List(texts)) => Value::List(texts.iter().map(mark).collect()),
                Some(Value::Number(_)) | None => continue,
            };
            values.set(&field, marked);
        }
        found
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Those of the default settings.
    pub fn usual_rules() -> WrittenRules {
        WrittenRules(Anonymise::new(&sections::Anonymise::default(), &Lists::default()).unwrap())
    }

    #[test]
    fn personal_data_in_answers_is_marked_and_links_and_names_are_not() {
        let mut values = Values::new();
        values.set("verdict", "rewrite");
        values.set("why", "我同学讲的，电话13812345678，见 https://example.org 的@云中鹤");
        values.set("hints", vec!["Ask tom@example.com.".to_owned(), "Look up.".to_owned()]);
        let found = usual_rules().mark_answers(&mut values);
        assert_eq!(found, ["hints: email 1", "why: phone 1"]);
        assert_eq!(values.text_of("verdict"), Some("rewrite"));
        assert_eq!(values.text_of("why"), Some("我同学讲的，电话[电话]，见 https://example.org 的@云中鹤"));
        assert_eq!(
            values.get("hints").and_then(Value::as_list),
            Some(&["Ask [e-mail].".to_owned(), "Look up.".to_owned()][..])
        );
        assert!(usual_rules().mark_answers(&mut values).is_empty(), "marks are not marked");
    }
}
