//! Whoever is not our own page, under our own name, with a login and a form of its own, reads nothing
//! and writes nothing.

use super::decision::{DecisionFields, with};
use super::*;

/// What stands in the hold, the agent and the repository that strangers must not see.
const DATA: [&str; 3] = ["Deploy", "alice", "agentic/serve"];
/// The longest name that is asked for.
const LONG_NAME_BYTES: usize = 10 << 10;

/// A hold, somebody who is logged in, and what nobody else may change.
struct Siege {
    served: Served,
    request: String,
    cookie: String,
    head: String,
}

impl Siege {
    fn begin() -> Siege {
        let served = Served::new();
        let (request, cookie) = (served.hold(), served.log_in());
        let head = head_of(&served);
        Siege { served, request, cookie, head }
    }

    fn form(&self) -> DecisionFields {
        self.form_of(&self.cookie)
    }

    fn form_of(&self, cookie: &str) -> DecisionFields {
        let page = self.served.page(cookie, &format!("/holds/{}", self.request));
        with(&fields(&page), &[("action", "approve")])
    }

    /// Sends a decision to the page and one to the API, with these headers, and returns how each was
    /// answered.
    fn decide(&self, form: &DecisionFields, headers: &[(&str, &str)]) -> [u16; 2] {
        let (page, api) =
            (decision::whole(form), serde_json::to_string(&body_of(form)).expect("text"));
        let send = |path: String, content: &str, body: &str| {
            let cookie = ("Cookie", self.cookie.as_str());
            let all = [headers, &[cookie, ("Content-Type", content)]].concat();
            self.served.ask("POST", &path, &all, body).status
        };
        let request = &self.request;
        [
            send(format!("/holds/{request}/decision"), FORM, &page),
            send(format!("/api/v1/pending/{request}/decision"), "application/json", &api),
        ]
    }

    /// Checks that nothing was written, and that the hold is still open.
    fn is_untouched(&self) {
        assert_eq!(head_of(&self.served), self.head, "nothing is written");
        let pending: Json =
            serde_json::from_str(&self.served.ok(&["pending", "--json"])).expect("JSON");
        assert_eq!(pending[0]["request"], self.request.as_str(), "the hold is open");
    }
}

fn head_of(served: &Served) -> String {
    let head = served.sandbox.git(served.sandbox.start(), &["rev-parse", "agents/alice"]);
    head.expect("the agent is there")
}

/// Makes the request to the API that a form of the page is.
fn body_of(form: &DecisionFields) -> BTreeMap<&str, &str> {
    let names = ["action", "request_hash", "shown", "token"];
    names.into_iter().filter_map(|name| Some((name, form.get(name)?.as_str()))).collect()
}

#[test]
fn under_another_name_nothing_is_said() {
    let siege = Siege::begin();
    let (host, cookie) = (siege.served.host.clone(), siege.cookie.clone());
    let port = host.rsplit(':').next().expect("a port");
    let wrong = [
        vec!["evil.example".to_owned()],
        vec![],
        vec![host.clone(), host.clone()],
        vec![host.clone(), "evil.example".to_owned()],
        vec![format!("ada@{host}")],
        vec![format!("ada:secret@{host}")],
        vec![host.replace(port, "1")],
        vec![host.replace(&format!(":{port}"), "")],
        vec![format!("{host}.evil.example")],
        vec![host.replace("a-", "b-")],
        vec!["agentic".to_owned()],
        vec![String::new()],
    ];
    let hold = format!("/holds/{}", siege.request);
    let pages = ["/", &hold, "/agents", "/login", "/api/v1/pending", "/api/v1/health", "/nothing"];
    for names in &wrong {
        let mut headers = vec![("Cookie", cookie.as_str()), ("Connection", "close")];
        headers.extend(names.iter().map(|name| ("Host", name.as_str())));
        for path in pages {
            let answered = siege.served.send("GET", path, &headers, "");
            assert_eq!(answered.status, 421, "{names:?} {path}: {}", answered.body);
            for data in DATA.into_iter().chain([host.as_str()]) {
                assert!(!answered.body.contains(data), "{names:?} {path}: {}", answered.body);
            }
        }
        let origin = siege.served.origin();
        headers.extend([("Origin", origin.as_str()), ("Content-Type", FORM)]);
        let body = decision::whole(&siege.form());
        let answered = siege.served.send("POST", &format!("{hold}/decision"), &headers, &body);
        assert_eq!(answered.status, 421, "{names:?}");
    }
    // A name in the address itself counts as well.
    let whole = format!("http://evil.example{hold}");
    let headers = [("Host", host.as_str()), ("Cookie", &cookie), ("Connection", "close")];
    assert_eq!(siege.served.send("GET", &whole, &headers, "").status, 421);
    siege.is_untouched();
}

#[test]
fn a_decision_that_another_page_sends_is_none() {
    let siege = Siege::begin();
    let (form, origin) = (siege.form(), siege.served.origin());
    let ours = ("Origin", origin.as_str());
    let (secure, port) = (origin.replace("http:", "https:"), format!("{origin}0"));
    let others: [&[(&str, &str)]; 9] = [
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[],
        &[("Origin", &secure)],
        &[("Origin", &port)],
        &[ours, ours],
        &[ours, ("Sec-Fetch-Site", "same-site")],
        &[ours, ("Sec-Fetch-Site", "cross-site")],
        &[ours, ("Sec-Fetch-Site", "none")],
    ];
    for headers in others {
        assert_eq!(siege.decide(&form, headers), [403, 403], "{headers:?}");
        siege.is_untouched();
    }
    assert_eq!(siege.decide(&form, &[ours, ("Sec-Fetch-Site", "same-origin")])[0], 303);
}

#[test]
fn a_token_is_good_for_its_form_its_login_and_its_request_alone() {
    let siege = Siege::begin();
    let origin = siege.served.origin();
    let ours = [("Origin", origin.as_str())];
    let form = siege.form();
    let other_request = siege.served.ask_by("bob", r#"hold("Other?").value"#);
    let of_other = fields(&siege.served.page(&siege.cookie, &format!("/holds/{other_request}")));
    let other_login = siege.form_of(&siege.served.log_in());
    let page = siege.served.page(&siege.cookie, "/");
    let logout = page.split_once("name=\"token\" value=\"").expect("the form that logs out").1;
    let logout = logout.split_once('"').expect("its end").0;
    let token = form["token"].clone();
    let mut wrong = vec![
        logout.to_owned(),
        of_other["token"].clone(),
        other_login["token"].clone(),
        String::new(),
        "-".to_owned(),
    ];
    // One bit of each digit that says when, and of each of the seal.
    wrong.extend((0..token.len()).map(|place| {
        let mut bytes = token.clone().into_bytes();
        bytes[place] ^= 1;
        String::from_utf8(bytes).expect("it stays ASCII")
    }));
    for token in &wrong {
        let forged = with(&form, &[("token", token)]);
        assert_eq!(siege.decide(&forged, &ours), [403, 403], "{token}");
    }
    for name in ["request_hash", "shown"] {
        let mut bytes = form[name].clone().into_bytes();
        bytes[10] ^= 1;
        let forged = with(&form, &[(name, &String::from_utf8(bytes).expect("it stays ASCII"))]);
        assert_eq!(siege.decide(&forged, &ours), [403, 403], "{name}");
    }
    // The whole form of the other request, sent here.
    let foreign = with(&of_other, &[("action", "approve")]);
    assert_eq!(siege.decide(&foreign, &ours), [403, 403]);
    // What another login was shown, this one does not send.
    let cookie = siege.served.log_in();
    let theirs = Siege { cookie, ..siege };
    assert_eq!(theirs.decide(&form, &ours), [403, 403]);
    theirs.is_untouched();
}

#[test]
fn a_cookie_that_was_guessed_ended_or_of_an_earlier_start_is_no_login() {
    let mut served = Served::new();
    let request = served.hold();
    let paths = ["/".to_owned(), format!("/holds/{request}"), "/api/v1/pending".to_owned()];
    let check = |served: &Served, cookie: &str| {
        for path in &paths {
            let answered = served.ask("GET", path, &[("Cookie", cookie)], "");
            assert_eq!(answered.status, 401, "{cookie} {path}");
            assert!(!answered.body.contains("Deploy"), "{}", answered.body);
        }
    };
    let cookie = served.log_in();
    check(&served, "agentic=");
    check(&served, &format!("agentic={}", "0".repeat(64)));
    let mut guess = cookie.clone().into_bytes();
    *guess.last_mut().expect("a digit") ^= 1;
    check(&served, &String::from_utf8(guess).expect("it stays ASCII"));
    check(&served, &cookie.to_uppercase());
    served.ok(&["serve", "logout"]);
    check(&served, &cookie);
    let cookie = served.log_in();
    served.ok(&["serve", "stop"]);
    served.process.wait().expect("it is a child");
    served.process = begin(&served.sandbox, served.sandbox.start(), &[]);
    check(&served, &cookie);
    // The page ends logins too.
    let cookie = served.log_in();
    let page = served.page(&cookie, "/");
    let token = page.split_once("name=\"token\" value=\"").expect("the form that logs out").1;
    let token = format!("token={}", token.split_once('"').expect("its end").0);
    let origin = served.origin();
    let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
    assert_eq!(served.ask("POST", "/logout", &headers, &token).status, 303);
    check(&served, &cookie);
}

#[test]
fn the_eleventh_wrong_code_of_a_minute_is_not_looked_at() {
    let served = Served::new();
    let address = served.ok(&["serve", "open", "--print"]);
    let (_, good) = address.trim().split_once('#').expect("a code");
    let origin = served.origin();
    let headers = [("Origin", origin.as_str()), ("Content-Type", FORM)];
    let log_in =
        |code: &str| served.ask("POST", "/login", &headers, &format!("code={code}")).status;
    for number in 0..10 {
        assert_eq!(log_in(&format!("{number:032}")), 401, "{number}");
    }
    assert_eq!(log_in(&"1".repeat(32)), 429, "the eleventh");
    assert_eq!(log_in(good), 429, "nor is a good one");
}

#[test]
fn an_address_that_names_nothing_is_400_or_404() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let cookie = served.log_in();
    let long = "a".repeat(LONG_NAME_BYTES);
    let names = [
        "..%2f..%2fconfig",
        "..%2F..%2F.git%2Fconfig",
        "%00",
        "a%00b",
        "%c0%ae%c0%ae",
        "%e0%80%af",
        "%f8%80%80%80%80",
        "%ff",
        &long,
    ];
    let places = [
        "/agents/{}",
        "/agents/{}/log",
        "/commits/{}",
        "/sessions/{}",
        "/holds/{}",
        "/traces/{}",
        "/objects/{}",
        "/assets/{}",
        "/api/v1/agents/{}",
        "/api/v1/agents/{}/log",
        "/api/v1/commits/{}",
        "/api/v1/sessions/{}",
        "/api/v1/pending/{}",
        "/api/v1/objects/{}",
    ];
    for place in places {
        for name in names {
            let path = place.replace("{}", name);
            let answered = served.ask("GET", &path, &[("Cookie", &cookie)], "");
            let is_refused = matches!(answered.status, 400 | 404);
            assert!(is_refused, "{place} {:.40}: {} {}", name, answered.status, answered.body);
            assert!(!answered.body.contains("[core]"), "{place} {name:.40}");
        }
    }
    // Where paths go up they lead nowhere else either.
    for path in ["/agents/../../config", "/../.git/config", "//etc/passwd", "/./agents/alice/../.."]
    {
        let answered = served.ask("GET", path, &[("Cookie", &cookie)], "");
        assert!(matches!(answered.status, 400 | 404), "{path}: {}", answered.status);
    }
}
