//! A fixture server on loopback that misbehaves on request and records its requests.

pub mod forum;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub host: String,
    pub headers: BTreeMap<String, String>,
    /// The local address that received it.
    pub local: SocketAddr,
    pub began: Instant,
    pub ended: Instant,
}

/// A response. Each one closes its connection.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Status, further header lines, body; `Content-Length` is added.
    Plain(u16, String, Vec<u8>),
    /// Bytes exactly as given, then the connection closes.
    Raw(Vec<u8>),
    /// Bytes exactly as given, then nothing for long.
    Hang(Vec<u8>),
    /// The same, some milliseconds later.
    Slow(u64, Box<Reply>),
    /// A head, then a byte at a time for ever.
    Drip,
}

impl Reply {
    pub fn html(body: impl Into<Vec<u8>>) -> Reply {
        Reply::Plain(200, "Content-Type: text/html; charset=utf-8\r\n".into(), body.into())
    }

    pub fn status(status: u16) -> Reply {
        Reply::Plain(status, String::new(), Vec::new())
    }

    pub fn redirect(to: &str) -> Reply {
        Reply::Plain(302, format!("Location: {to}\r\n"), Vec::new())
    }
}

/// The server and its recorded requests.
#[derive(Clone)]
pub struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    most_at_once: Arc<AtomicUsize>,
}

type Handler = dyn Fn(&Asked) -> Reply + Send + Sync;

impl Server {
    /// Listens on 127.0.0.1 and any further loopback addresses, on one port.
    pub async fn start(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static, more: &[&str]) -> Server {
        let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = first.local_addr().unwrap().port();
        let server = Server { port, asked: Arc::default(), most_at_once: Arc::default() };
        let (handler, at_once): (Arc<Handler>, _) = (Arc::new(handler), Arc::new(AtomicUsize::new(0)));
        let mut listeners = vec![first];
        for address in more {
            listeners.push(TcpListener::bind((*address, port)).await.unwrap());
        }
        for listener in listeners {
            let (server, handler, at_once) = (server.clone(), handler.clone(), at_once.clone());
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (server, handler, at_once) = (server.clone(), handler.clone(), at_once.clone());
                    tokio::spawn(async move { server.answer(stream, &*handler, &at_once).await });
                }
            });
        }
        server
    }

    async fn answer(&self, mut stream: TcpStream, handler: &Handler, at_once: &AtomicUsize) {
        let mut head = Vec::new();
        let mut byte = [0u8; 1024];
        while !head.windows(4).any(|w| w == b"\r\n\r\n") {
            match stream.read(&mut byte).await {
                Ok(n) if n > 0 => head.extend_from_slice(&byte[..n]),
                _ => return,
            }
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        let mut lines = text.lines();
        let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_string();
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_string()))
            .collect();
        let now = Instant::now();
        let host = headers.get("host").cloned().unwrap_or_default();
        let asked =
            Asked { path, host, headers, local: stream.local_addr().unwrap(), began: now, ended: now };
        let running = at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(running, Ordering::SeqCst);
        let reply = handler(&asked);
        let number = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked);
            all.len() - 1
        };
        // An error here means that the crawler closed the connection, which some tests are about.
        let _ = send(&mut stream, reply).await;
        at_once.fetch_sub(1, Ordering::SeqCst);
        self.asked.lock().unwrap()[number].ended = Instant::now();
        let _ = stream.shutdown().await;
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }

    pub fn count(&self, path: &str) -> usize {
        self.paths().iter().filter(|asked| *asked == path).count()
    }

    pub fn most_at_once(&self) -> usize {
        self.most_at_once.load(Ordering::SeqCst)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

async fn send(stream: &mut TcpStream, mut reply: Reply) -> std::io::Result<()> {
    while let Reply::Slow(millis, later) = reply {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        reply = *later;
    }
    match reply {
        Reply::Slow(..) => {}
        Reply::Plain(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await?;
            if status != 304 {
                stream.write_all(&body).await?;
            }
        }
        Reply::Raw(bytes) => stream.write_all(&bytes).await?,
        Reply::Hang(bytes) => {
            stream.write_all(&bytes).await?;
            tokio::time::sleep(Duration::from_secs(30)).await;
        }
        Reply::Drip => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>").await?;
            loop {
                stream.write_all(b"x").await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    stream.flush().await
}
