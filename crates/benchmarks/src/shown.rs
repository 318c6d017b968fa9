//! The lists of a ballot to pick from.

use crate::ballot::{Ballot, Kind};

impl Ballot {
    /// The lists to pick from, which are shown in an order drawn for each item.
    pub fn picked_from(&self) -> impl Iterator<Item = &'static str> {
        let second = self.review.iter().flat_map(|review| &review.fields);
        self.fields.iter().chain(second).filter_map(|field| match field.kind {
            Kind::Pick { from, any: false, .. } if self.shows.iter().any(|(key, _)| *key == from) => {
                Some(from)
            }
            _ => None,
        })
    }
}
