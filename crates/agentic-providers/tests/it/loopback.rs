//! A server on a loopback address that answers each connection as a case says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What a client said.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// `METHOD PATH`.
    pub line: String,
    /// `name: value`, names in lower case.
    pub headers: Vec<String>,
    pub body: String,
}

/// A server for so many connections.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers the nth connection with the bytes that `answer` makes of the request.
    pub fn new(
        n_connections: usize,
        answer: impl Fn(usize, &Asked) -> Vec<u8> + Send + 'static,
    ) -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback address");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let thread = std::thread::spawn(move || {
            for n in 0..n_connections {
                let Ok((mut stream, _)) = listener.accept() else { return };
                let request = receive(&stream);
                heard.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
                // A client that hangs up early is part of some cases.
                let _ = stream.write_all(&answer(n, &request));
            }
        });
        Server { url, asked, thread: Some(thread) }
    }

    /// Waits for the last connection and returns all that was asked.
    pub fn finish(mut self) -> Vec<Asked> {
        let thread = self.thread.take().expect("it is finished once");
        thread.join().expect("the server does not panic");
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.headers.iter().find_map(|header| header.strip_prefix(&prefix))
    }

    /// Returns a field of a form.
    pub fn field(&self, name: &str) -> Option<String> {
        let pairs = self.body.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).next()
    }
}

/// Makes a response with a JSON body.
pub fn json(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn receive(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut asked = Asked::default();
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    asked.line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.trim_end().split_once(": ").unwrap_or((line.trim_end(), ""));
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.parse().unwrap_or(0);
        }
        asked.headers.push(format!("{name}: {value}"));
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    asked.body = String::from_utf8_lossy(&body).into_owned();
    asked
}
