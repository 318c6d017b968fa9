//! `serve`: the workspace as pages, from one binary and without a network.
//!
//! In reading order: [`access`] says who may look at what, and [`sessions`] who is logged in; `server` takes connections
//! and bounds what a client may cost (`crowd`, `paced`); `guard` is before every route; `app` is what the routes share, `router` names them, each a file in `routes`;
//! `desk` holds the votes and writes them; `running` is the run that somebody started here; `staged` finds a page of a stage among millions of rows; `view` turns what a route found into HTML in
//! one of two languages (`words`).
//!
//! Invariants:
//! - Pages call the libraries that the verbs call. They write nothing but votes, what is beside them, assignments,
//!   decisions and grants; and a run, where pipeline.toml lets one be started here, writes what a run writes.
//! - Every route is in one of four circles: open, annotators, readers, curators. A route without a
//!   circle does not compile into the router.
//! - No page holds a script or a style of its own, so the content policy allows none: what a post holds
//!   stays text.
//! - Everything that a page says about the workspace is read from it when the page is asked for; what is kept
//!   in memory between two pages is known by a hash of what it was read from.

pub mod access;
mod app;
mod assets;
mod crowd;
mod csrf;
mod error;
mod file_cache;
mod guard;
mod i18n;
mod limits;
mod markdown;
mod paced;
mod router;
mod routes;
mod running;
mod server;
pub mod sessions;
mod staged;
mod tables;
mod view;
mod visitor;
mod voting;

pub use access::Rank;
pub use app::{Address, Serve};
pub use router::addresses;
pub use server::{ServeError, serve};
