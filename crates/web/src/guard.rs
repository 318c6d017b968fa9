//! Middleware for every route: identifies the visitor, checks access, and sets security headers.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::access::{Rank, random_token};
use super::app::App;
use super::error::PageError;
use super::form::{Form, SentForm};
use super::i18n::Language;
use super::refill::refill_page;
use super::sessions::LASTS_SECS;
use super::shares::Full;
use super::view;
use super::visitor::Visitor;
use tower_service::Service;

/// Only our own files; nothing inline; no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every response.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// Time limit for a whole request, including body and answer.
pub(super) const REQUEST: Duration = Duration::from_secs(30);

/// What the outermost layer needs: the server, and its pages without this layer.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) app: Arc<App>,
    pub(super) pages: Router,
}

/// The outermost layer. Before the route: host, time limit, visitor; after it: headers, and a page for
/// errors.
pub(super) async fn frame_request(
    State(Frame { app, pages }): State<Frame>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut fresh = None;
    let mut answer = match identify_visitor(&app, &request) {
        Err(oops) => oops.into_response(),
        Ok((_, Some(redirect))) => redirect,
        Ok((mut visitor, None)) => {
            // The login form carries a token too, so visitors need a secret before they log in.
            if visitor.secret.is_empty()
                && let Ok(secret) = random_token(&app.workspace.raw_folder())
            {
                visitor.secret.clone_from(&secret);
                fresh = Some(secret);
            }
            // Cloned, because an error page needs the visitor after the request is gone.
            request.extensions_mut().insert(visitor.clone());
            let answer = match is_trusted(request.method(), request.headers(), &app) {
                false => PageError::new(StatusCode::FORBIDDEN, "other_site").into_response(),
                true => {
                    let uri = request.uri().clone();
                    let sent = SentForm::default();
                    request.extensions_mut().insert(sent.clone());
                    let (page, wants_page) = (page_of_form(&request), wants_page(&request));
                    let answer = match app
                        .shares
                        .answer_request(&uri, tokio::time::timeout(REQUEST, next.run(request)))
                        .await
                    {
                        Ok(Ok(answer)) => answer,
                        Ok(Err(_)) => PageError::new(StatusCode::REQUEST_TIMEOUT, "too_slow").into_response(),
                        Err(Full) => PageError::new(StatusCode::SERVICE_UNAVAILABLE, "busy").into_response(),
                    };
                    match sent.get().filter(|_| wants_page) {
                        Some(form) => show_form_again(answer, form, uri.path(), page, pages, &visitor).await,
                        None => answer,
                    }
                }
            };
            render_error(answer, &visitor)
        }
    };
    // A route that set a session cookie itself, such as the login, must not have it replaced.
    if let Some(secret) = fresh.filter(|_| !answer.headers().contains_key(header::SET_COOKIE)) {
        set_cookie(&mut answer, &app.cookie, &secret, &app);
    }
    for (name, value) in HEADERS {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

/// Whether a browser shows the answer; scripts keep what was written themselves.
fn wants_page(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepts.is_none_or(|accepts| !accepts.starts_with("application/json"))
}

/// The page that a form was sent from: where the browser says, if it is one of ours.
fn page_of_form(request: &Request) -> Option<Uri> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let from = url::Url::parse(text(header::REFERER)?).ok()?;
    let authority = from.port().map_or_else(
        || from.host_str().unwrap_or_default().to_owned(),
        |port| format!("{}:{port}", from.host_str().unwrap_or_default()),
    );
    let query = from.query().map(|query| format!("?{query}")).unwrap_or_default();
    (text(header::HOST)? == authority).then(|| format!("{}{query}", from.path()).parse().ok())?
}

/// The page of a refused form with what was sent in it, and the reason beside its field. Without the page, or the form on it,
/// the refusal alone, with the texts of the form to be copied.
async fn show_form_again(
    answer: Response,
    form: &Form,
    action: &str,
    page: Option<Uri>,
    mut pages: Router,
    visitor: &Visitor,
) -> Response {
    let Some(oops) = answer.extensions().get::<PageError>().cloned() else { return answer };
    // A form that has no page of its own, such as the one of a run, stands on the page that it is sent to.
    let page = page.or_else(|| action.parse().ok());
    let refused = match page.filter(|_| oops.status.is_client_error()) {
        Some(page) => {
            let visitor = Visitor {
                path: page.path().to_owned(),
                query: page.query().unwrap_or_default().to_owned(),
                ..visitor.clone()
            };
            let mut request = Request::new(Body::empty());
            *request.uri_mut() = page;
            request.extensions_mut().insert(visitor.clone());
            let Ok(shown) = pages.call(request).await;
            let is_page = shown.status() == StatusCode::OK;
            let html = axum::body::to_bytes(shown.into_body(), usize::MAX).await.unwrap_or_default();
            let found = serde_json::json!({ "key": oops.key, "detail": visitor.visible_detail(&oops) });
            let html = std::str::from_utf8(&html).ok().filter(|_| is_page);
            html.zip(view::render_html(&visitor, "refused.html", found).ok()).and_then(|(html, message)| {
                refill_page(html, [&visitor.path, action], form, &oops.field, &message)
            })
        }
        None => None,
    };
    match refused {
        Some(html) => (oops.status, view::PAGE_HEAD, html).into_response(),
        None => PageError { kept: form.written_texts(), ..oops }.into_response(),
    }
}

/// Identifies the visitor; or redirects after a change of language or theme, with a cookie.
fn identify_visitor(app: &App, request: &Request) -> Result<(Visitor, Option<Response>), PageError> {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !known_host(host, app.address.public.as_ref().and_then(url::Url::host_str)) {
        return Err(PageError::new(StatusCode::MISDIRECTED_REQUEST, "other_host"));
    }
    let peer = request.extensions().get::<SocketAddr>().copied();
    let peer = peer.ok_or_else(|| PageError::internal_error("no peer"))?;
    let uri = request.uri();
    let secret = cookie_value(headers, &app.cookie).unwrap_or_default();
    let closed = app.access.needs_token()?;
    let grant = match closed && !secret.is_empty() {
        true => app.sessions.grant_of_session(&secret, &app.access.list_grants()?)?,
        false => None,
    };
    let language = cookie_value(headers, "lang").and_then(|code| Language::from_code(&code));
    let visitor = Visitor {
        grant,
        // Once a token is granted, the loopback needs one too: others on this machine may reach it.
        open: !closed && app.address.ip.is_loopback() && app.address.public.is_none(),
        secret,
        client: client_address(headers, peer.ip(), app.address.public.is_some()),
        language: language.unwrap_or_else(|| preferred_language(headers)),
        theme: cookie_value(headers, "theme").filter(|t| t == "light" || t == "dark").unwrap_or_default(),
        path: uri.path().to_string(),
        query: uri.query().unwrap_or_default().to_string(),
    };
    // A redirect would turn a sent form into a plain GET and lose its fields.
    let back = if request.method() == Method::GET { apply_preference(uri, app) } else { None };
    Ok((visitor, back))
}

/// The client's address. Headers are only trusted if a proxy is configured, because anybody can
/// write one. Of several addresses the last is the one that this proxy saw itself.
fn client_address(headers: &HeaderMap, peer: IpAddr, behind_proxy: bool) -> IpAddr {
    if !behind_proxy {
        return peer;
    }
    let last = headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
    let address = last.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
    address.unwrap_or(peer)
}

/// `?lang=zh` and `?theme=dark` set a cookie and redirect to the same page.
fn apply_preference(uri: &Uri, app: &App) -> Option<Response> {
    let query = uri.query()?;
    let (mut rest, mut set) = (url::form_urlencoded::Serializer::new(String::new()), None);
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let known: &[&str] = match &*key {
            "lang" => &["en", "zh"],
            "theme" => &["light", "dark", "system"],
            _ => &[],
        };
        match known.iter().find(|known| **known == value) {
            Some(value) => set = Some((if key == "lang" { "lang" } else { "theme" }, *value)),
            None => {
                rest.append_pair(&key, &value);
            }
        }
    }
    let (name, value) = set?;
    let rest = rest.finish();
    // Two leading slashes would mean another host.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    let to = if rest.is_empty() { path } else { format!("{path}?{rest}") };
    let mut answer = Redirect::to(&to).into_response();
    set_cookie(&mut answer, name, value, app);
    Some(answer)
}

/// Renders an error as a page; readers see the details.
fn render_error(answer: Response, visitor: &Visitor) -> Response {
    let oops = match answer.extensions().get::<PageError>() {
        Some(oops) => oops.clone(),
        None if answer.status() == StatusCode::NOT_FOUND => PageError::not_found(),
        None if answer.status() == StatusCode::METHOD_NOT_ALLOWED => {
            PageError::new(StatusCode::METHOD_NOT_ALLOWED, "not_found")
        }
        None => return answer,
    };
    let detail = visitor.visible_detail(&oops);
    let found = serde_json::json!({ "key": oops.key, "code": oops.status.as_u16(), "detail": detail, "kept": oops.kept });
    match view::render_page(visitor, "error.html", found) {
        Ok(mut page) => {
            *page.status_mut() = oops.status;
            page
        }
        // A broken template must not hide the status of the first error.
        Err(_) => (oops.status, oops.key).into_response(),
    }
}

/// Requires a rank; others are asked for a token.
pub(super) async fn require_rank(
    State(needed): State<Rank>,
    visitor: Visitor,
    request: Request,
    next: Next,
) -> Response {
    match visitor.rank() {
        Some(rank) if rank >= needed => next.run(request).await,
        Some(_) => PageError::forbidden().into_response(),
        None if request.method() == Method::GET => {
            // Whoever was logged out goes on where they were.
            let here = request.uri().path_and_query().map_or("/", |here| here.as_str());
            let to = if here == "/" {
                "/login".to_string()
            } else {
                format!("/login?to={}", view::encode_segment(here))
            };
            Redirect::to(&to).into_response()
        }
        None => PageError::new(StatusCode::UNAUTHORIZED, "login_first").into_response(),
    }
}

/// A name that another site points here would let that site read our pages. An IP address is not affected.
fn known_host(host: &str, public: Option<&str>) -> bool {
    // Parsed as a URL, so that ports and the brackets of IPv6 addresses are understood.
    let Ok(url) = url::Url::parse(&format!("http://{host}/")) else { return false };
    match url.host() {
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => true,
        Some(url::Host::Domain(name)) => name == "localhost" || public == Some(name),
        None => false,
    }
}

/// Requests that change something must come from our own pages, as stated by browsers.
fn is_trusted(method: &Method, headers: &HeaderMap, app: &App) -> bool {
    if matches!(*method, Method::GET | Method::HEAD) {
        return true;
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // `none` is a request that the user started, for example from the address bar.
    if text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return false;
    }
    let host = text("host").unwrap_or_default();
    let own = |origin: &str| {
        let public = app.address.public.as_ref().map(|url| url.origin().ascii_serialization());
        origin == format!("http://{host}") || public.as_deref() == Some(origin)
    };
    // Not every client sends the header; the token in the form is checked as well.
    text("origin").is_none_or(own)
}

fn preferred_language(headers: &HeaderMap) -> Language {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if wanted.trim_start().starts_with("zh") { Language::Zh } else { Language::En }
}

/// The value of a cookie.
fn cookie_value(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_string())
}

/// Sets a cookie that scripts cannot read, and that other sites send along only for followed links: a link to
/// a record can be shared, and no link changes anything.
pub(super) fn set_cookie(answer: &mut Response, name: &str, value: &str, app: &App) {
    let secure = if app.address.is_secure() { "; Secure" } else { "" };
    // Logging out sets an empty value, which has to make the browser drop the cookie.
    let age = if value.is_empty() { 0 } else { LASTS_SECS };
    let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    if let Ok(line) = HeaderValue::from_str(&line) {
        answer.headers_mut().append(header::SET_COOKIE, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_anybody_could_point_here_are_no_hosts() {
        for host in ["127.0.0.1:8484", "localhost:8484", "localhost", "[::1]:8484", "192.168.0.7:80"] {
            assert!(known_host(host, None), "{host}");
        }
        for host in ["evil.example:8484", "localhost.evil.example", "", "127.0.0.1.evil.example", "a b"] {
            assert!(!known_host(host, None), "{host}");
        }
        assert!(known_host("review.example.org", Some("review.example.org")));
    }

    #[test]
    fn a_form_that_never_ends_is_given_up() {
        use tower_service::Service;
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(crate::config::FILE), "").unwrap();
        let none = crate::config::Overrides::default();
        let read = crate::config::Config::load(
            dir.path(),
            &crate::recipe::recipe_names(),
            &crate::recipe::changed_defaults(),
            &none,
        );
        let serve = super::super::app::Serve {
            config: read.unwrap(),
            overrides: none,
            address: super::super::app::Address::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let status = runtime.unwrap().block_on(async {
            let mut router = super::super::router::build_router(Arc::new(App::new(serve)));
            let body = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
            let request = Request::post("/login")
                .header("host", "localhost")
                .header("content-type", "application/x-www-form-urlencoded")
                .extension(SocketAddr::from(([127, 0, 0, 1], 1)))
                .body(axum::body::Body::from_stream(body));
            let answer = router.call(request.unwrap());
            tokio::time::timeout(std::time::Duration::from_secs(600), answer).await
        });
        assert_eq!(status.expect("it waits for good").unwrap().status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[test]
    fn what_a_header_says_of_an_address_is_believed_behind_a_proxy_alone() {
        let peer = IpAddr::from([127, 0, 0, 1]);
        let mut headers = HeaderMap::new();
        assert_eq!(client_address(&headers, peer, true), peer);
        headers.append("x-forwarded-for", HeaderValue::from_static("1.1.1.1"));
        headers.append("x-forwarded-for", HeaderValue::from_static("2.2.2.2, 10.0.0.7"));
        assert_eq!(client_address(&headers, peer, false), peer);
        assert_eq!(client_address(&headers, peer, true), IpAddr::from([10, 0, 0, 7]));
        headers.append("x-forwarded-for", HeaderValue::from_static("unknown"));
        assert_eq!(client_address(&headers, peer, true), peer);
    }

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("xlang=en; lang=zh; theme=dark"));
        assert_eq!(cookie_value(&headers, "lang").as_deref(), Some("zh"));
        assert_eq!(cookie_value(&headers, "ang"), None);
    }
}
