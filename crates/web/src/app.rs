//! State shared by all routes, and the address of the server.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::http::StatusCode;

use super::access::Access;
use super::error::PageError;
use super::limits::Tries;
use super::running::Runner;
use super::sessions::Sessions;
use super::shares::{self, HeavyThreads};
use super::tables::{Stages, Tables};
use super::voting::{Ballots, Leases, VoteService};
use crate::config::{Config, FILE, Overrides};
use crate::recipe::{self, Recipe};
use crate::review::grades;
use crate::store::Workspace;

/// Most bytes of a form.
pub(super) const BODY_BYTES: usize = 256 << 10;

/// The server's addresses.
#[derive(Clone, Debug)]
pub struct Address {
    /// The address to listen on; the loopback by default.
    pub ip: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The address people open if there is a proxy: its host is accepted, and with https cookies are only
    /// sent over TLS.
    pub public: Option<url::Url>,
}

impl Address {
    /// Whether people connect over TLS, as far as known here.
    pub(super) fn is_secure(&self) -> bool {
        self.public.as_ref().is_some_and(|url| url.scheme() == "https")
    }
}

impl Default for Address {
    fn default() -> Address {
        Address { ip: Ipv4Addr::LOCALHOST.into(), port: 8484, public: None }
    }
}

/// What to serve, and how.
#[derive(Clone, Debug)]
pub struct Serve {
    /// The settings of the workspace.
    pub config: Config,
    /// Settings that override pipeline.toml, which is reloaded when it changes.
    pub overrides: Overrides,
    pub address: Address,
}

/// State shared by all routes.
pub(super) struct App {
    pub(super) workspace: Workspace,
    pub(super) address: Address,
    pub(super) access: Access,
    pub(super) sessions: Sessions,
    pub(super) tries: Tries,
    pub(super) stages: Stages,
    pub(super) desk: VoteService,
    pub(super) ballots: Ballots,
    pub(super) leases: Leases,
    pub(super) runner: Runner,
    pub(super) shares: HeavyThreads,
    pub(super) tables: Tables,
    /// Held while tasks are assigned.
    pub(super) assigning: Mutex<()>,
    /// The name of the session cookie; two servers on one host have two.
    pub(super) cookie: String,
    overrides: Overrides,
    config: Mutex<(VoterState, Arc<Config>, Option<String>)>,
}

impl App {
    pub(super) fn new(serve: Serve) -> App {
        let Serve { config, overrides, address } = serve;
        let workspace = Workspace::new(&config.root);
        let state = settings_state(&workspace);
        App {
            access: Access::in_workspace(&workspace),
            sessions: Sessions::in_workspace(&workspace),
            tries: Tries::default(),
            stages: Stages::default(),
            desk: VoteService::open(&workspace),
            ballots: Ballots::default(),
            leases: Leases::default(),
            runner: Runner::default(),
            shares: HeavyThreads::default(),
            tables: Tables::default(),
            assigning: Mutex::default(),
            // Over TLS a browser binds a cookie with this prefix to this host.
            cookie: format!(
                "{}riddlemill-{}",
                if address.is_secure() { "__Host-" } else { "" },
                address.port
            ),
            workspace,
            address,
            overrides,
            config: Mutex::new((state, Arc::new(config), None)),
        }
    }

    /// The current settings. If the file was changed into something invalid, the previous ones, with the
    /// error.
    pub(super) fn current_config(&self) -> (Arc<Config>, Option<String>) {
        let state = settings_state(&self.workspace);
        let mut known = self.config.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != state {
            let root = self.workspace.root();
            let read =
                Config::load(root, &recipe::recipe_names(), &recipe::changed_defaults(), &self.overrides);
            // Set even if the file is invalid, so that it is not parsed again for every page.
            known.0 = state;
            match read {
                Ok(config) => {
                    recipe::give_settings(&config);
                    (known.1, known.2) = (Arc::new(config), None);
                }
                Err(problems) => known.2 = Some(problems.to_string()),
            }
        }
        (known.1.clone(), known.2.clone())
    }
}

/// The time of the settings file, and the state of the trials: both determine who may vote.
type VoterState = (Option<SystemTime>, u64);

fn settings_state(workspace: &Workspace) -> VoterState {
    let written = std::fs::metadata(workspace.root().join(FILE)).and_then(|meta| meta.modified()).ok();
    (written, grades::trials_state(&workspace.raw_folder()))
}

/// A recipe by its name in a URL; of one that is set aside, what is wrong with its folder.
pub(super) fn find_recipe(name: &str) -> Result<&'static Recipe, PageError> {
    if let Some(problems) = recipe::problems_of(name) {
        return Err(PageError::new(StatusCode::NOT_FOUND, "benchmark_aside").with_detail(problems));
    }
    recipe::find_recipe(name).ok_or_else(PageError::not_found)
}

/// Runs blocking file access on a suitable thread. A heavy page keeps its share until the access ends, also when
/// its visitor has gone.
pub(super) async fn read_blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    let share = shares::own_share();
    let read = move || {
        let _share = share;
        read()
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read,
        Err(_) => Err(PageError::internal_error("the page could not be made; see the server's own log")),
    }
}
