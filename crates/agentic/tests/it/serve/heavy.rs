//! What programs ask that is very large, very deep or hostile to whoever checks it: the page is small,
//! and little work. What is counted is processor time of the server: neighbours do not change it.

use agentic_model::{AgentName, Cid, Kind, Map, Value, canonical};
use agentic_space::{Options, Space};

use super::decision::with;
use super::*;

/// How much work a page may be. A build with all checks is some ten times slower than the one that people
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

    /// Returns how much processor time the server has used.
    fn work(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let stat = stat.expect("it runs");
        // The 14th and 15th field of the whole line; the first two are cut off.
        let fields = stat.rsplit(") ").next().expect("a line").split(' ').skip(11).take(2);
        let ticks: u64 = fields.map(|field| field.parse::<u64>().expect("a number")).sum();
        Duration::from_millis(ticks * 1_000 / rustix::param::clock_ticks_per_second())
    }

    /// Does something that is little work.
    fn lightly<T>(&self, what: &str, ask: impl FnOnce() -> T) -> T {
        let before = self.work();
        let answered = ask();
        let work = self.work().saturating_sub(before);
        println!("{what}: {work:?}");
        assert!(work < PAGE, "{what} took {work:?}");
        answered
    }

    /// Asks for a page, which is little work and small.
    fn soon(&self, cookie: &str, path: &str) -> Answered {
        let ask = || self.ask("GET", path, &[("Cookie", cookie)], "");
        let answered = self.lightly(path, ask);
        assert!(answered.body.len() < PAGE_BYTES_MAX, "{path}: {} bytes", answered.body.len());
        answered
    }
}

#[test]
fn what_is_large_deep_or_wide_has_a_small_page() {
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
        let decided = served.lightly(agent, || served.send_form(&cookie, &request, &form));
        assert_eq!(decided.status, 303, "{agent}: {}", decided.body);
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
        let refused = served.lightly(pattern, || served.send_form(&cookie, &request, &form));
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

/// Puts an object into the notes of an agent, as git alone can, whatever its size; returns its id.
fn plant(served: &Served, name: &str, field: Value) -> Cid {
    let fields = [("type", Value::text("plan")), ("steps", Value::List(Vec::new())), (name, field)];
    let bytes = canonical::encode(&Value::map(fields)).expect("it can be encoded");
    let cid = Cid::of(&bytes);
    let start = served.sandbox.start();
    std::fs::write(start.join("planted"), bytes).expect("writable");
    let git = |arguments: &[&str]| {
        let mut command = served.sandbox.command("git", start);
        command.env("GIT_INDEX_FILE", served.sandbox.root().join("planting"));
        let done = command.args(arguments).output().expect("git is installed");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
        String::from_utf8(done.stdout).expect("text").trim().to_owned()
    };
    let notes = "refs/notes/agentic/alice";
    let blob = git(&["hash-object", "-w", "planted"]);
    git(&["read-tree", notes]);
    let place = format!("100644,{blob},objects/plan/{cid}");
    git(&["update-index", "--add", "--cacheinfo", &place]);
    let tree = git(&["write-tree"]);
    let commit = git(&["commit-tree", "-p", notes, "-m", "planted", &tree]);
    git(&["update-ref", notes, &commit]);
    cid
}

/// What no program may ask, and no verb stores, comes by fetch all the same: whoever looks at it has a
/// page that ends.
#[test]
fn an_object_of_any_size_has_a_small_page() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let deep = (0..60).fold(Value::Int(1), |inner, _| Value::map([("a", inner)]));
    // As short as can be, so that they are no more than an object holds.
    let wide: Map = (0..100_000).map(|n| (format!("{n:x}"), Value::Int(0))).collect();
    let objects = [
        ("large", Value::text("x".repeat(10 << 20)), 422),
        ("deep", deep, 200),
        ("wide", Value::Map(wide), 200),
    ];
    let cookie = served.log_in();
    for (name, field, status) in objects {
        let cid = plant(&served, name, field);
        let page = served.soon(&cookie, &format!("/objects/{cid}"));
        assert_eq!(page.status, status, "{name}: {:.500}", page.body);
        assert!(page.body.len() <= 150 << 10, "{name}: {} bytes", page.body.len());
        // The pages beside it are as they were.
        assert_eq!(served.soon(&cookie, "/agents/alice").status, 200, "{name}");
    }
}

#[test]
fn a_trace_with_an_entry_of_ten_mebibytes_has_small_pages() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "x"]);
    let space = Space::open(served.sandbox.start(), Options::default()).expect("a repository");
    let (alice, log) =
        (AgentName::parse("alice").expect("valid"), Kind::parse("log").expect("valid"));
    space.add_trace(&alice, &log, "y".repeat(10 << 20).as_bytes()).expect("it is bound in pieces");
    drop(space);
    let commit = ["commit", "--agent", "alice", "--trace", "--allow-empty", "-m", "x", "--json"];
    let made: Json = serde_json::from_str(&served.ok(&commit)).expect("JSON");
    let (oid, cid) = (made["commit"].as_str().expect("one"), made["trace"].as_str().expect("one"));
    let cookie = served.log_in();
    for path in
        [format!("/commits/{oid}"), format!("/traces/{cid}"), format!("/traces/{cid}?entry=1")]
    {
        let page = served.soon(&cookie, &path);
        assert_eq!(page.status, 200, "{path}: {:.500}", page.body);
        assert!(page.body.len() <= 150 << 10, "{path}: {} bytes", page.body.len());
    }
}
