//! A decision from the page: fields, a second step for edits, and what comes too late.

use super::*;

/// What a page of a hold is sent back with.
pub(super) type DecisionFields = BTreeMap<String, String>;

impl Served {
    /// Has a program of an agent ask a person, and returns the request.
    pub(super) fn ask_by(&self, agent: &str, flow: &str) -> String {
        let file = format!("{agent}.rhai");
        std::fs::write(self.sandbox.start().join(&file), flow).expect("writable");
        self.ok(&["spawn", agent, "-m", "x"]);
        let start = ["session", "start", agent, "--flow", &file, "--json"];
        let start = run(&self.sandbox, self.sandbox.start(), &start);
        let said = String::from_utf8_lossy(&start.stderr);
        assert_eq!(start.status.code(), Some(4), "it waits for a person: {said}");
        let started: Json = serde_json::from_slice(&start.stdout).expect("JSON");
        started["pending"][0].as_str().expect("one request").to_owned()
    }

    pub(super) fn page(&self, cookie: &str, path: &str) -> String {
        let answered = self.ask("GET", path, &[("Cookie", cookie)], "");
        assert_eq!(answered.status, 200, "{path}: {}", answered.body);
        answered.body
    }

    pub(super) fn send_form(&self, cookie: &str, request: &str, form: &DecisionFields) -> Answered {
        let origin = self.origin();
        let headers = [("Cookie", cookie), ("Origin", &origin), ("Content-Type", FORM)];
        self.ask("POST", &format!("/holds/{request}/decision"), &headers, &whole(form))
    }

    pub(super) fn decisions(&self, agent: &str) -> Vec<Json> {
        let log = self.ok(&["log", agent, "--kind", "decision", "--json"]);
        serde_json::from_str::<Json>(&log).expect("JSON").as_array().expect("a list").clone()
    }
}

pub(super) fn whole(form: &DecisionFields) -> String {
    let encode =
        |text: &String| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs = form.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    pairs.collect::<Vec<String>>().join("&")
}

pub(super) fn with(form: &DecisionFields, more: &[(&str, &str)]) -> DecisionFields {
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    form.iter().map(|(name, value)| (name.clone(), value.clone())).chain(more).collect()
}

#[test]
fn the_same_answer_again_succeeds_and_another_is_told_who_won() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let approve = with(&form, &[("action", "approve")]);
    assert_eq!(served.send_form(&cookie, &request, &form).status, 400, "nothing was chosen");
    for _ in 0..3 {
        let decided = served.send_form(&cookie, &request, &approve);
        assert_eq!(decided.status, 303, "{}", decided.body);
    }
    let late = served.send_form(&cookie, &request, &with(&form, &[("action", "reject")]));
    assert_eq!(late.status, 409);
    assert!(late.body.contains("user:ada") && late.body.contains("approve"), "{}", late.body);
    assert_eq!(served.decisions("alice").len(), 1);
}

#[test]
fn one_of_many_who_decide_at_once_wins_and_the_others_are_told() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let statuses = std::thread::scope(|scope| {
        let answers: Vec<_> = (0..20)
            .map(|n| {
                let (served, cookie, request, form) = (&served, &cookie, &request, &form);
                scope.spawn(move || {
                    let action = if n % 2 == 0 { "approve" } else { "reject" };
                    if n % 4 < 2 {
                        let form = with(form, &[("action", action)]);
                        served.send_form(cookie, request, &form).status
                    } else {
                        let start = served.sandbox.start();
                        let decide = run(&served.sandbox, start, &["decide", request, action]);
                        match decide.status.code() {
                            Some(0) => 303,
                            Some(3 | 8) => 409,
                            other => panic!("{other:?}"),
                        }
                    }
                })
            })
            .collect();
        answers.into_iter().map(|one| one.join().expect("it ends")).collect::<Vec<u16>>()
    });
    assert!(statuses.iter().all(|status| [303, 409].contains(status)), "{statuses:?}");
    assert_eq!(served.decisions("alice").len(), 1, "one commit");
    let won = statuses.iter().filter(|status| **status == 303).count();
    assert_eq!(won, 10, "the same answer of the same person is no other one: {statuses:?}");
}

#[test]
fn a_hold_that_expired_is_gone() {
    let served = Served::new();
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = i64::try_from(since.expect("after 1970").as_millis()).expect("this age") + 4_000;
    let deadline = agentic_model::Instant::from_millis(millis);
    let flow =
        format!("hold(\"Deploy?\", #{{deadline: \"{deadline}\", on_expiry: \"late\"}}).value");
    let request = served.ask_by("alice", &flow);
    let cookie = served.log_in();
    let begun = Instant::now();
    while !served.page(&cookie, "/").contains("overdue") {
        assert!(begun.elapsed() < PATIENCE, "it is never overdue");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(served.page(&cookie, "/").contains("data-deadline"));
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let late = served.send_form(&cookie, &request, &with(&form, &[("action", "approve")]));
    assert_eq!(late.status, 410, "{}", late.body);
    // A process of its own records that.
    let begun = Instant::now();
    while !served.ok(&["session", "list"]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody went on with it");
        std::thread::sleep(Duration::from_millis(20));
    }
    let decided = served.decisions("alice");
    assert_eq!(decided[0]["fields"]["principal"], "system:expiry", "{decided:?}");
}

#[test]
fn a_value_has_fields_and_an_edit_is_shown_before_it_decides() {
    let served = Served::new();
    let request = served.ask_by(
        "alice",
        r#"hold("Deploy?", #{
            payload: #{ name: "web", replicas: 2 },
            schema: #{ type: "object", required: ["name", "replicas"], properties: #{
                name: #{ type: "string" }, replicas: #{ type: "integer" } } }
        }).value.replicas"#,
    );
    let cookie = served.log_in();
    let page = served.page(&cookie, &format!("/holds/{request}"));
    for part in ["name=\"value.name\"", "name=\"value.replicas\"", "value=\"2\"", "ada@example.com"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let form = fields(&page);
    let edit = [("action", "edit"), ("value.name", "web"), ("reason", "more \"room\"")];
    let wrong = served.send_form(
        &cookie,
        &request,
        &with(&with(&form, &edit), &[("value.replicas", "five")]),
    );
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("`/replicas`") && wrong.body.contains("more"), "{}", wrong.body);

    let edited = with(&with(&form, &edit), &[("value.replicas", "5")]);
    let shown = served.send_form(&cookie, &request, &edited);
    assert_eq!(shown.status, 200, "it is shown first: {}", shown.body);
    assert!(shown.body.contains("-   &quot;replicas&quot;: 2"), "{}", shown.body);
    assert!(shown.body.contains("+   &quot;replicas&quot;: 5"), "{}", shown.body);
    assert!(served.decisions("alice").is_empty());
    let confirm: DecisionFields = fields(&shown.body)
        .into_iter()
        .map(|(name, value)| (name, value.replace("&quot;", "\"")))
        .collect();
    let forged = with(&confirm, &[("edited", "{\"name\":\"web\",\"replicas\":500}")]);
    let refused = served.send_form(&cookie, &request, &forged);
    assert_ne!(refused.status, 303, "what was not shown does not decide");
    assert!(served.decisions("alice").is_empty());
    let decided = served.send_form(&cookie, &request, &confirm);
    assert_eq!(decided.status, 303, "{}", decided.body);
    let decision = &served.decisions("alice")[0];
    assert_eq!(decision["fields"]["value"]["replicas"], 5, "{decision}");
    assert_eq!(decision["subject"], "more \"room\"");
}

#[test]
fn who_answered_another_text_is_shown_what_changed_and_chooses_again() {
    let served = Served::new();
    let flow = r#"hold("Deploy?", #{ quorum: #{ need: 2 }, payload: #{ n: 1 } }).action"#;
    let (request, cookie) = (served.ask_by("alice", flow), served.log_in());
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let mut bob = served.sandbox.command("agentic", served.sandbox.start());
    bob.env("GIT_COMMITTER_EMAIL", "bob@example.org").args(["decide", &request, "approve"]);
    assert!(bob.output().expect("it runs").status.success());
    let late = [("action", "approve"), ("reason", "because"), ("value", "{\"n\": 2}")];
    let answered = served.send_form(&cookie, &request, &with(&form, &late));
    assert_eq!(answered.status, 409, "{}", answered.body);
    assert!(answered.body.contains("<pre id=\"changed\">"), "{}", answered.body);
    assert!(answered.body.contains("+ vote: approve by user:bob"), "{}", answered.body);
    assert!(!answered.body.contains("checked"), "nothing is chosen: {}", answered.body);
    assert!(answered.body.contains("because"), "the reason is kept");
    assert!(answered.body.contains("&quot;n&quot;: 2"), "the value is kept: {}", answered.body);
    assert!(!answered.body.contains("look at it again"), "{}", answered.body);
}

#[test]
fn another_value_is_shown_before_it_decides_whatever_the_action_is() {
    let served = Served::new();
    let flow = r#"hold("Deploy?", #{ payload: #{ n: 1 } }).value"#;
    let (request, cookie) = (served.ask_by("alice", flow), served.log_in());
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let sent = with(&form, &[("action", "approve"), ("value", "{\"n\": 2}")]);
    let shown = served.send_form(&cookie, &request, &sent);
    assert_eq!(shown.status, 200, "{}", shown.body);
    assert!(shown.body.contains("<pre id=\"changes\">"), "{}", shown.body);
    assert_eq!(served.decisions("alice").len(), 0);
    let form: DecisionFields = fields(&shown.body)
        .into_iter()
        .map(|(name, value)| (name, value.replace("&quot;", "\"")))
        .collect();
    assert_eq!(form.get("action").map(String::as_str), Some("approve"));
    let other = with(&form, &[("edited", "{\"n\": 3}")]);
    assert_eq!(served.send_form(&cookie, &request, &other).status, 400, "it was not shown");
    assert_eq!(served.decisions("alice").len(), 0);
    assert_eq!(served.send_form(&cookie, &request, &form).status, 303);
    let made = served.decisions("alice");
    assert_eq!(made[0]["fields"]["action"], "approve");
}

#[test]
fn who_decides_is_whom_the_page_has_named() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let form = fields(&served.page(&cookie, &format!("/holds/{request}")));
    let set = ["config", "user.email", "bob@example.org"];
    served.sandbox.git(served.sandbox.start(), &set).expect("git is configured");
    let begun = Instant::now();
    // What is configured is believed for a while.
    while !served.page(&cookie, &format!("/holds/{request}")).contains("user:bob") {
        assert!(begun.elapsed() < PATIENCE, "it is never seen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let answered = served.send_form(&cookie, &request, &with(&form, &[("action", "approve")]));
    assert_eq!(answered.status, 409, "{}", answered.body);
    assert!(answered.body.contains("Deciding as <strong>user:bob</strong>"), "{}", answered.body);
    assert_eq!(served.decisions("alice").len(), 0);
    let own = with(&form, &[("action", "approve"), ("who", "x")]);
    assert_eq!(served.send_form(&cookie, &request, &own).status, 403, "it is sealed");
}

#[test]
fn the_address_of_an_answer_leads_to_the_hold() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let path = format!("/holds/{request}/decision");
    let led = served.ask("GET", &path, &[("Cookie", &cookie)], "");
    assert_eq!(led.status, 303);
    assert!(led.head.contains("location: /holds/"), "{}", led.head);
}

#[test]
fn what_is_for_somebody_else_has_no_form() {
    let served = Served::new();
    let request = served.ask_by("alice", r#"hold("Deploy?", #{assignees: ["user:eve"]}).value"#);
    let mine = served.ask_by("bob", r#"hold("Mine?", #{assignees: ["user:ada"]}).value"#);
    let cookie = served.log_in();
    let page = served.page(&cookie, &format!("/holds/{request}"));
    assert!(!page.contains("id=\"decision\"") && page.contains("user:eve"), "{page}");
    let inbox = served.page(&cookie, "/");
    let place = |request: &str| inbox.find(&format!("hold-{request}")).expect("it is there");
    assert!(place(&mine) < place(&request), "mine first");
    assert!(inbox.contains("mine 1"), "{inbox}");
    let filtered = served.page(&cookie, "/?agent=alice&kind=&reason=asked");
    assert!(filtered.contains(&request) && !filtered.contains(&format!("hold-{mine}")));
    let listed = |who: &str| {
        let listed = served.page(&cookie, &format!("/api/v1/pending?assignee={who}"));
        let listed: Json = serde_json::from_str(&listed).expect("JSON");
        let items = listed["items"].as_array().expect("items").iter();
        items.map(|hold| hold["request"].as_str().expect("one").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("user:ada"), [mine.as_str()], "only what this person may decide");
    assert_eq!(listed("user:eve"), [request.as_str()]);
    let other = fields(&served.page(&cookie, &format!("/holds/{mine}")));
    let forged = served.send_form(&cookie, &request, &with(&other, &[("action", "approve")]));
    assert_eq!(forged.status, 403, "the form of another hold");
}

#[test]
fn what_is_too_long_is_only_rejected_here() {
    let served = Served::new();
    let flow = r#"let text = "a line of text\n"; text.pad(300000, "x"); hold("Deploy?", #{payload: text}).action"#;
    let request = served.ask_by("alice", flow);
    let cookie = served.log_in();
    let page = served.page(&cookie, &format!("/holds/{request}"));
    assert!(page.contains("value=\"reject\"") && !page.contains("value=\"approve\""));
    assert!(page.contains("agentic decide"), "the command stands in its place");
    let form = fields(&page);
    let approve = served.send_form(&cookie, &request, &with(&form, &[("action", "approve")]));
    assert_eq!(approve.status, 400, "it was not offered");
    let reject = served.send_form(&cookie, &request, &with(&form, &[("action", "reject")]));
    assert_eq!(reject.status, 303, "{}", reject.body);
    let inbox = served.page(&cookie, "/");
    assert!(inbox.len() < 100_000, "{}", inbox.len());
}

#[test]
fn a_decision_that_does_not_count_can_be_made_ones_own() {
    let served = Served::new();
    let request = served.ask_by("alice", r#"hold("Deploy?").value"#);
    let start = served.sandbox.start().to_owned();
    let git = |arguments: &[&str]| served.sandbox.git(&start, arguments).expect("git does it");
    // Eve decides in a copy, of which the journals here know nothing.
    let there = served.sandbox.repositories().join("there");
    let copied = std::process::Command::new("cp").arg("-r").arg(&start).arg(&there).status();
    assert!(copied.expect("it runs").success());
    served.sandbox.git(&there, &["config", "user.email", "eve@example.com"]).expect("git does it");
    ok(&served.sandbox, &there, &["decide", &request, "respond", "--value", "41"]);
    git(&["fetch", "-q", there.to_str().expect("text"), "agents/alice"]);
    git(&["update-ref", "refs/heads/agents/alice", "FETCH_HEAD"]);
    let log: Json = serde_json::from_str(&served.ok(&["log", "alice", "--json"])).expect("JSON");
    let commit = log[0]["commit"].as_str().expect("an id").to_owned();
    let cookie = served.log_in();
    let page = served.page(&cookie, &format!("/holds/{request}"));
    assert!(page.contains("unverified: ") && page.contains("accept…"), "{page}");
    let form = with(&fields(&page), &[("accept", &commit)]);
    let decided = served.send_form(&cookie, &request, &form);
    assert_eq!(decided.status, 303, "{}", decided.body);
    let decisions = served.decisions("alice");
    let fields = &decisions[0]["fields"];
    assert_eq!((&fields["principal"], &fields["value"]), (&"user:ada".into(), &41.into()));
}

#[test]
fn a_hold_whose_agent_has_no_branch_any_more_says_so_and_takes_no_answer() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let other = served.ask_by("bob", "hold(\"And this?\").action");
    let path = format!("/holds/{request}");
    let form = fields(&served.page(&cookie, &path));
    let git = |arguments: &[&str]| {
        served.sandbox.git(served.sandbox.start(), arguments).expect("git does it");
    };
    for change in
        [&["branch", "-m", "agents/alice", "alice-old"][..], &["branch", "-D", "alice-old"]]
    {
        git(change);
        let decide = ["decide", &request, "approve"];
        let refused = run(&served.sandbox, served.sandbox.start(), &decide);
        assert_eq!(refused.status.code(), Some(1));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        let hint = said.lines().find_map(|line| line.strip_prefix("hint: ")).expect("a hint");
        let shown = |page: &str| page.replace("&quot;", "\"").replace("&#39;", "'");
        let page = shown(&served.page(&cookie, &path));
        assert!(page.contains("This cannot be answered here"), "{page}");
        assert!(page.contains("there is no agent `alice`") && page.contains(hint), "{page}");
        assert!(page.contains("<pre id=\"shown\">"), "what is asked is still shown: {page}");
        let inbox = shown(&served.page(&cookie, "/"));
        let row = inbox.split("<li class=\"hold\"").find(|row| row.contains(&path));
        let row = row.expect("it is listed");
        assert!(row.contains("This cannot be answered here") && row.contains(hint), "{row}");
        for shown in [&page, row] {
            assert!(!shown.contains("/agents/alice\""), "no link leads nowhere: {shown}");
            assert!(!shown.contains("<textarea") && !shown.contains("/decision\""), "{shown}");
        }
        // The form that was loaded before is refused like the command, and the page says the same.
        let sent = served.send_form(&cookie, &request, &with(&form, &[("action", "approve")]));
        assert!((400..500).contains(&sent.status), "{}", sent.status);
        assert!(sent.body.contains("This cannot be answered here"), "{}", sent.body);
        // One that has its branch is asked as ever.
        assert!(inbox.contains(&format!("/holds/{other}/decision")), "{inbox}");
    }
    let page = served.page(&cookie, &format!("/holds/{other}"));
    assert!(page.contains("/agents/bob\"") && page.contains("<textarea"), "{page}");
}

#[test]
fn a_form_of_which_nobody_could_say_what_it_means_is_refused() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let form = whole(&fields(&served.page(&cookie, &format!("/holds/{request}"))));
    let origin = served.origin();
    let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
    let path = format!("/holds/{request}/decision");
    for more in ["action=approve&reason=%ff", "action=reject&action=approve"] {
        let sent = served.ask("POST", &path, &headers, &format!("{form}&{more}"));
        assert_eq!(sent.status, 400, "{more}: {}", sent.body);
    }
    assert!(served.decisions("alice").is_empty());
    let sent = served.ask("POST", &path, &headers, &format!("{form}&action=respond"));
    assert_eq!(sent.status, 422, "{}", sent.body);
    assert!(sent.body.contains("does not fit: this action needs a value"), "{}", sent.body);
}
