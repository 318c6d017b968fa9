//! What a ballot shows, and the lists to pick from.

use crate::ballot::{Ballot, Kind};

impl Ballot {
    /// The keys of what it shows, with a label or without. Of compared texts there are only labels.
    pub fn shown_keys(&self) -> impl Iterator<Item = &'static str> + Clone {
        let labelled = self.shows.iter().map(|(key, _)| *key);
        let asked = self.asked.map(|asked| asked.shows.as_slice()).unwrap_or_default();
        let bare = asked.iter().map(|(key, _)| *key);
        labelled.chain(bare.filter(|key| !self.shows.iter().any(|(known, _)| known == key)))
    }

    /// The lists to pick from, which are shown in an order drawn for each item.
    pub fn picked_from(&self) -> impl Iterator<Item = &'static str> {
        let second = self.review.iter().flat_map(|review| &review.fields);
        self.fields.iter().chain(second).filter_map(|field| match field.kind {
            Kind::Pick { from, any: false, .. } if self.shown_keys().any(|key| key == from) => Some(from),
            _ => None,
        })
    }
}
