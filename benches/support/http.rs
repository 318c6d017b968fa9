//! A client with one connection that keeps its cookies and only counts bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A response.
pub struct Answer {
    pub status: u16,
    pub body: String,
    /// The name and value of a cookie set by it.
    pub cookie: Option<(String, String)>,
}

/// One person's browser, without a display.
pub struct Client {
    address: String,
    stream: Option<BufReader<TcpStream>>,
    pub cookie: Option<(String, String)>,
}

impl Client {
    pub fn new(address: &str) -> Client {
        Client { address: address.to_string(), stream: None, cookie: None }
    }

    pub fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send("GET", path, "")
    }

    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Answer> {
        let pairs: Vec<String> = fields.iter().map(|(k, v)| format!("{}={}", coded(k), coded(v))).collect();
        self.send("POST", path, &pairs.join("&"))
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answer> {
        let answer = self.exchange(method, path, body);
        match &answer {
            // A connection with an error cannot be relied on any more.
            Err(_) => self.stream = None,
            Ok(answer) => self.cookie = answer.cookie.clone().or(self.cookie.take()),
        }
        answer
    }

    fn exchange(&mut self, method: &str, path: &str, body: &str) -> io::Result<Answer> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.set_nodelay(true)?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().ok_or_else(|| io::Error::other("no connection"))?;
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        if let Some((name, value)) = &self.cookie {
            request.push_str(&format!("Cookie: {name}={value}\r\n"));
        }
        if method == "POST" {
            let kind = "application/x-www-form-urlencoded";
            request.push_str(&format!("Content-Type: {kind}\r\nAccept: application/json\r\n"));
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        stream.get_mut().write_all(format!("{request}\r\n{body}").as_bytes())?;
        let torn = || io::Error::new(io::ErrorKind::UnexpectedEof, "half an answer");
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(torn)?;
        let (mut length, mut cookie) = (0, None);
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Err(torn());
            }
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(|_| torn())?,
                "set-cookie" => {
                    let pair = value.split(';').next().and_then(|pair| pair.split_once('='));
                    cookie = pair.map(|(name, value)| (name.to_string(), value.to_string()));
                }
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned(), cookie })
    }
}

/// Form-encodes a text.
pub fn coded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}
