//! The crawler: polite, resumable, WARC out.
//!
//! Reading order: [`settings`] is what a user says, [`plan`] what that means before any request.
//! [`guard`] decides which addresses may be contacted, [`robots`] what a site allows, [`gate`] when;
//! [`fetch`] makes one request and [`visit`] one page of it, retries included. [`segment`]
//! makes what came durable, [`done`] is what is known of a page that was had, [`walk`] knows which pages
//! follow from a page, [`since`] and [`earlier`] which of them changed, [`frontier`] joins
//! these into a state that survives `kill -9`, and [`run`] drives it all.
//!
//! Invariants
//! - Every request, a redirect's and robots.txt's too, passes the guard; the connection goes to
//!   the very address that was checked. There is no proxy, no cookie, no credential.
//! - One request is in flight a host, and the next waits its delay from the end of the last.
//! - A page is done once its records are on disk; the archive alone is enough to know what is
//!   done. The journal beside it is an index that is rebuilt when it is lost.
//! - A site that demands a captcha or forbids us is left alone. Nothing here tries to get round it.

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
pub use frontier::{Age, age};
pub use guard::{Guard, Lookup, Refusal, SystemLookup, is_public};
pub use journal::Dirs;
pub use look::{Looked, NoPage, look, may_ask};
pub use plan::{Plan, plan};
pub use run::{CrawlError, Summary, run, run_with};
pub use settings::{Seed, SettingsError, Source};
pub use visit::Event;
