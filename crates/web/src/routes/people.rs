//! Access for people: invitations as links, revoking, and the page of an invitation.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;
use serde_json::json;

use super::login::start_page;
use crate::access::Rank;
use crate::app::{App, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::guard::set_cookie;
use crate::pipeline::current_time;
use crate::sessions::Sessions;
use crate::view;
use crate::visitor::Visitor;

/// Most characters of a name.
const NAME_CHARS: usize = 60;

/// Somebody with access, or who may be invited.
#[derive(Serialize)]
struct AccessPerson {
    name: String,
    /// Their role in pipeline.toml; `None` if they are not an annotator there.
    role: Option<&'static str>,
    languages: String,
    qualified: bool,
    /// What their token or session opens.
    rank: Option<&'static str>,
    /// Whether they have an invitation that was not followed yet.
    invited: bool,
}

/// Everybody in pipeline.toml, and everybody else with a grant.
pub(crate) async fn show_people(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    render_people(&app, &visitor, None)
}

/// A link made just now: shown once, because it is not stored.
#[derive(Serialize)]
struct Link {
    name: String,
    url: String,
}

fn render_people(app: &App, visitor: &Visitor, link: Option<Link>) -> Result<Response, PageError> {
    let (config, _) = app.current_config();
    let (grants, invites) = (app.access.list_grants()?, app.access.list_invites()?);
    let rank_of = |name: &str| grants.iter().find(|grant| grant.name == name).map(|grant| grant.rank.name());
    let invited = |name: &str| invites.iter().any(|invite| invite.name == name);
    let of_settings = config.annotators.iter().map(|person| AccessPerson {
        name: person.name.clone(),
        role: Some(person.role.name()),
        languages: person.languages.join(", "),
        qualified: person.qualified,
        rank: rank_of(&person.name),
        invited: invited(&person.name),
    });
    let mut people: Vec<AccessPerson> = of_settings.collect();
    let others = grants.iter().map(|grant| &grant.name).chain(invites.iter().map(|invite| &invite.name));
    for name in others {
        if !people.iter().any(|person| person.name == *name) {
            people.push(AccessPerson {
                name: name.clone(),
                role: None,
                languages: String::new(),
                qualified: false,
                rank: rank_of(name),
                invited: invited(name),
            });
        }
    }
    // The first grant ends access without a token, so it has to be a curator's.
    let first = !grants.iter().any(|grant| grant.rank == Rank::Curator);
    let alone = app.address.ip.is_loopback() && app.address.public.is_none();
    view::render_page(
        visitor,
        "people.html",
        json!({ "people": people, "link": link, "first": first && visitor.open, "alone": alone }),
    )
}

/// Makes a link.
pub(crate) async fn invite_person(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageError> {
    let rank = match form.get("rank") {
        "annotator" => Rank::Annotator,
        "reader" => Rank::Reader,
        "curator" => Rank::Curator,
        "" => {
            return Err(PageError::bad_request(
                "choose what the link opens; the first person becomes the manager only if that is chosen",
            )
            .about("rank"));
        }
        other => return Err(PageError::bad_request(format!("no rank {other:?}"))),
    };
    let name = form.text_within("name", NAME_CHARS)?;
    if name.is_empty() {
        return Err(PageError::bad_request("an invitation needs a name").about("name"));
    }
    let (config, _) = app.current_config();
    if rank == Rank::Annotator && !config.annotators.iter().any(|person| person.name == name) {
        return Err(
            PageError::bad_request(format!("{name} is not an [[annotator]] of pipeline.toml")).about("rank")
        );
    }
    let curators = app.access.list_grants()?.iter().any(|grant| grant.rank == Rank::Curator);
    if visitor.open && !curators && rank != Rank::Curator {
        return Err(PageError::bad_request(
            "the first invitation must be for a curator, because it closes the pages to everybody else",
        )
        .about("rank"));
    }
    let base = match &app.address.public {
        Some(url) => url.as_str().trim_end_matches('/').to_string(),
        None => {
            // Without a public address the link has the one under which the curator opened this page.
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            format!("http://{host}")
        }
    };
    let maker = app.clone();
    let whom = name.clone();
    let token = read_blocking(move || Ok(maker.access.make_invite(&whom, rank, &current_time())?)).await?;
    render_people(&app, &visitor, Some(Link { name, url: format!("{base}/join/{token}") }))
}

/// Ends a grant with its sessions and invitations.
pub(crate) async fn revoke_grant(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let name = form.get("name").to_string();
    if visitor.name() == Some(name.as_str()) {
        return Err(PageError::bad_request("you cannot revoke your own access; another curator can"));
    }
    read_blocking(move || {
        // The grant first: without it the sessions are invalid, even if their end cannot be stored.
        app.access.revoke_access(&name, &current_time())?;
        Ok(Sessions::in_workspace(&app.workspace).end_sessions(&name)?)
    })
    .await?;
    Ok(Redirect::to("/people").into_response())
}

/// The page of an invitation. Opening it does not use the invitation: programs that preview links open it
/// too.
pub(crate) async fn show_invitation(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(token): Path<String>,
) -> Result<Response, PageError> {
    let (client, begun) = (visitor.client, std::time::Instant::now());
    match app.access.find_invite(&token)? {
        Some(invite) => {
            let found = json!({ "name": invite.name, "opens": invite.rank.name(), "token": token });
            view::render_page(&visitor, "join.html", found)
        }
        None => {
            // Guessed links count like wrong tokens.
            app.tries.record_failure(client, &token, begun);
            Err(PageError::new(StatusCode::GONE, "join_gone"))
        }
    }
}

/// Follows the invitation.
pub(crate) async fn follow_invitation(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(token): Path<String>,
    _: Form,
) -> Result<Response, PageError> {
    if !app.tries.may_try(visitor.client, &token, std::time::Instant::now()) {
        return Err(PageError::new(StatusCode::TOO_MANY_REQUESTS, "login_wait"));
    }
    let server = app.clone();
    let entered = read_blocking(move || {
        let Some(grant) = server.access.follow_invite(&token, &current_time())? else { return Ok(None) };
        Ok(Some((server.sessions.open_session(&grant)?, grant.rank)))
    });
    let (session, rank) = entered.await?.ok_or_else(|| PageError::new(StatusCode::GONE, "join_gone"))?;
    let mut answer = Redirect::to(start_page(rank)).into_response();
    set_cookie(&mut answer, &app.cookie, &session, &app);
    Ok(answer)
}
