//! What a person at a terminal sees and is asked: replies while they are written, inputs that are
//! missing, the lines of `agentic repl`. Python's `pty` module is the terminal.

use std::time::Duration;

use agentic_testkit::{ProgramEnding, Sandbox, Setup, run};

use crate::loopback::{Model, Reply};
use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a command on a terminal. Its first argument lists what to wait for, one after the other, and
/// what to type then; at the end it prints all that the terminal showed.
const TERMINAL: &str = r#"
import json, os, pty, select, sys, time
talk, command = json.loads(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown, seen, deadline = b"", 0, time.monotonic() + 50
while time.monotonic() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    while talk and (at := shown.find(talk[0][0].encode(), seen)) >= 0:
        prompt, line = talk.pop(0)
        seen = at + len(prompt.encode())
        os.write(terminal, line.encode())
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

const PROGRAM: &str = "import llm M from \"openai://m\"\n\
    main agent A {\n\
      model M\n\
      role \"r\"\n\
      description \"d\"\n\
      main func m(input {\n\
        topic: string\n\
        n: number\n\
      }) {\n\
        t = generate({ input: input.topic })\n\
        return { t: t, n: input.n }\n\
      }\n\
    }\n";

/// Makes a repository with the program, where its model is the one on the loopback.
fn sandbox(model: &Model) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let entry = format!("[models.m]\nuri = \"openai://m\"\nbase_url = \"{}\"\n", model.url);
    for (file, text) in [("main.as", PROGRAM), ("agentic.toml", &entry), ("sit.py", TERMINAL)] {
        std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    sandbox
}

/// Runs `agentic` on a terminal where somebody types a line after each prompt. Returns the exit
/// code and what was to be seen.
fn sit(sandbox: &Sandbox, arguments: &[&str], typed: &[(&str, &str)]) -> (ProgramEnding, String) {
    let talk: Vec<[&str; 2]> = typed.iter().map(|(prompt, line)| [*prompt, *line]).collect();
    let talk = serde_json::to_string(&talk).expect("texts are JSON");
    let mut command = sandbox.command("python3", sandbox.start());
    command.env("TERM", "xterm").args(["sit.py", &talk, "agentic"]).args(arguments);
    let finished = run(command, b"", LIMIT).expect("Python is installed");
    assert!(finished.stderr.is_empty(), "{}", text(&finished));
    (finished.ending, String::from_utf8_lossy(&finished.stdout).replace('\r', ""))
}

fn speaking() -> Model {
    Model::new(|_, asked| match asked["stream"].as_bool() {
        Some(true) => Reply::Speaks(vec!["Tea is".to_owned(), " green\u{1b}[2J.".to_owned()]),
        Some(false) | None => Reply::Says("Tea is green.".to_owned()),
    })
}

/// What an editor of lines writes when it is ready for the next one.
const READY: &str = "\u{1b}[?2004h";
/// What it writes when the line is over and ctrl-c is no key any more, but a signal.
const LEFT: &str = "\u{1b}[?2004l";

const IN_MEMORY: &[&str] = &["run", "main.as", "--quiet"];
const AS_SESSION: &[&str] = &["run", "main.as", "--quiet", "--session", "--run-id", "k"];

#[test]
fn a_reply_is_shown_while_it_is_written() {
    for flags in [IN_MEMORY, AS_SESSION] {
        let model = speaking();
        let sandbox = sandbox(&model);
        let input = ["--input", r#"{"topic":"tea","n":1}"#];
        let (ending, shown) = sit(&sandbox, &[flags, &input].concat(), &[]);
        assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
        // What could steer the terminal is left out of what is shown, not out of the value.
        assert!(shown.contains("Tea is green[2J.\n"), "{shown:?}");
        assert!(shown.contains("\"n\": 1"), "{shown:?}");
        assert_eq!(model.asked()[0]["stream"], true);
    }
}

#[test]
fn without_a_terminal_nothing_is_shown_or_asked() {
    for flags in [IN_MEMORY, AS_SESSION] {
        let model = speaking();
        let sandbox = sandbox(&model);
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(flags).args(["--input", r#"{"topic":"tea","n":1}"#]);
        let finished = run(command, b"", LIMIT).expect("the program can be started");
        assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
        assert!(!String::from_utf8_lossy(&finished.stderr).contains("green"));
        assert!(model.asked()[0].get("stream").is_none_or(|stream| stream == false));
        let mut command = sandbox.command("agentic", sandbox.start());
        let key = if flags == AS_SESSION { &["--run-id", "other"][..] } else { &[] };
        let flags: Vec<&str> =
            flags.iter().copied().filter(|flag| !["--run-id", "k"].contains(flag)).collect();
        command.args(flags).args(key).args(["--input", r#"{"topic":"coffee"}"#]);
        let finished = run(command, b"7\n", LIMIT).expect("the program can be started");
        assert_eq!(finished.ending, ProgramEnding::Exit(1), "{}", text(&finished));
        assert!(text(&finished).contains("`input.n` is missing"), "{}", text(&finished));
        assert_eq!(model.asked().len(), 1);
    }
}

#[test]
fn a_missing_input_is_asked_for() {
    for flags in [IN_MEMORY, AS_SESSION] {
        let model = speaking();
        let sandbox = sandbox(&model);
        let typed = [("input.topic: ", "42\n"), ("input.n: ", "7\n")];
        let (ending, shown) = sit(&sandbox, flags, &typed);
        assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
        assert!(shown.contains("\"n\": 7"), "{shown}");
        let asked = model.asked();
        assert!(asked[0].to_string().contains("42"), "a topic is a text: {asked:?}");
        if flags == AS_SESSION {
            // What was answered is recorded: nobody is asked again.
            let (ending, shown) = sit(&sandbox, flags, &[]);
            assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
            assert!(!shown.contains("input."), "{shown}");
            let (ending, shown) = sit(&sandbox, &["session", "replay", "run-k"], &[]);
            assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
            assert!(!shown.contains("input."), "{shown}");
            assert_eq!(model.asked().len(), 1);
        }
    }
}

#[test]
fn an_input_of_the_wrong_type_and_the_end_of_typing_are_refused() {
    let typed: &[(&[(&str, &str)], &str)] = &[
        (&[("input.topic: ", "tea\n"), ("input.n: ", "many\n")], "the field `input.n` is a number"),
        (&[("input.topic: ", "tea\n"), ("input.n: ", "null\n")], "the field `input.n`"),
        (&[("input.topic: ", "\u{4}")], "the field `input.topic` is missing"),
    ];
    for (typed, wanted) in typed {
        let model = speaking();
        let sandbox = sandbox(&model);
        let (ending, shown) = sit(&sandbox, IN_MEMORY, typed);
        assert_eq!(ending, ProgramEnding::Exit(1), "{shown}");
        assert!(shown.contains(wanted), "{shown}");
        assert_eq!(model.asked().len(), 0);
    }
}

/// Makes a repository where git tracks a configuration that opens something.
fn with_configuration() -> (Model, Sandbox) {
    let model = speaking();
    let sandbox = sandbox(&model);
    sandbox.git(sandbox.start(), &["add", "agentic.toml"]).expect("it is there");
    (model, sandbox)
}

#[test]
fn what_came_with_the_repository_is_shown_before_it_is_allowed() {
    let (model, sandbox) = with_configuration();
    let (ending, shown) = sit(&sandbox, &["allow"], &[("[y/N]", "\n")]);
    assert_eq!(ending, ProgramEnding::Exit(1), "{shown}");
    let asked = shown.find("Let it count? [y/N]").expect("a person is asked");
    assert!(shown[..asked].contains(&model.url), "{shown}");
    assert!(shown[asked..].contains("withheld agentic.toml"), "{shown}");
    assert!(shown.contains("`agentic.toml` was not allowed"), "{shown}");

    let (ending, shown) = sit(&sandbox, &["allow"], &[("[y/N]", "yes\n")]);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("allowed agentic.toml"), "{shown}");
    // Nobody is asked twice about the same content.
    let (ending, shown) = sit(&sandbox, &["allow"], &[]);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");

    let (ending, shown) = sit(&sandbox, &["allow", "--revoke"], &[]);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("revoked agentic.toml"), "{shown}");
    let (ending, shown) = sit(&sandbox, &["allow"], &[("[y/N]", "n\n")]);
    assert_eq!(ending, ProgramEnding::Exit(1), "{shown}");
}

#[test]
fn a_configuration_that_changed_is_asked_about_anew() {
    let (_model, sandbox) = with_configuration();
    let (ending, shown) = sit(&sandbox, &["allow"], &[("[y/N]", "y\n")]);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    let path = sandbox.start().join("agentic.toml");
    let text = std::fs::read_to_string(&path).expect("it is there");
    // What is hidden in a name can neither move the cursor nor steer the screen.
    let more = "[mcp.\"a\\u001b[2Jb\"]\ncommand = \"./server.sh\"\n";
    std::fs::write(&path, format!("{text}{more}")).expect("the sandbox is writable");
    // The end of what is typed is no answer, so it is a no.
    let (ending, shown) = sit(&sandbox, &["allow"], &[("[y/N]", "\u{4}")]);
    assert_eq!(ending, ProgramEnding::Exit(1), "{shown}");
    assert!(shown.contains("starts `./server.sh`"), "{shown}");
    assert!(!shown.contains("\u{1b}[2J"), "{shown:?}");
}

#[test]
fn lines_of_the_repl_are_edited_and_remembered() {
    let model = speaking();
    let sandbox = sandbox(&model);
    // A wrong letter is taken back; a piece goes on over lines.
    let typed = [
        (READY, "x = 49\u{7f}1 + 1\r"),
        (READY, "y = {\r"),
        (READY, "a: x\r"),
        (READY, "}\r"),
        (READY, "y.a\r"),
        ("\n42", ""),
        (READY, ":exit\r"),
    ];
    let (ending, shown) = sit(&sandbox, &["repl", "--mock"], &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("\n42\n"), "{shown}");
    // The next time the third line above the second is the last question of this time.
    let typed = [
        (READY, "y = { a: 44 }\r"),
        (READY, "\u{10}\u{10}\u{10}\r"),
        ("\n44", ""),
        (READY, ":exit\r"),
    ];
    let (ending, shown) = sit(&sandbox, &["repl", "--mock"], &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("\n44\n"), "{shown}");
}

/// Makes a repository with a family of agents.
fn family() -> (Model, Sandbox) {
    let model = speaking();
    let sandbox = sandbox(&model);
    for line in ["spawn alice -m x", "spawn bob -m y --from alice", "spawn carol -m z --from bob"] {
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(line.split(' '));
        let finished = run(command, b"", LIMIT).expect("the program can be started");
        assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
    }
    (model, sandbox)
}

const QUERIES: &[&str] = &["repl", "--query"];

#[test]
fn queries_are_asked_line_by_line_and_rules_stay() {
    let (_model, sandbox) = family();
    let typed = [
        (READY, "below(A, B) :- sub_agent_of(A, B).\r"),
        (READY, "below(A, C) :- sub_agent_of(A, B),\r"),
        (READY, "below(B, C).\r"),
        (READY, "? below(A, alice).\r"),
        (" ms\r\n", ""),
        (READY, "? nothing(X).\r"),
        ("Q10", ""),
        (READY, "? (N) N = count { below(_, alice) }.\r"),
        (" ms\r\n", ""),
        (READY, ":exit\r"),
    ];
    let (ending, shown) = sit(&sandbox, QUERIES, &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("\nA\nbob\ncarol\n2 rows in "), "{shown}");
    assert!(shown.contains("\nN\n2\n1 row in "), "{shown}");
    // The next time the last question stands one line above.
    let typed = [(READY, "below(X, X) :- agent(name: X).\r"), (READY, "\u{10}\u{10}\u{10}\r")];
    let typed = [&typed[..], &[(" ms\r\n", ""), (READY, ":exit\r")]].concat();
    let (ending, shown) = sit(&sandbox, QUERIES, &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("1 row in "), "{shown}");
}

#[test]
fn the_tabulator_completes_predicates_columns_and_named_rules() {
    let (_model, sandbox) = family();
    let typed = [
        (READY, "? sub_a\tcommit: _, "),
        ("sub_agent_of(", ""),
        ("commit", "\u{3}"),
        (READY, "? (A) agent(na\tA, gen\t_).\r"),
        (" ms\r\n", ""),
        (READY, "use unrev\t.\r"),
        (READY, ":expl\t\r"),
        (READY, ":exit\r"),
    ];
    let (ending, shown) = sit(&sandbox, QUERIES, &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("\nA\nalice\nbob\ncarol\n3 rows in "), "{shown}");
    assert!(shown.contains("use unreviewed"), "{shown}");
}

#[test]
fn ctrl_c_ends_a_question_and_not_the_repl() {
    let (_model, sandbox) = family();
    let typed = [
        (READY, "n(1). n(Y) :- n(X), X < 9000000, Y = X + 1. ? N = count { n(A), n(B), A < B }.\r"),
        (LEFT, "\u{3}"),
        ("cancelled", ""),
        (READY, "? agent(name: A, parent: alice).\r"),
        (" ms\r\n", ""),
        (READY, ":exit\r"),
    ];
    let (ending, shown) = sit(&sandbox, QUERIES, &typed);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.contains("\nA\nbob\n1 row in "), "{shown}");
}

/// A query that takes longer than anybody waits.
const ENDLESS: &str =
    "n(1). n(Y) :- n(X), X < 9000000, Y = X + 1. ? N = count { n(A), n(B), A < B }.";
/// How a line of the screen is made empty.
const EMPTY_LINE: &str = "\u{1b}[2K";

#[test]
fn a_long_query_tells_what_it_does_and_ctrl_c_ends_it_at_once_and_leaves_nothing_behind() {
    let (_model, sandbox) = family();
    let typed = [("deriving rows for", "\u{3}")];
    let (ending, shown) = sit(&sandbox, &["query", ENDLESS], &typed);
    // Python says 256 less the number of the signal.
    assert_eq!(ending, ProgramEnding::Exit(254), "{shown}");
    let told = shown.rfind("deriving rows").expect("it is told");
    assert!(shown[told..].contains(EMPTY_LINE), "{shown:?}");
    assert!(!shown.contains("error") && !shown.contains("\nN\n"), "{shown:?}");
}

/// Runs a program that Ctrl-C ends: whoever runs these tests in the background of a script has it ignored, and so has
/// everybody whom they start.
const WITH_CTRL_C: &str = "import os, signal, sys\n\
    signal.signal(signal.SIGINT, signal.SIG_DFL)\n\
    os.execvp(sys.argv[1], sys.argv[1:])";

#[test]
fn ctrl_c_ends_a_query_before_anything_is_told() {
    let (_model, sandbox) = family();
    // A shell that is still on its way to the program takes the signal for itself.
    let query = format!(
        "agentic query '{ENDLESS}' & echo begun; sleep 0.3; kill -INT $!; wait $!; echo \"ended $?\""
    );
    let mut shell = sandbox.command("python3", sandbox.start());
    shell.args(["-c", WITH_CTRL_C, "bash", "-c", &format!("set -m; {query}")]);
    let finished = run(shell, b"", LIMIT).expect("there is a shell");
    assert!(String::from_utf8_lossy(&finished.stdout).contains("ended 130"), "{}", text(&finished));
    assert!(
        finished.stderr.is_empty() || !text(&finished).contains("error"),
        "{}",
        text(&finished)
    );
}

/// A git that takes its time to compare trees.
const SLOW_GIT: &str =
    "#!/bin/sh\ncase \"$*\" in *numstat*) sleep 1.5;; esac\nPATH=\"$OWN_PATH\" exec git \"$@\"\n";

#[test]
fn a_long_query_shows_how_much_is_read() {
    let (_model, sandbox) = family();
    let folder = sandbox.start().join("slow");
    std::fs::create_dir(&folder).expect("the sandbox is writable");
    let git = folder.join("git");
    std::fs::write(&git, SLOW_GIT).expect("the sandbox is writable");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&git, mode).expect("it is there");
    let command = "OWN_PATH=$PATH PATH=$PWD/slow:$PATH agentic query '? N = count { lines() }.'";
    let mut shell = sandbox.command("python3", sandbox.start());
    shell.env("TERM", "xterm").args(["sit.py", "[]", "bash", "-c", command]);
    let finished = run(shell, b"", LIMIT).expect("Python is installed");
    let shown = String::from_utf8_lossy(&finished.stdout).replace('\r', "");
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{shown}");
    assert!(shown.starts_with("lines of commits ") && shown.contains(" 3/3 "), "{shown:?}");
    let told = shown.rfind("lines of commits").expect("it is told");
    assert!(shown[told..].contains(EMPTY_LINE) && shown.ends_with("N\n0\n"), "{shown:?}");
}
