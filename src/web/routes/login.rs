//! A token in, a cookie out.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;

use crate::web::access::Rank;
use crate::web::app::App;
use crate::web::error::Oops;
use crate::web::guard::{Form, Visitor, set_cookie};
use crate::web::view;

/// The form.
pub(in crate::web) async fn form(visitor: Visitor) -> Result<Response, Oops> {
    match visitor.rank() {
        Some(rank) => Ok(Redirect::to(home(rank)).into_response()),
        None => view::page(&visitor, "login.html", json!({ "wrong": "" })),
    }
}

/// A token; the cookie is the token, so that a restart of the server throws nobody out and the end of a
/// grant ends its sessions.
pub(in crate::web) async fn enter(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, Oops> {
    let (address, now) = (visitor.peer.ip(), Instant::now());
    let again = |status: StatusCode, key: &str| {
        let mut page = view::page(&visitor, "login.html", json!({ "wrong": key }))?;
        *page.status_mut() = status;
        Ok(page)
    };
    if !app.tries.may(address, now) {
        return again(StatusCode::TOO_MANY_REQUESTS, "login_wait");
    }
    let token = form.get("token").trim().to_string();
    let Some(grant) = app.access.of_token(&token)? else {
        app.tries.wrong(address, now);
        return again(StatusCode::UNAUTHORIZED, "login_wrong");
    };
    let mut answer = Redirect::to(home(grant.rank)).into_response();
    set_cookie(&mut answer, &app.cookie, &token, &app);
    Ok(answer)
}

/// Forgets the cookie.
pub(in crate::web) async fn leave(State(app): State<Arc<App>>, _: Form) -> Response {
    let mut answer = Redirect::to("/login").into_response();
    set_cookie(&mut answer, &app.cookie, "", &app);
    answer
}

fn home(rank: Rank) -> &'static str {
    match rank {
        Rank::Annotator => "/review",
        Rank::Reader | Rank::Curator => "/",
    }
}
