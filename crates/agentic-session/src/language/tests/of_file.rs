//! Which language a file is a program of.

use crate::language_of_file;

fn check(file: &str, text: &str, wanted: Option<&str>) {
    let language = language_of_file(file, text.as_bytes()).map(|language| language.name());
    assert_eq!(language, wanted, "{file}: {text:?}");
}

#[test]
fn the_name_of_a_file_tells_its_language() {
    check("a.agent", "memory", Some("agentlang"));
    check("a.rhai", "", Some("rhai"));
    check("a.txt", "memory", None);
    check("agent", "", None);
}

#[test]
fn the_first_word_tells_pipelines_from_contexts() {
    for text in ["memory static (x)", "\u{feff} \r\n// temporal\n-- agent\n\ttemporal(", "temporal"]
    {
        check("a.as", text, Some("pipeline"));
    }
    for text in ["", "agent A {}", "memory_x", "// memory", "-memory", "\u{e9}memory"] {
        check("a.as", text, Some("context"));
    }
}
