//! What programs ask that is very large, very deep or hostile to whoever checks it: the page is small,
//! and soon there.

use super::decision::with;
use super::*;

/// How soon a page is there. A build with all checks is some ten times slower than the one that people
/// have.
const PAGE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
/// How long a page with a text of any length may be: the text is not shown as a whole.
const PAGE_BYTES_MAX: usize = 1 << 20;

impl Served {
    /// Has a program ask; nothing where it may not ask so much.
    fn try_ask(&self, agent: &str, flow: &str) -> Option<String> {
        let file = format!("{agent}.rhai");
        std::fs::write(self.sandbox.start().join(&file), flow).expect("writable");
        self.ok(&["spawn", agent, "-m", "x"]);
        let start = ["session", "start", agent, "--flow", &file, "--json"];
        let start = run(&self.sandbox, self.sandbox.start(), &start);
        let started: Json = serde_json::from_slice(&start.stdout).ok()?;
        Some(started["pending"][0].as_str()?.to_owned())
    }

    /// Asks for a page, which comes soon and is small.
    fn soon(&self, cookie: &str, path: &str) -> Answered {
        let begun = Instant::now();
        let answered = self.ask("GET", path, &[("Cookie", cookie)], "");
        let took = begun.elapsed();
        println!("{path}: {} bytes in {took:?}", answered.body.len());
        assert!(took < PAGE, "{path} took {took:?}");
        assert!(answered.body.len() < PAGE_BYTES_MAX, "{path}: {} bytes", answered.body.len());
        answered
    }
}

#[test]
fn what_is_large_deep_or_wide_has_a_small_page_soon() {
    let served = Served::new();
    // More than this no program may ask; what comes from elsewhere is a test of the page alone.
    let flows = [
        ("large", "let t = \"\"; t.pad(1000000, \"x\"); hold(\"Go?\", #{payload: t}).action"),
        ("deep", "let p = 1; for n in 0..60 { p = #{a: p}; } hold(\"Go?\", #{payload: p}).action"),
        (
            "wide",
            "let p = #{}; for n in 0..1000 { p[\"key\" + n] = n; } \
                  hold(\"Go?\", #{payload: p}).action",
        ),
    ];
    let larger = "let t = \"\"; t.pad(1000000, \"x\"); hold(\"Go?\", #{payload: [t, t]}).action";
    assert_eq!(served.try_ask("larger", larger), None);
    let ask = |(agent, flow): (&'static str, &str)| {
        (agent, served.try_ask(agent, flow).unwrap_or_else(|| panic!("{agent} may not ask")))
    };
    let asked = flows.map(ask);
    let cookie = served.log_in();
    for path in ["/", "/sessions", "/agents", "/statistics"] {
        assert_eq!(served.soon(&cookie, path).status, 200);
    }
    for (agent, request) in asked {
        let page = served.soon(&cookie, &format!("/holds/{request}"));
        assert_eq!(page.status, 200, "{agent}");
        let (session, _) = request.split_once('.').expect("a session's");
        assert_eq!(served.soon(&cookie, &format!("/sessions/{session}")).status, 200, "{agent}");
        let form = with(&fields(&page.body), &[("action", "reject")]);
        let begun = Instant::now();
        let decided = served.send_form(&cookie, &request, &form);
        assert_eq!(decided.status, 303, "{agent}: {}", decided.body);
        assert!(begun.elapsed() < PAGE, "{agent} took {:?}", begun.elapsed());
    }
}

#[test]
fn a_pattern_that_goes_back_again_and_again_keeps_nobody_busy() {
    let served = Served::new();
    let patterns = ["^(a+)+$", "^(a|aa)+$", "^((a*)*)*$", "^(a+)+\\\\1$", "^(?=(a+))\\\\1*b$"];
    for (number, pattern) in patterns.into_iter().enumerate() {
        let flow = format!(
            "hold(\"Go?\", #{{schema: #{{type: \"string\", pattern: \"{pattern}\"}}}}).value"
        );
        let Some(request) = served.try_ask(&format!("p{number}"), &flow) else { continue };
        let cookie = served.log_in();
        let page = served.soon(&cookie, &format!("/holds/{request}"));
        assert_eq!(page.status, 200, "{pattern}");
        let value = format!("{}!", "a".repeat(5_000));
        let form = with(&fields(&page.body), &[("action", "respond"), ("value", &value)]);
        let begun = Instant::now();
        let refused = served.send_form(&cookie, &request, &form);
        println!("{pattern}: {} in {:?}", refused.status, begun.elapsed());
        assert!(begun.elapsed() < PAGE, "{pattern} took {:?}", begun.elapsed());
        assert!((400..500).contains(&refused.status), "{pattern}: {}", refused.status);
    }
}

#[test]
fn a_difference_whose_colours_take_for_ever_has_a_page_soon() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "x"]);
    let folder = served.sandbox.start().join("tree");
    std::fs::create_dir(&folder).expect("writable");
    // Brackets within brackets, and words that nearly are what a pattern wants, as much as gets colours.
    let line = "((((<a<b<".repeat(110);
    let names = ["a.cpp", "a.java", "a.ts", "a.md", "a.php", "a.rb", "a.html", "a.scala"];
    for name in names {
        std::fs::write(folder.join(name), format!("{line}\n").repeat(250)).expect("writable");
    }
    let head = served.sandbox.git(served.sandbox.start(), &["rev-parse", "agents/alice"]);
    let head = head.expect("it has a branch");
    let commit = ["commit", "--agent", "alice", "-m", "x", "--json", "--tree", "tree", "--expect"];
    let made = served.ok(&[&commit[..], &[head.trim()]].concat());
    let made: Json = serde_json::from_str(&made).expect("JSON");
    let commit = made["commit"].as_str().expect("an id");
    let cookie = served.log_in();
    let page = served.soon(&cookie, &format!("/commits/{commit}"));
    assert!(page.status == 200 && page.body.contains("&lt;a&lt;b"), "{}", page.body);
    for n in 0..names.len() {
        let page = served.soon(&cookie, &format!("/commits/{commit}?file={n}"));
        assert_eq!(page.status, 200, "{n}");
    }
}
