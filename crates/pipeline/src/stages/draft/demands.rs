//! What a step requires of replies, by the records that it asks about.

use std::collections::BTreeMap;

use super::Draft;
use crate::stages::subject::{DraftItem, draft_items};
use riddlemill_llm::Ask;
use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;
use riddlemill_text::record::Row;

/// The requirements of a step (`requires`), and the records and elements that its replies are held against.
pub struct Demands {
    draft: Draft,
    /// By the name of a record, or of its element, in a request.
    about: BTreeMap<String, Vec<DraftItem>>,
}

impl Demands {
    /// Those of a step on replies about these records.
    pub fn of(draft: Draft, records: &[Row]) -> Demands {
        let mut about: BTreeMap<String, Vec<DraftItem>> = BTreeMap::new();
        if !draft.declared().requires.is_empty() {
            for item in records.iter().flat_map(|record| draft_items(record, draft).unwrap_or_default()) {
                about.entry(item.about.clone()).or_default().push(item);
            }
        }
        Demands { draft, about }
    }

    /// Reads a reply as [`Draft::read`] does. One that does not meet a requirement cannot be used: the model is told the
    /// folder's sentence, and asked again. Where a requirement cannot be computed, the reply is taken, and the record fails
    /// when its outcome is made.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be sent to the model.
    pub fn read(&self, ask: &Ask, reply: &str) -> Result<Values, Unreadable> {
        let values = self.draft.read(&ask.template, reply)?;
        let items = self.about.get(&ask.record).map(Vec::as_slice).unwrap_or_default();
        let says = |item: &DraftItem| item.unmet(self.draft, &values).ok().flatten();
        let unmet: Vec<_> = items.iter().map_while(says).collect();
        match unmet.first().filter(|_| unmet.len() == items.len()) {
            Some(says) => Err(Unreadable::new(says.en)),
            None => Ok(values),
        }
    }
}
