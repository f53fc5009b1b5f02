//! Many who ask at once, slowly, too much, or without ever listening: others are served all the same,
//! and memory has bounds.

use std::net::SocketAddr;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, SocketType, connect, socket};

use super::event::EventListener;
use super::*;

/// How many connections say their request a byte at a time.
const N_SLOW: usize = 500;
/// How many requests come on one connection.
const N_REQUESTS: usize = 10_000;
/// How many want to listen, how many may, and how many of those never read.
const STREAMS: (usize, usize, usize) = (300, 256, 100);
/// How much more memory any of this may take, in KiB.
const MEMORY_KIB_MAX: u64 = 64 << 10;
/// How long others may wait for an answer meanwhile.
const SERVED: Duration = Duration::from_secs(5);
/// How long the head of a request may take, and a bit.
const HEAD_WAIT: Duration = Duration::from_secs(20);

impl Served {
    pub(crate) fn address(&self) -> SocketAddr {
        let port = self.host.rsplit(':').next().and_then(|port| port.parse().ok());
        SocketAddr::from((Ipv4Addr::LOCALHOST, port.expect("a port")))
    }

    /// Returns how much memory the process has, in KiB.
    pub(super) fn memory_kib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Asks as people do, who do not wait long.
    pub(super) fn serves_others(&self, cookie: &str) {
        for path in ["/", "/agents", "/api/v1/agents"] {
            let begun = Instant::now();
            let answered = self.ask("GET", path, &[("Cookie", cookie)], "");
            assert_eq!(answered.status, 200, "{path}");
            assert!(begun.elapsed() < SERVED, "{path} took {:?}", begun.elapsed());
        }
        self.ok(&["serve", "status"]);
    }

    pub(super) fn is_within(&self, before: u64) {
        let now = self.memory_kib();
        assert!(now < before + MEMORY_KIB_MAX, "{before} KiB became {now}");
    }
}

/// Sends something, and returns the status of the answer; none where the connection broke.
fn status_of(served: &Served, sent: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(served.address()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    // The answer may come before the end was read.
    let _refused = stream.write_all(sent);
    let mut answer = Vec::new();
    let _broken = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1).and_then(|status| status.parse().ok())
}

#[test]
fn connections_that_never_say_what_they_want_keep_nobody_out() {
    agentic_store::open_files::make_room(2 * N_SLOW);
    let served = Served::new();
    let cookie = served.log_in();
    served.serves_others(&cookie);
    let before = served.memory_kib();
    // Half of them say nothing of their head's end, half nothing of the content that they announce.
    let (host, origin) = (&served.host, served.origin());
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: ");
    let content = format!(
        "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: {FORM}\r\n\
         Content-Length: 1000\r\n\r\ncode="
    );
    let mut slow: Vec<TcpStream> = (0..N_SLOW)
        .map(|number| {
            let mut stream = TcpStream::connect(served.address()).expect("it listens");
            let said = if number % 2 == 0 { &head } else { &content };
            stream.write_all(said.as_bytes()).expect("it reads");
            stream
        })
        .collect();
    let begun = Instant::now();
    while begun.elapsed() < HEAD_WAIT {
        // A letter now and then does not make them live longer.
        for stream in &mut slow {
            let _closed = stream.write_all(b"a");
        }
        served.serves_others(&cookie);
        served.is_within(before);
        std::thread::sleep(Duration::from_millis(500));
    }
    for stream in slow.iter_mut().step_by(2) {
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.is_empty() || answer.contains(" 408 "), "{answer}");
    }
}

#[test]
fn more_than_all_connections_leave_the_socket_to_its_user() {
    agentic_store::open_files::make_room(2 * N_SLOW);
    let served = Served::new();
    let slow: Vec<TcpStream> = (0..N_SLOW + 100)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address()).expect("it listens");
            stream.write_all(b"GET / HTTP/1.1\r\n").expect("it reads");
            stream
        })
        .collect();
    let begun = Instant::now();
    served.ok(&["serve", "status"]);
    served.ok(&["serve", "open", "--print"]);
    assert!(begun.elapsed() < SERVED, "{:?}", begun.elapsed());
    drop(slow);
}

#[test]
fn what_is_too_long_is_refused_and_not_kept() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let before = served.memory_kib();
    let (host, origin) = (&served.host, served.origin());
    let long = "a".repeat(20 << 10);
    let head = format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {long}\r\n\r\n");
    let address = format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let post = |path: &str, cookie: &str, n_bytes: usize| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nCookie: {cookie}\r\n\
             Content-Type: {FORM}\r\nConnection: close\r\nContent-Length: {n_bytes}\r\n\r\n"
        );
        [head.into_bytes(), vec![b'a'; n_bytes]].concat()
    };
    let decision = format!("/holds/{request}/decision");
    for _ in 0..20 {
        let refused = [status_of(&served, head.as_bytes()), status_of(&served, address.as_bytes())];
        assert!(
            refused.iter().all(|status| matches!(status, Some(400 | 414 | 431))),
            "{refused:?}"
        );
        // Where the connection broke it did because nobody read on.
        for (path, cookie, n_bytes) in [
            ("/login", "", 5 << 20),
            ("/login", "", 64 << 10),
            ("/mcp", "", 5 << 20),
            ("/mcp", "", 4 << 20),
            (decision.as_str(), cookie.as_str(), 5 << 20),
        ] {
            let status = status_of(&served, &post(path, cookie, n_bytes));
            assert!(matches!(status, None | Some(400 | 401 | 413)), "{path} {n_bytes}: {status:?}");
        }
    }
    served.is_within(before);
    served.serves_others(&cookie);
}

#[test]
fn strangers_make_nothing_kept_by_what_they_do_not_end() {
    let served = Served::new();
    let cookie = served.log_in();
    let before = served.memory_kib();
    let (host, origin) = (&served.host, served.origin());
    let almost = (4 << 20) - 10;
    let open: Vec<TcpStream> =
        ["/login", "/mcp", "/holds/x/decision", "/api/v1/pending/x/decision"]
            .into_iter()
            .cycle()
            .take(100)
            .map(|path| {
                let mut stream = TcpStream::connect(served.address()).expect("it listens");
                stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a socket");
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\
                 Content-Type: {FORM}\r\nContent-Length: {}\r\n\r\n",
                    4 << 20
                );
                stream.write_all(head.as_bytes()).expect("it reads");
                let _unread = stream.write_all(&vec![b'a'; almost]);
                stream
            })
            .collect();
    served.is_within(before);
    served.serves_others(&cookie);
    drop(open);
}

#[test]
fn ten_thousand_requests_come_on_one_connection() {
    const AT_ONCE: usize = 50;
    let served = Served::new();
    let cookie = served.log_in();
    let before = served.memory_kib();
    let mut stream = TcpStream::connect(served.address()).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let host = &served.host;
    let ask = format!("GET /api/v1/health HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n");
    let asked = ask.repeat(AT_ONCE);
    let (mut part, mut tail) = (vec![0; 64 << 10], String::new());
    for _ in 0..N_REQUESTS / AT_ONCE {
        stream.write_all(asked.as_bytes()).expect("it reads");
        let mut n_answered = 0;
        while n_answered < AT_ONCE {
            let n_read = stream.read(&mut part).expect("it answers");
            assert!(n_read > 0, "it ended");
            tail.push_str(&String::from_utf8_lossy(&part[..n_read]));
            n_answered += tail.matches("\"read_only\"").count();
            // What was counted is not counted again.
            let end = tail.rfind("\"read_only\"").map_or(0, |place| place + 11);
            tail.drain(..end);
        }
        tail.clear();
    }
    served.is_within(before);
    served.serves_others(&cookie);
}

/// Connects as somebody who takes little at a time.
fn narrow(address: SocketAddr) -> TcpStream {
    let taken = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    set_socket_recv_buffer_size(&taken, 4 << 10).expect("a socket");
    connect(&taken, &address).expect("it listens");
    TcpStream::from(taken)
}

/// Begins to listen; tells with which status.
pub(super) fn listen(served: &Served, cookie: &str) -> (u16, TcpStream) {
    let mut stream = narrow(served.address());
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let host = &served.host;
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n")
        .expect("it reads");
    let (mut head, mut byte) = (String::new(), [0]);
    while !head.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).expect("it answers");
        head.push(char::from(byte[0]));
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), stream)
}

/// Reads events until one of some texts was told; tells which. That the stream lives is no event.
pub(super) fn heard<'t>(stream: &mut TcpStream, texts: &[&'t str]) -> Option<&'t str> {
    let (mut said, mut part) = (String::new(), [0; 4096]);
    let begun = Instant::now();
    while begun.elapsed() < 4 * PATIENCE {
        if let Some(text) = texts.iter().find(|text| said.contains(**text)) {
            return Some(text);
        }
        let n_read = stream.read(&mut part).ok().filter(|n_read| *n_read > 0)?;
        said.push_str(&String::from_utf8_lossy(&part[..n_read]));
        // What was looked through is forgotten, but for what may go on.
        let kept = said.len().saturating_sub(256);
        if kept > 64 << 10 {
            said.drain(..kept);
        }
    }
    None
}

/// Tells whether a connection was ended at the other side.
fn is_cut_off(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(n_read) => n_read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn listeners_who_never_read_are_told_to_fetch_anew_and_cost_nothing() {
    const N_AGENTS: usize = 4_000;
    let served = Served::new();
    let start = served.sandbox.start().to_owned();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let head = served.sandbox.git(&start, &["rev-parse", "agents/alice"]).expect("git does it");
    let cookie = served.log_in();
    let begun = Instant::now();
    let (n_wanted, n_max, n_deaf) = STREAMS;
    let (mut streams, mut n_refused) = (Vec::new(), 0);
    for _ in 0..n_wanted {
        match listen(&served, &cookie) {
            (200, stream) => streams.push(stream),
            (status, _) => {
                assert_eq!(status, 503);
                n_refused += 1;
            }
        }
    }
    assert_eq!((streams.len(), n_refused), (n_max, n_wanted - n_max));
    let before = served.memory_kib();
    let mut deaf = streams.split_off(n_max - n_deaf);
    let readers: Vec<_> = streams
        .into_iter()
        .map(|mut stream| {
            std::thread::spawn(move || heard(&mut stream, &["\"agent\":\"last\"", "event: reset"]))
        })
        .collect();
    let create = |names: &mut dyn Iterator<Item = String>| {
        let lines: String =
            names.map(|name| format!("create refs/heads/agents/{name} {head}")).collect();
        let done =
            served.sandbox.git_with_input(&start, &["update-ref", "--stdin"], lines.as_bytes());
        let done = done.expect("git runs");
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    create(&mut (0..N_AGENTS).map(|number| format!("n{number}")));
    // Nothing while it has too much to do to answer soon.
    let count = || {
        let status = run(&served.sandbox, &start, &["serve", "status", "--json"]);
        let status: Json = serde_json::from_slice(&status.stdout).ok()?;
        Some((status["n"].as_u64()?, status["streams"].as_u64()?))
    };
    while count().is_none_or(|(n, _)| n < N_AGENTS as u64) {
        assert!(begun.elapsed() < 2 * PATIENCE, "not all is told: {:?}", count());
        std::thread::sleep(Duration::from_millis(100));
    }
    create(&mut std::iter::once("last".to_owned()));
    for reader in readers {
        assert!(reader.join().expect("it ends").is_some(), "who reads is told");
    }
    served.is_within(before);
    served.serves_others(&cookie);
    for stream in &mut deaf {
        // Who takes nothing for a minute is cut off, which a busy machine makes of some here.
        let is_told = heard(stream, &["event: reset"]).is_some();
        assert!(is_told || is_cut_off(stream), "they are told to fetch anew");
    }
    drop(deaf);
    while count().is_none_or(|(_, n_streams)| n_streams > 0) {
        assert!(begun.elapsed() < 4 * PATIENCE, "who went away still counts: {:?}", count());
        // Who has gone is noticed when something is told.
        std::thread::sleep(Duration::from_millis(100));
        served.ok(&["trace", "add", "--agent", "alice", "x"]);
    }
    let mut listener = EventListener::begin(&served, &cookie);
    served.ok(&["spawn", "bob", "-m", "x"]);
    listener.hear("agent", &[("agent", "bob")]);
}
