//! The one walk over a dump of any kind: its records as they are, its pages with the posts on them. Import, the census, the
//! names, the notes, published rows and recall fold over it, so that none of them misses what another reads.

use rayon::prelude::*;

use super::files::Dump;
use super::page::{Contents, Page, PagePost, PageResult};
use super::split::{Item, SplitItems};
use super::thread::Threads;
use super::{Parsed, profile, rows, warc};
use crate::config::SourceKind;
use riddlemill_harvest::pages::Site;

/// What is read of a dump at a time, in its order.
pub(super) enum DumpPortion {
    /// Records, or why they were not read.
    Rows(SplitItems),
    /// Pages, or why they were not read.
    Pages(Vec<Page>),
}

/// The portions of a dump, read ahead. `limit` is the most bytes that a record or a page may have.
pub(super) fn read_portions(dump: &Dump, limit: u64) -> Box<dyn Iterator<Item = DumpPortion>> {
    match &dump.profile {
        Some(profile) => {
            Box::new(profile::read_batches(dump, profile, limit).into_iter().map(DumpPortion::Pages))
        }
        None if dump.kind == SourceKind::Warc => {
            Box::new(warc::read_batches(dump, &Site::Tieba).into_iter().map(DumpPortion::Pages))
        }
        None => Box::new(rows::read_batches(dump, limit).into_iter().map(DumpPortion::Rows)),
    }
}

/// Folds over the records and posts of a dump in their order: `row` makes something of a record, on all cores, `post` of a
/// post on a page, and `take` adds it to the state.
pub(super) fn fold_dump<S: Sync, T: Send>(
    dump: &Dump,
    limit: u64,
    state: &mut S,
    row: impl Fn(&S, Item<'_>) -> Option<T> + Sync,
    post: impl Fn(&S, PagePost) -> Option<T>,
    take: impl Fn(&mut S, T),
) {
    for portion in read_portions(dump, limit) {
        let now = &*state;
        let made: Vec<T> = match portion {
            DumpPortion::Rows(items) => items.par_iter().filter_map(|item| row(now, item)).collect(),
            DumpPortion::Pages(pages) => {
                pages.into_iter().flat_map(Page::into_posts).filter_map(|found| post(now, found)).collect()
            }
        };
        made.into_iter().for_each(|made| take(state, made));
    }
}

/// What becomes of a page: of each of its posts, or why it gives none.
pub(super) fn judge_page(read: PageResult, file_threads: &Threads, dump: &Dump) -> Parsed {
    let Contents { class, url, posts, why, unknown_encoding } = match read {
        Ok(read) => read,
        Err((reason, evidence)) => return Parsed::Out(reason, evidence),
    };
    if let Some(reason) = warc::set_aside(class) {
        return Parsed::Out(reason, warc::in_words(&url, why));
    }
    let post = |post| match (post, &dump.profile) {
        (PagePost::Forum(post), _) => warc::judge_post(post, file_threads, dump),
        (PagePost::Described(entry), Some(profile)) => {
            profile::judge_post(entry, file_threads, dump, profile)
        }
        (PagePost::Described(_), None) => Parsed::Bad("a page without its profile".into()),
    };
    Parsed::Page { posts: posts.into_iter().map(post).collect(), unknown_encoding }
}
