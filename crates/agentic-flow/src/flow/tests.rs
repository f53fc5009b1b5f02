use agentic_diag::{DiagnosticStyle, SourceText};

use super::*;

/// Checks a flow and compares code, place and message of the finding; an empty text means none.
fn finds(source: &str, wanted: &str) {
    let found = check(source);
    let found = found.first().map(|finding| {
        let named = SourceText::new("f", source);
        let at = named.position(finding.span.start);
        let word = &source[finding.span.start..finding.span.end];
        assert!(!finding.render(&named, DiagnosticStyle::Plain).is_empty());
        format!("{} {}:{} `{word}` {}", finding.code, at.line, at.column, finding.message)
    });
    assert_eq!(found.unwrap_or_default(), wanted, "{source}");
}

#[test]
fn findings_have_a_code_and_a_place() {
    finds("let x = input; x + 1", "");
    finds("all([|| request(\"a\", 1)])", "");
    finds("let é = 1", "F0001 1:5 `é` unexpected 'é'");
    finds("let x = ;", "F0001 1:9 `;` unexpected ';'");
    finds("let a = 1;\n  b", "F0002 2:3 `b` the name `b` is not defined");
    finds("\u{feff}1 +\n  nosuch", "F0002 2:3 `nosuch` the name `nosuch` is not defined");
    finds("let a = 1;\neval(\"a\")", "F0003 2:1 `eval` `eval` is not available in flows");
    finds("let a = 2.0 ** 0.5;", "F0003 1:13 `*` `**` is not available in flows");
}

#[test]
fn no_text_makes_the_parser_panic_or_overflow() {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
    let bombs = [
        deep("(", ")"),
        deep("[", "]"),
        deep("#{a:", "}"),
        deep("{", "}"),
        deep("!", ""),
        deep("-", ""),
        deep("if true {1} else ", ""),
        deep("||", ""),
        deep("1+", ""),
        deep("`${", "}`"),
        deep("f(", ")"),
        "x.".repeat(50_000),
        "x[".repeat(50_000),
        "fn f() {}".repeat(50_000),
        "\"".to_owned(),
        "`${".to_owned(),
        "\u{0}\u{feff}\u{202e}".to_owned(),
        "x".repeat(SOURCE_BYTES_MAX + 1),
    ];
    assert!(check(&"/*".repeat(50_000)).is_empty(), "an open comment reaches to the end");
    for bomb in bombs {
        assert!(!check(&bomb).is_empty(), "{:.40}", bomb);
    }
}
