//! Tags: whoever has an answer is told so without a verb being asked, and exactly as long as it is that.

use super::api::{furnish, percent, without_ages};
use super::*;

/// How many digits of a tag are of what the answer says; what it derives from follows.
const CONTENT_DIGITS: usize = 32;

/// Somebody who keeps answers with their tags.
struct Keeper<'s> {
    served: &'s Served,
    cookie: String,
}

/// An answer that is kept.
struct Kept {
    path: String,
    tag: String,
    body: Json,
}

impl Keeper<'_> {
    fn ask(&self, path: &str, known: &str) -> (u16, String, String) {
        let headers = [("Cookie", self.cookie.as_str()), ("If-None-Match", known)];
        let answered = self.served.ask("GET", &format!("/api/v1/{path}"), &headers, "");
        let tag = answered.head.lines().find_map(|line| line.strip_prefix("etag: "));
        (answered.status, tag.unwrap_or_default().to_owned(), answered.body)
    }

    fn keep(&self, path: &str) -> Kept {
        let (status, tag, body) = self.ask(path, "");
        assert_eq!(status, 200, "{path}: {body}");
        Kept { path: path.to_owned(), tag, body: said(&body) }
    }

    /// Waits until the answer is recognised by what it derives from alone: a tag that lies about what
    /// the answer says can only be answered so before a verb says anything. What an index has read
    /// still moves for a moment.
    fn keep_for_free(&self, path: &str) -> Kept {
        let begun = Instant::now();
        loop {
            let kept = self.keep(path);
            if self.ask(path, &kept.without_content()).0 == 304 {
                return kept;
            }
            assert!(begun.elapsed() < PATIENCE, "{path}: a verb is asked: {}", kept.tag);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks that an answer that is still called right is.
    fn check(&self, kept: &Kept) -> bool {
        let (status, tag, _) = self.ask(&kept.path, &kept.tag);
        if status != 304 {
            return false;
        }
        // A tag may be another with the same answer.
        assert!(!tag.is_empty(), "{}", kept.path);
        let (status, _, body) = self.ask(&kept.path, "");
        assert_eq!((status, said(&body)), (200, kept.body.clone()), "{}", kept.path);
        true
    }
}

impl Kept {
    fn without_content(&self) -> String {
        let digits = self.tag.strip_prefix("W/\"").expect("a weak tag");
        format!("W/\"{}{}", "0".repeat(CONTENT_DIGITS), &digits[CONTENT_DIGITS..])
    }
}

/// Reads what an answer says, without what changes by itself.
fn said(body: &str) -> Json {
    let mut said = without_ages(serde_json::from_str(body).expect("JSON"));
    if let Json::Object(map) = &mut said {
        map.remove("as_of");
        if map.remove("token").is_some() {
            // When it was asked for, which is a part of what is signed.
            map.remove("at");
        }
    }
    said
}

/// Lists an address of each route that answers the same as long as nothing is written.
fn places(served: &Served, commit: &str, trace: &str) -> Vec<String> {
    let session = served.printed(&["session", "list"])[0]["session"].clone();
    let session = session.as_str().expect("an id").to_owned();
    let request = served.printed(&["pending"])[0]["request"].clone();
    let request = request.as_str().expect("a name").to_owned();
    [
        "agents",
        "agents/bob",
        "agents/bob/log",
        "agents/bob/relations",
        "agents/alice/sessions",
        "tree",
        "commits/{commit}",
        "commits/{commit}/diff",
        "commits/{commit}/trace",
        "commits/{commit}/trace-history",
        "traces/{trace}",
        "objects/{trace}",
        "sessions",
        "sessions/{session}/diff/{session}",
        "statistics?from=2020-01-01&to=2040-01-01&by=week",
        "search?q=saw",
        "query?q={query}",
        "pending",
        "pending/{request}",
    ]
    .map(|path| {
        let path = path.replace("{commit}", commit).replace("{trace}", trace);
        let path = path.replace("{session}", &session).replace("{request}", &request);
        path.replace("{query}", &percent("? (A, K) commit(agent: A, kind: K)."))
    })
    .to_vec()
}

#[test]
fn a_known_answer_asks_no_verb_until_what_it_derives_from_changes() {
    let served = Served::new();
    let (commit, trace) = furnish(&served);
    let keeper = Keeper { served: &served, cookie: served.log_in() };
    let paths = places(&served, &commit, &trace);
    let request = paths.last().and_then(|path| path.split('/').next_back()).expect("one");
    let start = served.sandbox.start();
    // What is written, and by whom, and where it is seen.
    let first = format!("{commit}~1");
    let writes: [(&str, &[&str], &[&str]); 5] = [
        ("agentic", &["trace", "add", "--agent", "bob", "saw more"], &["search"]),
        (
            "agentic",
            &["commit", "--agent", "bob", "-m", "saw all", "--trace", "--allow-empty"],
            &["agents", "agents/bob/log", "tree", "search", "statistics"],
        ),
        ("agentic", &["relate", "bob", "depends-on", "eve"], &["agents/bob/relations"]),
        (
            "agentic",
            &["decide", request, "approve"],
            &["pending", "pending/", "sessions", "agents/alice/sessions", "tree", "query"],
        ),
        (
            "git",
            &["update-ref", "refs/heads/agents/bob", &first],
            &["agents", "agents/bob", "agents/bob/log", "tree", "query"],
        ),
    ];
    for (program, arguments, seen_at) in writes {
        let mut kept: Vec<Kept> = Vec::new();
        for path in &paths {
            // What was decided is asked no more; what is over is shown without a verb too.
            if keeper.ask(path, "").0 == 200 {
                kept.push(keeper.keep_for_free(path));
            }
        }
        match program {
            "git" => drop(served.sandbox.git(start, arguments).expect("git does it")),
            _ => drop(served.ok(arguments)),
        }
        let is_seen_at = |path: &str, at: &str| match at.strip_suffix('/') {
            Some(folder) => {
                path.starts_with(at) && path.split('/').count() > 1 && !folder.is_empty()
            }
            None => path.split('?').next() == Some(at),
        };
        for kept in &kept {
            let begun = Instant::now();
            let is_awaited = seen_at.iter().any(|at| is_seen_at(&kept.path, at));
            while keeper.check(kept) && is_awaited {
                // Only what an index has to read first comes later.
                assert!(kept.path.starts_with("search"), "{arguments:?}: {}", kept.path);
                assert!(begun.elapsed() < PATIENCE, "{arguments:?}: {}", kept.path);
            }
        }
    }
}

/// Who is at work on a session is in no record of it.
#[test]
fn a_driver_that_dies_changes_what_lists_say() {
    let served = Served::new();
    let start = served.sandbox.start().to_owned();
    served.ok(&["spawn", "alice", "-m", "work"]);
    std::fs::write(start.join("work.rhai"), r#"exec("touch begun; sleep 30")"#).expect("writable");
    let mut driver = served.sandbox.command("agentic", &start);
    driver.args(["session", "start", "alice", "--flow", "work.rhai", "--allow", "exec"]);
    driver.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut driver = driver.spawn().expect("it starts");
    let cookie = served.log_in();
    let places: [(&str, &[&str]); 3] =
        [("tree", &["tree"]), ("pending", &["pending"]), ("sessions", &["session", "list"])];
    let begun = Instant::now();
    let has_begun = |path: &Path| {
        let found = std::process::Command::new("find").arg(path).args(["-name", "begun"]).output();
        !found.expect("it runs").stdout.is_empty()
    };
    while !has_begun(served.sandbox.root()) {
        assert!(begun.elapsed() < PATIENCE, "it never begins");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ask = |path: &str, known: &str| {
        let headers = [("Cookie", cookie.as_str()), ("If-None-Match", known)];
        let answered = served.ask("GET", &format!("/api/v1/{path}"), &headers, "");
        let tag = answered.head.lines().find_map(|line| line.strip_prefix("etag: "));
        (answered.status, tag.expect("a tag").to_owned())
    };
    let tags = places.map(|(path, _)| ask(path, "").1);
    for ((path, arguments), tag) in places.iter().zip(&tags) {
        assert_eq!(ask(path, tag).0, 304, "{path}");
        let listed = without_ages(Json::Array(served.list(&cookie, path)));
        assert_eq!(listed, without_ages(served.printed(arguments)), "{path}");
        assert!(!listed.to_string().contains("held"), "{path}: {listed}");
    }
    driver.kill().expect("it runs");
    driver.wait().expect("a child");
    for ((path, arguments), tag) in places.iter().zip(&tags) {
        assert_eq!(ask(path, tag).0, 200, "{path}");
        let listed = without_ages(Json::Array(served.list(&cookie, path)));
        assert_eq!(listed, without_ages(served.printed(arguments)), "{path}");
    }
}

/// What takes long is kept, as long as it is right.
#[test]
fn figures_of_cases_are_those_of_the_command_also_after_something_was_written() {
    let served = Served::new();
    let cookie = served.log_in();
    let keeper = Keeper { served: &served, cookie: cookie.clone() };
    for n_agents in 1..3 {
        served.ok(&["spawn", &format!("agent-{n_agents}"), "-m", "work"]);
        let first = keeper.keep_for_free("stats?by=agent&metric=landed");
        let printed = ["stats", "--by", "agent", "--metric", "landed"];
        assert_eq!(first.body, served.printed(&printed));
        assert_eq!(first.body["cases"], n_agents);
        assert!(keeper.check(&first));
    }
    for (path, wanted) in [
        ("stats?by=person", 400),
        ("stats?by=mood", 400),
        ("stats?metric=happiness", 400),
        ("stats?trials=perhaps", 400),
        ("stats?survival=1", 400),
        ("stats?of=nobody", 404),
    ] {
        assert_eq!(keeper.ask(path, "").0, wanted, "{path}");
    }
}
