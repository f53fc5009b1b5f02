//! The formatter and the printer: what they print means the same.

use agentic_lang_agent::{compile, format, lower, read};
use proptest::prelude::*;

use crate::corpus::{cases, lines, text};

/// Formats a text, and demands that formatting it again changes nothing.
fn formatted(text: &str) -> Option<String> {
    let once = format(&read("f.agent", text.as_bytes()).ok()?).ok()?;
    let again = format(&read("f.agent", once.as_bytes()).expect("still UTF-8"));
    assert_eq!(again.as_deref().ok(), Some(once.as_str()), "formatting twice:\n{text}");
    Some(once)
}

/// Lowers every pipeline of a text.
fn lowered(text: &str) -> Vec<String> {
    let source = read("l.agent", text.as_bytes()).expect("the text is UTF-8");
    let Ok(module) = compile(&source) else { return Vec::new() };
    let names = module.pipelines().into_iter().map(|info| info.name);
    names.map(|name| lower(&source, &name).expect("it compiled")).collect()
}

/// The part of a file that pipelines refer to, so that lowered text can be parsed again.
fn declarations(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        ["enum", "type", "agent", "tool", "task"].iter().any(|word| line.starts_with(word))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Formatting keeps what is lowered; lowering what was lowered changes nothing.
fn check(text: &str) -> usize {
    if let Some(formatted) = formatted(text) {
        assert_eq!(lowered(&formatted), lowered(text), "{formatted}");
    }
    let all = lowered(text);
    if text.contains("workflow") || all.is_empty() {
        return 0;
    }
    let printed = format!("{}\n{}\n", declarations(text), all.join("\n"));
    let again = lowered(&printed);
    if again.is_empty() {
        // Declarations over several lines cannot be cut out by line.
        return 0;
    }
    assert_eq!(again, all, "{printed}");
    1
}

#[test]
fn printing_and_formatting_keep_every_program_of_the_corpus() {
    let mut n_programs = 0;
    for folder in ["public", "quirks", "plugin"] {
        for case in cases(folder) {
            let text = String::from_utf8(case.source).expect("the corpus is UTF-8");
            n_programs += check(&text.replace("\r\n", "\n"));
        }
    }
    for file in ["generated.jsonl", "workflows.jsonl"] {
        for case in lines(file) {
            n_programs += check(text(&case, "source").expect("a case has a source"));
        }
    }
    println!("format: {n_programs} programs printed and parsed again");
    assert!(n_programs > 250, "only {n_programs} programs were printed and parsed again");
}

#[test]
fn comments_stay_where_they_were() {
    let text = "-- head\nagent a { tools:[] } -- one\n\n\n-- two\npipeline go( n :Number )->Number \
        {\n-- three\nif n==1 { return 1; -- four\n} else { return { a:1 }.a ; }\n-- five\n}\n-- end";
    let text = text.replace("{ a:1 }.a", "n+1");
    let wanted = "-- head\nagent a { tools: [] }  -- one\n\n-- two\npipeline go(n: Number) -> Number \
        {\n  -- three\n  if n == 1 {\n    return 1;  -- four\n  } else {\n    return n + 1;\n  }\n  \
        -- five\n}\n-- end\n";
    assert_eq!(formatted(&text).as_deref(), Some(wanted));
}

/// Expressions of every shape, fully parenthesised.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("n".to_owned()),
        Just("o.f.g".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        "[0-9]{1,3}(\\.[0-9]{1,2})?",
        "\"[ -!#-\\[\\]-~é\\n]{0,6}\"",
        Just("\"\\\"\\\\\\u0007\\0\"".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (inner.clone(), "(\\+|==|!=)", inner.clone())
                .prop_map(|(left, sign, right)| format!("({left}) {sign} ({right})")),
            items.clone().prop_map(|items| format!("[{}]", items.join(", "))),
            items.prop_map(|items| {
                let fields = items.iter().enumerate().map(|(at, item)| format!("k{at}: {item}"));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }),
        ]
    })
}

/// Statements around expressions, with every kind of statement.
fn program() -> impl Strategy<Value = String> {
    let statement = expression().prop_flat_map(|value| {
        prop_oneof![
            Just(format!("return {value};")),
            Just(format!("assert {value}, \"m\";")),
            Just(format!("if {value} {{ return {value}; }} else {{ assert {value}; }}")),
            Just(format!("if let v = {value} {{ continue; }}")),
            Just(format!("while {value} {{ break; }}")),
            Just(format!("try {{ return {value}; }} catch e {{ continue; }}")),
            Just(format!("let r = f({value}) by a retries 007 timeout 2.50 on_fail use {value};")),
            Just(format!("let r = run f with {{ x: {value} }} on_fail abort;")),
            Just(format!(
                "parallel max_concurrency 3 {{ let b = f({value}); let c = f(1); }} join;"
            )),
        ]
    });
    prop::collection::vec(statement, 1..6).prop_map(|statements| {
        format!(
            "task f(x: Number) -> Number {{}}\npipeline go(n: Number) -> Number {{ {} }}\n",
            statements.join(" ")
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_parses_to_the_same_program(program in program()) {
        let source = read("p.agent", program.as_bytes()).expect("the text is UTF-8");
        let printed = lower(&source, "go").expect("every program lowers");
        let again = format!("task f(x: Number) -> Number {{}}\n{printed}\n");
        let source = read("p.agent", again.as_bytes()).expect("the text is UTF-8");
        prop_assert_eq!(lower(&source, "go").expect("what is printed parses"), printed);
        formatted(&program).expect("every program can be formatted");
    }
}
