//! What the head of every answer says to a browser, whatever was asked and however it ended.

use super::decision::with;
use super::*;

/// What a browser may do with a page of ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

impl Answered {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
        let (_, value) = found.next()?;
        assert!(found.next().is_none(), "{name} comes once: {}", self.head);
        Some(value)
    }

    /// Checks what stands in every head; these two differ.
    #[track_caller]
    fn forbids(&self, policy: &str, caching: &str) {
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("content-security-policy", policy),
            ("cache-control", caching),
        ] {
            assert_eq!(self.header(name), Some(value), "{name}: {}", self.head);
        }
        assert!(!self.head.to_lowercase().contains("access-control-"), "no CORS: {}", self.head);
    }
}

#[test]
fn every_answer_forbids_a_browser_what_the_page_does_not_need() {
    let served = Served::new();
    let request = served.hold();
    served.ok(&["trace", "add", "--agent", "alice", "<script>alert(1)</script>"]);
    let commit = ["commit", "--agent", "alice", "-m", "A", "--trace", "--allow-empty", "--json"];
    let made: Json = serde_json::from_str(&served.ok(&commit)).expect("JSON");
    let (oid, cid) = (made["commit"].as_str().expect("one"), made["trace"].as_str().expect("one"));
    let (session, _) = request.split_once('.').expect("a session's");
    let cookie = served.log_in();
    let get = |path: &str| served.ask("GET", path, &[("Cookie", &cookie)], "");

    let pages = [
        "/",
        "/agents",
        "/agents/alice",
        "/agents/alice/traces",
        "/sessions",
        "/search?q=a",
        "/statistics",
        "/login",
        "/nothing",
        "/agents/nobody",
    ];
    let named = [
        format!("/holds/{request}"),
        format!("/commits/{oid}"),
        format!("/commits/{oid}/history"),
        format!("/traces/{cid}"),
        format!("/objects/{cid}"),
        format!("/sessions/{session}"),
    ];
    for path in pages.iter().copied().chain(named.iter().map(String::as_str)) {
        get(path).forbids(POLICY, "no-store");
        // Strangers are told no less.
        served.ask("GET", path, &[], "").forbids(POLICY, "no-store");
    }
    for path in
        ["agents", "pending", "health", "statistics", "nothing", "agents/nobody", "agents?x=1"]
    {
        let path = format!("/api/v1/{path}");
        get(&path).forbids(POLICY, "private, no-cache");
        served.ask("GET", &path, &[], "").forbids(POLICY, "private, no-cache");
    }
    let tag = get("/api/v1/agents").header("etag").expect("a tag").to_owned();
    let headers = [("Cookie", cookie.as_str()), ("If-None-Match", &tag)];
    let known = served.ask("GET", "/api/v1/agents", &headers, "");
    assert_eq!(known.status, 304);
    known.forbids(POLICY, "private, no-cache");
}

#[test]
fn assets_are_kept_and_bytes_of_users_are_never_shown() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    served.ok(&["trace", "add", "--agent", "alice", "<script>alert(1)</script>"]);
    let commit = ["commit", "--agent", "alice", "-m", "A", "--trace", "--allow-empty", "--json"];
    let made: Json = serde_json::from_str(&served.ok(&commit)).expect("JSON");
    let cid = made["trace"].as_str().expect("one");
    let cookie = served.log_in();
    let get = |path: &str| served.ask("GET", path, &[("Cookie", &cookie)], "");
    // Assets are named by what they hold.
    let page = get("/").body;
    let assets = page.split('"').filter(|part| part.starts_with("/assets/"));
    let assets: Vec<&str> = assets.collect();
    assert_eq!(assets.len(), 3, "{assets:?}");
    for path in assets {
        let asset = get(path);
        let caching = asset.header("cache-control").expect("it may be kept").to_owned();
        assert!(caching.contains("immutable"), "{caching}");
        asset.forbids(POLICY, &caching);
    }
    // Bytes of users are kept and never shown.
    let files = [format!("/traces/{cid}/entries/1"), format!("/objects/{cid}/bytes")];
    for path in files.iter().map(String::as_str).chain(["/statistics/commits.csv?by=week"]) {
        let bytes = get(path);
        bytes.forbids("sandbox", "no-store");
        assert_eq!(bytes.header("content-type"), Some("application/octet-stream"), "{path}");
        assert!(
            bytes.header("content-disposition").is_some_and(|said| said.starts_with("attachment"))
        );
    }
}

#[test]
fn what_is_refused_forbids_no_less() {
    let served = Served::with(&["--mcp"]);
    let request = served.hold();
    let (cookie, origin) = (served.log_in(), served.origin());
    // What is refused, and what is done.
    let decision = format!("/holds/{request}/decision");
    let form = [("Cookie", cookie.as_str()), ("Origin", origin.as_str()), ("Content-Type", FORM)];
    let text =
        [("Cookie", cookie.as_str()), ("Origin", origin.as_str()), ("Content-Type", "text/plain")];
    let body = with(
        &fields(&served.page(&cookie, &format!("/holds/{request}"))),
        &[("action", "approve")],
    );
    let login = [("Origin", origin.as_str()), ("Content-Type", FORM)];
    let refused = [
        (served.ask("OPTIONS", "/", &[], ""), 405),
        (served.ask("PUT", "/", &[("Cookie", &cookie)], ""), 405),
        (served.ask("POST", &decision, &[("Cookie", &cookie)], ""), 415),
        (served.ask("POST", &decision, &text, ""), 415),
        (served.ask("POST", &decision, &form, "action=approve"), 403),
        (served.ask("POST", "/login", &login, "code=1"), 401),
        (served.ask("GET", &format!("/{}", "a".repeat(5_000)), &[], ""), 400),
        (served.send("GET", "/", &[("Host", "evil.example"), ("Connection", "close")], ""), 421),
        (served.ask("POST", &decision, &form, &decision::whole(&body)), 303),
        (served.ask("POST", &decision, &form, &"x".repeat((4 << 20) + 1)), 413),
    ];
    for (answered, status) in refused {
        assert_eq!(answered.status, status, "{}", answered.body);
        answered.forbids(POLICY, "no-store");
    }
    let json = [("Content-Type", "application/json")];
    for path in ["/mcp", "/login/challenge", "/login/key"] {
        served.ask("POST", path, &json, "{}").forbids(POLICY, "no-store");
    }
    let port = served.host.rsplit(':').next().expect("a port");
    let programs = [("Host", format!("127.0.0.1:{port}")), ("Connection", "close".to_owned())];
    let programs = programs.each_ref().map(|(name, value)| (*name, value.as_str()));
    served.send("GET", "/", &programs, "").forbids(POLICY, "no-store");
}
