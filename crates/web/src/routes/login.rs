//! Login by token.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use crate::access::Rank;
use crate::app::{App, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::guard::set_cookie;
use crate::view;
use crate::visitor::Visitor;

/// The page that was asked for before the login.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Return {
    to: String,
}

pub(crate) async fn show_login(
    visitor: Visitor,
    Query(Return { to }): Query<Return>,
) -> Result<Response, PageError> {
    match visitor.rank() {
        Some(rank) => Ok(Redirect::to(own_page(&to).unwrap_or(start_page(rank))).into_response()),
        None => view::render_page(&visitor, "login.html", json!({ "wrong": "", "to": own_page(&to) })),
    }
}

/// A page of this server to return to: never another server's, nor the login's own.
fn own_page(to: &str) -> Option<&str> {
    let here = to.starts_with('/') && !to.starts_with("//") && !to.contains('\\');
    let plain = to.len() <= 2000 && to.bytes().all(|byte| byte.is_ascii_graphic());
    let elsewhere = !["/login", "/logout", "/join"].iter().any(|path| to.starts_with(path)) && to != "/";
    (here && plain && elsewhere).then_some(to)
}

/// A token opens a session, whose secret is the cookie. A right token is accepted whatever wrong ones came
/// from the same address, which others may share. Wrong ones have to wait, counted by prefix and by client.
pub(crate) async fn log_in(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let (client, now) = (visitor.client, Instant::now());
    let to = own_page(form.get("to"));
    let again = |status: StatusCode, key: &str| {
        let mut page = view::render_page(&visitor, "login.html", json!({ "wrong": key, "to": to }))?;
        *page.status_mut() = status;
        Ok(page)
    };
    let token = form.get("token").trim().to_string();
    let grant = app.access.of_token(&token)?;
    let grant = match (grant, app.tries.may_try(client, &token, now)) {
        (Some(grant), true) => grant,
        (Some(_), false) => return again(StatusCode::TOO_MANY_REQUESTS, "login_wait"),
        (None, _) => {
            return match app.tries.record_failure(client, &token, now) {
                true => again(StatusCode::UNAUTHORIZED, "login_wrong"),
                false => again(StatusCode::TOO_MANY_REQUESTS, "login_wait"),
            };
        }
    };
    let session = read_blocking(move || {
        let session = app.sessions.open_session(&grant)?;
        Ok((session, grant.rank, app))
    });
    let (session, rank, app) = session.await?;
    let mut answer = Redirect::to(to.unwrap_or(start_page(rank))).into_response();
    set_cookie(&mut answer, &app.cookie, &session, &app);
    Ok(answer)
}

/// Ends the session and deletes the cookie.
pub(crate) async fn log_out(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    _: Form,
) -> Result<Response, PageError> {
    let mut answer = Redirect::to("/login").into_response();
    set_cookie(&mut answer, &app.cookie, "", &app);
    if visitor.grant.is_some() {
        read_blocking(move || Ok(app.sessions.close_session(&visitor.secret)?)).await?;
    }
    Ok(answer)
}

/// The start page.
pub(super) fn start_page(rank: Rank) -> &'static str {
    match rank {
        Rank::Annotator => "/review",
        Rank::Reader | Rank::Curator => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::own_page;

    #[test]
    fn a_login_returns_to_a_page_of_this_server_alone() {
        let item = "/review/flub/type/vote?item=tieba:1";
        assert_eq!(own_page(item), Some(item));
        for other in [
            "",
            "/",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "/login",
            "/a b",
            "/x\r\nA: b",
        ] {
            assert_eq!(own_page(other), None, "{other}");
        }
    }
}
