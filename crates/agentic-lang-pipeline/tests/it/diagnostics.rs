//! What is wrong, where, and in which words.

use agentic_diag::{DiagnosticStyle, SourceText};
use agentic_lang_pipeline::{
    check, findings_to_values, parse_program, render_findings, source_text,
};
use agentic_model::Value;
use agentic_plan::Registry;

use crate::kit::suite_registry;

/// Returns findings as `Kind line:col`, joined by blanks.
fn found_with(source: &str, registry: &Registry) -> String {
    let findings = match check(source, registry) {
        Ok(()) => return "ok".to_owned(),
        Err(findings) => findings,
    };
    let values = findings_to_values(&SourceText::new("t.as", source), &findings);
    let text = |value: &Value| {
        let number = |key| value.get(key).and_then(Value::as_int).expect("a number");
        let kind = value.get("kind").and_then(Value::as_text).expect("a kind");
        format!("{kind} {}:{}", number("line"), number("col"))
    };
    values.iter().map(text).collect::<Vec<_>>().join(" ")
}

fn expect(source: &str, expected: &str) {
    assert_eq!(found_with(source, &suite_registry()), expected, "{source:?}");
}

/// Checks the body of a block in memory; the body begins at column 17.
fn body(source: &str, expected: &str) {
    expect(&format!("memory static ( {source} )"), expected);
}

#[test]
fn tokens() {
    body("echo \"a\" $", "UnexpectedChar 1:26");
    body("echo > upper", "UnexpectedChar 1:22");
    body("score 01", "BadNumber 1:23");
    body("score -01", "BadNumber 1:23");
    body("score 1.", "BadNumber 1:23");
    body("score 1.5.2", "BadNumber 1:23");
    body("score 1e", "BadNumber 1:23");
    body("score 1x", "BadNumber 1:23");
    body("score 1é", "BadNumber 1:23");
    body("score 9223372036854775808", "BadNumber 1:23");
    body("score -9223372036854775808", "ok");
    body("score 1e400", "BadNumber 1:23");
    body("score 1E+2", "ok");
    body("score - 1", "UnexpectedChar 1:23");
    body(r#"echo "a\qb""#, "BadEscape 1:24");
    body(r#"echo "\u{110000}""#, "BadEscape 1:23");
    body(r#"echo "\u{d800}""#, "BadEscape 1:23");
    body(r#"echo "\u{}""#, "BadEscape 1:23");
    body(r#"echo "\u{1234567}""#, "BadEscape 1:23");
    body("echo \"a\\\nb\"", "BadEscape 1:24");
    body("echo \"\"\"a", "UnterminatedString 1:22");
    expect("memory static ( echo \"a\\", "UnterminatedString 1:22");
    expect("\u{feff}memory static ( echo $ )", "UnexpectedChar 1:22");
    expect("memory\tstatic\r\n( é )", "UnexpectedChar 2:3");
}

#[test]
fn structure() {
    expect("", "EmptyScript 1:1");
    expect("\u{feff} // nothing\n", "EmptyScript 1:1");
    expect("memory static ( )", "EmptyGroup 1:15");
    body("( )", "EmptyGroup 1:17");
    body("echo >=> ( )", "EmptyGroup 1:26");
    body("echo ( )", "ok");
    expect("memory static", "UnexpectedEof 1:14");
    expect("memory static ( echo // x", "UnexpectedEof 1:26");
    expect("memory static ( echo\n\n", "UnexpectedEof 3:1");
    expect("static memory ( echo )", "UnexpectedToken 1:1");
    expect("memory static echo", "UnexpectedToken 1:15");
    expect("memory static ( echo ) >=> memory static ( echo )", "UnexpectedToken 1:24");
    expect("memory static ( echo ) junk \"", "UnexpectedToken 1:24");
    expect("memory static ( echo <*> )", "UnexpectedToken 1:26");
    body("<*> echo", "UnexpectedToken 1:17");
    body("echo echo", "UnexpectedToken 1:22");
    body("search (limit 3)", "UnexpectedToken 1:31");
    body("search (: 3)", "UnexpectedToken 1:25");
    body("search (limit: 3,, strict: true)", "UnexpectedToken 1:34");
    body("search (limit: memory)", "UnexpectedToken 1:32");
    body("search (limit: [1 2])", "UnexpectedToken 1:35");
    body("echo [\"a\"]", "UnexpectedToken 1:22");
}

#[test]
fn reserved_words() {
    body("static", "ReservedWord 1:17");
    body("true", "ReservedWord 1:17");
    body("echo \"a\" as x", "ReservedWord 1:26");
    body("with", "ReservedWord 1:17");
    body("search (with: 1)", "ReservedWord 1:25");
    body("search (memory: 1)", "ReservedWord 1:25");
    body("search (query: as)", "ReservedWord 1:32");
    expect("memory as ( echo )", "ReservedWord 1:8");
}

#[test]
fn limits() {
    let nested = |n: usize| format!("memory static {}echo{}", "(".repeat(n), ")".repeat(n));
    expect(&nested(64), "ok");
    expect(&nested(65), "TooDeep 1:79");
    expect(&nested(300_000), "TooDeep 1:79");
    let list = format!("echo (text: {}1{})", "[".repeat(65), "]".repeat(65));
    body(&list, "TooDeep 1:93");
    expect(&"x".repeat((1 << 20) + 1), "TooLarge 1:1");
    expect(&" ".repeat(1 << 20), "EmptyScript 1:1");
    let wide = |n: usize| format!("memory static ( {}echo )", "echo >=> ".repeat(n - 1));
    expect(&wide(2_000), "ok");
    expect(&wide(2_001), "PlanTooLarge 1:1");
    let blocks = format!("memory static ( echo ) {}", wide(2_001));
    expect(&blocks, "PlanTooLarge 1:24");
    assert!(parse_program(&nested(65)).is_err());
}

#[test]
fn names_and_arguments() {
    body("nobody >=> echo >=> noone", "UnknownBuiltin 1:17 UnknownBuiltin 1:37");
    body("wrap", "Arity 1:17");
    body("wrap ( left: \"a\" )", "MissingArg 1:17");
    body("upper 1 2", "Arity 1:23");
    body("search \"q\" 1 true 4 ( limit: 2 )", "Arity 1:35 DuplicateArg 1:39");
    body("concat \",\" \"a\" 1 \"b\"", "ArgType 1:32");
    body("search \"q\" ( limt: 3 )", "UnknownArg 1:30");
    body("search \"q\" ( limit: 3 limit: 4 )", "DuplicateArg 1:39");
    body("search \"q\" ( query: \"r\" )", "DuplicateArg 1:30");
    body("search \"q\" 101", "ArgValue 1:28");
    body("search \"q\" 1.0", "ArgType 1:28");
    body("search \"q\" ( strict: \"true\" )", "ArgType 1:38");
    body("score 1", "ok");
    body("score true", "ArgType 1:23");
    body("echo ( text: upper )", "ArgType 1:30");
    body("converge ( researcher: \"my_researcher\" )", "ArgType 1:40");
    body("converge ( researcher: nobody )", "UnknownRef 1:40");
    body("tool_agent ( tools: [logs, \"slack\", nobody] )", "ArgType 1:44 UnknownRef 1:53");
    body("tool_agent ( tools: [hold] )", "BackendUnsupported 1:38");
    body("echo ( text: [] )", "ArgType 1:30");
    // One error does not hide the others, and the first missing parameter is the one named.
    body(
        "wrap 3 >=> repeat 9 >=> nobody",
        "Arity 1:17 ArgType 1:22 ArgValue 1:35 UnknownBuiltin 1:41",
    );
}

#[test]
fn backends() {
    body("hold \"ok?\"", "BackendUnsupported 1:17");
    expect("temporal static ( preview )", "BackendUnsupported 1:19");
    body("temporal static ( echo )", "NestedBackend 1:17");
    body("temporal dynamic ( preview )", "NestedBackend 1:17 BackendUnsupported 1:36");
    expect("temporal static ( memory static ( preview ) )", "ok");
    expect("temporal dynamic ( memory static ( hold \"?\" ) )", "BackendUnsupported 1:36");
    expect("temporal static ( hold \"?\" ( on_timeout: \"never\" ) )", "ArgValue 1:42");
}

#[test]
fn shapes_are_compared_where_both_sides_declare_them() {
    let registry = Registry::from_json(
        r#"{"builtins":[
            {"name":"text","agent":"a/text","returns":"text","accepts":"text"},
            {"name":"pair","agent":"a/pair","accepts":"tuple(2)"},
            {"name":"any","agent":"a/any","returns":"json","accepts":"json"}]}"#,
    )
    .expect("the registry is well-formed");
    let expect = |source: &str, expected: &str| {
        let source = format!("memory static ( {source} )");
        assert_eq!(found_with(&source, &registry), expected, "{source}");
    };
    expect("text >=> text", "ok");
    expect("any >=> pair", "ok");
    expect("text >=> pair", "TypeMismatch 1:26");
    expect("(text <*> text) >=> pair", "ok");
    expect("(text <*> text) >=> text", "TypeMismatch 1:37");
    expect("(text <*> (any <*> text)) >=> (any <*> pair)", "TypeMismatch 1:56");
    expect("memory dynamic ( text <*> text ) >=> pair", "ok");
    expect("text >=> memory dynamic ( pair )", "TypeMismatch 1:43");
}

#[test]
fn a_rendering_has_place_caret_reason_and_hint() {
    let source = "temporal static (\n  echo \"a\" >=>\n  sumarize\n)";
    let findings = check(source, &suite_registry()).expect_err("the name is wrong");
    let text = render_findings(&SourceText::new("x.as", source), &findings, DiagnosticStyle::Plain);
    for part in
        ["error[P0201]", "x.as:3:3", "^^^^^^^^ not in the registry", "did you mean `summarize`?"]
    {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    let source = "memory static (\n  echo \"a\"\n";
    let findings = check(source, &suite_registry()).expect_err("it is not closed");
    let text = render_findings(&SourceText::new("x.as", source), &findings, DiagnosticStyle::Plain);
    assert!(text.contains("this is never closed"), "{text}");
}

#[test]
fn a_hundred_thousand_findings_stay_cheap() {
    let source = format!("memory static ( {}x )", "x >=> ".repeat(170_000));
    let findings = check(&source, &suite_registry()).expect_err("nobody knows x");
    assert_eq!(findings.len(), 170_001);
    let source = SourceText::new("t", source);
    assert_eq!(findings_to_values(&source, &findings).len(), 170_001);
    let text = render_findings(&source, &findings, DiagnosticStyle::Plain);
    assert!(text.ends_with("and 169981 more errors"));
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    let findings = source_text(b"memory static ( echo \"\xff\" )").expect_err("not UTF-8");
    assert_eq!((findings[0].kind.as_str(), findings[0].span().start), ("UnexpectedChar", 22));
}
