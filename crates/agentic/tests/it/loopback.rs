//! A model on a loopback address: it replies to each call as a case says, and keeps what it was
//! asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};

/// What a model does when it is asked.
#[derive(Debug, Clone)]
pub enum Reply {
    /// It writes this.
    Says(String),
    /// It writes this, piece by piece.
    Speaks(Vec<String>),
    /// It answers with this status and body.
    Status(u16, String),
    /// It says nothing until the caller has gone.
    Hangs,
}

/// A model that speaks as OpenAI does. It ends with the process.
pub struct Model {
    /// Where it is.
    pub url: String,
    asked: Arc<Mutex<Vec<Json>>>,
}

impl Model {
    /// Starts a model; `reply` gets the number of the call, from 0, and what is asked.
    pub fn new(reply: impl Fn(usize, &Json) -> Reply + Send + Sync + 'static) -> Model {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback address");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked: Arc<Mutex<Vec<Json>>> = Arc::default();
        let (heard, reply) = (Arc::clone(&asked), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (heard, reply) = (Arc::clone(&heard), Arc::clone(&reply));
                std::thread::spawn(move || {
                    let Some(body) = receive(&stream) else { return };
                    let number = {
                        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                        heard.push(body.clone());
                        heard.len() - 1
                    };
                    answer(stream, reply(number, &body));
                });
            }
        });
        Model { url, asked }
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
    serde_json::from_slice(&body).ok()
}

fn answer(mut stream: TcpStream, reply: Reply) {
    let (status, body) = match reply {
        Reply::Says(text) => (200, said(&text)),
        Reply::Speaks(pieces) => return speak(stream, &pieces),
        Reply::Status(status, body) => (status, body),
        Reply::Hangs => {
            // A caller that goes away ends the wait.
            let _ = stream.read(&mut [0]);
            return;
        }
    };
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
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
    json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string()
}
