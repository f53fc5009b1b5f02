use agentic_diag::SourceText;

use crate::{CheckOptions, Dialect, Version, check};

/// Checks a program strictly; the findings are `CODE line:column`, in order.
fn found(version: Version, text: &str) -> Vec<String> {
    let options =
        CheckOptions { dialect: Some(Dialect::strict(version)), ..CheckOptions::default() };
    let mut resolver = |path: &str| match path {
        "f.md" => Ok("text".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let checked = check(SourceText::new("main.as", text), &options, &mut resolver);
    let shown = checked.findings.iter().map(|finding| {
        assert!(!finding.diagnostic.reason.is_empty() && !finding.diagnostic.hint.is_empty());
        let position = checked.sources[finding.file].position(finding.diagnostic.span.start);
        format!("{} {}:{}", finding.diagnostic.code, position.line, position.column)
    });
    shown.collect()
}

fn check_program(text: &str, expected: &[&str]) {
    assert_eq!(found(Version::V0_1_18, text), expected, "{text}");
}

const IMPORTS: &str = "import llm M from 'mock://m'\nimport tool T from 'https://x'\n\
    import memory N from 'file://n'\nimport file F from 'f.md'\n";

/// Checks the body of a main function, whose first line is line 8.
fn check_body(body: &str, expected: &[&str]) {
    check_body_of(Version::V0_1_18, body, expected);
}

fn check_body_of(version: Version, body: &str, expected: &[&str]) {
    let text = format!(
        "{IMPORTS}main agent A {{ model M role 'R'\ndescription 'D'\nmain func(input) {{\n{body}\n}}\nfunc f(x) {{ return x }} }}"
    );
    assert_eq!(found(version, &text), expected, "{body}");
}

#[test]
fn the_structure_of_programs_is_checked() {
    check_program("", &["MISSING_MAIN_AGENT 1:1"]);
    check_program("agent A { func f() { 1 } }", &["MISSING_MAIN_FUNC 1:1"]);
    check_program(
        "main agent A { main func() { 1 } }\nmain agent A { main func() { 1 } }",
        &["DUPLICATE_AGENT 2:1", "DUPLICATE_MAIN_AGENT 2:1"],
    );
    check_program(
        "import tool T from 'npm:left'\nmain agent A { main func() { 1 } func T() { 1 } }",
        &["UNAUTHORIZED_TOOL_IMPORT 1:1", "DUPLICATE_BINDING 2:34"],
    );
    check_program(
        "main agent A { main func(i {\na: string\na: number\n}) { i } }",
        &["DUPLICATE_CONTRACT_FIELD 3:1"],
    );
    check_program(
        "import file X from 'none.md'\nmain agent A { main func() { 1 } }",
        &["IMPORT_FAILED 1:13"],
    );
}

#[test]
fn configuration_is_checked() {
    let generate = "generate({ input: 1 })";
    check_program(
        &format!("main agent A {{ main func() {{\n{generate}\n}} }}"),
        &[
            "MISSING_GENERATE_CONFIG 2:1",
            "MISSING_GENERATE_CONFIG 2:1",
            "MISSING_GENERATE_CONFIG 2:1",
        ],
    );
    check_body("model 'M'", &["INVALID_MODEL_REFERENCE 8:7"]);
    check_body("model T", &["INVALID_MODEL_BINDING 8:7"]);
    check_body("model Z", &["UNKNOWN_MODEL 8:7"]);
    check_body("role input", &["INVALID_CONFIG_VALUE_TYPE 8:6"]);
    check_body_of(Version::V0_1_0, "model 'M'", &["INVALID_CONFIG 8:7"]);
    check_body_of(Version::V0_1_0, "model T", &["INVALID_MODEL 8:7"]);
    check_body_of(Version::V0_1_0, "role input", &["INVALID_CONFIG 8:6"]);
    check_program(
        "import llm M from 'm'\nmain agent A { role 'r' main func() {\nif true {\nmodel M\n\
         description 'd'\n}\ngenerate({ input: 1 })\n} }",
        &["MISSING_GENERATE_CONFIG 7:1", "MISSING_GENERATE_CONFIG 7:1"],
    );
}

#[test]
fn names_are_known_where_they_are_visible() {
    check_body("x = y", &["UNKNOWN_IDENTIFIER 8:5"]);
    check_body("x = x", &["UNKNOWN_IDENTIFIER 8:5"]);
    check_body("if true { y = 1 }\nreturn y", &["UNKNOWN_IDENTIFIER 9:8"]);
    check_body("for y in [1] max 1 { y }\nreturn y", &["UNKNOWN_IDENTIFIER 9:8"]);
    check_body("for y in [1] max 0 { y }", &["INVALID_ITERATION_LIMIT 8:1"]);
    check_body(
        "T = 1\nf = 2\nA = 3\nF = 4",
        &[
            "IMMUTABLE_ASSIGNMENT 8:1",
            "IMMUTABLE_ASSIGNMENT 9:1",
            "IMMUTABLE_ASSIGNMENT 10:1",
            "IMMUTABLE_ASSIGNMENT 11:1",
        ],
    );
    check_body_of(Version::V0_1_0, "T = 1\nuse T", &[]);
    check_body("input.a = 1\nuse F\nuse F.length", &[]);
}

#[test]
fn calls_are_checked() {
    check_body("[1][0](2)", &["NOT_CALLABLE 8:1"]);
    check_body("f(1, 2)", &["INVALID_ARGUMENT_COUNT 8:1"]);
    check_body("N.query()", &["INVALID_ARGUMENT_COUNT 8:1"]);
    check_body(
        "A.g(1)\ng(1)\nT(1)",
        &["UNKNOWN_FUNCTION 8:1", "UNKNOWN_FUNCTION 9:1", "NOT_CALLABLE 10:1"],
    );
    check_program(
        "main agent A { main func() { B() } }\nagent B { func g() { 1 } }",
        &["UNKNOWN_FUNCTION 1:30"],
    );
}

#[test]
fn uses_of_agents_reach_files_alone() {
    let agent =
        |uses: &str| format!("{IMPORTS}main agent A {{\n{uses}\nmain func(input) {{ input }} }}");
    check_program(&agent("use F max 2k as f\nuse [F, F.length]"), &[]);
    check_program(&agent("use T"), &["INVALID_AGENT_USE 6:5"]);
    check_program(&agent("use input.x"), &["INVALID_AGENT_USE 6:5"]);
    check_program(
        &agent("use one of {\na: F\na: M max 0\n} as tool"),
        &[
            "DUPLICATE_USE_ONE_OF_CANDIDATE 8:1",
            "RESERVED_CONTEXT_LABEL 6:1",
            "INVALID_BUDGET 8:1",
            "INVALID_AGENT_USE 8:4",
        ],
    );
}

#[test]
fn older_versions_have_fewer_rules() {
    check_body("use f(1)", &["INVALID_USE_CALL 8:5"]);
    check_body_of(Version::V0_1_7, "use f(1)", &[]);
    check_body("use [T]", &["INVALID_USE_RESOURCE 8:6"]);
    check_body_of(Version::V0_1_7, "use [T]\nuse T.x", &["INVALID_USE_RESOURCE 9:5"]);
    check_body_of(Version::V0_1_7, "use input max 2m", &[]);
    check_body_of(Version::V0_1_3, "use input < 2 as tool", &[]);
    let options = "generate({ input: 1, temperature: 1, limit: 0 })";
    check_body_of(
        Version::V0_1_3,
        options,
        &["UNKNOWN_GENERATE_OPTION 8:22", "INVALID_GENERATE_LIMIT 8:45"],
    );
    check_program(
        "main agent A { main func() { 1 } func g(x {\na: string\n}) { 1 } }",
        &["INVALID_PARAM_CONTRACT 1:41"],
    );
}

#[test]
fn iterations_may_change_what_is_theirs() {
    let parallel = |body: &str| format!("parallel for x in [{{ a: [] }}] max 1 {{\n{body}\n1 }}");
    check_body(&parallel("x.a.add(1)\nif true { x.b = 2 }\ny = [x]\ny.add(1)\nx = 3"), &[]);
    check_body(
        &parallel("y = parallel for z in [1] max 1 { x = z\nz }"),
        &["PARALLEL_FOR_OUTER_ASSIGNMENT 9:35"],
    );
    check_body(&parallel("T.delete({})\nN.query({})"), &["PARALLEL_FOR_EFFECTFUL_CALL 9:1"]);
    check_body(&parallel("input.list.add(1)"), &["PARALLEL_FOR_OUTER_MUTATION 9:1"]);
}
