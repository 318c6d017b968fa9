//! What a step requires of replies, by the records that it asks about.

use std::collections::BTreeMap;

use super::DraftStep;
use crate::stages::subject::{DraftItem, draft_items};
use riddlemill_benchmarks::choice::Label;
use riddlemill_llm::parse::Unreadable;
use riddlemill_llm::{Ask, RequestContent, Role};
use riddlemill_record::Row;
use riddlemill_review::Values;
use riddlemill_text::text::language::{Language, detect};

/// The requirements of a step (`requires`), and the records and elements that its replies are held against.
pub struct Demands {
    draft: DraftStep,
    /// By the name of a record, or of its element, in a request.
    about: BTreeMap<String, Vec<DraftItem>>,
}

impl Demands {
    /// Those of a step on replies about these records.
    pub fn of_records(draft: DraftStep, records: &[Row]) -> Demands {
        let mut about: BTreeMap<String, Vec<DraftItem>> = BTreeMap::new();
        if !draft.draft_declaration().requires.is_empty() {
            for item in records.iter().flat_map(|record| draft_items(record, draft).unwrap_or_default()) {
                about.entry(item.about.clone()).or_default().push(item);
            }
        }
        Demands { draft, about }
    }

    /// Reads a reply as [`DraftStep::read_reply`] does. One that does not meet a requirement cannot be used: the model is told the
    /// folder's sentence, and asked again. Where a requirement cannot be computed, the reply is taken, and the record fails
    /// when its outcome is made.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be sent to the model.
    pub fn read_reply(&self, ask: &Ask, reply: &str) -> Result<Values, Unreadable> {
        let values = self.draft.read_reply(&ask.template, reply)?;
        let items = self.about.get(&ask.record).map(Vec::as_slice).unwrap_or_default();
        let says = |item: &DraftItem| item.unmet_requirement(self.draft, &values).ok().flatten();
        let unmet: Vec<_> = items.iter().map_while(says).collect();
        match unmet.first().filter(|_| unmet.len() == items.len()) {
            Some(says) => Err(unmet_demand(says, ask)),
            None => Ok(values),
        }
    }
}

/// The folder's sentence: in English for the ledger, and for the model in the language that it was asked in.
fn unmet_demand(says: &Label, ask: &Ask) -> Unreadable {
    let english = Unreadable::new(says.en);
    match is_chinese(says.zh) && is_chinese(&own_words(ask)) {
        true => english.in_chinese(says.zh),
        false => english,
    }
}

fn is_chinese(text: &str) -> bool {
    detect(text).language == Language::Zh
}

/// What a prompt says itself, without what it puts between tags on lines of their own: texts of the record, which may be in
/// another language.
fn own_words(ask: &Ask) -> String {
    let RequestContent::Chat { messages, .. } = &ask.what else { return String::new() };
    let prompt = messages.iter().take_while(|message| message.role != Role::Assistant);
    let (mut own, mut ends) = (String::new(), None);
    for line in prompt.flat_map(|message| message.content.lines()) {
        let tag = line.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        match (&ends, tag) {
            (Some(end), _) if line.trim() == end => ends = None,
            (Some(_), _) => {}
            (None, Some(tag)) if !tag.contains(['<', '>', '/']) => ends = Some(format!("</{tag}>")),
            (None, _) => own.extend([line, "\n"]),
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_llm::prompt::wrap_in_tag;
    use riddlemill_llm::{Message, Output, Rendered};

    fn asked(prompt: &str, text: &str) -> Ask {
        let messages = vec![Message::new(Role::User, format!("{prompt}\n{}\n", wrap_in_tag(text, "text")))];
        Ask::new(
            "r",
            Rendered { template: "p".into(), hash: String::new(), messages, output: Output::Text },
            0,
        )
    }

    #[test]
    fn a_model_is_told_in_the_language_of_its_prompt_and_not_of_the_record() {
        let says = Label { en: "Write at most sixty words.", zh: "至多六十个词。" };
        let chinese = asked("请解释这句话为什么好笑。", "Do clouds fear heights, or do heights fear clouds?");
        let english = asked("Explain why this is funny.", "云会不会恐高？雨伞会不会淋湿？鱼会不会口渴？");
        assert_eq!(unmet_demand(&says, &chinese), Unreadable::new(says.en).in_chinese(says.zh));
        assert_eq!(unmet_demand(&says, &chinese).to_string(), says.en, "the ledger keeps its words");
        assert_eq!(unmet_demand(&says, &english), Unreadable::new(says.en));
        // A sentence without Chinese is told as it is.
        let only = Label { en: says.en, zh: says.en };
        assert_eq!(unmet_demand(&only, &chinese), Unreadable::new(says.en));
    }
}
