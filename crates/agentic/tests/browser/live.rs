//! Pages that stay open: what happens elsewhere comes into them, and nobody loses their place.

use std::time::{Duration, Instant};

use agentic_testkit::Browser;
use serde_json::json;

use crate::stage::{ServedRepository, beside, deadline_in, go, is_silent};

/// How soon a page has what happens elsewhere, on a machine that does much else.
const SOON: Duration = Duration::from_secs(10);
/// What an operation of the index waits for: that a file goes away.
const HANG: &str = r#"while [ -e "$HANG" ]; do sleep 0.05; done"#;

/// Puts the focus on an element and the page at a place, and remembers both.
const SETTLE: &str = "const place = document.querySelector(arguments[0]);
    scrollTo(0, arguments[1]); place.focus({ preventScroll: true });
    window.settled = { place, scroll: scrollY, top: place.getBoundingClientRect().top };
    return scrollY;";
/// Says whether the focus is where it was, and the page: what is above may be a line longer.
const IS_SETTLED: &str = "const { place, scroll, top } = window.settled;
    return document.activeElement === place && place.isConnected &&
      (scroll === scrollY || Math.abs(place.getBoundingClientRect().top - top) < 2);";

#[test]
fn a_new_commit_comes_into_an_open_page_and_scroll_and_focus_are_kept() {
    let served = ServedRepository::begin();
    served.agentic(&["spawn", "alice", "--empty", "-m", "work"]);
    let steps = r#"for n in 0..60 { request("commit", #{ message: "Step " + n }); }"#;
    served.start_session("alice", steps, &["--allow", "commit"]);
    let browser = served.visit();
    go(&browser, "/agents/alice");
    browser.wait_for("#live", "live").expect("the page listens");
    let places = ["header a[href='/search']", "#log > li:nth-child(30) > a", "nav.tabs a"];
    for (n, place) in places.into_iter().enumerate() {
        let scroll = browser.run(SETTLE, &[json!(place), json!(500)]).expect("a script runs");
        assert!(scroll.as_f64().is_some_and(|scroll| scroll > 400.0), "{place}: {scroll}");
        let subject = format!("News {n}");
        served.agentic(&["commit", "--agent", "alice", "--allow-empty", "-m", &subject]);
        let begun = Instant::now();
        browser.wait_for("#log > li", &subject).expect("it comes by itself, as the first");
        println!("a commit came into the page in {:?}", begun.elapsed());
        assert_eq!(browser.run(IS_SETTLED, &[]).expect("a script runs"), true, "{place}");
        let rows = browser.run("return document.querySelectorAll('#log > li').length", &[]);
        assert_eq!(rows.expect("a script runs"), 50, "as many as stand on a page");
        let changed = browser.run("return !document.querySelector('.changed')", &[]);
        assert_eq!(changed.expect("a script runs"), true, "{place}: nothing is left to be said");
    }
    is_silent(&browser, "the page of an agent");
}

#[test]
fn a_hold_comes_into_the_inbox_around_the_one_that_has_the_focus() {
    let served = ServedRepository::begin();
    served.ask("alice", "hold(\"First?\").action");
    served.ask("bob", "hold(\"Second?\").action");
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    browser.wait_for(".holds", "Second?").expect("both are there");
    browser.run(SETTLE, &[json!(".holds > li:nth-child(2) h2 a"), json!(0)]).expect("it runs");
    served.ask("eve", "hold(\"Third?\").action");
    browser.wait_for(".holds", "Third?").expect("it comes by itself");
    assert_eq!(browser.run(IS_SETTLED, &[]).expect("a script runs"), true);
    served.agentic(&["decide", "alice", "approve"]);
    browser.wait_for(".hold.gone", "First?").expect("what is answered stays, put out");
    assert_eq!(browser.run(IS_SETTLED, &[]).expect("a script runs"), true);
    let rows = browser.run("return document.querySelectorAll('.holds > li').length", &[]);
    assert_eq!(rows.expect("a script runs"), 3);
    is_silent(&browser, "the inbox");
}

#[test]
fn an_open_hold_says_who_decided_and_that_it_is_too_late() {
    let served = ServedRepository::begin();
    let request = served.ask("alice", "hold(\"Deploy?\").action");
    let browser = served.visit();
    open_and_type(&browser, &request);
    served.agentic(&["decide", "alice", "reject"]);
    let begun = Instant::now();
    browser.wait_for(".changed", "user:ada has decided this: reject").expect("it says so");
    println!("the page said who had decided in {:?}", begun.elapsed());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    is_put_out(&browser);

    let deadline = deadline_in(6_000);
    let flow =
        format!("hold(\"Soon?\", #{{ deadline: \"{deadline}\", on_expiry: \"late\" }}).action");
    let request = served.ask("bob", &flow);
    open_and_type(&browser, &request);
    let is_open = "return !document.querySelector('#decision [type=submit]').disabled";
    assert_eq!(browser.run(is_open, &[]).expect("a script runs"), true, "there is time left");
    browser.wait_for(".over", "too late").expect("the clock on the page says so");
    browser.wait_for(".changed", "too late").expect("it says so where somebody types");
    is_put_out(&browser);
    let send = "const done = arguments[arguments.length - 1];
        const form = document.querySelector('#decision');
        const typed = new FormData(form);
        typed.set('action', 'approve');
        fetch(form.getAttribute('action'), { method: 'POST', body: new URLSearchParams(typed), redirect: 'manual' })
          .then((answer) => done(answer.status), (error) => done(String(error)))";
    assert_eq!(browser.run_long(send, &[]).expect("a script runs"), 410, "it is refused as well");
}

/// Opens a hold and begins to type a reason.
fn open_and_type(browser: &Browser, request: &str) {
    go(browser, &format!("/holds/{request}"));
    browser.wait_for("#live", "live").expect("the page listens");
    browser.press("c").expect("a key leads to the reason");
    browser.press("half a thought").expect("it can be typed into");
}

/// Checks that nothing can be sent any more, and that what was typed is still there.
fn is_put_out(browser: &Browser) {
    let script = "return document.querySelector('#decision [type=submit]').disabled &&
        document.querySelector('#reason').value === 'half a thought'";
    browser.wait_until(script, &[]).expect("the button is off, and what was typed is kept");
}

#[test]
fn a_second_tab_says_what_the_first_one_hears() {
    let served = ServedRepository::begin();
    served.agentic(&["spawn", "alice", "--empty", "-m", "x"]);
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    let agents = beside(&browser, "/agents");
    let first = browser.open_tab().expect("there can be two");
    browser.go(&agents).expect("the page opens");
    browser.wait_for("#live", "live").expect("it is told by the first, which has the stream");
    served.agentic(&["spawn", "bob", "--empty", "-m", "x"]);
    browser.wait_for("main", "bob").expect("it is told what happens, too");
    is_silent(&browser, "the second tab");
    browser.enter_tab(&first).expect("it is there still");
    browser.wait_for("#live", "live").expect("nothing has changed for it");
}

#[test]
fn an_open_page_comes_back_after_the_server_did() {
    let mut served = ServedRepository::begin();
    served.agentic(&["spawn", "alice", "--empty", "-m", "x"]);
    let browser = served.visit();
    go(&browser, "/agents");
    browser.wait_for("#live", "live").expect("the page listens");
    // A process that begins anew knows no login: the page says so.
    served.restart(|served| drop(served.agentic(&["spawn", "bob", "--empty", "-m", "x"])));
    let begun = Instant::now();
    browser.wait_for("#live", "logged out").expect("it says what it is");
    println!("the page said that it is logged out in {:?}", begun.elapsed());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    // Whoever logs in again elsewhere finds it as it is now.
    let tab = browser.open_tab().expect("there can be two");
    served.log_in(&browser);
    let begun = Instant::now();
    browser.enter_tab(&tab).expect("it is there still");
    browser.wait_for("main", "bob").expect("what was done meanwhile is there");
    browser.wait_for("#live", "live").expect("it listens again");
    println!("the page was right again in {:?}", begun.elapsed());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// Returns what the events of the process that serves are numbered under; nothing while it does not answer.
fn epoch(served: &ServedRepository) -> Option<String> {
    let (code, said) = served.try_agentic(&["serve", "status", "--json"]);
    let status = (code == 0).then(|| serde_json::from_str::<serde_json::Value>(&said));
    Some(status?.expect("JSON")["epoch"].as_str()?.to_owned())
}

#[test]
fn an_open_page_goes_on_when_the_server_replaces_itself() {
    let served = ServedRepository::begin_with(|sandbox| {
        let hang = sandbox.root().join("hang").to_string_lossy().into_owned();
        let pairs = [("AGENTIC_RUN_AT", "index-flush:*"), ("AGENTIC_RUN", HANG), ("HANG", &hang)];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    });
    let hang = served.sandbox.root().join("hang");
    served.agentic(&["spawn", "alice", "--empty", "-m", "x"]);
    let browser = served.visit();
    go(&browser, "/agents");
    browser.wait_for("#live", "live").expect("the page listens");
    let listen = "window.resets = 0;
        new EventSource('/api/v1/events').addEventListener('reset', () => window.resets++);";
    browser.run(listen, &[]).expect("a script runs");
    let before = epoch(&served).expect("it answers");
    std::fs::write(&hang, "").expect("writable");
    served.agentic(&["spawn", "bob", "--empty", "-m", "x"]);
    let begun = Instant::now();
    while epoch(&served).is_none_or(|epoch| epoch == before) {
        assert!(begun.elapsed() < 6 * SOON, "it never replaces itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::remove_file(&hang).expect("it is there");
    println!("the server replaced itself in {:?}", begun.elapsed());
    let begun = Instant::now();
    browser.wait_until("return window.resets > 0", &[]).expect("it is told to fetch anew");
    browser.wait_for("main", "bob").expect("it has what was written meanwhile");
    browser.wait_for("#live", "live").expect("it listens again");
    println!("the page was right again in {:?}", begun.elapsed());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    served.agentic(&["spawn", "carl", "--empty", "-m", "x"]);
    browser.wait_for("main", "carl").expect("it goes on");
}
