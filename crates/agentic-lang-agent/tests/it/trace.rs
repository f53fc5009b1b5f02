//! What is traced: how much of it is kept, and what people see of it.

use agentic_lang_agent::{Data, RunOptions, TRACE, TraceCapture, compile, json, read, report};
use agentic_model::{Instant, Value};
use agentic_replay::{Program as _, ProgramEvent, Seed, Start};

/// Counts to a number, which is three events a step and no request.
const COUNT: &str = "pipeline step(n: Number) -> Number { return n + 1; }\n\
    pipeline go(n: Number) -> Number { \
    let i = step(0); while i != n { let i = step(i); } return i; }";

fn events(n_steps: u64, trace_bytes_max: usize) -> Vec<ProgramEvent> {
    let source = read("count.agent", COUNT.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let options = RunOptions { trace: TraceCapture::On, trace_bytes_max, ..RunOptions::default() };
    let input = Value::Text(format!("{{\"n\":{n_steps}}}"));
    let start = Start { input, seed: Seed([0; 32]), at: Instant::from_millis(0) };
    module.run("go", options).start(&start).events
}

fn entry(event: &ProgramEvent) -> Data {
    assert_eq!(event.kind, TRACE);
    json::from_text(event.data.as_text().expect("an event is text")).expect("it is JSON")
}

#[test]
fn what_is_traced_between_two_answers_is_bounded_and_the_rest_is_counted() {
    for (bytes_max, n_steps) in [(10_000, 1_000), (10_000, 5), (0, 7), (64 << 20, 1_000)] {
        let events = events(n_steps, bytes_max);
        let n_all = 3 * n_steps + 1;
        let kept_bytes: usize =
            events.iter().filter_map(|event| event.data.as_text()).map(str::len).sum();
        let last = entry(events.last().expect("something is traced"));
        let is_gap = last.get("type").and_then(Data::as_text) == Some("trace_gap");
        let n_left_out = last
            .get("events")
            .map_or(0, |n| json::to_text(n).parse::<u64>().expect("a gap counts events"));
        let n_kept = events.len() as u64 - u64::from(is_gap);
        assert_eq!(n_kept + n_left_out, n_all, "{n_steps} steps within {bytes_max} bytes");
        assert!(kept_bytes <= bytes_max + 200, "{kept_bytes} bytes are kept of {bytes_max}");
        assert_eq!(is_gap, n_left_out > 0);
    }
}

#[test]
fn a_trace_is_put_together_piece_by_piece() {
    let traced = events(2, 64 << 20);
    let mut pieces = report::TraceText::default();
    let mut text: String = traced.iter().filter_map(|event| pieces.add(event)).flatten().collect();
    text.extend(pieces.end());
    assert_eq!(text, report::trace_text(&traced));
    let trace = json::from_text(&text).expect("a trace is JSON");
    assert_eq!(trace.get("trace").and_then(Data::items).map(<[Data]>::len), Some(7));
    assert_eq!(report::trace_text([]), "{\"trace\":[]}\n");
}

#[test]
fn people_see_events_of_the_trace_cut_and_harmless() {
    let check = |kind: &str, text: &str, wanted: Option<&str>| {
        let event = ProgramEvent { kind: kind.to_owned(), data: Value::text(text) };
        assert_eq!(report::live_line(&event).as_deref(), wanted, "{text}");
    };
    check("progress", "{}", None);
    let start =
        r#"{"type":"task_start","timestamp":1.5,"task":"t","args":{"a":[1,"b"]},"id":"task:t:1"}"#;
    check("trace", start, Some(r#"[trace] task_start task="t" args={"a":[1,"b"]} id="task:t:1""#));
    let long = format!(r#"{{"type":"task_end","result":"{}"}}"#, "x".repeat(500));
    check("trace", &long, Some(&format!("[trace] task_end result=\"{}…", "x".repeat(199))));
    let steering = "{\"type\":\"task_error\",\"error\":\"\\u001b[2J\u{9b}2J\"}";
    check("trace", steering, Some("[trace] task_error error=\"\\u001b[2J 2J\""));
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    check("trace", &deep, Some(&format!("[trace] {}…", "[".repeat(200))));
}
