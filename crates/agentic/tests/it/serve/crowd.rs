//! Many who listen, requests one after the other, and many who commit, for as many commits as a number
//! says and not for a minute: everybody is answered, nobody is cut off, memory has bounds, and who
//! commits does as much for it as alone. What is counted are calls: `bench/serve` has the clock.

use super::notice::number;
use super::siege::{heard, listen};
use super::*;

/// How many listen.
const STREAMS: usize = 200;
/// How many commit.
const COMMITTERS: usize = 16;
/// How many commits each of them makes, unless `AGENTIC_TEST_COMMITS` asks for more.
const COMMITS: usize = 4;
/// Of a hundred calls of who commits alone, how many more there may be beside a server.
const MORE_MAX: u64 = 5;
/// Which pages are asked for.
const PAGES: [&str; 5] = ["/", "/agents", "/agents/w0", "/statistics", "/api/v1/agents"];

/// Lets everybody commit, and counts the calls that this takes.
fn commit_all(sandbox: &Sandbox, n_commits: usize) -> u64 {
    let committers: Vec<Child> = (0..COMMITTERS)
        .map(|number| {
            let mut committer = sandbox.command("bash", sandbox.start());
            // A shell is told what those have read and written that it waited for.
            let work = format!(
                "for n in $(seq {n_commits}); do agentic trace add saw >&2 && \
                 agentic commit -m A --allow-empty --trace >&2 || exit 1; done; cat /proc/$$/io"
            );
            committer.args(["-c", &work]).env("AGENTIC_AGENT", format!("w{number}"));
            committer.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            committer.spawn().expect("it starts")
        })
        .collect();
    let calls = |committer: Child| {
        let ended = committer.wait_with_output().expect("a child");
        assert!(ended.status.success(), "a command failed");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        let calls = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name)).expect("it is told");
            line.trim().parse::<u64>().expect("a number")
        };
        calls("syscr:") + calls("syscw:")
    };
    committers.into_iter().map(calls).sum()
}

fn spawn_all(served: &Served) {
    (0..COMMITTERS).for_each(|number| _ = served.ok(&["spawn", &format!("w{number}"), "-m", "x"]));
}

#[test]
fn many_who_listen_ask_and_commit_are_all_served() {
    agentic_store::open_files::make_room(4 * STREAMS);
    let n_commits = number("AGENTIC_TEST_COMMITS", COMMITS);
    let mut alone = Served::new();
    spawn_all(&alone);
    alone.ok(&["serve", "stop"]);
    alone.process.wait().expect("a child");
    let calls_alone = commit_all(&alone.sandbox, n_commits);
    drop(alone);
    let served = Served::new();
    spawn_all(&served);
    let cookie = served.log_in();
    served.serves_others(&cookie);
    let before = served.memory_kib();
    let listeners: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (status, mut stream) = listen(&served, &cookie);
            assert_eq!(status, 200);
            std::thread::spawn(move || {
                let last = heard(&mut stream, &["\"agent\":\"last\"", "event: reset"]);
                last.map(|_| stream)
            })
        })
        .collect();
    let (n_asked, calls_beside) = std::thread::scope(|scope| {
        let sandbox = &served.sandbox;
        let committing = scope.spawn(move || commit_all(sandbox, n_commits));
        let mut n_asked = 0;
        while !committing.is_finished() {
            let path = PAGES[n_asked % PAGES.len()];
            let answered = served.ask("GET", path, &[("Cookie", &cookie)], "");
            assert_eq!(answered.status, 200, "{path}: {}", answered.body);
            n_asked += 1;
        }
        (n_asked, committing.join().expect("nobody failed"))
    });
    println!("{n_asked} requests; {calls_alone} calls alone, {calls_beside} beside a server");
    assert!(n_asked >= PAGES.len(), "nothing was asked meanwhile");
    let most = calls_alone + calls_alone * MORE_MAX / 100;
    assert!(calls_beside <= most, "{calls_alone} calls alone, {calls_beside} beside a server");
    served.is_within(before);
    served.ok(&["spawn", "last", "-m", "x"]);
    let listening: Vec<_> =
        listeners.into_iter().map(|it| it.join().expect("it ends").expect("it is told")).collect();
    let status: Json =
        serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
    assert_eq!(status["streams"], STREAMS, "somebody was cut off");
    drop(listening);
    for number in 0..COMMITTERS {
        let log = served.ok(&["log", &format!("w{number}"), "--json"]);
        let log: Json = serde_json::from_str(&log).expect("JSON");
        assert_eq!(log.as_array().map(Vec::len), Some(n_commits + 1), "w{number}");
    }
}
