use super::*;

fn refuse(text: &str, line: usize, part: &str) {
    let malformed = cases(text).expect_err("the case is malformed");
    assert_eq!(malformed.line, line, "{malformed}");
    assert!(malformed.reason.contains(part), "{malformed}");
}

#[test]
fn a_transcript_becomes_steps() {
    let text = "# About.\n\n== a title\nsetup: bare repo\nfile a.txt executable\n| one\n|\n\
        $ agentic log \\\n  --json\n< in\n> out\n>\nexit 3\nlet head = json .head\n";
    let found = cases(text).expect("well formed");
    let [case] = found.as_slice() else { panic!("one case, not {}", found.len()) };
    assert_eq!((case.title.as_str(), case.line, case.setup), ("a title", 3, Setup::BareRepository));
    let [
        CaseStep::File { content: FileContents::Text(content), mode, .. },
        CaseStep::Command(command),
    ] = case.steps.as_slice()
    else {
        panic!("a file and a command, not {:?}", case.steps)
    };
    assert_eq!((content.as_str(), *mode), ("one\n\n", FilePermission::Executable));
    assert_eq!(command.script, "agentic log \\\n  --json");
    assert_eq!(command.stdin, "in\n");
    assert_eq!(command.stdout.as_deref(), Some(&["out".to_owned(), String::new()][..]));
    assert_eq!((command.exit, command.expectations.len()), (3, 1));
}

#[test]
fn a_line_that_ends_in_a_backslash_goes_on_whatever_follows() {
    let found = cases("== t\n$ x \\\nfile \\\n# no remark\nexit 1\n").expect("well formed");
    let [CaseStep::Command(command)] = found[0].steps.as_slice() else { panic!("a command") };
    assert_eq!((command.script.as_str(), command.exit), ("x \\\nfile \\\n# no remark", 1));
}

#[test]
fn a_refusal_must_change_nothing() {
    let found = cases("== t\n$ x\nrefused 3 `alice`\n").expect("well formed");
    let [CaseStep::Command(command)] = found[0].steps.as_slice() else { panic!("a command") };
    assert_eq!((command.exit, command.watch), (3, GroundWatch::MustNotChange));
}

#[test]
fn lines_that_mean_nothing_are_named() {
    refuse("$ agentic\n", 1, "title");
    refuse("== t\nexit 0\n", 2, "nothing here");
    refuse("== t\n$ x\nexits 3\n", 3, "`exits`");
    refuse("== t\n$ x\njson head = 1\n", 3, "begins with `.`");
    refuse("== t\n$ x\njson .a is number\n", 3, "shape");
    refuse("== t\n$ x\njson .a matches (\n", 3, "");
    refuse("== t\nsetup: heap\n$ x\n", 2, "setup");
    refuse("== t\n$ x\nlast-check: none\n", 3, "REASON");
    refuse("== t\nfile a\n| x\n", 1, "no command");
}
