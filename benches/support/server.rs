//! The real command in a workspace, and its pages.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The measured command; `RIDDLEMILL` names another build of it.
pub fn command(workspace: &Path) -> Command {
    let built = std::env::var("RIDDLEMILL").unwrap_or_else(|_| env!("CARGO_BIN_EXE_riddlemill").to_string());
    let mut command = Command::new(built);
    command.arg("-C").arg(workspace).stdin(Stdio::null());
    command
}

/// A running server; killed when it goes out of scope.
pub struct Server {
    pub child: Child,
    pub address: String,
}

impl Server {
    /// Starts it; port 0 takes a free one.
    pub fn start(workspace: &Path, port: u16) -> Result<Server, Box<dyn Error>> {
        let mut command = command(workspace);
        command.args(["serve", "--port", &port.to_string()]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
        Ok(Server { child, address })
    }

    /// Kills it, as a power cut would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The value below which a share of the times lies.
pub fn quantile(times: &[Duration], share: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).copied().unwrap_or_default()
}
