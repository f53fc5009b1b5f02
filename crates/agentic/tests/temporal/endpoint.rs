//! An agent of a pipeline that is an endpoint on loopback, and remembers with which key it was called.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};

/// An endpoint that answers only once so many calls are there at the same time.
pub struct MeetingEndpoint {
    port: u16,
    keys: Arc<Mutex<Vec<String>>>,
}

impl MeetingEndpoint {
    /// Listens for calls that wait for each other, and answers each with this status and this reply, in
    /// which `KEY` stands for the key of the call.
    pub fn of(n_calls: usize, status: &'static str, reply: &'static str) -> MeetingEndpoint {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let port = listener.local_addr().expect("it listens").port();
        let keys = Arc::new(Mutex::new(Vec::new()));
        let (heard, meeting) = (Arc::clone(&keys), Arc::new(Barrier::new(n_calls)));
        std::thread::spawn(move || {
            for call in listener.incoming().map_while(Result::ok) {
                let (heard, meeting) = (Arc::clone(&heard), Arc::clone(&meeting));
                std::thread::spawn(move || {
                    let key = key_of(&call);
                    heard.lock().expect("nobody panics").push(key.clone());
                    meeting.wait();
                    let reply = reply.replace("KEY", &key);
                    let n_bytes = reply.len();
                    let _ = write!(
                        &call,
                        "HTTP/1.1 {status}\r\ncontent-length: {n_bytes}\r\nconnection: close\r\n\r\n{reply}"
                    );
                });
            }
        });
        MeetingEndpoint { port, keys }
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns the keys that it was called with, sorted.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.keys.lock().expect("nobody panics").clone();
        keys.sort();
        keys
    }
}

/// Reads a call to its end, and returns its key.
fn key_of(call: &TcpStream) -> String {
    let (mut reader, mut key, mut n_bytes) = (BufReader::new(call), String::new(), 0);
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 0) && !line.trim().is_empty() {
        let (name, value) = line.split_once(':').unwrap_or(("", ""));
        match name.to_ascii_lowercase().as_str() {
            "authorization" => key = value.trim().trim_start_matches("Bearer ").to_owned(),
            "content-length" => n_bytes = value.trim().parse().unwrap_or_default(),
            _ => {}
        }
        line.clear();
    }
    let mut body = vec![0; n_bytes];
    let _ = reader.read_exact(&mut body);
    key
}
