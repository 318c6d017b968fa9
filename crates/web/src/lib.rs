//! `serve`: the workspace as web pages, from one binary and without a network.
//!
//! # In reading order
//!
//! - [`access`] grants access, and [`sessions`] tracks logins.
//! - `server` accepts connections and bounds the cost of a client (`crowd`, `paced`); `guard` is before every route.
//! - `app` is state shared by the routes, `router` lists them, each a file in `routes`.
//! - `voting` holds the votes and writes them; `running` is the run that somebody started here; `stages` are those being viewed.
//! - `view` renders HTML in one of two languages (`i18n`). [`site`] writes pages of releases that need no server.
//!
//! # Invariants
//!
//! - Pages call the libraries that the verbs call. They write only votes, their companions, assignments, decisions and grants;
//!   and a run, if pipeline.toml allows starting one here, writes what a run writes.
//! - Every route is in one of four circles: open, annotators, readers, curators. A route without a circle does not compile.
//! - No page has inline scripts or styles, so the content policy forbids them: texts of posts stay text.
//! - Everything that a page shows about the workspace is read from it on request; caches between two requests are keyed by a
//!   hash of what was read.

pub mod access;
mod app;
mod assets;
mod charts;
mod crowd;
mod error;
mod file_cache;
mod form;
mod guard;
mod i18n;
mod left;
mod limits;
mod markdown;
mod paced;
mod refill;
mod router;
mod routes;
mod running;
mod server;
pub mod sessions;
mod shares;
pub mod site;
mod tables;
mod view;
mod visitor;
mod voting;

use riddlemill_figures::{self as figures, markup};
use riddlemill_files::log::LogName;
use riddlemill_harvest::pages;
use riddlemill_llm as llm;
use riddlemill_pipeline::{config, pipeline, recipe, search};
use riddlemill_record as record;
use riddlemill_release::{self as release, VERSION, audit};
use riddlemill_report as report;
use riddlemill_review::{self as review, decisions};
use riddlemill_tables as store;
use riddlemill_text::{join, shortcuts, text};

pub use access::Rank;
pub use app::{Address, Serve};
pub use router::route_addresses;
pub use server::{ServeError, serve_pages};

/// The logs that this crate and those below it write.
pub fn registered_logs() -> Vec<LogName> {
    let mut names = riddlemill_pipeline::registered_logs();
    names.extend_from_slice(access::LOGS);
    names.extend_from_slice(release::LOGS);
    names
}
