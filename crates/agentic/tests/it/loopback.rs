//! A server on loopback for the programs under test: it answers each request as a function says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a client is waited for before a test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a server does with a request.
pub enum Reply {
    /// It answers with this status line and body, and with more lines of the head.
    Json { status: &'static str, head: &'static str, body: String },
    /// It says nothing until the client goes away.
    Silence,
}

/// A server that lasts as long as the test.
pub struct Loopback {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
    left: Receiver<()>,
}

impl Loopback {
    /// Answers every request by its body.
    pub fn start(answer: fn(&str) -> Reply) -> Loopback {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback address");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (heard, (gone, left)) = (Arc::clone(&asked), channel());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, gone) = (Arc::clone(&heard), gone.clone());
                thread::spawn(move || serve(stream, answer, &heard, &gone));
            }
        });
        Loopback { url, asked, left }
    }

    /// Returns the bodies of the requests so far and forgets them.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a client that was met with silence goes away.
    pub fn left(&self) {
        self.left.recv_timeout(PATIENCE).expect("the client goes away");
    }
}

fn serve(
    mut stream: TcpStream,
    answer: fn(&str) -> Reply,
    heard: &Mutex<Vec<String>>,
    gone: &Sender<()>,
) {
    let Some(body) = receive(&stream) else { return };
    heard.lock().unwrap_or_else(PoisonError::into_inner).push(body.clone());
    match answer(&body) {
        Reply::Json { status, head, body } => {
            let length = body.len();
            // A client that was killed does not listen.
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\n{head}content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
        Reply::Silence => {
            while stream.read(&mut [0; 16]).is_ok_and(|n| n > 0) {}
            // A test that is over does not listen.
            let _ = gone.send(());
        }
    }
}

fn receive(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let header = line.trim().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if header.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}
