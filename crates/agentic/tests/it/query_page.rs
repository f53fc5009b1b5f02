//! `docs/query.md` says what the program answers: each answer in it is asked again, of the repository
//! that the demo makes, at a time that does not pass and so with the same ids each time.
//!
//! What stands between `<!-- NAME -->` and `<!-- end of NAME -->` is made here, and what follows each
//! command of a block. `cargo xtask docs` runs this test with [`WRITE`] set, which makes both anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use agentic_api::shipped::SHIPPED_RULES;
use agentic_testkit::{Sandbox, Setup};

/// The variable that lets the test write what it would compare.
pub const WRITE: &str = "AGENTIC_WRITE_TABLES";
/// When everything in the demo happens, and when is asked about it: a day later.
const NOW: [&str; 2] = ["1800000000000", "1800086400000"];
/// When git commits in the demo.
const GIT_NOW: &str = "1800000000 +0000";
/// What a command begins with that is asked again.
const ASKED: &str = "$ agentic query ";
/// What rules are asked with that take parameters.
const PARAMETERS: [(&str, &str); 8] = [
    ("decisions-of", "who=user:ada"),
    ("direct-sub-agents", "agent=fix-auth"),
    ("merged", "agent=fix-auth"),
    ("reviewers", "agent=fix-auth"),
    ("sub-agents", "agent=fix-auth"),
    ("waiting-for-me", "who=user:ada"),
    ("who-touched", "path=auth.rs"),
    ("stale-agents", "age=12h"),
];

#[test]
fn query_page_says_what_the_program_answers() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/query.md"));
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let demo = DemoRepository::make();
    let with_tables = between(&page, "predicates", &predicates(&demo));
    let renewed = answers(&between(&with_tables, "rules", &rules()), &demo);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, renewed).expect("the page can be written");
    } else {
        let first = page.lines().zip(renewed.lines()).find(|(old, new)| old != new);
        assert!(page == renewed, "docs/query.md is stale at {first:?}; run `cargo xtask docs`");
    }
}

/// The repository that the demo makes, always the same.
pub struct DemoRepository {
    /// What the demo printed.
    pub printed: String,
    sandbox: Sandbox,
}

impl DemoRepository {
    /// Runs the demo.
    pub fn make() -> DemoRepository {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let mut demo = DemoRepository { printed: String::new(), sandbox };
        let keep = demo.stage().to_string_lossy().into_owned();
        demo.printed = demo.run(&demo.sandbox.repositories(), NOW[0], &["demo", "--keep", &keep]);
        demo
    }

    /// Returns the folder of its repository.
    pub fn stage(&self) -> PathBuf {
        self.sandbox.repositories().join("demo")
    }

    /// Asks the program in this repository; returns all that it says.
    fn ask(&self, arguments: &[&str]) -> String {
        self.run(&self.stage(), NOW[1], arguments)
    }

    fn run(&self, folder: &Path, now: &str, arguments: &[&str]) -> String {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_agentic"), folder);
        command.args(arguments).env("AGENTIC_NOW", now);
        command.env("GIT_AUTHOR_DATE", GIT_NOW).env("GIT_COMMITTER_DATE", GIT_NOW);
        let output = command.output().expect("the program is built");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).expect("it prints text");
        assert!(output.status.success(), "agentic {arguments:?}: {said}");
        said
    }
}

/// Puts a text between two marks of a page.
pub fn between(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, rest) = page.split_once(&begin).expect("the block begins");
    let (_, after) = rest.split_once(&end).expect("the block ends");
    format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end())
}

/// Lists what can be asked for, as `--schema` prints it.
fn predicates(demo: &DemoRepository) -> String {
    let printed = demo.ask(&["query", "--schema"]);
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut table = String::from("| predicate | a row says |\n| --- | --- |\n");
    for pair in lines.chunks(2) {
        let [name, meaning] = pair else { panic!("`{pair:?}` is no predicate with a meaning") };
        writeln!(table, "| `{name}` | {meaning} |").expect("writing to a string never fails");
    }
    table
}

/// Lists the rules that come with the program, each with a command that asks it.
fn rules() -> String {
    let mut text = String::new();
    for rules in SHIPPED_RULES {
        write!(text, "**{}.** {}\n\n", rules.name, rules.purpose()).expect("it is a string");
        if !rules.text.contains("\n?") {
            continue;
        }
        let known = PARAMETERS.iter().find(|(name, _)| *name == rules.name);
        let given = known.map_or(String::new(), |(_, given)| format!(" --param {given}"));
        write!(text, "```\n{ASKED}--named {}{given}\n```\n\n", rules.name).expect("it is a string");
    }
    text
}

/// Asks every command of the blocks of a page again.
fn answers(page: &str, demo: &DemoRepository) -> String {
    let mut renewed = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        writeln!(renewed, "{line}").expect("writing to a string never fails");
        let Some(asked) = line.strip_prefix("$ agentic ").filter(|_| line.starts_with(ASKED))
        else {
            continue;
        };
        let words = words(asked);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = demo.ask(&words);
        said.lines().for_each(|said| {
            writeln!(renewed, "{}", said.trim_end()).expect("writing to a string never fails");
        });
        while lines.peek().is_some_and(|line| !line.starts_with("```") && !line.starts_with("$ ")) {
            lines.next();
        }
    }
    renewed
}

/// Splits a command at blanks; single quotes keep words together.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate().flat_map(|(n, part)| match n % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    parts.collect()
}
