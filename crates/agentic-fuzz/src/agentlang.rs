//! Programs of AgentLang.
//!
//! Whatever parses is laid out anew, once and for all; what is wrong with it stays wrong for the same
//! reason, and what is right becomes the same pipelines.

use agentic_lang_agent::{check as findings, compile, format, lower, read};

/// Checks one program.
pub fn check(data: &[u8]) {
    let Ok(source) = read("a.agent", data) else { return };
    let Ok(formatted) = format(&source) else {
        assert!(!findings(&source).is_empty(), "it does not parse, so something is wrong");
        return;
    };
    let again = read("a.agent", formatted.as_bytes()).expect("text stays text");
    assert_eq!(format(&again).as_deref().ok(), Some(formatted.as_str()), "a second time");

    let codes = |source| -> Vec<_> { findings(source).into_iter().map(|it| it.code).collect() };
    assert_eq!(codes(&source), codes(&again), "{formatted}");
    match (compile(&source), compile(&again)) {
        (Ok(before), Ok(after)) => {
            assert_eq!(before.counts(), after.counts());
            assert_eq!(before.pipelines(), after.pipelines());
            for pipeline in before.pipelines() {
                let lowered = |source| lower(source, &pipeline.name).expect("it compiled");
                assert_eq!(lowered(&source), lowered(&again), "{formatted}");
            }
        }
        (Err(_), Err(_)) => {}
        (Ok(_), Err(found)) => panic!("only before the layout it compiles: {found:?}\n{formatted}"),
        (Err(found), Ok(_)) => panic!("only after the layout it compiles: {found:?}\n{formatted}"),
    }
}
