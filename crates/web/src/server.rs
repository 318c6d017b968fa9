//! Accepts connections, bounds the cost of each, and stops on request.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::IntoResponse;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower_service::Service;

use super::access::Access;
use super::app::{Address, App, BODY_BYTES, Serve};
use super::crowd::{ConnectionSlot, Crowd};
use super::paced::Paced;
use super::router::build_router;
use super::shares::READERS;
use crate::pipeline::secrets_stand;
use crate::search::Search;
use crate::store::{self, Workspace};
use riddlemill_pipeline::stages::Stop;

/// Time limit for a request's head, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);
/// Most bytes of a request's head.
const HEAD_BYTES: usize = 16 << 10;
/// Time limit for a request's body: enough for the largest form over a slow line.
const BODY: Duration = Duration::from_secs(10);
/// Most connections at once.
const CONNECTIONS: usize = 512;
/// Most connections at once from one address: twenty browsers behind one router.
const OF_ADDRESS: usize = 128;
/// How long answers in progress may take at the end.
const LAST: Duration = Duration::from_secs(5);

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others would get access without a token.
    #[error(
        "{0} can be reached from other machines, but no token has been granted\n  hint: grant one with `riddlemill access grant NAME --rank curator`"
    )]
    NoTokens(IpAddr),
    /// The address is in use, or not this machine's.
    #[error("cannot listen on {address}: {source}\n  hint: --port 0 takes a free port")]
    Listen {
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The grants cannot be read, or a secret of raw/ is another one.
    #[error(transparent)]
    Access(#[from] store::Error),
    /// The runtime's threads cannot be started.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

/// Serves until `stop` is requested. `ready` is called with the address once connections are accepted.
///
/// # Errors
/// [`ServeError`], before the first connection is taken.
pub fn serve_pages(mut what: Serve, stop: &Stop, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let Address { ip, port, .. } = what.address;
    secrets_stand(&Workspace::new(&what.config.root))?;
    let granted = Access::in_workspace(&Workspace::new(&what.config.root)).list_grants()?;
    if !ip.is_loopback() && granted.is_empty() {
        return Err(ServeError::NoTokens(ip));
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(READERS).build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let address = SocketAddr::new(ip, port);
        let refused = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let local = listener.local_addr().map_err(refused)?;
        // With port 0 the system picks the port, and the name of the cookie contains it.
        what.address.port = local.port();
        let behind_proxy = what.address.public.is_some();
        let app = Arc::new(App::new(what));
        let router = build_router(app.clone());
        let searched = app.clone();
        // Whoever searches first would wait for the index of the dumps. What fails here is reported to whoever searches.
        std::thread::spawn(move || drop(Search::open(&searched.current_config().0)));
        ready(local);
        accept_connections(listener, router, behind_proxy, stop).await;
        // Finished stages remain; the next run makes the rest.
        app.runner.stop_run();
        Ok(())
    })
}

async fn accept_connections(listener: TcpListener, router: axum::Router, behind_proxy: bool, stop: &Stop) {
    // Behind a proxy all connections come from one address.
    let crowd = Crowd::new(CONNECTIONS, if behind_proxy { CONNECTIONS } else { OF_ADDRESS });
    let mut open = JoinSet::new();
    // `stop` is only a flag, so it has to be polled.
    let mut look = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            _ = look.tick() => {
                // Finished tasks stay in the set, and in memory, until they are taken out.
                while open.try_join_next().is_some() {}
                if stop.is_requested() {
                    break;
                }
            }
            taken = listener.accept() => {
                // A client that disconnected early is not an error. Without free file descriptors it would be
                // accepted again at once.
                let (stream, peer) = match taken {
                    Ok(taken) => taken,
                    Err(_) => {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        continue;
                    }
                };
                let Some(place) = crowd.admit_client(peer.ip()) else { continue };
                open.spawn(serve_client(stream, peer, router.clone(), place));
            }
        }
    }
    // New clients are refused while the last answers are sent.
    drop(listener);
    let _ = tokio::time::timeout(LAST, async { while open.join_next().await.is_some() {} }).await;
}

/// One connection, until its client has everything, is too slow, or another needs its slot.
async fn serve_client(stream: TcpStream, peer: SocketAddr, router: axum::Router, place: ConnectionSlot) {
    let place = &place;
    let answer = |request: Request<Incoming>| {
        let mut router = router.clone();
        async move {
            let (head, body) = request.into_parts();
            let answer: Result<_, Infallible> = match tokio::time::timeout(BODY, read_body(body)).await {
                Ok(Ok(body)) => {
                    let mut request = Request::from_parts(head, body);
                    request.extensions_mut().insert(peer);
                    place.mark_working();
                    router.call(request).await
                }
                // A truncated form might be read as a shorter one.
                Ok(Err(_)) => Ok(StatusCode::BAD_REQUEST.into_response()),
                Err(_) => Ok(StatusCode::REQUEST_TIMEOUT.into_response()),
            };
            place.mark_waiting();
            answer
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Paced::new(stream)), hyper::service::service_fn(answer));
    tokio::select! {
        // A connection broken off by the client is not an error.
        _ = connection => {}
        () = place.sent_off() => {}
    }
}

/// The body of a request, read completely first; of one that is too long, enough for the route to detect
/// that.
async fn read_body(mut body: Incoming) -> Result<Body, hyper::Error> {
    let mut bytes = Vec::new();
    while !body.is_end_stream() && bytes.len() <= BODY_BYTES {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        match frame.transpose()?.map(hyper::body::Frame::into_data) {
            Some(Ok(data)) => bytes.extend_from_slice(&data),
            // Trailers are irrelevant to forms.
            Some(Err(_)) => {}
            None => break,
        }
    }
    Ok(Body::from(bytes))
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    /// Bytes of a long page: more than a kernel buffers.
    const LONG: usize = 4 << 20;

    /// A server with a clock that advances when everything is idle, and its answers to `client`.
    fn with<T>(client: impl AsyncFnOnce(SocketAddr) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = axum::Router::new()
                .route("/", get(|| async { "here" }))
                .route("/long", get(|| async { "x".repeat(LONG) }))
                .route("/form", post(|form: axum::body::Bytes| async move { form.len().to_string() }));
            let stop = Stop::default();
            tokio::select! {
                () = accept_connections(listener, router, false, &stop) => panic!("the server ended"),
                result = client(address) => result,
            }
        })
    }

    /// Sends `bytes` and collects the answer until the connection is closed, for ten minutes at most.
    async fn response_to(address: SocketAddr, bytes: &str) -> Option<String> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let all = tokio::time::timeout(Duration::from_secs(600), stream.read_to_string(&mut answer)).await;
        // A reset connection gives what was received before.
        all.ok().map(|_| answer)
    }

    #[test]
    fn a_client_that_never_ends_its_head_is_let_go() {
        let response =
            with(async |address| response_to(address, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ").await);
        assert!(response.expect("the connection stays open for good").is_empty());
        let silent = with(async |address| response_to(address, "").await);
        assert!(silent.expect("a silent connection stays open for good").is_empty());
        let served =
            with(async |address| response_to(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await);
        assert!(served.expect("an idle connection stays open for good").ends_with("here"));
    }

    #[test]
    fn a_client_that_reads_nothing_is_let_go() {
        let response = with(async |address| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64);
            stream.write_all(&request).await.unwrap();
            // Reads nothing until the server's time limit has passed.
            tokio::time::sleep(Duration::from_secs(60)).await;
            let mut answer = Vec::new();
            let all = tokio::time::timeout(Duration::from_secs(600), stream.read_to_end(&mut answer)).await;
            all.map(|_| answer.len())
        });
        assert!(response.expect("it stays for good") < 64 * LONG);
    }

    #[test]
    fn a_form_that_never_ends_is_let_go() {
        let head = "POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\na=";
        let response = with(async |address| response_to(address, head).await);
        assert!(response.expect("it stays for good").starts_with("HTTP/1.1 408"));
    }

    #[test]
    fn a_crowd_of_slow_clients_shuts_nobody_out() {
        let response = with(async |address| {
            let mut slow = Vec::new();
            for _ in 0..CONNECTIONS + 20 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET / HT").await.unwrap();
                slow.push(stream);
            }
            response_to(address, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await
        });
        assert!(response.expect("nobody else is served").ends_with("here"));
    }
}
