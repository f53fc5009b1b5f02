//! The tools that read the web for agents: what is asked, and what becomes of the replies.

use agentic_model::Value;
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::provider::Providers;
use agentic_replay::{Path, Request, RequestAnswer};

use crate::server::{End, Play, Server, reply};

/// Calls a tool while a server plays; returns what it gives, and what the server was asked first.
fn call(tool: &str, args: &str, play: Play, limit_ms: Option<u64>) -> (String, String) {
    let (shown, asked) = call_in_turn(tool, args, vec![play], limit_ms);
    (shown, asked.into_iter().next().unwrap_or_default())
}

/// Does the same with a server that plays several times; returns all that it was asked.
fn call_in_turn(
    tool: &str,
    args: &str,
    plays: Vec<Play>,
    limit_ms: Option<u64>,
) -> (String, Vec<String>) {
    let server = Server::start(plays);
    let host = server.address.trim_start_matches("http://");
    let toml = format!("[tools]\nsearch = \"{}/s\"\nhosts = [\"{host}\"]\n", server.address);
    let configuration = Configuration::parse(&toml, "agentic.toml".as_ref()).expect("it is right");
    let executor = Providers::configured(configuration).executor("test");
    let payload = Value::map([
        ("tool", Value::text(tool)),
        ("args", Value::text(args.replace("SERVER", &server.address))),
        ("by", Value::text("web")),
    ]);
    let mut request = Request::new(Path::root(), "agent-tool", payload);
    request.timeout_ms = limit_ms;
    let shown = match executor.answer(&request, &CancelFlag::new()) {
        Some(RequestAnswer::Ok(value)) => value.as_text().expect("an answer is text").to_owned(),
        Some(RequestAnswer::Failed(failure)) => format!("{}: {}", failure.code, failure.message),
        other => format!("{other:?}"),
    };
    (shown, std::iter::from_fn(|| server.asked_already()).map(|asked| asked.line).collect())
}

fn page(kind: &str, body: &str) -> Play {
    reply(&format!("HTTP/1.1 200 OK\ncontent-type: {kind}\n\n{body}\n"))
}

fn check(tool: &str, args: &str, play: Play, wanted: &str) {
    let (shown, _) = call(tool, args, play, None);
    assert!(shown.contains(wanted), "{tool} {args}: {shown:.300}");
}

const URL: &str = r#"{"url":"SERVER/a?b=c"}"#;
const QUERY: &str = r#"{"query":"green tea & \"milk\""}"#;

#[test]
fn a_page_is_read_as_text() {
    let (shown, asked) =
        call("fetch_url", URL, page("text/html; charset=utf-8", "<p>Hi <b>there"), None);
    assert_eq!(
        (shown.as_str(), asked.as_str()),
        (r#"{"content":"Hi there"}"#, "GET /a?b=c HTTP/1.1")
    );
    check("fetch_url", URL, page("application/json", "{\"a\": \"<b>\"}"), r#"{\"a\": \"<b>\"}"#);
}

#[test]
fn pages_that_are_too_long_are_cut_and_what_is_no_text_is_shown_somehow() {
    let flood = Play { flood: 1 << 20, ..page("text/plain", "begin") };
    let (shown, _) = call("fetch_url", URL, flood, None);
    assert!(shown.starts_with(r#"{"content":"begin"#) && shown.len() < 400_000, "{}", shown.len());
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".as_slice();
    let garbage = Play { bytes: [head, &[0xff, 0xfe, b'x']].concat(), ..Play::default() };
    check("fetch_url", URL, garbage, "x\"}");
}

#[test]
fn pages_that_are_not_there_or_elsewhere_are_failures() {
    let lost = reply("HTTP/1.1 302 Found\n\n\n");
    check("fetch_url", URL, lost, "answered with status 302");
    for near in ["http://127.0.0.1:1/", "//localhost/", "file:///etc/passwd"] {
        let moved = reply(&format!("HTTP/1.1 302 Found\nlocation: {near}\n\n\n"));
        check("fetch_url", URL, moved, "refused: `");
    }
    check("fetch_url", URL, reply("HTTP/1.1 404 Gone\n\n\n"), "answered with status 404");
    check("fetch_url", URL, reply("garbage"), "transport: ");
    check("fetch_url", "{}", Play::default(), "KeyError: 'url'");
    check("fetch_url", r#"{"url":7}"#, Play::default(), "KeyError: 'url'");
    for url in ["http://127.0.0.1:1/", "http://localhost/", "file:///etc/passwd", "http://[::1]/"] {
        let (shown, asked) =
            call("fetch_url", &format!("{{\"url\":\"{url}\"}}"), Play::default(), None);
        assert!(shown.starts_with("refused: ") && asked.is_empty(), "{url}: {shown}");
    }
    let silent = Play { end: End::Stall, ..Play::default() };
    let (shown, _) = call("fetch_url", URL, silent, Some(50));
    assert_eq!(shown, "Some(TimedOut)");
}

#[test]
fn a_page_that_is_elsewhere_is_found_there() {
    let moved = |place: &str| {
        reply(&format!("HTTP/1.1 301 Moved\nlocation: {place}\nconnection: close\n\n\n"))
    };
    let there = page("text/plain", "there");
    let (shown, asked) =
        call_in_turn("fetch_url", URL, vec![moved("/b"), moved("c?d"), there], None);
    assert_eq!(shown, r#"{"content":"there"}"#);
    let lines = ["GET /a?b=c HTTP/1.1", "GET /b HTTP/1.1", "GET /c?d HTTP/1.1"];
    assert_eq!(asked, lines);
    let (shown, asked) = call_in_turn("fetch_url", URL, vec![moved("/"); 9], None);
    assert!(shown.contains("elsewhere again") && asked.len() == 6, "{shown}");
}

#[test]
fn a_search_gives_hits() {
    let found =
        r#"{"Heading":"Tea","AbstractText":"A drink.","AbstractURL":"u","RelatedTopics":[]}"#;
    let (shown, asked) = call("web_search", QUERY, page("application/x-javascript", found), None);
    assert_eq!(shown, r#"[{"snippet":"A drink.","title":"Tea","url":"u"}]"#);
    let wanted =
        "GET /s?q=green%20tea%20%26%20%22milk%22&format=json&no_redirect=1&no_html=1 HTTP/1.1";
    assert_eq!(asked, wanted);
    check("web_search", QUERY, page("application/json", "{}"), "[]");
    check("web_search", QUERY, page("application/json", "[1"), "invalid: ");
    check("web_search", QUERY, page("application/json", &"[".repeat(100_000)), "invalid: ");
    let deep = format!("{{\"RelatedTopics\":{}", "[{\"Topics\":".repeat(10_000));
    check("web_search", QUERY, page("application/json", &deep), "invalid: ");
    check("web_search", "{}", Play::default(), "KeyError: 'query'");
    check("other", "{}", Play::default(), "nothing here performs the tool `other`");
}
