//! Knowledge from earlier passes, so that another one requests only what is new: which threads of a list have
//! new posts, and which page of a thread was its last.

use std::collections::{BTreeMap, HashMap, HashSet};

use url::Url;

use crate::pages::Facts;

/// The state that earlier passes left.
#[derive(Debug, Default)]
pub(super) struct EarlierPasses {
    /// Fetched pages.
    pub(super) done: HashSet<String>,
    /// By thread, the state in its row when last seen.
    pub(super) marks: HashMap<String, u64>,
    /// By the first page of a thread, the last one fetched.
    pub(super) last: HashMap<String, String>,
    /// By list page, its contents when last fetched.
    pub(super) lists: HashMap<String, Facts>,
    /// The first page of the thread to which a page belongs.
    pub(super) first: BTreeMap<String, String>,
}

impl EarlierPasses {
    /// Whether a list page is unchanged. A page without marks is unchanged if its bytes are, as given by
    /// `same`.
    pub fn is_unchanged(&self, url: &Url, facts: &Facts, same: bool) -> bool {
        let Some(before) = self.lists.get(url.as_str()) else { return false };
        let has_marks = facts.marks.iter().any(|mark| *mark != 0);
        same || has_marks
            && (&before.links, &before.ids, &before.marks) == (&facts.links, &facts.ids, &facts.marks)
    }

    /// The page to request for a thread of a list: a new thread's first, the last one fetched if there are
    /// new posts.
    pub fn due_page(&self, thread: Url, mark: u64, unchanged: bool) -> Option<Url> {
        if !self.done.contains(thread.as_str()) {
            return Some(thread);
        }
        let known = match mark {
            0 => unchanged,
            mark => self.marks.get(thread.as_str()) == Some(&mark),
        };
        if known { None } else { Some(self.last_of(thread)) }
    }

    /// The last fetched page of the thread that begins at an address.
    pub fn last_of(&self, url: Url) -> Url {
        self.last.get(url.as_str()).and_then(|last| Url::parse(last).ok()).unwrap_or(url)
    }

    /// The first page of each thread's pages, for the walk of this pass.
    pub fn first_pages(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.first.iter().map(|(page, first)| (page.clone(), first.clone()))
    }
}
