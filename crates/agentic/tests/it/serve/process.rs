//! The process: it ends as it should, writes nothing where its repository was, and is never waited for.

use super::schema::check_schema;
use super::*;

fn signal(served: &Served, name: &str) {
    let pid = served.process.id().to_string();
    let done = std::process::Command::new("kill").args([name, &pid]).status();
    assert!(done.expect("it runs").success());
}

fn ended(served: &mut Served) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = served.process.try_wait().expect("a child") {
            return status.code();
        }
        assert!(begun.elapsed() < PATIENCE, "it never ends");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn another_repository_at_the_same_place_is_not_written_to() {
    for is_replaced in [false, true] {
        let mut served = Served::new();
        let (git, aside) =
            (served.sandbox.start().join(".git"), served.sandbox.start().join("old"));
        std::fs::rename(&git, &aside).expect("it moves");
        if is_replaced {
            let start = served.sandbox.start();
            served.sandbox.git(start, &["init", "--quiet"]).expect("git does it");
        }
        assert_eq!(ended(&mut served), Some(1));
        let written = std::fs::read_dir(git.join("agentic")).into_iter().flatten();
        let written: Vec<_> = written.map(|entry| entry.map(|entry| entry.path())).collect();
        assert!(written.is_empty(), "nothing is written there: {written:?}");
    }
}

#[test]
fn a_repository_that_was_deleted_and_restored_is_another_one() {
    let mut served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let start = served.sandbox.start().to_owned();
    let copy = served.sandbox.root().join("copy");
    let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
        let done = std::process::Command::new(program).args(arguments).status();
        assert!(done.expect("it runs").success(), "{program}");
    };
    let (git, copy) = (start.join(".git"), copy.as_os_str().to_owned());
    run("cp", &["-a".as_ref(), git.as_os_str(), &copy]);
    let state = |folder: &Path| {
        let list = std::process::Command::new("find")
            .arg(folder)
            .args(["-printf", "%P %s %T@\n"])
            .output();
        let list = String::from_utf8(list.expect("it runs").stdout).expect("text");
        let mut lines: Vec<String> = list.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    std::fs::remove_dir_all(&git).expect("it goes");
    run("cp", &["-a".as_ref(), copy.as_os_str(), git.as_os_str()]);
    assert_eq!(ended(&mut served), Some(1));
    assert_eq!(state(&git), state(Path::new(&copy)), "nothing was written there");
}

#[test]
fn a_process_whose_lock_another_one_could_take_ends() {
    let mut served = Served::new();
    let start = served.sandbox.start().to_owned();
    let lock = start.join(".git/agentic/serve/lock");
    std::fs::remove_file(&lock).expect("it is there");
    let mut second = begin(&served.sandbox, &start, &[]);
    assert_eq!(ended(&mut served), Some(1), "its lock is gone");
    let status: Json =
        serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
    assert_eq!(status["pid"], second.id(), "the other one stays");
    served.ok(&["serve", "stop"]);
    assert_eq!(second.wait().expect("a child").code(), Some(0));
}

/// Runs a command that must come to an end, and returns how and what it said.
fn ends(sandbox: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().expect("it runs");
            panic!("{arguments:?} never ends");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it ended");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_never_waited_for() {
    let mut served = Served::new();
    served.ok(&["serve", "token", "first"]);
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("a child");
    let start = served.sandbox.start().to_owned();
    let at = |name: &str| start.join(".git/agentic/serve").join(name);
    let commands: [(&[&str], &str, Option<i32>); 13] = [
        (&["search", "x"], "at", Some(0)),
        (&["serve", "status"], "at", Some(1)),
        (&["serve", "stop"], "at", Some(1)),
        (&["serve", "status"], "lock", Some(1)),
        (&["serve", "stop"], "lock", Some(1)),
        (&["serve", "rebuild"], "lock", Some(0)),
        (&["serve"], "lock", Some(1)),
        (&["serve", "--detach"], "lock", Some(1)),
        (&["serve"], "key", Some(1)),
        (&["serve", "--detach"], "key", Some(1)),
        (&["serve", "--detach"], "log", Some(1)),
        (&["serve", "token", "second"], "tokens", Some(1)),
        (&["serve", "token", "second"], "tokens.lock", Some(1)),
    ];
    for (arguments, name, code) in commands {
        let _ = std::fs::remove_file(at(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, at(name), rustix::fs::Mode::RWXU).expect("writable");
        let (found, said) = ends(&served.sandbox, arguments);
        assert_eq!(found, code, "{arguments:?} with a pipe `{name}`: {said}");
        assert!(code == Some(0) || said.contains("hint: "), "{arguments:?}: {said}");
        let is_named = said.contains(name) || matches!(arguments, ["serve", "status" | "stop"]);
        assert!(code == Some(0) || is_named, "{arguments:?} with a pipe `{name}`: {said}");
        std::fs::remove_file(at(name)).expect("it is there");
    }
    // What is stale is replaced.
    rustix::fs::mkfifoat(rustix::fs::CWD, at("at"), rustix::fs::Mode::RWXU).expect("writable");
    served.process = begin(&served.sandbox, &start, &[]);
}

#[test]
fn every_verb_says_in_json_what_it_did() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    let said = |arguments: &[&str]| -> Json {
        let arguments = [&["--json", "serve"], arguments].concat();
        serde_json::from_str(&ok(&sandbox, &start, &arguments)).expect("one value")
    };
    let begun = said(&["--detach"]);
    check_schema("serve-detach", &begun);
    let status = said(&["status"]);
    assert_eq!([&begun["pid"], &begun["url"]], [&status["pid"], &status["url"]]);
    said(&["token", "editor"]);
    let revoked = said(&["token", "editor", "--revoke"]);
    check_schema("serve-revoke", &revoked);
    assert_eq!(revoked, serde_json::json!({ "name": "editor", "revoked": true }));
    for verb in ["logout", "rebuild"] {
        let done = said(&[verb]);
        check_schema("serve-done", &done);
        assert_eq!(done, serde_json::json!({}), "{verb}");
    }
    let stopped = said(&["stop"]);
    check_schema("serve-stop", &stopped);
    assert_eq!(stopped["pid"], begun["pid"]);
    assert_eq!(said(&["rebuild"]), serde_json::json!({}), "nothing serves");
}

#[test]
fn told_twice_to_end_it_ends_at_once() {
    let mut served = Served::new();
    let cookie = served.log_in();
    // A request that never ends keeps it until its time is over.
    let port = served.host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    write!(
        stream,
        "POST /logout HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\nCookie: {cookie}\r\n\
         Content-Type: {FORM}\r\nContent-Length: 10\r\n\r\nx",
        served.host,
        served.origin()
    )
    .expect("it reads");
    std::thread::sleep(Duration::from_millis(100));
    signal(&served, "-TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(served.process.try_wait().expect("a child").is_none(), "what runs may end");
    signal(&served, "-TERM");
    assert_eq!(ended(&mut served), Some(130));
}

#[test]
fn a_worker_is_kept_running_where_that_is_asked_for() {
    let served = Served::with(&["--drive"]);
    let begun = Instant::now();
    loop {
        let status: Json =
            serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
        assert_ne!(status["index"]["main"]["state"], "absent");
        if status["driven"] == true {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "nobody drives: {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::write(served.sandbox.start().join("nap.rhai"), "sleep(300); \"rested\"")
        .expect("writable");
    served.ok(&["spawn", "alice", "-m", "x"]);
    let start = served.sandbox.start();
    run(&served.sandbox, start, &["session", "start", "alice", "--flow", "nap.rhai"]);
    while !served.ok(&["session", "list"]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody drove it");
        std::thread::sleep(Duration::from_millis(50));
    }
    served.ok(&["serve", "stop"]);
}

#[test]
fn a_log_in_the_background_is_set_aside_when_it_is_long() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    ok(&sandbox, &start, &["serve", "--detach", "--no-tcp"]);
    let folder = start.join(".git/agentic/serve");
    // As if it had said so much.
    let mut log = std::fs::OpenOptions::new().append(true).open(folder.join("log")).expect("a log");
    log.write_all(&vec![b'x'; (1 << 20) + 1]).expect("writable");
    let begun = Instant::now();
    while !folder.join("log.old").exists() {
        assert!(begun.elapsed() < PATIENCE, "it grows for ever");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(std::fs::metadata(folder.join("log")).expect("a log").len() < 1 << 20);
    ok(&sandbox, &start, &["serve", "stop"]);
}

#[test]
fn a_server_that_hangs_with_a_full_queue_is_none_at_once() {
    let served = Served::new();
    signal(&served, "-STOP");
    let socket = served.sandbox.start().join(".git/agentic/serve/sock");
    // Whoever does not wait fills the queue.
    let mut waiting = Vec::new();
    loop {
        let stream = rustix_connect(&socket);
        match stream {
            Some(stream) if waiting.len() < 10_000 => waiting.push(stream),
            Some(_) => panic!("the queue has no end"),
            None => break,
        }
    }
    let begun = Instant::now();
    let status = run(&served.sandbox, served.sandbox.start(), &["serve", "status"]);
    assert_eq!(status.status.code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    signal(&served, "-CONT");
}

/// Connects without waiting; nothing if the queue is full.
fn rustix_connect(path: &Path) -> Option<std::os::fd::OwnedFd> {
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("one");
    connect(&socket, &SocketAddrUnix::new(path).expect("short")).ok().map(|()| socket)
}

#[test]
fn whoever_cannot_have_the_lock_says_why_and_what_to_do() {
    let mut served = Served::new();
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("a child");
    let folder = served.sandbox.start().join(".git/agentic/serve");
    let second = || {
        let output = run(&served.sandbox, served.sandbox.start(), &["serve"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("hint: "), "{said}");
        said
    };
    // What cannot be opened for writing, whoever asks: a folder.
    let lock = folder.join("lock");
    std::fs::remove_file(&lock).expect("it is there");
    std::fs::create_dir(&lock).expect("writable");
    assert!(second().contains("lock"), "it names the file");
    std::fs::remove_dir(&lock).expect("it is empty");
    // Somebody else has it, whatever `at` says of another process that lives.
    let file = std::fs::File::create(&lock).expect("writable");
    file.lock().expect("nobody has it");
    let at = format!(
        "{{\"pid\":{},\"start\":1,\"boot\":\"x\",\"version\":\"0\",\"api\":1}}",
        std::process::id()
    );
    std::fs::write(folder.join("at"), at).expect("writable");
    assert!(second().contains("serves this repository already"));
    drop(file);
    // A living process that only `at` names keeps nobody out.
    served.process = begin(&served.sandbox, served.sandbox.start(), &[]);
    let status: Json =
        serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
    assert_eq!(status["pid"], served.process.id());
}
