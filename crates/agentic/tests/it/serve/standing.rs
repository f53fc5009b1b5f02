//! Who stands where: the process without its files, a person in a worktree, a listener without a login.

use super::*;

#[test]
fn a_process_is_found_and_ended_without_the_file_that_says_where_it_is() {
    let mut served = Served::new();
    let folder = served.sandbox.start().join(".git/agentic/serve");
    std::fs::remove_file(folder.join("at")).expect("it is there");
    let second = run(&served.sandbox, served.sandbox.start(), &["serve"]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(said.contains(&served.process.id().to_string()), "{said}");
    served.ok(&["serve", "stop"]);
    assert_eq!(served.process.wait().expect("a child").code(), Some(0));
}

#[test]
fn a_process_whose_folder_is_gone_ends_and_leaves_the_next_alone() {
    let mut served = Served::new();
    let start = served.sandbox.start().to_owned();
    std::fs::remove_dir_all(start.join(".git/agentic/serve")).expect("it is there");
    let mut next = begin(&served.sandbox, &start, &["--no-tcp"]);
    assert!(!served.process.wait().expect("a child").success(), "its repository has another");
    served.ok(&["serve", "status"]);
    served.ok(&["serve", "stop"]);
    assert_eq!(next.wait().expect("a child").code(), Some(0));
}

#[test]
fn a_person_in_a_worktree_of_a_branch_of_theirs_opens_the_page() {
    let served = Served::new();
    let start = served.sandbox.start().to_owned();
    let folder = served.sandbox.repositories().join("feature");
    let target = folder.to_str().expect("a name");
    served.sandbox.git(&start, &["worktree", "add", "-b", "feature", target]).expect("it does");
    assert!(ok(&served.sandbox, &folder, &["serve", "open", "--print"]).contains("/login#"));
    ok(&served.sandbox, &folder, &["serve", "logout"]);
}

#[test]
fn a_stream_ends_with_its_login() {
    let served = Served::new();
    let cookie = served.log_in();
    let port = served.host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let host = &served.host;
    write!(
        stream,
        "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n"
    )
    .expect("it reads");
    served.ok(&["spawn", "alice", "-m", "x"]);
    read_until(&mut stream, "event: agent");
    served.ok(&["serve", "logout"]);
    served.ok(&["spawn", "unheard", "-m", "x"]);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("it ends");
    assert!(!rest.contains("unheard"), "{rest}");
}

/// Waits until no session waits any more.
fn await_done(served: &Served) {
    let begun = Instant::now();
    while !served.ok(&["session", "list"]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody went on with it");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn approve(served: &Served, cookie: &str, request: &str) {
    let mut form = fields(&served.page(cookie, &format!("/holds/{request}")));
    form.insert("action".to_owned(), "approve".to_owned());
    let decided = served.send_form(cookie, request, &form);
    assert_eq!(decided.status, 303, "{}", decided.body);
}

#[test]
fn sessions_are_gone_on_with_though_the_folder_of_the_process_is_gone() {
    for is_linked in [true, false] {
        let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let start = sandbox.start().to_owned();
        let folder = match is_linked {
            true => sandbox.repositories().join("linked"),
            false => start.join("below"),
        };
        let target = folder.to_str().expect("a name");
        match is_linked {
            true => drop(
                sandbox.git(&start, &["worktree", "add", "--detach", target]).expect("it does"),
            ),
            false => std::fs::create_dir(&folder).expect("writable"),
        }
        let process = begin(&sandbox, &folder, &[]);
        let served = Served::of(sandbox, process);
        let (request, cookie) = (served.hold(), served.log_in());
        match is_linked {
            true => {
                drop(served.sandbox.git(&start, &["worktree", "remove", target]).expect("it does"))
            }
            false => std::fs::remove_dir(&folder).expect("it is empty"),
        }
        approve(&served, &cookie, &request);
        await_done(&served);
    }
}

#[test]
fn whom_git_does_not_know_looks_and_decides_nothing() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let path = format!("/holds/{request}");
    let mut form = fields(&served.page(&cookie, &path));
    form.insert("action".to_owned(), "approve".to_owned());
    let file = served.sandbox.root().join("home/gitconfig");
    std::fs::write(file, "[user]\nuseConfigOnly = true\n").expect("writable");
    let begun = Instant::now();
    while served.page(&cookie, &path).contains("class=\"decision\"") {
        assert!(begun.elapsed() < PATIENCE, "it is never noticed");
        std::thread::sleep(Duration::from_millis(20));
    }
    for path in ["/", &path] {
        let page = served.page(&cookie, path);
        assert!(page.contains("Deploy") && !page.contains("class=\"decision\""), "{page}");
        assert!(page.contains("oes not know who you are") && page.contains("user.name"), "{page}");
    }
    let sent = served.send_form(&cookie, &request, &form);
    assert_eq!(sent.status, 400, "{}", sent.body);
    assert!(sent.body.contains("git does not know who you are"), "{}", sent.body);
    let told = served.ask("GET", &format!("/api/v1/pending/{request}"), &[("Cookie", &cookie)], "");
    assert_eq!(told.status, 200, "{}", told.body);
    assert!(served.decisions("alice").is_empty());
}

#[test]
fn a_git_directory_that_the_environment_names_is_found_as_by_git() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    ok(&sandbox, &start, &["spawn", "alice", "-m", "x"]);
    let (above, name) = (start.parent().expect("a folder"), start.file_name().expect("a name"));
    let from = |folder: &Path| {
        let mut command = sandbox.command("agentic", folder);
        command.arg("-C").arg(name).env("GIT_DIR", ".git").stdin(Stdio::null());
        command
    };
    let listed = from(above).arg("agents").output().expect("it runs");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("alice"), "{listed:?}");

    let mut serve = from(above);
    serve.arg("serve").stdout(Stdio::null()).stderr(Stdio::null());
    let process = serve.spawn().expect("it starts");
    let process = await_answer(&sandbox, &start, process).expect("it stays");
    let served = Served::of(sandbox, process);
    let cookie = served.log_in();
    let request = served.ask_by("bob", FLOW);
    approve(&served, &cookie, &request);
    await_done(&served);
}

#[test]
fn commits_of_agents_of_remotes_and_of_the_archive_are_theirs() {
    let served = Served::new();
    let start = served.sandbox.start().to_owned();
    let git = |arguments: &[&str]| served.sandbox.git(&start, arguments).expect("git does it");
    let made = |agent: &str| {
        served.ok(&["spawn", agent, "-m", "x"]);
        served.ok(&["trace", "add", "--agent", agent, "saw it"]);
        served.ok(&["commit", "--agent", agent, "-m", "Look", "--trace", "--allow-empty"]);
        git(&["rev-parse", &format!("agents/{agent}")]).trim().to_owned()
    };
    let (there, folded) = (made("remo"), made("arch"));
    // As a fetch leaves it, of an agent that is not here.
    let config = ["remote.origin.url", "/nowhere"];
    git(&["config", config[0], config[1]]);
    git(&["update-ref", "refs/remotes/origin/agents/remo", "refs/heads/agents/remo"]);
    git(&["update-ref", "refs/agentic/remotes/origin/notes/remo", "refs/notes/agentic/remo"]);
    served.ok(&["archive", "arch"]);
    for name in ["refs/heads/agents/remo", "refs/notes/agentic/remo"] {
        git(&["update-ref", "-d", name]);
    }
    let cookie = served.log_in();
    for (commit, agent) in [(&there, "origin/remo"), (&folded, "arch")] {
        let path = format!("/api/v1/commits/{commit}");
        let answered = served.ask("GET", &path, &[("Cookie", &cookie)], "");
        let view: Json = serde_json::from_str(&answered.body).expect("JSON");
        assert!(view["copied_from"].is_null() && view["trace"].is_string(), "{view}");
        let page = served.page(&cookie, &format!("/commits/{commit}"));
        assert!(page.contains("saw it") && !page.contains("it was copied"), "{page}");
        let link = "href=\"/agents/origin%2Fremo\"";
        assert_eq!(page.contains(link), agent == "origin/remo", "{page}");
        assert!(!page.contains("href=\"/agents/arch\""), "{page}");
        let begun = git(&["rev-parse", &format!("{commit}~1")]);
        let page = served.page(&cookie, &format!("/commits/{}", begun.trim()));
        assert!(page.contains("· spawn") && !page.contains("href=\"/objects/"), "{page}");
    }
}
