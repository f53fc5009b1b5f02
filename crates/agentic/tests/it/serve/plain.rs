//! A page at `127.0.0.1`, for browsers that know no names below `localhost`: others there are sent its
//! cookies, so whoever is logged in may only look.

use super::*;

#[test]
fn a_page_at_the_plain_host_can_be_read_and_decides_nothing() {
    let served = Served::with(&["--plain-host", "--mcp"]);
    let (_, port) = served.host.split_once(':').expect("a port");
    assert_eq!(served.host, format!("127.0.0.1:{port}"));
    let request = served.hold();
    let cookie = served.log_in();
    let page = format!("/holds/{request}");
    let shown = served.ask("GET", &page, &[("Cookie", &cookie)], "");
    assert_eq!(shown.status, 200, "{}", shown.body);
    assert!(shown.body.contains("may only look"), "{}", shown.body);
    assert!(!shown.body.contains("name=\"action\""), "there is no form: {}", shown.body);

    let asked =
        served.ask("GET", &format!("/api/v1/pending/{request}"), &[("Cookie", &cookie)], "");
    let hold: Json = serde_json::from_str(&asked.body).expect("JSON");
    let answer = serde_json::json!({
        "action": "approve", "request_hash": hold["request_hash"], "shown": hold["shown"],
        "token": hold["token"].as_str().unwrap_or_default(),
    });
    let origin = served.origin();
    let headers = [
        ("Cookie", cookie.as_str()),
        ("Origin", origin.as_str()),
        ("Content-Type", "application/json"),
    ];
    let decision = format!("/api/v1/pending/{request}/decision");
    let refused = served.ask("POST", &decision, &headers, &answer.to_string());
    assert_eq!(refused.status, 403, "{}", refused.body);
    let log = served.ok(&["log", "alice", "--kind", "decision", "--json"]);
    assert_eq!(log.trim(), "[]");
    served.ok(&["decide", &request, "approve"]);
}

#[test]
fn the_plain_host_takes_the_place_of_the_name() {
    let served = Served::with(&["--plain-host"]);
    let (_, port) = served.host.split_once(':').expect("a port");
    let cookie = served.log_in();
    let own = format!("a-{}.localhost:{port}", "b".repeat(26));
    for (host, path, status) in [
        (served.host.as_str(), "/agents", 200),
        (&own, "/agents", 421),
        (&format!("localhost:{port}"), "/agents", 421),
        (&format!("localhost:{port}"), "/", 200),
        ("127.0.0.1", "/agents", 421),
    ] {
        let headers = [("Host", host), ("Cookie", &cookie), ("Connection", "close")];
        let answered = served.send("GET", path, &headers, "");
        assert_eq!(answered.status, status, "{host}{path}: {}", answered.body);
        assert!(path != "/" || answered.body.contains("serve open"), "{}", answered.body);
    }
    let other = [("Origin", "http://localhost:8000"), ("Content-Type", FORM)];
    assert_eq!(served.ask("POST", "/login", &other, "code=x").status, 403, "another page");
}

#[test]
fn there_is_no_plain_host_without_a_page() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let refused = run(&sandbox, sandbox.start(), &["serve", "--plain-host", "--no-tcp"]);
    assert_eq!(refused.status.code(), Some(2));
}
