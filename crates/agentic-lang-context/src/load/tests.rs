use super::*;

fn check_resolve(from: &str, path: &str, expected: &str) {
    assert_eq!(resolve(from, path), expected, "{path} from {from}");
}

#[test]
fn paths_resolve_from_the_importing_file() {
    check_resolve("main.as", "./a/b.as", "a/b.as");
    check_resolve("lib/x.as", "../c.md", "c.md");
    check_resolve("lib/x.as", "../../c.md", "../c.md");
    check_resolve("/w/lib/x.as", "y.as", "/w/lib/y.as");
    check_resolve("lib/x.as", "/etc/y", "/etc/y");
}

/// Loads `main.as` out of these files and returns the codes of what was found.
fn codes(files: &[(&str, &str)]) -> Vec<&'static str> {
    let mut resolver = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "there is no such file".to_owned())
    };
    let root = SourceText::new("main.as", files[0].1);
    let outcome = load(root, None, &mut resolver);
    outcome.findings.iter().map(|finding| finding.diagnostic.code).collect()
}

const MAIN: &str = "import agent A from './a.as'\nmain agent Root { main func(x) { A(x) } }";
const PLAIN: &str = "agent A { main func(x) { x } }\nagent A2 { main func(x) { x } }";

#[test]
fn mutual_imports_of_the_same_agents_load_once() {
    let a = "import agent B from 'b.as'\nagent A { main func(x) { B(x) } }";
    let b = "import agent A from 'a.as'\nagent B { main func(x) { x } }";
    assert!(codes(&[("main.as", MAIN), ("a.as", a), ("b.as", b)]).is_empty());
}

#[test]
fn a_file_that_waits_for_itself_is_reported() {
    let a = "import agent B from 'b.as'\nagent A { main func(x) { B(x) } }\nagent A2 { }";
    let b = "import agent A2 from 'a.as'\nagent B { main func(x) { x } }";
    let found = codes(&[("main.as", MAIN), ("a.as", a), ("b.as", b)]);
    assert_eq!(found, ["CIRCULAR_IMPORT"]);
}

#[test]
fn missing_files_and_agents_and_broken_texts_are_reported() {
    assert_eq!(codes(&[("main.as", MAIN)]), ["IMPORT_FAILED"]);
    assert_eq!(codes(&[("main.as", MAIN), ("a.as", "agent Z { }")]), ["IMPORT_FAILED"]);
    assert_eq!(codes(&[("main.as", MAIN), ("a.as", "agent {")]), ["SYNTAX"]);
    assert!(codes(&[("main.as", MAIN), ("a.as", PLAIN)]).is_empty());
    let json = "import file J from 'j.json'\nmain agent A { main func(x) { J } }";
    assert_eq!(codes(&[("main.as", json), ("j.json", "{")]), ["IMPORT_FAILED"]);
}

#[test]
fn imports_of_several_files_join_unless_they_differ() {
    let main = "import llm M from 'mock://a'\nimport agent A from './a.as'";
    let same = "import llm M from 'mock://a'\nagent A { }";
    let other = "import llm M from 'mock://b'\nagent A { }";
    assert!(codes(&[("main.as", main), ("a.as", same)]).is_empty());
    assert_eq!(codes(&[("main.as", main), ("a.as", other)]), ["DUPLICATE_IMPORT"]);
}

#[test]
fn a_long_chain_of_imports_ends_in_a_finding() {
    let mut resolver = |path: &str| {
        let number: usize =
            path.trim_end_matches(".as").trim_start_matches('f').parse().expect("f");
        Ok(format!("import agent A{0} from 'f{0}.as'\nagent A{number} {{ }}", number + 1))
    };
    let root = SourceText::new("main.as", "import agent A0 from 'f0.as'");
    let outcome = load(root, None, &mut resolver);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].diagnostic.code, IMPORT_FAILED);
}
