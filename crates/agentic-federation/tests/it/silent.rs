//! A remote that takes a connection and says nothing, or not enough: it is given up, and everything that talked to it
//! has ended.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use agentic_federation::exchange::served_refs;
use agentic_model::guidance::{ErrorClass, Guidance as _};

use super::{FederatedPlace, git};

/// A remote of loopback that says something to the first who connects, and then waits until that one has gone.
struct SilentRemote {
    port: u16,
    waiting: JoinHandle<usize>,
}

impl SilentRemote {
    fn saying(words: &'static [u8]) -> SilentRemote {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let port = listener.local_addr().expect("it is bound").port();
        let waiting = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody connects");
            stream.write_all(words).expect("it is open");
            read_to_end(&mut stream)
        });
        SilentRemote { port, waiting }
    }
}

/// Reads until nobody holds the other end any more.
fn read_to_end(stream: &mut TcpStream) -> usize {
    let mut asked = Vec::new();
    let _one_that_was_killed_may_reset = stream.read_to_end(&mut asked);
    asked.len()
}

fn is_given_up(scheme: &str, words: &'static [u8]) {
    let place = FederatedPlace::new();
    let folder = place.path("bob");
    git(&folder, "config agentic.remoteSilence 1");
    let remote = SilentRemote::saying(words);
    let address = format!("{scheme}://127.0.0.1:{}/hub", remote.port);
    git(&folder, &format!("remote set-url origin {address}"));
    let space = place.open("bob");
    let pattern = ["refs/agentic/announce/*".to_owned()];
    let told = served_refs(space.repository(), "origin", &pattern);
    let refused = told.expect_err("nothing is served");
    assert_eq!(refused.class(), ErrorClass::Refused);
    assert!(refused.to_string().contains("was silent for 1 s"), "{refused}");
    assert!(refused.hint().contains("agentic.remoteSilence"), "{}", refused.hint());
    // This ends once whoever had connected has.
    assert!(remote.waiting.join().expect("it only reads") > 0);
}

#[test]
fn who_takes_a_connection_of_git_and_says_nothing_is_given_up() {
    is_given_up("git", b"");
}

#[test]
fn who_says_a_few_bytes_to_git_and_stops_is_given_up() {
    is_given_up("git", b"0032");
}

#[test]
fn who_takes_a_request_and_answers_nothing_is_given_up() {
    is_given_up("http", b"");
}

#[test]
fn who_begins_an_answer_and_stops_is_given_up() {
    is_given_up("http", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n001e# service");
}

#[test]
fn no_more_refs_of_a_remote_are_read_than_a_number() {
    let place = FederatedPlace::new();
    let hub = place.path("hub");
    git(&hub, "fetch -q ../ada main:refs/heads/main");
    let commit = git(&hub, "rev-parse main");
    let line = |number: usize| format!("{commit} refs/agentic/announce/x/{number:06}\n");
    let serve = |n_refs: usize| {
        let lines: String = (0..n_refs).map(line).collect();
        let head = "# pack-refs with: peeled fully-peeled sorted \n";
        std::fs::write(hub.join("packed-refs"), format!("{head}{lines}")).expect("writable");
    };
    let space = place.open("bob");
    let served =
        || served_refs(space.repository(), "origin", &["refs/agentic/announce/*".to_owned()]);
    serve(262_144);
    assert_eq!(served().expect("there are as many as are read").len(), 262_144);
    serve(262_145);
    let refused = served().expect_err("there is one more");
    assert!(refused.to_string().contains("more than 262144 refs"), "{refused}");
}
