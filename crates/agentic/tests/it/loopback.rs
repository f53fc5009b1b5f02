//! A model on a loopback address: it replies to each call as a case says, and keeps what it was
//! asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};

/// How long a caller is waited for before a test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a model does when it is asked.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It writes this.
    Says(String),
    /// It writes this, piece by piece.
    Speaks(Vec<String>),
    /// It answers with this status and body.
    Status(u16, String),
    /// It asks to be asked again at once.
    Busy,
    /// It says nothing until the caller has gone.
    Hangs,
}

/// A model that speaks as OpenAI does. It ends with the process.
pub struct Model {
    /// Where it is.
    pub url: String,
    asked: Arc<Mutex<Vec<Json>>>,
    left: Mutex<Receiver<()>>,
}

impl Model {
    /// Starts a model; `reply` gets the number of the call, from 0, and what is asked.
    pub fn new(reply: impl Fn(usize, &Json) -> Reply + Send + Sync + 'static) -> Model {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback address");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<Mutex<Vec<Json>>> = Arc::default();
        let (gone, left) = channel();
        let (heard, reply) = (Arc::clone(&asked), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (heard, reply, gone) = (Arc::clone(&heard), Arc::clone(&reply), gone.clone());
                std::thread::spawn(move || {
                    let Some(body) = receive(&stream) else { return };
                    let number = {
                        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                        heard.push(body.clone());
                        heard.len() - 1
                    };
                    answer(stream, reply(number, &body), &gone);
                });
            }
        });
        Model { url, asked, left: Mutex::new(left) }
    }

    /// Returns how often it was asked, and counts anew.
    pub fn take_n_asked(&self) -> usize {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner)).len()
    }

    /// Waits until a caller that it left without a word goes away.
    pub fn left(&self) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.recv_timeout(PATIENCE).expect("the caller goes away");
    }

    /// Returns everything that it was asked so far.
    pub fn asked(&self) -> Vec<Json> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn receive(stream: &TcpStream) -> Option<Json> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    // Who only reads sends nothing.
    if body.is_empty() { Some(Json::Null) } else { serde_json::from_slice(&body).ok() }
}

fn answer(mut stream: TcpStream, reply: Reply, gone: &Sender<()>) {
    let mut pause = "";
    let (status, body) = match reply {
        Reply::Says(text) => (200, said(&text)),
        Reply::Speaks(pieces) => return speak(stream, &pieces),
        Reply::Status(status, body) => (status, body),
        Reply::Busy => {
            pause = "retry-after: 0\r\n";
            (429, "{}".to_owned())
        }
        Reply::Hangs => {
            // A caller that goes away ends the wait.
            let _ = stream.read(&mut [0]);
            // A test that is over does not care.
            let _ = gone.send(());
            return;
        }
    };
    let head = format!(
        "HTTP/1.1 {status} Said\r\n{pause}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A caller that was killed is part of some cases.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

fn speak(mut stream: TcpStream, pieces: &[String]) {
    let mut body = String::new();
    for piece in pieces {
        let event = json!({"choices": [{"delta": {"content": piece}}]});
        body.push_str(&format!("data: {event}\n\n"));
    }
    let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    body.push_str(&format!("data: {last}\n\ndata: [DONE]\n\n"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

fn said(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 5});
    let choice = json!({"message": message, "finish_reason": "stop"});
    json!({"choices": [choice], "usage": usage}).to_string()
}
