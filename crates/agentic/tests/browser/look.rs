//! How pages look: light, dark and narrow, and with nothing that keeps people out.

use std::time::{Duration, Instant};

use agentic_testkit::{Browser, TAB_KEY};

use crate::stage::{ServedRepository, beside, tools};

/// How long colours may take to come.
const PATIENCE: Duration = Duration::from_secs(60);
/// How wide the narrowest page is, in pixels: a window of 1,280 at 400 %.
const NARROW: u32 = 320;
/// Lists what makes a page wider than its window.
const OUTSIDE: &str = "const width = document.documentElement.clientWidth; \
    if (document.documentElement.scrollWidth <= width) return []; \
    return [...document.querySelectorAll('main *, header *, footer *')] \
    .filter((element) => element.getBoundingClientRect().right > width \
    && !element.parentElement.closest('.wide')).map((element) => element.outerHTML.slice(0, 80));";

/// Lists what can be used by keyboard, and puts the focus before all of it.
const BEGIN_WALK: &str = "
    const usable = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]';
    const isShown = (one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0;
    const isFirst = (one, at, all) => one.type !== 'radio' ||
      all.findIndex((other) => other.type === 'radio' && other.form === one.form && other.name === one.name) === at;
    window.wanted = new Set([...document.querySelectorAll(usable)].filter(isShown).filter(isFirst));
    window.faults = [...document.querySelectorAll('[tabindex]')].filter((one) => one.tabIndex > 0)
      .map((one) => 'out of order: ' + one.outerHTML.slice(0, 120));
    window.last = null;
    document.activeElement.blur();
    getSelection().removeAllRanges();
    scrollTo(0, 0);
    return window.wanted.size;";
/// Looks where the focus is. Says whether it has left the page.
const STEP: &str = "
    const here = document.activeElement;
    if (here === document.body || here === window.first) return window.wanted.size === 0 || here === window.first;
    window.first ??= here;
    if (window.last && !(window.last.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_FOLLOWING))
      window.faults.push('backwards: ' + here.outerHTML.slice(0, 120));
    const { left, right, top, bottom } = here.getBoundingClientRect();
    if (right <= 0 || left >= innerWidth || bottom <= 0 || top >= innerHeight)
      window.faults.push('not seen: ' + here.outerHTML.slice(0, 120));
    if (getComputedStyle(here).outlineStyle === 'none')
      window.faults.push('not marked: ' + here.outerHTML.slice(0, 120));
    window.last = here;
    window.wanted.delete(here);
    return false;";

/// Code in which every colour occurs.
const CODE: &str = "/// Says how many.\nfn main() {\n    println!(\"there are {}\", 5);\n}\n";

#[test]
fn no_page_keeps_anybody_out() {
    let served = ServedRepository::begin();
    let flow = "hold(\"Deploy?\", #{ payload: #{ before: \"a\", after: \"b\" }, \
                choices: [\"now\", \"later\"] }).value";
    let request = served.ask("alice", flow);
    served.agentic(&["spawn", "bob", "--from", "alice", "-m", "help"]);
    served.agentic(&["relate", "bob", "reviews", "alice"]);
    served.agentic(&["trace", "add", "--agent", "bob", "looked at it"]);
    let edit = served.sandbox.start().join("edit");
    std::fs::create_dir_all(&edit).expect("writable");
    std::fs::write(edit.join("main.rs"), CODE).expect("writable");
    let folder = edit.to_str().expect("a name");
    let head = served.sandbox.git(served.sandbox.start(), &["rev-parse", "agents/bob"]);
    let head = head.expect("it has a branch");
    let snapshot = ["--tree", folder, "--expect", head.trim(), "-m", "work", "--trace"];
    served.agentic(&[&["commit", "--agent", "bob"], &snapshot[..]].concat());
    let (session, _) = request.split_once('.').expect("a request names its session");
    let browser = served.visit();
    see_colours(&browser);
    let pages = [
        ("inbox", "/".to_owned()),
        ("hold", format!("/holds/{request}")),
        ("agents", "/agents".to_owned()),
        ("tree", "/agents?view=tree".to_owned()),
        ("agent", "/agents/bob".to_owned()),
        ("relations", "/agents/bob/relations".to_owned()),
        ("commit", "/commits/agents%2Fbob".to_owned()),
        ("history", "/commits/agents%2Fbob/history".to_owned()),
        ("sessions", "/sessions".to_owned()),
        ("session", format!("/sessions/{session}")),
        ("scrubber", format!("/sessions/{session}?at=1")),
        ("compare", format!("/sessions/{session}/diff/{session}")),
        ("search", "/search?q=looked".to_owned()),
        ("statistics", "/statistics".to_owned()),
        ("login", "/login".to_owned()),
    ];
    let mut wide = Vec::new();
    for (name, path) in pages {
        browser.go(&beside(&browser, &path)).expect("the page opens");
        for scheme in ["light", "dark"] {
            browser.prefer(scheme).expect("a scheme can be liked");
            let barriers = browser.barriers().expect("the checker runs");
            assert_eq!(barriers, Vec::<String>::new(), "{name}, {scheme}");
            keep_picture(&browser, &format!("{name}-{scheme}"));
        }
        browser.prefer("light").expect("a scheme can be liked");
        browser.be_wide(NARROW).expect("the page can be narrow");
        keep_picture(&browser, &format!("{name}-narrow"));
        let outside = browser.run(OUTSIDE, &[]).expect("a script runs");
        if outside.as_array().is_none_or(|outside| !outside.is_empty()) {
            wide.push(format!("{name}: {outside}"));
        }
        browser.be_wide(1000).expect("the page can be wide");
        if ["inbox", "hold", "agents", "commit", "session"].contains(&name) {
            is_walked_in_order(&browser, name);
        }
    }
    assert_eq!(wide, Vec::<String>::new(), "pages are to be read without going sideways");
}

/// Presses the tab key until it leaves the page: everything that can be used has the focus once, in the
/// order of the page, and is seen then.
fn is_walked_in_order(browser: &Browser, name: &str) {
    let count = browser.run(BEGIN_WALK, &[]).expect("a script runs");
    let most = count.as_u64().expect("a count") + 10;
    for _ in 0..most {
        browser.press(TAB_KEY).expect("it can be pressed");
        let is_over = browser.run(STEP, &[]).expect("a script runs");
        if is_over == true {
            break;
        }
    }
    let faults = browser.run(
        "return window.faults.concat([...window.wanted].map((one) => \
        'never: ' + one.outerHTML.slice(0, 120)))",
        &[],
    );
    assert_eq!(faults.expect("a script runs"), serde_json::json!([]), "{name}");
}

/// Waits until code has its colours: grammars that were never read may take longer than a page waits.
fn see_colours(browser: &Browser) {
    let begun = Instant::now();
    let classes = "return [...new Set([...document.querySelectorAll('.lines span')]\
                   .map((part) => part.className))].sort().join('')";
    loop {
        browser.go(&beside(browser, "/commits/agents%2Fbob")).expect("the page opens");
        let found = browser.run(classes, &[]).expect("a script runs");
        if found == *"cfkns" {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "code has only the colours {found}");
    }
}

fn keep_picture(browser: &Browser, name: &str) {
    let folder = tools().join("pictures");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let picture = browser.picture().expect("the page can be pictured");
    std::fs::write(folder.join(format!("{name}.png")), picture).expect("writable");
}
