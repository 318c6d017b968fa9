//! The crawler: polite, resumable, writes WARC.
//!
//! Reading order: [`settings`] are the user's, [`plan`] shows their effect before any request. [`guard`]
//! decides which addresses may be contacted, [`robots`] what a site allows, [`gate`] when; [`fetch`] sends
//! one request and [`visit`] fetches one page, with retries. [`segment`] makes answers durable, [`done`]
//! describes a fetched page, [`walk`] knows which pages follow from a page, [`since`] and [`earlier`] which
//! of them changed, [`frontier`] joins these into a state that survives `kill -9`, and [`run`] drives it all.
//!
//! Invariants
//! - Every request, including those for redirects and robots.txt, passes the guard; the connection uses
//!   exactly the address that was checked. There are no proxies, cookies or credentials.
//! - At most one request per host is in flight, and the next waits its delay from the end of the last.
//! - A page is done once its records are on disk; the archive alone is enough to know what is done. The
//!   journal next to it is an index that is rebuilt if it is lost.
//! - A site that demands a captcha or forbids crawling is left alone. Nothing here tries to circumvent that.

mod done;
mod earlier;
mod fetch;
mod frontier;
mod gate;
mod guard;
mod journal;
mod look;
mod plan;
pub mod robots;
mod run;
mod segment;
pub mod settings;
mod since;
mod sitemap;
mod visit;
mod walk;

pub use done::{Done, FrontierError, Role};
pub use frontier::{Age, age_of_crawl};
pub use guard::{Guard, Lookup, Refusal, SystemLookup, is_public};
pub use journal::Dirs;
pub use look::{LookError, ReceivedPage, may_ask, request_once};
pub use plan::{Plan, plan_crawl};
pub use run::{CrawlError, Summary, run_crawl, run_with};
pub use settings::{Seed, SettingsError, Source};
pub use visit::Event;
