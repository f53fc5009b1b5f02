//! Texts of others on every page: they are text, whatever they say.

use agentic_testkit::Browser;
use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, go, is_silent};

/// What a browser, a template or a terminal would act on.
const EVIL: &str = "<script>alert(1)</script></textarea></title></pre><img src=x onerror=alert(2)>\
     <a href=\"javascript:alert(3)\">x</a>\" onfocus=alert(4) autofocus x=' {{77773*77773}} ${77773*77773} \u{1b}[31mred";
/// The same where a name is short and has no slash.
const NAME: &str = "<script>alert(5)<script><img src=x onerror=alert(6)>{{77773*77773}}";

/// Says what of a page is more than text.
const LOOK: &str = "
    const found = [];
    for (const script of document.scripts)
      if (script.textContent || !script.src.startsWith(location.origin + '/assets/')) found.push(script.outerHTML);
    for (const one of document.querySelectorAll('img, iframe, object, embed, base, meta[http-equiv]'))
      found.push(one.outerHTML);
    for (const one of document.querySelectorAll('*'))
      for (const attribute of one.attributes)
        if (attribute.name.startsWith('on') || attribute.name === 'autofocus' || attribute.name === 'style')
          found.push(attribute.name + ' of ' + one.outerHTML.slice(0, 200));
    for (const link of document.links)
      if (link.origin !== location.origin) found.push(link.outerHTML);
    for (const one of document.querySelectorAll('[action], [formaction]'))
      if (!/^\\/(?!\\/)/.test(one.getAttribute('action'))) found.push(one.outerHTML);
    if (/[\\u0000-\\u0008\\u000b-\\u001f\\u007f\\u202e]/.test(document.documentElement.textContent))
      found.push('a control character');
    if (document.documentElement.textContent.includes(77773 * 77773)) found.push('a template');
    return found;";

#[test]
fn texts_of_others_are_text_on_every_page() {
    let served = ServedRepository::begin();
    let asked = tell_everywhere(&served);
    let browser = served.visit();
    for (path, text) in pages(&served, &asked) {
        go(&browser, &path);
        let found = browser.run(LOOK, &[]).expect("a script runs");
        assert_eq!(found, json!([]), "{path}");
        let shown = browser.text("body").expect("there is a page");
        assert!(text.is_empty() || shown.contains(text), "{path} shows {text}: {shown}");
        // Of a page that is refused a browser says just that.
        let is_refused = path.contains("%3C") && !path.starts_with("/search");
        let said = browser.console().expect("the console can be read");
        let is_said = |line: &String| is_refused && line.contains("the server responded with");
        assert!(said.iter().all(is_said), "{path}: {said:?}");
    }
    decide_with_evil_words(&served, &browser, &asked);
}

/// What was asked.
struct AskedEvil {
    request: String,
    session: String,
    commit: String,
    failed: String,
}

/// Says it in every place where others may say something.
fn tell_everywhere(served: &ServedRepository) -> AskedEvil {
    served.agentic(&["spawn", "alice", "--empty", "-m", EVIL]);
    served.agentic(&["trace", "add", "--agent", "alice", EVIL]);
    served.write(&format!("tree/{NAME}.rs"), EVIL.as_bytes());
    served.write("tree/plain.html", EVIL.as_bytes());
    let field = format!("said={}", json!(EVIL));
    let commit = served.commit("alice", "tree", &["-m", EVIL, "--trace", "--field", &field]);
    served.agentic(&["trace", "add", "--agent", "alice", EVIL]);
    served.agentic(&["spawn", "bob", "--from", "alice", "-m", EVIL]);
    served.agentic(&["relate", "bob", "reviews", "alice"]);
    let flow = "hold(input.evil, #{ payload: input, choices: [input.evil, \"b\"], \
                body: input.evil }).value";
    let payload = json!({ "evil": EVIL, "before": EVIL, "after": "", EVIL: [EVIL] }).to_string();
    let started = served.start_session("alice", flow, &["--input", &payload, "--key", EVIL]);
    served.write("fail.rhai", b"throw input");
    let fail = ["session", "start", "bob", "--flow", "fail.rhai", "--input"];
    assert_eq!(served.try_agentic(&[&fail[..], &[&json!(EVIL).to_string()]].concat()).0, 1);
    let failed = served.json(&["session", "list", "--agent", "bob"])[0].take();
    let text = |text: &Json| text.as_str().expect("a text").to_owned();
    AskedEvil {
        request: text(&started["pending"][0]),
        session: text(&started["session"]),
        commit,
        failed: text(&failed["session"]),
    }
}

/// Returns all pages, and what is to stand on each.
fn pages(served: &ServedRepository, asked: &AskedEvil) -> Vec<(String, &'static str)> {
    let evil = "<script>alert(1)</script></textarea></title></pre><img src=x onerror=alert(2)>";
    let encoded: String = EVIL.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let AskedEvil { request, session, commit, failed } = asked;
    let trace = served.json(&["trace", "show", commit])["cid"].clone();
    let trace = trace.as_str().expect("an id").to_owned();
    vec![
        ("/".to_owned(), evil),
        (format!("/holds/{request}"), evil),
        ("/agents".to_owned(), evil),
        ("/agents?view=tree".to_owned(), ""),
        ("/agents/alice".to_owned(), evil),
        ("/agents/alice/traces".to_owned(), evil),
        ("/agents/alice/sub-agents".to_owned(), ""),
        ("/agents/alice/sessions".to_owned(), "<script>alert(1)"),
        ("/agents/alice/relations".to_owned(), ""),
        (format!("/commits/{commit}"), evil),
        (format!("/commits/{commit}"), NAME),
        (format!("/commits/{commit}/history"), ""),
        (format!("/traces/{trace}"), evil),
        (format!("/objects/{trace}"), ""),
        ("/sessions".to_owned(), "<script>alert(1)"),
        (format!("/sessions/{session}"), "<script>alert(1)"),
        (format!("/sessions/{session}?at=1"), ""),
        (format!("/sessions/{session}/diff/{failed}"), ""),
        (format!("/sessions/{failed}"), evil),
        ("/search?q=alert".to_owned(), "<script>alert(1)"),
        (format!("/search?q={encoded}"), "<script>alert(1)"),
        (format!("/statistics?agent={encoded}"), ""),
        (format!("/sessions?agent={encoded}"), ""),
        (format!("/agents?name={encoded}"), ""),
        (format!("/agents/{encoded}"), ""),
        ("/statistics".to_owned(), ""),
        ("/login".to_owned(), ""),
    ]
    .into_iter()
    .filter(|(path, _)| path.len() < 4_000)
    .collect()
}

/// Decides with such words, and looks at the pages that have them then.
fn decide_with_evil_words(served: &ServedRepository, browser: &Browser, asked: &AskedEvil) {
    served.agentic(&["decide", &asked.request, "reject", "-m", EVIL]);
    let log = served.json(&["log", "alice", "--kind", "decision"]);
    let commit = log[0]["commit"].as_str().expect("an id").to_owned();
    for path in [
        format!("/holds/{}", asked.request),
        format!("/commits/{commit}"),
        "/agents/alice".to_owned(),
    ] {
        go(browser, &path);
        assert_eq!(browser.run(LOOK, &[]).expect("a script runs"), json!([]), "{path}");
        let shown = browser.text("body").expect("there is a page");
        assert!(shown.contains("<script>alert(1)</script>"), "{path}: {shown}");
        is_silent(browser, &path);
    }
}
