//! The WebDriver protocol over a socket: requests of JSON to a driver on this machine.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::Error;

/// How long an answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(60);
/// What the driver says before its port.
const PORT_WORDS: &str = "started successfully on port ";

/// A driver that runs. Dropping it ends it, and the browsers that it started.
#[derive(Debug)]
pub(crate) struct WebDriver {
    child: Child,
    port: u16,
    /// The driver says little, but a pipe that nobody holds would end it.
    _said: BufReader<ChildStdout>,
}

impl WebDriver {
    /// Starts a driver, and waits until it says its port.
    pub(crate) fn start(mut command: Command) -> Result<WebDriver, Error> {
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = crate::process::spawn(&mut command)
            .map_err(Error::file("start the browser; `cargo xtask browser` gets it"))?;
        let mut said = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let mut line = String::new();
        let port = loop {
            line.clear();
            let n_read = said.read_line(&mut line).map_err(Error::file("read the driver"))?;
            if n_read == 0 {
                crate::process::end_group(&child);
                return Err(Error::Browser { said: "the driver ended".to_owned() });
            }
            let rest = line.split_once(PORT_WORDS).map(|(_, rest)| rest);
            if let Some(port) = rest.and_then(|rest| rest.trim().trim_end_matches('.').parse().ok())
            {
                break port;
            }
        };
        Ok(WebDriver { child, port, _said: said })
    }

    /// Asks the driver, and returns its answer's value.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Json) -> Result<Json, Error> {
        let (status, text) = self.exchange(method, path, body).map_err(Error::file(path))?;
        let mut answer: Json = serde_json::from_slice(&text).unwrap_or_default();
        match status {
            200 => Ok(answer["value"].take()),
            _ => {
                let said = answer["value"]["message"].as_str().unwrap_or("no answer");
                Err(Error::Browser { said: format!("{path}: {said}") })
            }
        }
    }

    fn exchange(&self, method: &str, path: &str, body: &Json) -> std::io::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(ANSWER_WAIT))?;
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes())?;
        let mut reader = BufReader::new(stream);
        let (mut status, mut length) = (0, 0);
        for (n, line) in reader.by_ref().lines().enumerate() {
            let line = line?;
            if n == 0 {
                status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok((status, answer))
    }
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        crate::process::end_group(&self.child);
        let _ended_already = self.child.wait();
    }
}

/// Returns what a session is asked to be.
pub(crate) fn wishes(chromium: &str, profile: &str) -> Json {
    let arguments = [
        "--headless=new".to_owned(),
        // As root there is no sandbox; only our own pages are opened.
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-background-networking".to_owned(),
        "--window-size=1000,800".to_owned(),
        format!("--user-data-dir={profile}"),
    ];
    json!({ "capabilities": { "alwaysMatch": {
        "browserName": "chrome",
        "goog:loggingPrefs": { "browser": "ALL" },
        "goog:chromeOptions": { "binary": chromium, "args": arguments },
    } } })
}
