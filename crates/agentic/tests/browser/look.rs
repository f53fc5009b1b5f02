//! How pages look: light, dark and narrow, and with nothing that keeps people out.

use agentic_testkit::Browser;

use crate::stage::{ServedRepository, beside, tools};

/// How wide the narrowest page is, in pixels: a window of 1,280 at 400 %.
const NARROW: u32 = 320;

#[test]
fn no_page_keeps_anybody_out() {
    let served = ServedRepository::begin();
    let flow = "hold(\"Deploy?\", #{ payload: #{ before: \"a\", after: \"b\" }, \
                choices: [\"now\", \"later\"] }).value";
    let request = served.ask("alice", flow);
    let browser = served.visit();
    let pages = [
        ("inbox", "/".to_owned()),
        ("hold", format!("/holds/{request}")),
        ("login", "/login".to_owned()),
    ];
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
        let script = "return document.documentElement.scrollWidth";
        let width = browser.run(script, &[]).expect("a script runs");
        let is_narrow = width.as_u64().is_some_and(|width| width <= u64::from(NARROW));
        assert!(is_narrow, "{name} is to be read without going sideways: {width}");
        browser.be_wide(1000).expect("the page can be wide");
    }
}

fn keep_picture(browser: &Browser, name: &str) {
    let folder = tools().join("pictures");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let picture = browser.picture().expect("the page can be pictured");
    std::fs::write(folder.join(format!("{name}.png")), picture).expect("writable");
}
