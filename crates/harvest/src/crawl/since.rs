//! What earlier passes know, so that a further one asks for what is new: which threads of a list have new posts, and
//! which page of a thread was its last.

use std::collections::{BTreeMap, HashMap, HashSet};

use url::Url;

use crate::pages::Facts;

/// The state that earlier passes left.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Pages that were had.
    pub(super) done: HashSet<String>,
    /// By thread, what its row said last.
    pub(super) marks: HashMap<String, u64>,
    /// By the first page of a thread, the last that was had.
    pub(super) last: HashMap<String, String>,
    /// By list page, what it held when it was had last.
    pub(super) lists: HashMap<String, Facts>,
    /// The first page of the thread that a page goes on with.
    pub(super) first: BTreeMap<String, String>,
}

impl Since {
    /// Whether a list page shows what it showed before. Without marks an unchanged page is one whose bytes are: that is
    /// what `same` says.
    pub fn unchanged(&self, url: &Url, facts: &Facts, same: bool) -> bool {
        let Some(before) = self.lists.get(url.as_str()) else { return false };
        let told = facts.marks.iter().any(|mark| *mark != 0);
        same || told
            && (&before.links, &before.ids, &before.marks) == (&facts.links, &facts.ids, &facts.marks)
    }

    /// Of the threads of a list, the pages that are to be asked for: a new thread's first, the last that was had of one
    /// with new posts.
    pub fn due(&self, thread: Url, mark: u64, unchanged: bool) -> Option<Url> {
        if !self.done.contains(thread.as_str()) {
            return Some(thread);
        }
        let known = match mark {
            0 => unchanged,
            mark => self.marks.get(thread.as_str()) == Some(&mark),
        };
        if known { None } else { Some(self.last_of(thread)) }
    }

    /// The last page that was had of what begins at an address.
    pub fn last_of(&self, url: Url) -> Url {
        self.last.get(url.as_str()).and_then(|last| Url::parse(last).ok()).unwrap_or(url)
    }

    /// The first page of each thread's pages, for the walk of this pass.
    pub fn firsts(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.first.iter().map(|(page, first)| (page.clone(), first.clone()))
    }
}
