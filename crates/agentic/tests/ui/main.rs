//! `agentic ui` on a terminal, as a person uses it. Python's `pty` module is the terminal.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(90);
/// The terminal.
const TERMINAL: &str = include_str!("terminal.py");
/// A flow that asks.
const FLOW: &str = "hold(\"Deploy build 91?\", #{ payload: #{ env: \"prod\" } }).action\n";
/// What says that the screen was taken over, and given back.
const TAKEN: &str = "\u{1b}[?1049h";
const GIVEN_BACK: &str = "\u{1b}[?1049l";
/// Ctrl+S, which decides.
const SEND: &str = "\u{13}";

/// Makes a repository where an agent asks something.
fn asking() -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    for (file, text) in [("ask.rhai", FLOW), ("terminal.py", TERMINAL)] {
        std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    shell(&sandbox, "agentic spawn alice -m 'ask first'");
    shell(&sandbox, "agentic session start alice --flow ask.rhai --key k || [ $? = 4 ]");
    sandbox
}

/// Runs a line of the shell that must succeed; returns what it printed.
fn shell(sandbox: &Sandbox, line: &str) -> String {
    let mut command = sandbox.command("sh", sandbox.start());
    command.args(["-c", line]);
    let finished = run(command, b"", LIMIT).expect("there is a shell");
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{line}: {}", text(&finished));
    String::from_utf8_lossy(&finished.stdout).into_owned()
}

fn text(finished: &FinishedProgram) -> String {
    let [out, err] = [&finished.stdout, &finished.stderr].map(|said| String::from_utf8_lossy(said));
    format!("{out}{err}")
}

/// Waits for a text on the screen, then types.
fn key(wait: &str, typed: &str) -> Json {
    json!({ "wait": wait, "type": typed })
}

/// Runs a command on a terminal, step by step. Returns how it ended and what was to be seen.
fn sit_with(
    sandbox: &Sandbox,
    command: &[&str],
    variables: &[(&str, &str)],
    steps: &[Json],
) -> (ProgramEnding, String) {
    let steps = Json::from(steps).to_string();
    let mut python = sandbox.command("python3", sandbox.start());
    python.env("TERM", "xterm").args(["terminal.py", &steps]).args(command);
    python.envs(variables.iter().copied());
    let finished = run(python, b"", LIMIT).expect("Python is installed");
    let shown = String::from_utf8_lossy(&finished.stdout).into_owned();
    assert!(finished.stderr.is_empty(), "{}\n{shown:?}", String::from_utf8_lossy(&finished.stderr));
    (finished.ending, shown)
}

fn sit(sandbox: &Sandbox, command: &[&str], steps: &[Json]) -> String {
    let (ending, shown) = sit_with(sandbox, command, &[], steps);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown:?}");
    shown
}

/// Says that the screen was given back as often as it was taken over, and that the last came last.
fn is_given_back(shown: &str) {
    let count = |what: &str| shown.matches(what).count();
    assert!(count(TAKEN) > 0, "{shown:?}");
    assert_eq!(count(TAKEN), count(GIVEN_BACK), "{shown:?}");
    assert!(shown.rfind(TAKEN) < shown.rfind(GIVEN_BACK), "{shown:?}");
}

#[test]
fn a_hold_is_decided_by_the_commit_of_the_command() {
    let sandbox = asking();
    let steps = [
        key("Deploy build 91?", "a"),
        key("that is all of it", "cstaging is free"),
        key("staging is free", SEND),
        // Its session goes on without this screen, and what it becomes is seen here.
        key("Nothing waits for a person.", "q"),
    ];
    let shown = sit(&sandbox, &["agentic", "ui"], &steps);
    is_given_back(&shown);
    let log: Json =
        serde_json::from_str(&shell(&sandbox, "agentic log alice --json")).expect("JSON");
    let decision = &log[0];
    assert_eq!(decision["kind"], "decision", "{log}");
    assert_eq!(decision["subject"], "staging is free", "{decision}");
    let fields = &decision["fields"];
    assert_eq!(
        (&fields["action"], &fields["client"]),
        (&json!("approve"), &json!("cli")),
        "{fields}"
    );
    assert!(fields["shown"].as_str().is_some_and(|hash| hash.starts_with("bafy")), "{fields}");
    let ended =
        shell(&sandbox, "agentic session watch alice > watched; agentic session show alice --json");
    assert!(ended.contains("\"state\":\"done\""), "{ended}");
    shell(&sandbox, "git fsck --strict --no-dangling --no-progress");
}

#[test]
fn what_others_write_is_seen_at_once() {
    let sandbox = asking();
    let steps = [
        json!({ "wait": "Deploy build 91?", "run": "agentic spawn bob -m other" }),
        json!({ "wait": "bob", "run": "agentic decide alice reject -m 'not today'" }),
        key("Nothing waits for a person.", "q"),
    ];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
    // While a process serves the repository it is the same.
    shell(&sandbox, "agentic serve --no-tcp --detach");
    let steps = [
        json!({ "wait": "Nothing waits for a person.", "run": "agentic spawn carol -m third" }),
        key("carol", "/other\r"),
        key("Found: other", "q"),
    ];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
    shell(&sandbox, "agentic serve stop");
}

#[test]
fn a_hold_that_is_decided_elsewhere_meanwhile_keeps_what_was_typed() {
    let sandbox = asking();
    let decide = "agentic decide alice reject -m 'not today'";
    let steps = [
        key("Deploy build 91?", "acmy reasons"),
        json!({ "wait": "my reasons", "run": decide }),
        key("has decided this: reject", SEND),
        // Out of the field, and out of the dialog.
        key("is not open any more", "\tq"),
        key("Nothing waits for a person.", "q"),
    ];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
    let log = shell(&sandbox, "agentic log alice --json");
    assert_eq!(log.matches("\"kind\":\"decision\"").count(), 1, "{log}");
}

#[test]
fn the_picture_follows_the_size_of_the_screen() {
    let sandbox = asking();
    let steps = [
        json!({ "wait": "Deploy build 91?", "resize": [20, 5] }),
        json!({ "wait": "too small", "resize": [60, 20] }),
        key("Deploy build 91?", "\t"),
        json!({ "wait": "Agents", "resize": [120, 40] }),
        key("1 log", "q"),
    ];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
}

/// What the shell says when it has the terminal again; what is typed before may be thrown away.
const PROMPT: &str = "ready$ ";

/// Waits for bytes and the shell, and asks it how the terminal is set: that must be as before the screen.
fn sane(wait: &str, n: usize) -> [Json; 4] {
    let how = "stty -a | grep -oE -- '-?(icanon|echo)\\b' | tr '\\n' '+'; echo";
    let mut asks = raw(PROMPT);
    asks["type"] = json!(format!("{how} {n}\r"));
    [raw(wait), asks, key(&format!("icanon+echo+{n}"), ""), raw(PROMPT)]
}

/// Waits for bytes that came behind those before.
fn raw(bytes: &str) -> Json {
    json!({ "raw": bytes })
}

#[test]
fn it_is_stopped_and_goes_on_like_any_job_of_a_shell() {
    let sandbox = asking();
    let steps = [
        &[raw(PROMPT), key("", "agentic ui\r"), raw(TAKEN), key("Deploy build 91?", "\u{1a}")][..],
        &sane("Stopped", 1),
        &[key("", "fg\r"), raw(TAKEN), key("Deploy build 91?", ""), raw("quit")],
        // Somebody else stops it too.
        &[json!({ "wait": "Inbox", "run": "kill -TSTP $(cat ui.pid)" }), raw(GIVEN_BACK)],
        &sane("Stopped", 2),
        &[key("", "fg\r"), raw(TAKEN), key("Deploy build 91?", "q")],
        &sane(GIVEN_BACK, 3),
        &[key("", "exit\r")],
    ]
    .concat();
    let pid = "agentic() { sh -c 'echo $$ > ui.pid; exec agentic \"$@\"' sh \"$@\"; }";
    let pid = format!("{pid}; PS1='{PROMPT}'\n");
    std::fs::write(sandbox.start().join("shellrc"), pid).expect("the sandbox is writable");
    let shown = sit(&sandbox, &["bash", "--noediting", "--rcfile", "shellrc", "-i"], &steps);
    is_given_back(&shown);
    assert!(shown.matches(TAKEN).count() >= 3, "{shown:?}");
}

#[test]
fn the_first_program_of_a_terminal_is_not_stopped() {
    let sandbox = asking();
    let steps = [key("Deploy build 91?", "\u{1a}"), key("no shell here", "q")];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    let sandbox = asking();
    for (point, told) in
        [("ui-draw:2", "a test wants this"), ("ui-read:2", "thread of the screen broke")]
    {
        let run = format!("AGENTIC_FAIL_AT={point} agentic ui\r");
        let steps = [
            &[raw(PROMPT), key("", &run), raw(TAKEN), raw(GIVEN_BACK)][..],
            &sane(told, 1),
            &[key("", "exit 0\r")],
        ]
        .concat();
        std::fs::write(sandbox.start().join("shellrc"), format!("PS1='{PROMPT}'\n"))
            .expect("writable");
        let shown = sit(&sandbox, &["bash", "--noediting", "--rcfile", "shellrc", "-i"], &steps);
        is_given_back(&shown);
    }
}

#[test]
fn a_signal_to_end_gives_the_terminal_back() {
    let sandbox = asking();
    let steps = [json!({ "wait": "Deploy build 91?", "signal": 15 })];
    is_given_back(&sit(&sandbox, &["agentic", "ui"], &steps));
}

#[test]
fn a_signal_that_ends_programs_gives_the_terminal_back_and_ends_this_one() {
    let sandbox = asking();
    let pid = "agentic() { sh -c 'echo $$ > ui.pid; exec agentic \"$@\"' sh \"$@\"; }";
    let pid = format!("{pid}; PS1='{PROMPT}'\n");
    std::fs::write(sandbox.start().join("shellrc"), pid).expect("the sandbox is writable");
    for (signal, number, told) in [("HUP", 1, "Hangup"), ("QUIT", 3, "Quit")] {
        let kill = format!("kill -{signal} $(cat ui.pid)");
        let steps = [
            &[raw(PROMPT), key("", "agentic ui; echo ended $?\r"), raw(TAKEN)][..],
            &[json!({ "wait": "Deploy build 91?", "run": kill }), raw(GIVEN_BACK), raw(told)],
            &sane(&format!("ended {}", 128 + number), 1),
            &[key("", "exit 0\r")],
        ]
        .concat();
        let shown = sit(&sandbox, &["bash", "--noediting", "--rcfile", "shellrc", "-i"], &steps);
        is_given_back(&shown);
    }
}

#[test]
fn an_agent_may_only_look() {
    let sandbox = asking();
    let steps = [
        key("read-only", ""),
        key("Deploy build 91?", "a"),
        key("nothing is decided here", "o"),
        key("that is all of it", "a"),
        key("● a approve", SEND),
        key("nothing is decided here", "q"),
        key("Agents", "q"),
    ];
    let variables = [("AGENTIC_AGENT", "alice")];
    let (ending, shown) = sit_with(&sandbox, &["agentic", "ui"], &variables, &steps);
    assert_eq!(ending, ProgramEnding::Exit(0), "{shown:?}");
    assert!(shell(&sandbox, "agentic pending").contains("Deploy build 91?"));
}

#[test]
fn without_a_terminal_there_is_a_hint() {
    let sandbox = asking();
    let mut command = sandbox.command("agentic", sandbox.start());
    command.arg("ui");
    let finished = run(command, b"", LIMIT).expect("the program can be started");
    assert_eq!(finished.ending, ProgramEnding::Exit(2), "{}", text(&finished));
    assert!(text(&finished).contains("hint: `agentic pending`"), "{}", text(&finished));
}

#[test]
fn what_agents_write_cannot_steer_the_terminal() {
    let sandbox = asking();
    let hostile = "printf 'x\\033]0;evil\\007\\033[6n\\n' | agentic trace add - --agent alice; \
        agentic commit --agent alice --kind finding --path a.txt --trace \
        -m \"$(printf 'y\\033]0;evil\\007')\"";
    shell(&sandbox, "echo a > a.txt");
    shell(&sandbox, hostile);
    let steps = [key("finding", "2"), key("x⟦001B⟧]0;evil", "1"), key("y⟦001B⟧]0;evil⟦0007⟧", "q")];
    let shown = sit(&sandbox, &["agentic", "ui"], &steps);
    assert!(!shown.contains("\u{1b}]0;") && !shown.contains("\u{1b}[6n"), "{shown:?}");
}
