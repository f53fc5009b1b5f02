use super::*;
use crate::dialect::Dialect;

fn check(text: &str, expected: Outline) {
    assert_eq!(outline(text, Dialect::detect(text)), expected, "{text:?}");
}

fn declared(sort: DeclarationSort, name: Option<&str>, text: &str) -> Declaration {
    Declaration { sort, name: name.map(str::to_owned), text: text.to_owned() }
}

#[test]
fn blanks_and_remarks_are_nothing() {
    for text in ["", " \n\t", "// agent A {", "\u{feff}"] {
        check(text, Outline::Nothing);
    }
}

#[test]
fn what_is_not_closed_is_open() {
    for text in [
        "f(",
        "x = [1,",
        "if a {",
        "'it",
        "\"a\\",
        "agent A",
        "main agent",
        "agent A {\nfunc f(",
        "import tool T from 'mcp://t' agent A {",
    ] {
        check(text, Outline::Open);
    }
}

#[test]
fn anything_else_is_statements() {
    for text in ["x = 1", "use a as b", "import = 2", "main.x", "agent(1)", ")", "#", "import + 1"]
    {
        check(text, Outline::Statements);
    }
}

#[test]
fn declarations_are_taken_apart() {
    let (tool, main) = ("import tool T from 'mcp://t'", "main agent { main func(i) { i } }");
    let (agent, import) = ("agent A { func f() { } }", "import agent B from \"b.as\"");
    check(
        &format!("// first\n{tool} {main}\n{agent}{import}"),
        Outline::Declarations(vec![
            declared(DeclarationSort::Import, Some("T"), tool),
            declared(DeclarationSort::MainAgent, None, main),
            declared(DeclarationSort::Agent, Some("A"), agent),
            declared(DeclarationSort::Import, Some("B"), import),
        ]),
    );
    check(
        "import tool",
        Outline::Declarations(vec![declared(DeclarationSort::Import, None, "import tool")]),
    );
}
