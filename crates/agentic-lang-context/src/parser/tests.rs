use crate::{Dialect, Strictness, Version, format};

fn parses(text: &str, dialect: Dialect) -> bool {
    let body = format!("main agent A {{ main func(i) {{\n{text}\n}} }}");
    format(&body, Some(dialect)).is_ok()
}

/// Checks in which versions a body is of the language: the first and the last.
fn check(text: &str, first: Version, last: Version) {
    for version in Version::ALL {
        let expected = version >= first && version <= last;
        assert_eq!(parses(text, Dialect::strict(version)), expected, "{version}: {text}");
    }
}

const OLDEST: Version = Version::V0_1_0;
const NEWEST: Version = Version::V0_1_18;

#[test]
fn every_version_accepts_its_own_syntax_alone() {
    // From 0.1.5 on this compares, and numbers lost odd endings until 0.1.18.
    check("use i < 2k", OLDEST, Version::V0_1_11);
    check("use one of {\na: i max 2k\nb: i\n} as x", NEWEST, NEWEST);
    check("for x in i < 2 { }", OLDEST, Version::V0_1_4);
    check("loop until i max 2 { }", Version::V0_1_5, NEWEST);
    check("generate({ input: 1 }) { return { a string } }", OLDEST, OLDEST);
    check("generate({ input: 1 }) -> { a string }", Version::V0_1_3, Version::V0_1_11);
    check("generate({ input: 1 }) -> {\na\nb\n}", Version::V0_1_11, NEWEST);
    check("generate({ input: 1 }) -> { a: string }", NEWEST, NEWEST);
    check("generate({ input: 1 }) -> { a string b number }", Version::V0_1_3, Version::V0_1_4);
    check("x = { a: 1 b: 2 }", OLDEST, Version::V0_1_4);
    check("x = [1 2]", OLDEST, Version::V0_1_11);
    check("x = a-b", OLDEST, NEWEST);
    check("x = 1 - 2", Version::V0_1_7, NEWEST);
    check("x = 1 < 2", Version::V0_1_5, NEWEST);
    check("x += 1", Version::V0_1_7, NEWEST);
    check("x = 1 * 2 <= 3 / 4", NEWEST, NEWEST);
    check("x = 2k", OLDEST, Version::V0_1_11);
    check("x = parallel for y in i max 2 { y }", Version::V0_1_7, NEWEST);
    check("use one of {\na: empty\nb: i\n} as x", NEWEST, NEWEST);
}

#[test]
fn the_union_accepts_every_way_to_write_a_thing() {
    for text in [
        "generate({ input: 1 }) -> { a string, b: number c }",
        "x = { a: 1 b: [1 2] }",
        "b = 2\n[b]",
        "use i as x max 2k",
        "x = 1 -- a comment",
    ] {
        assert!(parses(text, Dialect::NEWEST), "{text}");
    }
    assert!(!parses("b = 2\n[b, b]", Dialect::strict(NEWEST)), "it goes on with the line before");
}

#[test]
fn keywords_are_names_wherever_nothing_else_is_meant() {
    for text in [
        "max = 1\nx = max + max",
        "x = { for: 1, use: 2 }",
        "x = i.generate.parallel",
        "x = generate",
        "x = not",
        "empty = selected",
        "x = [parallel, one, of]",
        "use i as max",
        "list = agent",
    ] {
        assert!(parses(text, Dialect::strict(NEWEST)), "{text}");
    }
}

fn check_detected(body: &str, version: Version, strictness: Strictness) {
    let text = format!("main agent A {{ main func(i) {{\n{body}\n}} }}");
    assert_eq!(Dialect::detect(&text), Dialect { version, strictness }, "{body}");
}

#[test]
fn versions_are_detected_by_what_only_they_have() {
    let union = Strictness::Union;
    check_detected("generate({ input: 1 }) { return { a string } }", OLDEST, union);
    check_detected("use i < 2k", Version::V0_1_4, union);
    check_detected("for x in i < 3 { }", Version::V0_1_4, union);
    check_detected("use i < 2k\nuse i max 3", NEWEST, union);
    check_detected("loop until i < 3 max 4 { }", NEWEST, union);
    check_detected("if i < 3 { }", NEWEST, union);
    check_detected("x = 'generate( ) { return {'\nuse 'a < 2'", NEWEST, union);
}
