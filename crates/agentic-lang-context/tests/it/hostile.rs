//! Texts that want to break the reader.

use agentic_diag::SourceText;
use agentic_lang_context::{CheckOptions, Dialect, Version, check, format};

/// How many findings of a text are rendered; one line of a long text takes long to show.
const RENDERED_MAX: usize = 2;

/// Every text must end in findings or in none, never in a crash, in every dialect.
fn survives(text: &str) {
    for dialect in
        Version::ALL.map(|version| Some(Dialect::strict(version))).into_iter().chain([None])
    {
        let options = CheckOptions { dialect, ..CheckOptions::default() };
        let mut resolver = |_: &str| Err("no files here".to_owned());
        let checked = check(SourceText::new("main.as", text), &options, &mut resolver);
        for finding in checked.findings.iter().take(RENDERED_MAX) {
            let source = &checked.sources[finding.file];
            let shown = finding.diagnostic.render(source, agentic_diag::DiagnosticStyle::Plain);
            assert!(!shown.is_empty());
        }
        let _ = format(text, dialect);
    }
}

fn in_body(body: &str) -> String {
    format!("main agent A {{ main func(i) {{ {body} }} }}")
}

#[test]
fn nesting_without_end_is_a_finding() {
    const DEEP: usize = 20_000;
    for (open, close) in [
        ("[", "]"),
        ("{a:", "}"),
        ("if true {", "}"),
        ("not ", ""),
        ("f(", ")"),
        ("x[", "]"),
        ("repeat * 1 {", "}"),
        ("parallel for x in ", ""),
        ("generate({input: ", "})"),
        ("(", ")"),
        ("parallel for x in [1] max 1 {", "}"),
        ("1 + ", "1"),
        ("a.", "b"),
        ("a()", ""),
        ("use one of {", ""),
        ("1 and ", "2"),
        ("x = ", "1"),
    ] {
        survives(&in_body(&format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP))));
        survives(&in_body(&open.repeat(DEEP)));
    }
    let lists = "list[".repeat(DEEP);
    survives(&in_body(&format!("generate({{input: 1}}) -> {{ a: {lists}string }}")));
}

#[test]
fn nesting_at_the_bound_is_checked_without_a_crash() {
    for (open, close) in [("[", "]"), ("{a:", "}"), ("not ", "")] {
        survives(&in_body(&format!("{}1{}", open.repeat(95), close.repeat(95))));
    }
    survives(&in_body(&format!("1{}", " + 1".repeat(248))));
    let chain = format!("1{}", " + 1".repeat(200));
    let nested = (0..40).fold(chain, |inner, _| format!("[{inner}]"));
    survives(&in_body(&nested));
}

#[test]
fn odd_texts_are_read_to_their_end() {
    for text in [
        "",
        "\u{feff}",
        "\0",
        "\"",
        "'\\",
        "\u{2028}",
        "é",
        "// only",
        "-- only",
        "main",
        "import",
        "import tool",
        "import tool X from",
        "agent",
        "main agent {",
        "main agent A { model",
        "main agent A { main func(",
        "😀",
        "main agent A { main func(é) { } }",
        "9e9",
        "0x",
        "main agent A { main func(i) { x = 1.2.3 } }",
        "main agent A { main func(i) { 2k } }",
        "main agent A { main func(i) { use i max 99999999999999999999999999999999999k } }",
        "main agent A { main func(i) { for x in i max 99999999999999999999999 { } } }",
        "main agent A { main func(i) { a = generate } }",
        "main agent A { main func(i) { generate({}) -> { } } }",
    ] {
        survives(text);
    }
}

#[test]
fn every_beginning_of_every_program_is_read() {
    for case in crate::case::all() {
        let text = case.file("main.as").expect("every case has a program");
        for (at, _) in text.char_indices().step_by(7) {
            survives(&text[..at]);
        }
    }
}
