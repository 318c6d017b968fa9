//! The routes, by circle.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use tower_http::compression::CompressionLayer;

use super::access::Rank;
use super::app::{App, BODY_BYTES};
use super::routes::progress;
use super::routes::{
    assign, carry, cast, causes, curate, decide, difference, duplicates, guideline, history, login, overview,
    pending, people, persons, record, releases, review, run, stage, table, trials,
};
use super::{assets, guard};

type Route = (&'static str, MethodRouter<Arc<App>>);

/// For anybody: nothing of the workspace.
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
        ("/{recipe}/pairs", get(pending::pairs)),
        ("/{recipe}/held", get(pending::held)),
        ("/{recipe}/decisions", get(pending::decisions)),
        ("/run", get(run::page).post(run::act)),
        ("/run/costs", get(run::costs)),
        ("/run/events", get(run::events)),
        ("/releases", get(releases::list)),
        ("/{recipe}/release/{version}", get(releases::page)),
        ("/{recipe}/release/{version}/rows", get(table::page)),
        ("/{recipe}/release/{version}/rows/{form}", get(table::download)),
        ("/{recipe}/release/{version}/card", get(table::card)),
        ("/{recipe}/release/{version}/file/{*path}", get(table::file)),
        ("/{recipe}/diff", get(difference::page)),
    ]
}

/// Items that wait for a person's vote; pipeline.toml decides who may vote on what.
fn annotators() -> Vec<Route> {
    vec![
        ("/review", get(review::list)),
        ("/review/mine", get(history::page)),
        ("/review/{recipe}/{step}/guideline", get(guideline::page)),
        ("/review/{recipe}/{step}/{round}", get(review::page).post(cast::vote)),
        ("/review/{recipe}/{step}/{round}/later", post(review::pass_over)),
    ]
}

/// The progress of people.
fn curators() -> Vec<Route> {
    vec![
        ("/curate", get(progress::page)),
        ("/curate/people", get(persons::list)),
        ("/curate/people/{name}", get(persons::page).post(persons::act)),
        ("/curate/{recipe}/{step}", get(curate::one)),
        ("/curate/{recipe}/{step}/assign", get(assign::page).post(assign::spread)),
        ("/curate/{recipe}/{step}/trials", get(trials::page).post(trials::grade)),
        ("/curate/{recipe}/{step}/guideline", post(guideline::edit)),
        ("/curate/{recipe}/{step}/carry", get(carry::page).post(carry::take)),
        ("/curate/{recipe}/{step}/votes.jsonl", get(curate::votes)),
        ("/people", get(people::page)),
        ("/people/invite", post(people::invite)),
        ("/people/revoke", post(people::revoke)),
        ("/{recipe}/decide", post(decide::take)),
    ]
}

/// The path of every route, with the required rank; `None` for anybody.
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
        // A route layer leaves unknown paths alone: they are a 404, whatever the visitor's rank.
        router.route_layer(from_fn_with_state(rank, guard::circle))
    };
    let anybody = open().into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
    anybody
        .merge(circle(annotators(), Rank::Annotator))
        .merge(circle(readers(), Rank::Reader))
        .merge(circle(curators(), Rank::Curator))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .layer(from_fn_with_state(app.clone(), guard::frame))
        // Outermost, so that error pages are compressed too; streams of events are not buffered.
        .layer(CompressionLayer::new())
        .with_state(app)
}
