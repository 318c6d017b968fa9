//! A browser without a display, for the pages of `serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::harness::Workspace;

/// A running server; killed when it goes out of scope.
pub struct Server {
    pub child: Child,
    address: String,
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// A browser without a display: it keeps its cookies.
#[derive(Clone, Default)]
pub struct Browser {
    pub cookies: Vec<(String, String)>,
}

impl Server {
    pub fn start(workspace: &Workspace, more: &[&str]) -> Server {
        let mut command = workspace.command(["serve", "--port", "0"].iter().chain(more));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
        Server { child, address }
    }

    /// Its port on loopback.
    pub fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Sends bytes and reads whatever is returned.
    pub fn raw(&self, request: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request).ok()?;
        let mut bytes = Vec::new();
        // A server killed in between leaves an incomplete response.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head: head.to_lowercase(), body: body.to_string() })
    }

    pub fn get(&self, path: &str) -> Answer {
        Browser::default().get(self, path)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    pub fn get(&mut self, server: &Server, path: &str) -> Answer {
        self.send(server, "GET", path, &[], "").expect("an answer")
    }

    pub fn post(&mut self, server: &Server, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.try_post(server, path, fields).expect("an answer")
    }

    pub fn try_post(&mut self, server: &Server, path: &str, fields: &[(&str, &str)]) -> Option<Answer> {
        let body: Vec<String> = fields.iter().map(|(k, v)| format!("{}={}", coded(k), coded(v))).collect();
        self.send(server, "POST", path, &["Accept: application/json"], &body.join("&"))
    }

    pub fn send(
        &mut self,
        server: &Server,
        method: &str,
        path: &str,
        more: &[&str],
        body: &str,
    ) -> Option<Answer> {
        let cookies: Vec<String> = self.cookies.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !more.iter().any(|line| line.starts_with("Host:")) {
            request.push_str(&format!("Host: {}\r\n", server.address));
        }
        if !cookies.is_empty() {
            request.push_str(&format!("Cookie: {}\r\n", cookies.join("; ")));
        }
        if method == "POST" {
            let kind = "application/x-www-form-urlencoded";
            request.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
        }
        more.iter().for_each(|line| request.push_str(&format!("{line}\r\n")));
        let answer = server.raw(format!("{request}\r\n{body}").as_bytes())?;
        for line in answer.head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = line.split(';').next()?.split_once('=')?;
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_string(), value.to_string()));
        }
        Some(answer)
    }

    /// The token in this browser's forms.
    pub fn mark(&mut self, server: &Server, path: &str) -> String {
        hidden(&self.get(server, path).body, "csrf")
    }

    pub fn login(server: &Server, token: &str) -> Browser {
        let mut browser = Browser::default();
        let csrf = browser.mark(server, "/login");
        let answer = browser.post(server, "/login", &[("csrf", &csrf), ("token", token)]);
        assert_eq!(answer.status, 303, "{}", answer.body);
        browser
    }
}

/// Form-encodes a text.
pub fn coded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The value of a hidden field.
pub fn hidden(html: &str, name: &str) -> String {
    let at = format!("name=\"{name}\" value=\"");
    let rest = html.split_once(&at).unwrap_or_else(|| panic!("no {name} in {html}")).1;
    rest.split('"').next().unwrap().to_string()
}

/// A sample workspace after a run. Shared by the tests that only read.
pub fn made() -> Workspace {
    let workspace = Workspace::sample();
    workspace.run();
    workspace
}

/// The next item of a ballot, as on the page.
pub fn item(html: &str) -> (String, String, String) {
    (hidden(html, "item"), hidden(html, "hash"), hidden(html, "base"))
}
