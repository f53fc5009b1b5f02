//! A server on loopback that plays prepared replies, well formed or not.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// How long a server waits for its client before a test has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server does with one connection, after it has read the request.
#[derive(Debug, Clone, Default)]
pub struct Play {
    /// The bytes that it sends.
    pub bytes: Vec<u8>,
    /// How many more bytes of nothing in particular.
    pub flood: usize,
    /// What it does then.
    pub end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// It closes the connection.
    #[default]
    Close,
    /// It waits until the client goes away.
    Stall,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub line: String,
    pub headers: Vec<String>,
    pub body: String,
}

pub struct Server {
    pub address: String,
    asked: Receiver<Asked>,
    left: Receiver<()>,
}

impl Server {
    /// Plays one after the other, a connection each; then nobody listens any more.
    pub fn start(plays: Vec<Play>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (sender, asked) = channel();
        let (gone, left) = channel();
        thread::spawn(move || {
            for play in plays {
                let Ok((mut stream, _)) = listener.accept() else { return };
                stream.set_read_timeout(Some(PATIENCE)).expect("a limit above 0");
                if let Some(request) = read_request(&mut stream) {
                    // A test that is over does not listen.
                    let _ = sender.send(request);
                }
                perform(&play, &mut stream);
                // Nor may it care that a client went away.
                let _ = gone.send(());
            }
        });
        Server { address, asked, left }
    }

    /// Returns the next request; fails when none comes.
    pub fn asked(&self) -> Asked {
        self.asked.recv_timeout(PATIENCE).expect("a request comes")
    }

    /// Waits until a play is over: with [`End::Stall`] the client went away.
    pub fn left(&self) {
        self.left.recv_timeout(PATIENCE).expect("the client goes away");
    }

    /// Returns the request that came already.
    pub fn asked_already(&self) -> Option<Asked> {
        self.asked.try_recv().ok()
    }
}

fn perform(play: &Play, stream: &mut TcpStream) {
    // A client that has heard enough goes away.
    let _ = stream.write_all(&play.bytes);
    let chunk = [b'x'; 64 << 10];
    let mut left = play.flood;
    while left > 0 {
        let n = left.min(chunk.len());
        if stream.write_all(&chunk[..n]).is_err() {
            return;
        }
        left -= n;
    }
    if play.end == End::Stall {
        let mut nothing = [0; 16];
        while stream.read(&mut nothing).is_ok_and(|n| n > 0) {}
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 8 << 10]);
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes.drain(..at + 4).collect::<Vec<u8>>())
                .into_owned();
        }
        match stream.read(&mut chunk) {
            Ok(0) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    };
    let mut lines = head.lines().map(str::to_owned);
    let line = lines.next()?;
    let headers: Vec<String> =
        lines.filter(|line| !line.is_empty()).map(|line| lower_name(&line)).collect();
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().expect("a length is a number"));
    while bytes.len() < length {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
    Some(Asked { line, headers, body: String::from_utf8_lossy(&bytes).into_owned() })
}

fn lower_name(header: &str) -> String {
    match header.split_once(':') {
        Some((name, value)) => format!("{}: {}", name.to_lowercase(), value.trim()),
        None => header.to_owned(),
    }
}

/// Makes a play of a reply as text: the lines of the head, an empty line, the body. The length of
/// the body is added unless the head says how the body ends; one that comes in chunks is cut after
/// each line. Without an empty line the text goes out as it is.
pub fn reply(text: &str) -> Play {
    let Some((head, body)) = text.split_once("\n\n") else {
        return Play { bytes: text.replace('\n', "\r\n").into_bytes(), ..Play::default() };
    };
    let mut body = body.strip_suffix('\n').unwrap_or(body).to_owned();
    let mut head = head.replace('\n', "\r\n");
    let lower = head.to_lowercase();
    if lower.contains("transfer-encoding:") {
        let chunks = body.lines().map(|line| format!("{:x}\r\n{line}\r\n", line.len()));
        body = chunks.chain(["0\r\n\r\n".to_owned()]).collect();
    } else if !lower.contains("content-length:") {
        head.push_str(&format!("\r\nContent-Length: {}\r\nConnection: close", body.len()));
    }
    Play { bytes: format!("{head}\r\n\r\n{body}").into_bytes(), ..Play::default() }
}
