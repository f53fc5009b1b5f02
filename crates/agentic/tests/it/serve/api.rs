//! The API answers with what commands print, a page at a time, and decides as the page does.

use serde_json::json;

use super::schema::check_schema;
use super::*;

impl Served {
    pub(super) fn get(&self, cookie: &str, path: &str) -> Answered {
        self.ask("GET", &format!("/api/v1/{path}"), &[("Cookie", cookie)], "")
    }

    pub(super) fn json(&self, cookie: &str, path: &str) -> Json {
        let answered = self.get(cookie, path);
        assert_eq!(answered.status, 200, "{path}: {}", answered.body);
        assert!(answered.head.contains("cache-control: private, no-cache"), "{path}");
        serde_json::from_str(&answered.body).expect("JSON")
    }

    /// Reads a whole list, two items at a time.
    pub(super) fn list(&self, cookie: &str, path: &str) -> Vec<Json> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let (mut items, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.json(cookie, &format!("{path}{sign}limit=2{after}"));
            assert!(page["as_of"]["epoch"].is_string() && page["as_of"]["n"].is_u64(), "{page}");
            items.extend(page["items"].as_array().expect("items").clone());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return items,
            }
        }
    }

    pub(super) fn printed(&self, arguments: &[&str]) -> Json {
        let said = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&said).expect("JSON")
    }

    fn post(&self, cookie: &str, request: &str, body: &Json) -> (u16, Json) {
        let origin = self.origin();
        let headers =
            [("Cookie", cookie), ("Origin", &origin), ("Content-Type", "application/json")];
        let path = format!("/api/v1/pending/{request}/decision");
        let answered = self.ask("POST", &path, &headers, &body.to_string());
        (answered.status, serde_json::from_str(&answered.body).expect("JSON"))
    }
}

/// Takes ages away: they differ from one moment to the next.
pub(super) fn without_ages(mut json: Json) -> Json {
    match &mut json {
        Json::Object(map) => {
            map.remove("age_ms");
            map.values_mut().for_each(|value| *value = without_ages(value.take()));
        }
        Json::Array(items) => {
            items.iter_mut().for_each(|value| *value = without_ages(value.take()));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
    json
}

/// Makes a repository with a bit of everything; returns a commit with a trace, and the trace.
pub(super) fn furnish(served: &Served) -> (String, String) {
    served.hold();
    served.ok(&["spawn", "bob", "-m", "look", "--from", "alice"]);
    served.ok(&["spawn", "eve", "-m", "look", "--from", "alice"]);
    served.ok(&["relate", "bob", "reviews", "alice"]);
    served.ok(&["trace", "add", "--agent", "bob", "saw it"]);
    let commit = ["commit", "--agent", "bob", "-m", "Look", "--kind", "finding", "--trace"];
    let made = served.printed(&[&commit[..], &["--allow-empty"]].concat());
    served.ok(&["commit", "--agent", "bob", "-m", "More", "--allow-empty"]);
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    (text("commit"), text("trace"))
}

#[test]
fn every_list_and_every_thing_is_what_the_command_prints() {
    let served = Served::new();
    let (commit, trace) = furnish(&served);
    let cookie = served.log_in();
    let lists: [(&str, &[&str]); 9] = [
        ("agents", &["agents"]),
        ("agents/bob/log", &["log", "bob"]),
        ("agents/bob/log?kind=finding", &["log", "bob", "--kind", "finding"]),
        ("agents/bob/relations", &["relations", "--of", "bob"]),
        ("agents/alice/sessions", &["session", "list", "--agent", "alice"]),
        ("sessions", &["session", "list"]),
        ("tree", &["tree"]),
        ("pending", &["pending"]),
        (&format!("commits/{commit}/trace-history"), &["trace", "history", &commit]),
    ];
    for (path, arguments) in lists {
        let listed = without_ages(Json::Array(served.list(&cookie, path)));
        assert_eq!(listed, without_ages(served.printed(arguments)), "{path}");
    }
    let query = "? (A, K) commit(agent: A, kind: K).";
    let asked = percent(query);
    let rows = Json::Array(served.list(&cookie, &format!("query?q={asked}")));
    assert_eq!(rows, served.printed(&["query", query]));

    let session = served.printed(&["session", "list"])[0]["session"].clone();
    let session = session.as_str().expect("an id");
    let things: [(String, &[&str]); 7] = [
        ("agents/bob".to_owned(), &["show", "bob"]),
        (format!("commits/{commit}"), &["show", &commit]),
        (format!("commits/{commit}/trace"), &["trace", "show", &commit]),
        (format!("traces/{trace}"), &["trace", "show", &trace]),
        (format!("objects/{trace}"), &["object", "get", &trace]),
        (format!("sessions/{session}"), &["session", "show", session]),
        (format!("sessions/{session}?at=1"), &["session", "show", session, "--at", "1"]),
    ];
    for (path, arguments) in things {
        let shown = without_ages(served.json(&cookie, &path));
        assert_eq!(shown, without_ages(served.printed(arguments)), "{path}");
    }
    let records = &served.printed(&["session", "show", session])["records"];
    for (at, status) in [("0", 404), ("99", 404), ("x", 400), ("-1", 400)] {
        let beyond = served.get(&cookie, &format!("sessions/{session}?at={at}"));
        assert_eq!(beyond.status, status, "{at}: {}", beyond.body);
        let is_told = beyond.body.contains(&format!("the last one is {records}"));
        assert_eq!(is_told, status == 404, "{at}: {}", beyond.body);
    }
    let same = served.json(&cookie, &format!("sessions/{session}/diff/{session}"));
    assert_eq!(same, served.printed(&["session", "diff", session, session]));
}

#[test]
fn differences_and_statistics_are_answered_too() {
    let served = Served::new();
    let (commit, _) = furnish(&served);
    let cookie = served.log_in();
    let difference = served.json(&cookie, &format!("commits/{commit}/diff"));
    assert_eq!(difference["commit"], json!(commit));
    let other = served.get(&cookie, &format!("commits/{commit}/diff?parent=9"));
    assert_eq!(other.status, 404, "it has no such parent: {}", other.body);
    let numbers = ["parent=x", "line=-1", "first=99999999999999999999", "side=2"];
    for wrong in numbers {
        let answered = served.get(&cookie, &format!("commits/{commit}/diff?{wrong}"));
        assert_eq!(answered.status, 400, "{wrong}: {}", answered.body);
    }

    let counted = served.json(&cookie, "statistics?by=week");
    let counts = counted["commits"].as_array().expect("counts").iter();
    let counted: u64 = counts.map(|row| row["count"].as_u64().expect("a count")).sum();
    let agents = served.printed(&["agents"]);
    let agents = agents.as_array().expect("agents").iter();
    let logs =
        agents.map(|agent| served.printed(&["log", agent["agent"].as_str().expect("a name")]));
    let logged: usize = logs.map(|log| log.as_array().expect("commits").len()).sum();
    assert_eq!(counted, logged as u64);
    assert_eq!(served.get(&cookie, "statistics?by=month").status, 400);
}

#[test]
fn statistics_say_what_a_program_is_called() {
    let served = Served::new();
    let cookie = served.log_in();
    std::fs::write(served.sandbox.start().join("sum.rhai"), "40 + 2").expect("writable");
    served.ok(&["spawn", "alice", "-m", "x"]);
    let added = served.printed(&["behaviour", "add", "sum", "sum.rhai"]);
    let cid = added["cid"].as_str().expect("an id");
    served.ok(&["session", "start", "alice", "--flow", "sum.rhai"]);
    let outcome = || served.json(&cookie, "statistics")["outcomes"][0].clone();
    let counted = outcome();
    assert_eq!((&counted["behaviour"], &counted["done"]), (&json!(cid), &json!(1)));
    assert_eq!(counted.get("name"), None, "nobody adopted it");
    served.ok(&["behaviour", "adopt", "sum", cid, "-m", "it adds up"]);
    assert_eq!(outcome()["name"], "sum");
    assert!(served.page(&cookie, "/statistics").contains(">sum<"));
}

/// Writes a text so that it may stand behind `?`.
pub(super) fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn what_is_wrong_is_said_as_commands_say_it() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let cookie = served.log_in();
    let long = "a".repeat(3_000);
    for (path, status, code) in [
        ("agents?x=1", 400, 2),
        ("agents?limit=501", 400, 2),
        ("agents?limit=0", 400, 2),
        ("agents?limit=1&limit=2", 400, 2),
        ("agents?after=nothing", 400, 2),
        ("agents/alice?limit=1", 400, 2),
        ("agents/nobody", 404, 1),
        ("agents/nobody/log", 404, 1),
        ("agents/..%2f..%2fconfig", 404, 1),
        ("agents/%00", 404, 1),
        ("agents/%c0%af", 400, 2),
        (&format!("agents/{long}"), 404, 1),
        ("commits/alice", 404, 1),
        ("commits/zz/trace", 404, 1),
        ("traces/zz", 404, 1),
        ("objects/zz", 404, 1),
        ("sessions/zz", 404, 1),
        ("sessions/zz?at=x", 400, 2),
        ("pending?overdue=perhaps", 400, 2),
        ("pending/0.0", 404, 1),
        ("query", 400, 2),
        ("query?q=nonsense", 400, 1),
        ("health?x=1", 400, 2),
        ("events?x=1", 400, 2),
        ("events?from=a-1&from=b-1", 400, 2),
        ("nothing", 404, 1),
    ] {
        let answered = served.get(&cookie, path);
        let said: Json = serde_json::from_str(&answered.body).expect("JSON");
        assert_eq!(answered.status, status, "{path}: {said}");
        assert_eq!(said["error"]["code"], code, "{path}: {said}");
        assert!(said["error"]["hint"].is_string(), "{path}: {said}");
    }
    for (method, path, status, code) in [
        ("GET", "agents", 401, 9),
        ("GET", "health", 401, 9),
        ("GET", "events", 401, 9),
        ("GET", "nothing", 401, 9),
        ("POST", "agents", 403, 9),
    ] {
        let headers = [("Content-Type", "application/json")];
        let answered = served.ask(method, &format!("/api/v1/{path}"), &headers, "");
        let said: Json = serde_json::from_str(&answered.body).expect("JSON");
        assert_eq!((answered.status, &said["error"]["code"]), (status, &json!(code)), "{path}");
    }
}

#[test]
fn a_program_decides_with_the_token_that_came_with_the_hold() {
    let served = Served::new();
    let request = served.hold();
    let cookie = served.log_in();
    let hold = served.json(&cookie, &format!("pending/{request}"));
    let shown = text_hash(hold["text"].as_str().expect("a text"));
    assert_eq!(hold["shown"], json!(shown));
    let body = |changes: &[(&str, Json)]| {
        let mut body = json!({
            "action": "approve",
            "reason": "looked",
            "request_hash": hold["request_hash"],
            "shown": hold["shown"],
            "token": hold["token"],
        });
        changes.iter().for_each(|(name, value)| body[*name] = value.clone());
        body
    };
    let other = served.log_in();
    let token = hold["token"].as_str().expect("a token");
    let at = |n: usize| format!("{}x{}", &token[..n], &token[n + 1..]);
    for (cookie, changes, status) in [
        (&other, body(&[]), 403),
        (&cookie, body(&[("token", json!(at(3)))]), 403),
        (&cookie, body(&[("token", json!(at(token.len() - 1)))]), 403),
        (&cookie, body(&[("token", json!(at(request.len() + 3)))]), 403),
        (&cookie, body(&[("shown", json!("x"))]), 403),
        (&cookie, body(&[("request_hash", json!("x"))]), 403),
        (&cookie, body(&[("action", json!("perhaps"))]), 400),
        (&cookie, body(&[("by", json!("user:eve"))]), 400),
        (&cookie, json!([]), 400),
    ] {
        let (found, said) = served.post(cookie, &request, &changes);
        assert_eq!(found, status, "{changes}: {said}");
        assert!(said["error"]["code"].is_u64(), "{said}");
    }
    assert_eq!(served.printed(&["pending"]).as_array().map(Vec::len), Some(1));
    // Another name of the hold is as good: that of its agent.
    let named = served.json(&cookie, "pending/alice");
    let bound = [("token", named["token"].clone()), ("shown", named["shown"].clone())];
    let (status, said) = served.post(&cookie, "bob", &body(&bound));
    assert_eq!(status, 403, "{said}");
    let (status, decided) = served.post(&cookie, "alice", &body(&bound));
    assert_eq!(status, 200, "{decided}");
    assert_eq!(
        (&decided["action"], &decided["principal"]),
        (&json!("approve"), &json!("user:ada"))
    );
    // The same answer again is no other one; another one is told who won.
    for name in [request.as_str(), "alice"] {
        let (status, again) = served.post(&cookie, name, &body(&[]));
        assert_eq!((status, &again["commit"]), (200, &decided["commit"]), "{name}: {again}");
        let (status, late) = served.post(&cookie, name, &body(&[("action", json!("reject"))]));
        assert_eq!((status, &late["error"]["code"]), (409, &json!(8)), "{name}: {late}");
        assert!(late["error"]["message"].as_str().is_some_and(|said| said.contains("user:ada")));
    }
    // So is it while the agent asks something else, which that name leads to now.
    let flow = served.sandbox.start().join("more.rhai");
    std::fs::write(flow, r#"hold("And this?").value"#).expect("writable");
    let more = ["session", "start", "alice", "--flow", "more.rhai"];
    let more = run(&served.sandbox, served.sandbox.start(), &more);
    assert_eq!(more.status.code(), Some(4), "it waits for a person");
    let (status, again) = served.post(&cookie, "alice", &body(&[]));
    assert_eq!((status, &again["commit"]), (200, &decided["commit"]), "{again}");
    assert_eq!(served.printed(&["pending"]).as_array().map(Vec::len), Some(1));
    let (status, said) = served.post(&cookie, "bob", &body(&[]));
    assert_eq!(status, 403, "{said}");
    assert_eq!(served.get(&cookie, &format!("pending/{request}")).status, 409);
}

#[test]
fn what_the_api_refuses_has_the_shape_that_programs_read() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let origin = served.origin();
    let ask = |method: &str, path: &str| {
        let json = ("Content-Type", "application/json");
        let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), json];
        served.ask(method, path, &headers, "")
    };
    let decision = format!("/api/v1/pending/{request}/decision");
    for (method, path, allowed) in [
        ("POST", "/api/v1/health", "GET,HEAD"),
        ("POST", "/api/v1/events", "GET,HEAD"),
        ("POST", "/api/v1/agents", "GET,HEAD"),
        ("GET", &decision, "POST"),
        ("DELETE", "/api/v1/agents", "GET, HEAD, POST"),
        ("OPTIONS", "/api/v1/", "GET, HEAD, POST"),
    ] {
        let answered = ask(method, path);
        assert_eq!(answered.status, 405, "{method} {path}: {}", answered.body);
        check_schema("error", &serde_json::from_str(&answered.body).expect("JSON"));
        assert!(answered.head.contains(&format!("allow: {allowed}")), "{path}: {}", answered.head);
    }
    for path in
        ["/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/x", "/api/v1//health", "/api/v2/x"]
    {
        let answered = ask("GET", path);
        assert_eq!(answered.status, 404, "{path}: {}", answered.body);
        check_schema("error", &serde_json::from_str(&answered.body).expect("JSON"));
        let stranger = served.ask("GET", path, &[], "");
        assert_eq!(stranger.status, 401, "{path}: {}", stranger.body);
        check_schema("error", &serde_json::from_str(&stranger.body).expect("JSON"));
    }
    let page = ask("GET", "/apix");
    assert!(page.status == 404 && page.body.contains("<html"), "{}", page.body);
}

#[test]
fn a_body_that_is_no_object_is_refused() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let shown = served.json(&cookie, &format!("pending/{request}"));
    let (hash, text, token) = (&shown["request_hash"], &shown["shown"], &shown["token"]);
    for body in [
        json!(["approve", null, "why", "once", hash, text, token]),
        json!([]),
        json!("approve"),
        json!(null),
        json!(1),
    ] {
        let (status, said) = served.post(&cookie, &request, &body);
        assert_eq!(status, 400, "{body}: {said}");
        check_schema("error", &said);
    }
    let headers = [("Content-Type", "application/json")];
    for body in ["[\"user:eve\",\"x\",\"s\"]", "[]", "1", "{", "{\"principal\":1}"] {
        let answered = served.ask("POST", "/login/key", &headers, body);
        assert_eq!(answered.status, 400, "{body}: {}", answered.body);
        check_schema("error", &serde_json::from_str(&answered.body).expect("JSON"));
    }
    let codes = |body: &str| {
        let socket = served.sandbox.start().join(".git/agentic/serve/sock");
        let mut stream = std::os::unix::net::UnixStream::connect(socket).expect("it listens");
        let length = body.len();
        let sent = format!(
            "POST /control/codes HTTP/1.0\r\nHost: agentic\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(sent.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    for body in ["[]", "[true]", "null", "{\"read_only\":1}", ""] {
        let answer = codes(body);
        assert!(
            answer.starts_with("HTTP/1.0 400") && !answer.contains("\"code\""),
            "{body}: {answer}"
        );
    }
    assert!(codes("{}").starts_with("HTTP/1.0 200"));
    let (status, _) = served.post(
        &cookie,
        &request,
        &json!({ "action": "approve", "request_hash": hash, "shown": text, "token": token }),
    );
    assert_eq!(status, 200);
}

#[test]
fn relations_of_anybody_are_those_of_the_command() {
    let served = Served::new();
    let cookie = served.log_in();
    served.ok(&["spawn", "alice", "-m", "x"]);
    served.ok(&["spawn", "bob", "-m", "x", "--from", "alice"]);
    served.ok(&["relate", "user:ada", "reviews", "alice"]);
    for (name, n_related) in
        [("alice", 2), ("bob", 1), ("user:ada", 1), ("origin/alice", 0), ("nobody", 0)]
    {
        let printed = served.ok(&["relations", "--of", name, "--json"]);
        let printed: Vec<Json> = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(printed.len(), n_related, "{name}: {printed:?}");
        let path = name.replace('/', "%2F").replace(':', "%3A");
        assert_eq!(served.list(&cookie, &format!("agents/{path}/relations")), printed, "{name}");
    }
    // What can be no name is refused by both, with the same words.
    let wrong = ["relations", "--of", "No Name", "--json"];
    let wrong = run(&served.sandbox, served.sandbox.start(), &wrong);
    assert_eq!(wrong.status.code(), Some(2));
    let answered = served.get(&cookie, "agents/No%20Name/relations");
    assert_eq!(answered.status, 400, "{}", answered.body);
    let said = |text: &str| -> Json {
        serde_json::from_str::<Json>(text).expect("JSON")["error"]["message"].take()
    };
    assert_eq!(said(&String::from_utf8_lossy(&wrong.stderr)), said(&answered.body));
}
