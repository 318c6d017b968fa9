//! The routes, by circle.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use tower_http::compression::CompressionLayer;

use super::access::Rank;
use super::app::{App, BODY_BYTES};
use super::assets;
use super::guard::{self, Frame};
use super::routes::progress;
use super::routes::{
    assign, carry, cast, causes, curate, decide, difference, duplicates, guideline, history, login, overview,
    pending, people, persons, record, releases, review, run, stage, table, trials,
};

type Route = (&'static str, MethodRouter<Arc<App>>);

/// For anybody: nothing of the workspace.
fn public_routes() -> Vec<Route> {
    vec![
        ("/login", get(login::show_login).post(login::log_in)),
        ("/logout", post(login::log_out)),
        ("/join/{token}", get(people::show_invitation).post(people::follow_invitation)),
        ("/assets/{hash}/{name}", get(assets::serve_asset)),
        ("/health", get(|| async { "ok\n" })),
    ]
}

/// The audit pages.
fn reader_routes() -> Vec<Route> {
    vec![
        ("/", get(overview::show_overview)),
        ("/find", get(record::find_records)),
        ("/{recipe}/stage/{stage}", get(stage::show_stage)),
        ("/{recipe}/figures/{stage}", get(stage::show_figures)),
        ("/{recipe}/causes/{stage}", get(causes::show_causes)),
        ("/{recipe}/record/{*id}", get(record::show_record)),
        ("/{recipe}/duplicates", get(duplicates::show_duplicates)),
        ("/{recipe}/pairs", get(pending::show_pairs)),
        ("/{recipe}/held", get(pending::show_held)),
        ("/{recipe}/decisions", get(pending::show_decisions)),
        ("/run", get(run::show_run).post(run::act_on_run)),
        ("/run/costs", get(run::show_costs)),
        ("/run/events", get(run::stream_events)),
        ("/releases", get(releases::show_releases)),
        ("/{recipe}/release/{version}", get(releases::show_release)),
        ("/{recipe}/release/{version}/rows", get(table::show_table)),
        ("/{recipe}/release/{version}/rows/{form}", get(table::download_rows)),
        ("/{recipe}/release/{version}/card", get(table::show_card)),
        ("/{recipe}/release/{version}/file/{*path}", get(table::serve_file)),
        ("/{recipe}/diff", get(difference::show_difference)),
    ]
}

/// Items that wait for a person's vote; pipeline.toml decides who may vote on what.
fn annotator_routes() -> Vec<Route> {
    vec![
        ("/review", get(review::show_waiting)),
        ("/review/mine", get(history::show_history)),
        ("/review/{recipe}/{step}/guideline", get(guideline::show_guideline)),
        ("/review/{recipe}/{step}/{round}", get(review::show_item).post(cast::submit_vote)),
        ("/review/{recipe}/{step}/{round}/later", post(review::skip_item)),
    ]
}

/// The progress of people.
fn curator_routes() -> Vec<Route> {
    vec![
        ("/curate", get(progress::show_progress)),
        ("/curate/people", get(persons::show_persons)),
        ("/curate/people/{name}", get(persons::show_person).post(persons::act_on_person)),
        ("/curate/{recipe}/{step}", get(curate::show_ballot)),
        ("/curate/{recipe}/{step}/assign", get(assign::show_assignment).post(assign::submit_assignment)),
        ("/curate/{recipe}/{step}/trials", get(trials::show_trials).post(trials::grade_trials)),
        ("/curate/{recipe}/{step}/guideline", post(guideline::save_guideline)),
        ("/curate/{recipe}/{step}/carry", get(carry::show_carryable).post(carry::submit_carry)),
        ("/curate/{recipe}/{step}/votes.jsonl", get(curate::download_votes)),
        ("/people", get(people::show_people)),
        ("/people/invite", post(people::invite_person)),
        ("/people/revoke", post(people::revoke_grant)),
        ("/{recipe}/decide", post(decide::submit_decision)),
    ]
}

/// The path of every route, with the required rank; `None` for anybody.
pub fn route_addresses() -> Vec<(&'static str, Option<Rank>)> {
    let circles = [
        (public_routes(), None),
        (annotator_routes(), Some(Rank::Annotator)),
        (reader_routes(), Some(Rank::Reader)),
        (curator_routes(), Some(Rank::Curator)),
    ];
    circles
        .into_iter()
        .flat_map(|(routes, rank)| routes.into_iter().map(move |(path, _)| (path, rank)))
        .collect()
}

/// Every route of the server.
pub(super) fn build_router(app: Arc<App>) -> Router {
    let circle = |routes: Vec<Route>, rank: Rank| {
        let router =
            routes.into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
        // A route layer leaves unknown paths alone: they are a 404, whatever the visitor's rank.
        router.route_layer(from_fn_with_state(rank, guard::require_rank))
    };
    let anybody =
        public_routes().into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route));
    let pages = anybody
        .merge(circle(annotator_routes(), Rank::Annotator))
        .merge(circle(reader_routes(), Rank::Reader))
        .merge(circle(curator_routes(), Rank::Curator))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(app.clone());
    let frame = Frame { app, pages: pages.clone() };
    pages
        .layer(from_fn_with_state(frame, guard::frame_request))
        // Outermost, so that error pages are compressed too; streams of events are not buffered.
        .layer(CompressionLayer::new())
}
