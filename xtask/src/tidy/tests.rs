use std::collections::BTreeMap;

use super::*;
use crate::workspace::{Dependency, DependencyOrigin, DependencyRole, Package};

/// A crate with dependencies written `name`, `name:test` or `name:outside`.
fn package(name: &str, dependencies: &[&str]) -> Package {
    let dependency = |text: &&str| {
        let (name, marks) = text.split_once(':').unwrap_or((text, ""));
        Dependency {
            name: name.to_owned(),
            role: if marks.contains("test") { DependencyRole::Test } else { DependencyRole::Build },
            origin: if marks.contains("outside") {
                DependencyOrigin::Outside
            } else {
                DependencyOrigin::Ours
            },
        }
    };
    Package { name: name.to_owned(), dependencies: dependencies.iter().map(dependency).collect() }
}

fn tree(packages: &[Package], files: &[(&str, &str)]) -> TidyWorkspace {
    let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    TidyWorkspace {
        packages: packages.to_vec(),
        files: files.iter().map(file).collect(),
        paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
        cases: BTreeMap::from([("branch".to_owned(), 2)]),
    }
}

fn check_rule(found: Vec<String>, expected: &[&str]) {
    assert_eq!(found, expected);
}

#[test]
fn dependencies_point_down() {
    let rule = |packages: &[Package]| layers::check(&tree(packages, &[]));
    check_rule(rule(&[package("agentic-space", &["agentic-store", "agentic-model"])]), &[]);
    check_rule(rule(&[package("agentic-lang-pipeline", &["agentic-plan"])]), &[]);
    check_rule(rule(&[package("agentic-flow", &["agentic-replay"])]), &[]);
    check_rule(rule(&[package("agentic-space", &["agentic-testkit:test"])]), &[]);
    check_rule(
        rule(&[package("agentic-store", &["agentic-space"])]),
        &["layers: `agentic-store` depends on `agentic-space`, which is not in a lower layer"],
    );
    check_rule(
        rule(&[package("agentic-replay", &["agentic-plan"])]),
        &["layers: `agentic-replay` depends on `agentic-plan`, which is not in a lower layer"],
    );
    check_rule(rule(&[package("other", &[])]), &["layers: `other` stands in no layer"]);
}

#[test]
fn files_that_import_each_other_are_few() {
    // A ring of so many files: each uses the next one, the last the first.
    let ring = |name: &str, n_files: usize| -> Vec<(String, String)> {
        let file = |at: usize| {
            let next = (at + 1) % n_files;
            (format!("crates/{name}/src/f{at}.rs"), format!("use crate::f{next}::Thing;"))
        };
        (0..n_files).map(file).collect()
    };
    let found = |files: &[(String, String)]| {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (&**path, &**text)).collect();
        cycles::check(&tree(&[], &files))
    };
    check_rule(found(&ring("one", 8)), &[]);
    let names = (0..9).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ");
    let told = format!("cycles: 9 files of `one` import each other, more than 8: {names}");
    check_rule(found(&ring("one", 9)), &[&told]);
    // A name that the root passes on, and one that only a test uses.
    let mut passed_on = ring("one", 9);
    passed_on[0].1 = "use crate::Thing;".to_owned();
    passed_on.push(("crates/one/src/lib.rs".to_owned(), "pub use crate::f1::Thing;".to_owned()));
    check_rule(found(&passed_on), &[&told]);
    let mut tested = ring("one", 9);
    tested[0].1 = "#[cfg(test)] mod tests { use crate::f1::Thing; }".to_owned();
    check_rule(found(&tested), &[]);
}

#[test]
fn heavy_crates_have_one_owner() {
    let rule = |packages: &[Package]| owners::check(&tree(packages, &[]));
    check_rule(rule(&[package("agentic-git", &["gix:outside", "tempfile:outside"])]), &[]);
    check_rule(rule(&[package("agentic-space", &["gix:outside,test"])]), &[]);
    check_rule(
        rule(&[package("agentic-space", &["gix:outside"])]),
        &[
            "owners: `agentic-space` builds on `gix`, which belongs to `agentic-git` and `agentic-fuzz`",
        ],
    );
    check_rule(
        rule(&[package("agentic-space", &["anyhow:outside"])]),
        &["owners: `agentic-space` builds on `anyhow`, which belongs to `agentic` and `xtask`"],
    );
}

#[test]
fn long_files_and_functions_are_found() {
    let rule = |text: &str| sizes::check(&tree(&[], &[("crates/a/src/lib.rs", text)]));
    let body = "    let _ = 1;\n".repeat(sizes::FUNCTION_LINES_MAX - 2);
    check_rule(rule(&format!("fn f() {{\n{body}}}\n")), &[]);
    let finding = "sizes: crates/a/src/lib.rs:1 function `f` has 71 lines, more than 70";
    check_rule(rule(&format!("fn f() {{\n\n{body}}}\n")), &[finding]);
    let finding = "sizes: crates/a/src/lib.rs:3 function `f` has 71 lines, more than 70";
    check_rule(rule(&format!("struct S;\nimpl S {{\nfn f() {{\n\n{body}}}\n}}\n")), &[finding]);
    let whole = format!("// size: one table.\nfn f() {{\n\n{body}}}\n");
    check_rule(rule(&whole), &[]);
    let finding = "sizes: crates/a/src/lib.rs:2 function `f` has 71 lines, more than 70";
    check_rule(rule(&format!("// size: \nfn f() {{\n\n{body}}}\n")), &[finding]);
    let tricky = "fn f() { let _ = (\"}\", '{', r#\"{{\"#); /* } */ }\n";
    check_rule(rule(tricky), &[]);
    let long = "// line\n".repeat(sizes::FILE_LINES_MAX + 1);
    check_rule(rule(&long), &["sizes: crates/a/src/lib.rs has 801 lines, more than 800"]);
    assert_eq!(rule("fn f( {").len(), 1);
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let rule = |files: &[(&str, &str)]| names::check(&tree(&[], files));
    let one =
        ("crates/a/src/one.rs", "pub struct Place;\n#[cfg(test)]\nmod tests { struct Log; }\n");
    check_rule(rule(&[one, ("crates/b/src/two.rs", "enum Lane {}\nstruct Log;\n")]), &[]);
    check_rule(
        rule(&[one, ("crates/b/src/two.rs", "mod inner {\n    type Place = u8;\n}\n")]),
        &["names: `Place` is defined in crates/a/src/one.rs, crates/b/src/two.rs"],
    );
    check_rule(rule(&[one, ("crates/b/src/tests.rs", "struct Place;\n")]), &[]);
    check_rule(
        rule(&[
            ("crates/a/src/error.rs", "enum Error {}\n"),
            ("crates/b/src/error.rs", "struct Error;\n"),
        ]),
        &[],
    );
    check_rule(
        rule(&[
            ("crates/a/src/token.rs", "struct Token;\n"),
            ("crates/b/src/token.rs", "struct Token;\n"),
        ]),
        &["names: `Token` is defined in crates/a/src/token.rs, crates/b/src/token.rs"],
    );
    check_rule(
        rule(&[("crates/a/src/one.rs", "struct Recorded;\nstruct Seed;\nstruct RecordedCall;\n")]),
        &["names: `Recorded` in crates/a/src/one.rs lacks a noun"],
    );
    check_rule(
        rule(&[("crates/a/src/one.rs", "struct Found;\n")]),
        &["names: `Found` in crates/a/src/one.rs lacks a noun"],
    );
}

#[test]
fn names_that_say_nothing_are_found() {
    let rule = |path: &str, text: &str| names::check(&tree(&[], &[(path, text)]));
    check_rule(rule("crates/a/src/commit.rs", "mod tests {\n}\n"), &[]);
    check_rule(rule("crates/a/src/utility.rs", ""), &[]);
    check_rule(
        rule("crates/a/src/git_utils.rs", ""),
        &["names: crates/a/src/git_utils.rs is named after nothing"],
    );
    check_rule(
        rule("crates/a/tests/common/mod.rs", ""),
        &["names: crates/a/tests/common/mod.rs is named after nothing"],
    );
    check_rule(
        rule("crates/a/src/lib.rs", "pub mod helpers {\n}\n"),
        &["names: crates/a/src/lib.rs has a module `helpers`, named after nothing"],
    );
}

#[test]
fn dependencies_are_explained_and_counted() {
    let crates = [package("agentic-git", &["gix:outside", "agentic-model"])];
    let rule = |text: &str, lock: &str| {
        dependencies::check(&tree(&crates, &[("DEPENDENCIES.md", text), ("Cargo.lock", lock)]))
    };
    check_rule(rule("| `gix` | git | … |\n", "[[package]]\n"), &[]);
    check_rule(rule("| `blake3`, `gix` | both |\n", ""), &[]);
    let missing = "dependencies: `gix` has no line in DEPENDENCIES.md";
    check_rule(rule("| `sled` | not like `gix` |\n", ""), &[missing]);
    let locked = |name: &str, needs: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"1\"\ndependencies = [\n{needs}]\n")
    };
    let numbers = 0..=dependencies::LOCK_PACKAGES_MAX;
    let many: String = numbers.clone().map(|n| locked(&format!("p{n}"), "")).collect();
    check_rule(
        rule("| `gix` | git |\n", &many),
        &["dependencies: Cargo.lock has 551 packages, more than 550"],
    );
    // What only the crate that is left out brings does not count.
    let needs: String = numbers.map(|n| format!(" \"p{n}\",\n")).collect();
    let left_out = ["agentic", "agentic-temporal"].map(|name| match name {
        "agentic" => locked(name, " \"agentic-temporal\",\n"),
        _ => locked(name, &needs),
    });
    check_rule(rule("| `gix` | git |\n", &(many + left_out.concat().as_str())), &[]);
}

#[test]
fn a_stale_scoreboard_is_found() {
    let rule = |text: &str| fresh::check(&tree(&[], &[("scoreboard.json", text)])).len();
    assert_eq!(rule(r#"{"suites":[{"name":"branch","passed":2,"failed":0}]}"#), 0);
    assert_eq!(rule(r#"{"suites":[{"name":"branch","passed":1,"failed":1}]}"#), 1);
    assert_eq!(rule(r#"{"suites":[{"name":"branch","passed":3,"failed":0}]}"#), 1);
    assert_eq!(rule(r#"{"suites":[]}"#), 1);
    assert_eq!(rule("{"), 1);
    assert_eq!(fresh::check(&tree(&[], &[])).len(), 1);
}

#[test]
fn generated_files_are_compared_as_a_whole() {
    let file = |text: &str| BTreeMap::from([("docs/a.md".to_owned(), text.to_owned())]);
    assert_eq!(fresh::compare(&file("a"), &file("a"), "x"), [""; 0]);
    let stale = ["fresh: docs/a.md is stale; run `x`"];
    assert_eq!(fresh::compare(&file("a"), &file("b"), "x"), stale);
    assert_eq!(fresh::compare(&BTreeMap::new(), &file("b"), "x"), stale);
}

#[test]
fn each_verb_has_a_table_in_the_page_of_commands() {
    let board = r#"{"suites":[{"name":"branch","passed":2,"failed":0}]}"#;
    let verbs =
        "    Init(commands::init::Args) = \"init\",\n    Log(commands::log::Args) = \"log\",\n";
    let rule = |page: &str| {
        fresh::check(&tree(
            &[],
            &[
                ("scoreboard.json", board),
                ("crates/agentic/src/cli/verb.rs", verbs),
                ("docs/commands.md", page),
            ],
        ))
    };
    check_rule(rule("<!-- verbs: init log -->\n<!-- end of verbs -->\n"), &[]);
    let finding = "fresh: docs/commands.md has no table of `log`; add it to a block";
    check_rule(rule("<!-- verbs: init -->\n<!-- end of verbs -->\n"), &[finding]);
}

#[test]
fn pure_crates_stay_pure() {
    let rule = |path: &str, text: &str| purity::check(&tree(&[], &[(path, text)]));
    let impure = "use std::fs;\n";
    check_rule(
        rule("crates/agentic-lang-agent/src/lib.rs", impure),
        &["purity: crates/agentic-lang-agent/src/lib.rs:1 names `std::fs` in a pure crate"],
    );
    check_rule(rule("crates/agentic-store/src/lib.rs", impure), &[]);
    check_rule(rule("crates/agentic-model/src/x/tests.rs", impure), &[]);
    check_rule(
        rule("crates/agentic-model/src/lib.rs", "// not std::fs\n#[cfg(test)]\nuse std::fs;"),
        &[],
    );
}

#[test]
fn what_documents_say_is_there() {
    let rule = |page: &str| {
        let files = [
            ("docs/page.md", page),
            (
                "crates/agentic-store/src/writer/kept.rs",
                "const PACKS_MAX: usize = 256;\n// AGENTIC_NOW",
            ),
            ("crates/agentic/src/cli/verb.rs", "    Init(commands::init::Args) = \"init\",\n"),
            ("xtask/src/main.rs", "[\"tidy\"] => tidy_alone(),\n"),
        ];
        documents::check(&tree(&[package("agentic-store", &[])], &files))
    };
    let good = "`writer/kept.rs`, `crates/agentic-store/`, `page.md`, `agentic-store`, `AGENTIC_NOW=7`,\n\
                `agentic init --all`, `agentic --version`, `agentic VERB`, `cargo xtask tidy`.\n\n\
                | `PACKS_MAX = 256` | [a](page.md), [b](../crates#c), [c](https://d.e/f.rs) |\n\
                \n1. There are 1 crates, 2 cases in 1 suites.\n\n```\n`gone.rs`\n```\n\
                `src/<name>.rs` and `.git/agentic/x`\n";
    check_rule(rule(good), &[]);
    let found = |page: &str, finding: &str| {
        check_rule(rule(page), &[&format!("documents: docs/page.md:{finding}")]);
    };
    found("# A\n\n`riter/kept.rs`\n", "3 names `riter/kept.rs`, which is no file or folder");
    found("a\n- b `crates/gone`\n", "2 names `crates/gone`, which is no file or folder");
    found("`GONE.md`", "1 names `GONE.md`, which is no file or folder");
    found("`agentic-gone`", "1 names `agentic-gone`, which is no crate");
    found("`agentic gone -x`", "1 names `agentic gone`, which is no verb");
    found("`cargo xtask gone`", "1 names `cargo xtask gone`, which is no verb");
    found("`PACKS_MAX = 25`", "1 says `PACKS_MAX = 25`, as no source does");
    found("`AGENTIC_GONE`", "1 names `AGENTIC_GONE`, which no source has");
    found("[a](gone.md)", "1 links to `gone.md`, which is not there");
    found("has 3 cases.", "1 says 3 cases, but there are 2");
}

#[test]
fn figures_of_the_front_page_were_measured() {
    let rule = |page: &str| {
        let files = [("README.md", page), ("docs/benchmarks.md", "| `x` | 7.86 | 1,757–2,157 |\n")];
        documents::check(&tree(&[], &files))
    };
    check_rule(
        rule("It takes 7.86 ms; 1,757 to 2,157 durable commits. Git 2.30, 16 agents.\n"),
        &[],
    );
    let told = "documents: README.md:1 says 7.85, which no page of measurements has";
    check_rule(rule("It takes 7.85 ms.\n"), &[told]);
}

#[test]
fn sentences_that_nobody_can_follow_are_found() {
    let rule = |page: &str| documents::check(&tree(&[], &[("README.md", page)]));
    let words = |n_words: usize| ["word"; 40][..n_words].join(" ");
    check_rule(rule(&format!("{}.\nAnd {}.\n", words(36), words(35))), &[]);
    check_rule(rule(&format!("| {} | {} |\n- {}\n", words(36), words(36), words(36))), &[]);
    check_rule(rule(&format!("{} `a b c` — {}.\n", words(20), words(15))), &[]);
    let told = "documents: README.md:1 has a sentence of 37 words, more than 36: \
                \"word word word word word …\"";
    check_rule(rule(&format!("{}\n{}.", words(30), words(7))), &[told]);
    check_rule(rule(&format!("```\n{}\n```\n", words(40))), &[]);
}

#[test]
fn the_page_of_the_house_is_short_and_complete() {
    let layout = "    self.root.join(\"lock\").join(x)\n    self.root.join(\"rest\")\n";
    let rule = |page: &str| {
        let files = [
            ("ARCHITECTURE.md", page),
            ("crates/agentic-store/src/layout.rs", layout),
            ("crates/agentic-store/src/boot.rs", "const ID: &str = \"/proc/boot\";"),
            ("crates/agentic-store/src/boot/tests.rs", "read(\"/proc/boot\")"),
        ];
        documents::check(&tree(&[package("agentic-store", &[])], &files))
    };
    let whole = "`lock/`, `rest`, `agentic-store`: `boot.rs`.\n";
    check_rule(rule(whole), &[]);
    let missing = ["does not name `agentic-store`", "does not name `rest`"];
    let told = missing.map(|told| format!("documents: ARCHITECTURE.md {told}"));
    let port = "documents: ARCHITECTURE.md names no crates/agentic-store/src/boot.rs for ports: \
                it needs Linux";
    check_rule(rule("`lock/`\n"), &[&told[0], &told[1], port]);
    check_rule(
        rule(&whole.repeat(121)),
        &["documents: ARCHITECTURE.md has 121 lines, more than 120"],
    );
}

#[test]
fn state_of_a_process_has_a_reason() {
    let rule = |text: &str| statics::check(&tree(&[], &[("crates/agentic-space/src/a.rs", text)]));
    let finding =
        "statics: crates/agentic-space/src/a.rs:1 has no `// process: ` line with a reason";
    check_rule(rule("static COUNTER: AtomicU64 = AtomicU64::new(0);"), &[finding]);
    check_rule(rule("thread_local! {\n    static A: Cell<u8> = Cell::new(0);\n}"), &[finding]);
    check_rule(rule("pub static TABLE: [u8; 2] = [1, 2];\nstatic LIST: &[u8] = &[];"), &[]);
    check_rule(
        rule("/// Why.\n// process: one for all.\nstatic A: Mutex<u8> = Mutex::new(0);"),
        &[],
    );
}
