//! Generated workflows: their lowered text byte for byte, and what they give.

use agentic_lang_agent::{Data, TraceCapture, json, lower, read};

use crate::corpus::{Setup, lines, run, sorted, text};
use crate::host::Kit;

#[test]
fn all_workflows_lower_and_run_alike() {
    let cases = lines("workflows.jsonl");
    let mut wrong = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let own = |key: &str| text(case, key).expect("a case has its parts");
        let (name, pipeline) = (own("name"), own("pipeline"));
        let source = read("case.agent", own("source").as_bytes()).expect("cases are UTF-8");
        let lowered = lower(&source, pipeline).ok();
        if lowered.as_deref() != text(case, "lowered") {
            wrong.push(format!("{name}: lowered to\n{lowered:?}"));
        }
        let inputs = json::to_text(case.get("inputs").expect("a case has inputs"));
        let words = ["@SRC", pipeline, "--input", &inputs].map(str::to_owned);
        let setup = Setup { kit: Kit::None, seed: at as u64 };
        let given = run(own("source").as_bytes(), &words, TraceCapture::Off, setup);
        let expected = case.get("expected").expect("a case expects something");
        let result = expected.get("result").map(|result| {
            let fields = vec![("result".into(), result.clone())];
            sorted(&Data::object(fields).expect("small"))
        });
        let class = text(expected, "class").map(str::to_owned);
        if (&given.result, &given.class) != (&result, &class) {
            wrong.push(format!("{name}: {:?} {:?}", given.result, given.class));
        }
    }
    println!("workflows: {} of {} right", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), 80, "the number of cases has changed");
}
