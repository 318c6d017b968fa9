//! The routes, each in its circle, and what they share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use tower_http::compression::CompressionLayer;

use super::access::{Access, Rank};
use super::error::PageError;
use super::limits::Tries;
use super::routes::table::{self, Tables};
use super::routes::{
    assign, carry, causes, curate, decide, duplicates, guideline, history, login, overview, people, record,
    releases, review, run, stage,
};
use super::running::Runner;
use super::server::{Address, Serve};
use super::sessions::Sessions;
use super::staged::Stages;
use super::voting::{Ballots, VotingDesk};
use super::{assets, guard};
use crate::config::{Config, FILE, Overrides};
use crate::recipe::{self, Recipe};
use crate::review::grades;
use crate::store::Workspace;

/// The most a form may weigh.
pub(super) const BODY_BYTES: usize = 256 << 10;

/// What all routes share.
pub(super) struct App {
    pub(super) workspace: Workspace,
    pub(super) address: Address,
    pub(super) access: Access,
    pub(super) sessions: Sessions,
    pub(super) tries: Tries,
    pub(super) stages: Stages,
    pub(super) desk: VotingDesk,
    pub(super) ballots: Ballots,
    pub(super) runner: Runner,
    pub(super) tables: Tables,
    /// Held while work is given out.
    pub(super) assigning: Mutex<()>,
    /// The session's cookie; two servers on one host have two.
    pub(super) cookie: String,
    overrides: Overrides,
    config: Mutex<(State, Arc<Config>, Option<String>)>,
}

impl App {
    pub(super) fn new(serve: Serve) -> App {
        let Serve { config, overrides, address } = serve;
        let workspace = Workspace::new(&config.root);
        let state = settings_state(&workspace);
        App {
            access: Access::of(&workspace),
            sessions: Sessions::of(&workspace),
            tries: Tries::default(),
            stages: Stages::default(),
            desk: VotingDesk::open(&workspace),
            ballots: Ballots::default(),
            runner: Runner::default(),
            tables: Tables::default(),
            assigning: Mutex::default(),
            // Over TLS a browser holds a cookie of this name to this very host.
            cookie: format!("{}riddlemill-{}", if address.secure() { "__Host-" } else { "" }, address.port),
            workspace,
            address,
            overrides,
            config: Mutex::new((state, Arc::new(config), None)),
        }
    }

    /// The settings as they stand. Where the file was changed into what cannot be used, those before it,
    /// and what is wrong with the new ones.
    pub(super) fn config(&self) -> (Arc<Config>, Option<String>) {
        let state = settings_state(&self.workspace);
        let mut known = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != state {
            let root = self.workspace.root();
            let read = Config::load(root, &recipe::names(), &recipe::choices(), &self.overrides);
            known.0 = state;
            match read {
                Ok(config) => (known.1, known.2) = (Arc::new(config), None),
                Err(problems) => known.2 = Some(problems.to_string()),
            }
        }
        (known.1.clone(), known.2.clone())
    }
}

/// When the settings were written, and how much stands in the trials: both say who may vote.
type State = (Option<SystemTime>, u64);

fn settings_state(workspace: &Workspace) -> State {
    let written = std::fs::metadata(workspace.root().join(FILE)).and_then(|meta| meta.modified()).ok();
    (written, grades::state(&workspace.raw()))
}

/// A recipe by the name in an address.
pub(super) fn recipe(name: &str) -> Result<&'static Recipe, PageError> {
    recipe::find(name).ok_or_else(PageError::not_found)
}

/// Runs what reads files on a thread that may wait for them.
pub(super) async fn reading<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(_) => Err(PageError::broken("the page could not be made; the server's own log says more")),
    }
}

type Route = (&'static str, MethodRouter<Arc<App>>);

/// Anybody's: nothing of the workspace.
fn open() -> Vec<Route> {
    vec![
        ("/login", get(login::form).post(login::enter)),
        ("/logout", post(login::leave)),
        ("/join/{token}", get(people::join).post(people::enter)),
        ("/assets/{hash}/{name}", get(assets::get)),
        ("/health", get(|| async { "ok\n" })),
    ]
}

/// The audit pages.
fn readers() -> Vec<Route> {
    vec![
        ("/", get(overview::page)),
        ("/find", get(record::find)),
        ("/{recipe}/stage/{stage}", get(stage::page)),
        ("/{recipe}/figures/{stage}", get(stage::figures)),
        ("/{recipe}/causes/{stage}", get(causes::page)),
        ("/{recipe}/record/{*id}", get(record::page)),
        ("/{recipe}/duplicates", get(duplicates::page)),
        ("/run", get(run::page).post(run::act)),
        ("/run/costs", get(run::costs)),
        ("/run/events", get(run::events)),
        ("/releases", get(releases::list)),
        ("/{recipe}/release/{version}", get(releases::page)),
        ("/{recipe}/release/{version}/rows", get(table::page)),
        ("/{recipe}/release/{version}/card", get(table::card)),
        ("/{recipe}/release/{version}/file/{*path}", get(table::file)),
        ("/{recipe}/diff", get(releases::diff)),
    ]
}

/// What waits for a person's vote; who may vote on what, pipeline.toml says.
fn annotators() -> Vec<Route> {
    vec![
        ("/review", get(review::list)),
        ("/review/mine", get(history::page)),
        ("/review/{recipe}/{step}/guideline", get(guideline::page)),
        ("/review/{recipe}/{step}/{round}", get(review::page).post(review::vote)),
        ("/review/{recipe}/{step}/{round}/later", post(review::pass_over)),
    ]
}

/// How far people are.
fn curators() -> Vec<Route> {
    vec![
        ("/curate", get(curate::page)),
        ("/curate/{recipe}/{step}", get(curate::one)),
        ("/curate/{recipe}/{step}/assign", get(assign::page).post(assign::spread)),
        ("/curate/{recipe}/{step}/guideline", post(guideline::edit)),
        ("/curate/{recipe}/{step}/carry", get(carry::page).post(carry::take)),
        ("/curate/{recipe}/{step}/votes.jsonl", get(curate::votes)),
        ("/people", get(people::page)),
        ("/people/invite", post(people::invite)),
        ("/people/revoke", post(people::revoke)),
        ("/{recipe}/decide", post(decide::take)),
    ]
}

/// The address of every route, with the rank that opens it; `None` is anybody's.
pub fn addresses() -> Vec<(&'static str, Option<Rank>)> {
    let circles = [
        (open(), None),
        (annotators(), Some(Rank::Annotator)),
        (readers(), Some(Rank::Reader)),
        (curators(), Some(Rank::Curator)),
    ];
    circles
        .into_iter()
        .flat_map(|(routes, rank)| routes.into_iter().map(move |(path, _)| (path, rank)))
        .collect()
}

/// Every route of the server.
pub(super) fn router(app: Arc<App>) -> Router {
    let circle = |routes: Vec<Route>, rank: Rank| {
        let router =
            routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
        router.route_layer(from_fn_with_state(rank, guard::circle))
    };
    let anybody = open().into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
    anybody
        .merge(circle(annotators(), Rank::Annotator))
        .merge(circle(readers(), Rank::Reader))
        .merge(circle(curators(), Rank::Curator))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .layer(from_fn_with_state(app.clone(), guard::frame))
        // Outermost, so that what went wrong is compressed as well; a stream of events goes out as it comes.
        .layer(CompressionLayer::new())
        .with_state(app)
}
