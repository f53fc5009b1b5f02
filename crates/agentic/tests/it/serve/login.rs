//! Another person than the one who serves logs in by a key, and decides as themselves; decisions are
//! signed where git's configuration says so.

use super::*;

/// What a page of a hold is sent back with.
type FormFields = BTreeMap<String, String>;

/// Asks two people.
const TWO: &str = r#"hold("Deploy?", #{ quorum: #{ need: 2 } }).action"#;

impl Served {
    /// Makes a key of SSH, and returns where it is; its public half is beside it.
    fn key(&self, name: &str, passphrase: &str) -> String {
        let path = self.sandbox.start().join(name);
        let mut command = self.sandbox.command("ssh-keygen", self.sandbox.start());
        command.args(["-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f"]).arg(&path);
        let made = command.stdin(Stdio::null()).output().expect("ssh-keygen is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        path.to_str().expect("a name").to_owned()
    }

    /// Says whose a key is.
    fn name_decider(&self, principal: &str, key: &str) {
        let public = std::fs::read_to_string(format!("{key}.pub")).expect("a public key");
        let words: Vec<&str> = public.split(' ').take(2).collect();
        self.configure("agentic.deciders", &format!("{principal} {}", words.join(" ")));
    }

    fn configure(&self, name: &str, value: &str) {
        let set = self.sandbox.git(self.sandbox.start(), &["config", "--add", name, value]);
        set.expect("git is configured");
    }

    /// Begins the process anew.
    fn restart(&mut self) {
        self.ok(&["serve", "stop"]);
        self.process.wait().expect("it is a child");
        self.process = begin(&self.sandbox, self.sandbox.start(), &[]);
    }

    fn log_in_by_key(&self, arguments: &[&str]) -> Output {
        let url = self.origin();
        let whole = [&["serve", "login", url.as_str()], arguments].concat();
        run(&self.sandbox, self.sandbox.start(), &whole)
    }

    /// Logs a person in by a key, and returns the cookie.
    fn cookie_of(&self, principal: &str, key: &str) -> String {
        let printed = self.log_in_by_key(&["--as", principal, "--key", key]);
        let said = String::from_utf8_lossy(&printed.stderr);
        assert!(printed.status.success(), "{said}");
        let address = String::from_utf8(printed.stdout).expect("text");
        let (page, code) = address.trim().split_once('#').expect("a code");
        assert_eq!(page, format!("http://{}/login", self.host));
        let origin = self.origin();
        let headers = [("Origin", origin.as_str()), ("Content-Type", FORM)];
        let answered = self.ask("POST", "/login", &headers, &format!("code={code}"));
        assert_eq!(answered.status, 303, "{}", answered.body);
        let cookie = answered.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        cookie.and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned()
    }

    fn post_login(&self, path: &str, body: &Json, more: &[(&str, &str)]) -> Answered {
        let headers = [&[("Content-Type", "application/json")], more].concat();
        self.ask("POST", path, &headers, &body.to_string())
    }

    /// Approves a hold on its page.
    fn approve(&self, cookie: &str, request: &str) -> Answered {
        let page = self.ask("GET", &format!("/holds/{request}"), &[("Cookie", cookie)], "");
        let mut form: FormFields = fields(&page.body);
        form.insert("action".to_owned(), "approve".to_owned());
        let origin = self.origin();
        let headers = [("Cookie", cookie), ("Origin", &origin), ("Content-Type", FORM)];
        self.ask("POST", &format!("/holds/{request}/decision"), &headers, &encoded(&form))
    }

    fn made_decisions(&self) -> Vec<Json> {
        let log = self.ok(&["log", "alice", "--kind", "decision", "--json"]);
        serde_json::from_str(&log).expect("JSON")
    }

    /// Has a flow of alice's ask people, and returns the request.
    fn asked(&self, flow: &str) -> String {
        std::fs::write(self.sandbox.start().join("ask.rhai"), flow).expect("writable");
        self.ok(&["spawn", "alice", "-m", "deploy"]);
        let start = ["session", "start", "alice", "--flow", "ask.rhai"];
        let start = run(&self.sandbox, self.sandbox.start(), &start);
        assert_eq!(start.status.code(), Some(4), "it waits for a person");
        let pending: Json = serde_json::from_str(&self.ok(&["pending", "--json"])).expect("JSON");
        pending[0]["request"].as_str().expect("one request").to_owned()
    }
}

#[test]
fn two_people_agree_and_one_of_them_counts_once() {
    let served = Served::new();
    let key = served.key("bob", "");
    served.name_decider("user:bob", &key);
    let request = served.asked(TWO);
    let ada = served.log_in();
    assert_eq!(served.approve(&ada, &request).status, 303);
    assert_eq!(served.approve(&served.log_in(), &request).status, 303, "the same answer again");
    assert_eq!(served.made_decisions().len(), 1, "the same person counts once");
    let bob = served.cookie_of("user:bob", &key);
    let page = served.ask("GET", &format!("/holds/{request}"), &[("Cookie", &bob)], "").body;
    assert!(page.contains("Deciding as <strong>user:bob</strong>"), "{page}");
    assert!(page.contains("login:ssh:SHA256:"), "{page}");
    let inbox = served.ask("GET", "/", &[("Cookie", &bob)], "").body;
    assert!(inbox.contains("your turn"), "{inbox}");
    let inbox = served.ask("GET", "/", &[("Cookie", &ada)], "").body;
    assert!(!inbox.contains("your turn"), "{inbox}");
    assert_eq!(served.approve(&bob, &request).status, 303);
    let made = served.made_decisions();
    assert_eq!(made.len(), 2, "{made:?}");
    assert_eq!(made[0]["fields"]["principal"], "user:bob");
    let authn = made[0]["fields"]["authn"].as_str().unwrap_or_default();
    assert!(authn.starts_with("login:ssh:SHA256:"), "{authn}");
    assert_eq!(made[1]["fields"]["principal"], "user:ada");
    assert!(
        made[1]["fields"].get("authn").is_none_or(|authn| authn != &made[0]["fields"]["authn"])
    );
}

#[test]
fn a_key_that_nobody_named_logs_nobody_in() {
    let served = Served::new();
    let (key, other) = (served.key("bob", ""), served.key("eve", ""));
    served.name_decider("user:bob", &key);
    for (principal, key) in [("user:bob", &other), ("user:eve", &other), ("user:ada", &key)] {
        let refused = served.log_in_by_key(&["--as", principal, "--key", key]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(
            (refused.status.code(), refused.stdout.as_slice()),
            (Some(9), &b""[..]),
            "{said}"
        );
        assert!(said.contains("agentic.deciders"), "{said}");
    }
    let unsigned = served.log_in_by_key(&["--as", "user:bob"]);
    let said = String::from_utf8_lossy(&unsigned.stderr);
    assert_eq!(unsigned.status.code(), Some(1), "{said}");
    assert!(said.contains("--key FILE"), "{said}");
    let mut agent = served.sandbox.command("agentic", served.sandbox.start());
    agent.env("AGENTIC_AGENT", "alice").args(["serve", "login", &served.origin()]);
    assert_eq!(agent.output().expect("it runs").status.code(), Some(9));
    let elsewhere = ["serve", "login", "http://evil.example:80"];
    assert_eq!(run(&served.sandbox, served.sandbox.start(), &elsewhere).status.code(), Some(2));
}

#[test]
fn who_is_taken_off_the_list_of_keys_is_out_at_once() {
    let served = Served::new();
    let (key, other) = (served.key("bob", ""), served.key("eve", ""));
    served.name_decider("user:bob", &key);
    served.name_decider("user:eve", &other);
    let request = served.asked(TWO);
    let (bob, eve) = (served.cookie_of("user:bob", &key), served.cookie_of("user:eve", &other));
    let page = served.ask("GET", &format!("/holds/{request}"), &[("Cookie", &bob)], "");
    let taken = served
        .sandbox
        .git(served.sandbox.start(), &["config", "--unset-all", "agentic.deciders", "^user:bob "]);
    taken.expect("git is configured");
    let mut form: FormFields = fields(&page.body);
    form.insert("action".to_owned(), "approve".to_owned());
    let origin = served.origin();
    let headers = [("Cookie", bob.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
    let path = format!("/holds/{request}/decision");
    assert_eq!(served.ask("POST", &path, &headers, &encoded(&form)).status, 401);
    assert_eq!(served.made_decisions().len(), 0);
    let api = "/api/v1/agents";
    assert_eq!(served.ask("GET", api, &[("Cookie", &bob)], "").status, 401);
    assert_eq!(served.ask("GET", api, &[("Cookie", &eve)], "").status, 200);
    served.name_decider("user:bob", &key);
    assert_eq!(served.ask("GET", api, &[("Cookie", &bob)], "").status, 401, "that login ended");
    assert_eq!(served.approve(&eve, &request).status, 303);
}

#[test]
fn what_is_signed_is_good_once_and_for_this_page_alone() {
    let served = Served::new();
    let key = served.key("bob", "");
    served.name_decider("user:bob", &key);
    let nothing = serde_json::json!({});
    let given = served.post_login("/login/challenge", &nothing, &[]);
    assert_eq!(given.status, 200, "{}", given.body);
    let given: Json = serde_json::from_str(&given.body).expect("JSON");
    let challenge = given["challenge"].as_str().expect("a challenge").to_owned();
    let sign = |host: &str| {
        let text = format!("log in to {host}\nas user:bob\nchallenge {challenge}\n");
        let file = served.sandbox.start().join("text");
        std::fs::write(&file, text).expect("writable");
        let mut command = served.sandbox.command("ssh-keygen", served.sandbox.start());
        command.args(["-Y", "sign", "-n", "agentic-login", "-f", &key]).arg(&file);
        assert!(command.output().expect("it runs").status.success());
        let answer = file.with_extension("sig");
        let signature = std::fs::read_to_string(&answer).expect("a signature");
        std::fs::remove_file(answer).expect("it is there");
        serde_json::json!({ "principal": "user:bob", "challenge": challenge, "signature": signature })
    };
    let good = sign(&served.host);
    let origin = served.origin();
    let ours = [("Origin", origin.as_str())];
    let others = [("Origin", "http://evil.example")];
    assert_eq!(served.post_login("/login/key", &good, &others).status, 403, "another page");
    let plain =
        served.ask("POST", "/login/key", &[("Content-Type", "text/plain")], &good.to_string());
    assert_eq!(plain.status, 415);
    assert_eq!(served.post_login("/login/key", &good, &ours).status, 200);
    assert_eq!(served.post_login("/login/key", &good, &[]).status, 403, "it is good once");
    let forged = serde_json::json!({ "principal": "user:bob", "challenge": "00", "signature": "" });
    assert_eq!(served.post_login("/login/key", &forged, &[]).status, 403);
    let given = served.post_login("/login/challenge", &nothing, &[]);
    let fresh: Json = serde_json::from_str(&given.body).expect("JSON");
    let mut elsewhere = sign("a-b.localhost:42000");
    elsewhere["challenge"] = fresh["challenge"].clone();
    assert_eq!(served.post_login("/login/key", &elsewhere, &[]).status, 403, "for another page");
}

#[test]
fn a_decision_is_signed_or_nothing_is_written() {
    let mut served = Served::new();
    let (key, shut) = (served.key("ada", ""), served.key("shut", "a passphrase"));
    let request = served.hold();
    served.configure("gpg.format", "ssh");
    served.configure("agentic.sign", "true");
    served.configure("user.signingKey", &shut);
    served.restart();
    let cookie = served.log_in();
    let refused = served.approve(&cookie, &request);
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains(&format!("agentic decide {request}")), "{}", refused.body);
    assert_eq!(served.made_decisions().len(), 0);
    let set = ["config", "--replace-all", "user.signingKey", &key];
    served.sandbox.git(served.sandbox.start(), &set).expect("git is configured");
    served.restart();
    let cookie = served.log_in();
    let page = served.ask("GET", &format!("/holds/{request}"), &[("Cookie", &cookie)], "").body;
    assert!(page.contains("signed <code>ssh:SHA256:"), "{page}");
    assert_eq!(served.approve(&cookie, &request).status, 303);
    let made = served.made_decisions();
    let public = std::fs::read_to_string(format!("{key}.pub")).expect("a public key");
    let signers = served.sandbox.start().join("signers");
    std::fs::write(&signers, format!("ada {public}")).expect("writable");
    served.configure("gpg.ssh.allowedSignersFile", signers.to_str().expect("a name"));
    let commit = made[0]["commit"].as_str().expect("an id");
    let verified = served.sandbox.git(served.sandbox.start(), &["verify-commit", commit]);
    assert!(verified.is_ok(), "{verified:?}");
}

#[test]
fn who_decides_is_who_git_knows_by_then_however_lately_the_process_began() {
    let served = Served::new();
    let (request, cookie) = (served.hold(), served.log_in());
    let page = |served: &Served| {
        served.ask("GET", &format!("/holds/{request}"), &[("Cookie", &cookie)], "").body
    };
    assert!(page(&served).contains("Deciding as <strong>user:ada</strong>"));
    let set = ["config", "user.email", "bob@example.com"];
    served.sandbox.git(served.sandbox.start(), &set).expect("git is configured");
    assert!(page(&served).contains("Deciding as <strong>user:bob</strong>"));
    assert_eq!(served.approve(&cookie, &request).status, 303);
    assert_eq!(served.made_decisions()[0]["fields"]["principal"], "user:bob");
}

#[test]
fn many_wrong_keys_are_not_heard_for_a_while_and_a_logout_forgives_nobody() {
    let served = Served::new();
    let nothing = serde_json::json!({});
    let given = served.post_login("/login/challenge", &nothing, &[]);
    let given: Json = serde_json::from_str(&given.body).expect("JSON");
    let key = |challenge: &Json| {
        let sent = serde_json::json!({ "principal": "user:eve", "challenge": challenge, "signature": "s" });
        served.post_login("/login/key", &sent, &[]).status
    };
    for n in 0..10 {
        assert_eq!(key(&Json::from(n.to_string())), 403, "the wrong one {n}");
    }
    assert_eq!(key(&Json::from("x")), 429);
    assert_eq!(key(&given["challenge"]), 429, "one that was given");
    assert_eq!(served.post_login("/login/challenge", &nothing, &[]).status, 429);
    served.ok(&["serve", "logout"]);
    let address = served.ok(&["serve", "open", "--print"]);
    let (_, code) = address.trim().split_once('#').expect("a code");
    let origin = served.origin();
    let headers = [("Origin", origin.as_str()), ("Content-Type", FORM)];
    let answered = served.ask("POST", "/login", &headers, &format!("code={code}"));
    assert_eq!(answered.status, 429, "{}", answered.body);
}

#[test]
fn where_nobody_serves_a_page_that_is_said() {
    let mut served = Served::new();
    let key = served.key("bob", "");
    let url = served.origin();
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("a child");
    let arguments = ["serve", "login", url.as_str(), "--as", "user:bob", "--key", &key];
    let output = run(&served.sandbox, served.sandbox.start(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("no page answers at {url}")), "{said}");
    assert!(said.contains("hint: ") && said.contains("agentic serve status"), "{said}");
    assert!(!said.contains("file"), "{said}");
}

#[test]
fn somebody_logs_in_from_any_folder() {
    let served = Served::new();
    let key = served.key("bob", "");
    served.name_decider("user:bob", &key);
    let elsewhere = served.sandbox.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("writable");
    std::fs::copy(&key, elsewhere.join("mine")).expect("readable");
    std::fs::copy(format!("{key}.pub"), elsewhere.join("mine.pub")).expect("readable");
    let log_in = |arguments: &[&str]| {
        let url = served.origin();
        run(&served.sandbox, &elsewhere, &[&["serve", "login", url.as_str()], arguments].concat())
    };
    let is_in = |printed: Output| {
        let said = String::from_utf8_lossy(&printed.stderr).into_owned();
        assert!(printed.status.success(), "{said}");
        let address = String::from_utf8(printed.stdout).expect("text");
        assert!(address.starts_with(&format!("http://{}/login#", served.host)), "{address}");
    };
    is_in(log_in(&["--as", "user:bob", "--key", &key]));
    is_in(log_in(&["--as", "user:bob", "--key", "mine"]));
    let unsigned = log_in(&["--as", "user:bob"]);
    let said = String::from_utf8_lossy(&unsigned.stderr);
    assert_eq!(unsigned.status.code(), Some(1), "{said}");
    assert!(said.contains("--key FILE"), "{said}");
    // What git knows of the person everywhere.
    for (name, value) in
        [("user.email", "bob@example.com"), ("gpg.format", "ssh"), ("user.signingKey", &key)]
    {
        let set = ["config", "--global", name, value];
        served.sandbox.git(&elsewhere, &set).expect("git is configured");
    }
    is_in(log_in(&[]));
    let left = std::fs::read_dir(&elsewhere).expect("readable").count();
    assert_eq!(left, 2, "nothing is made there");
}
