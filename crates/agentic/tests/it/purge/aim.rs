//! What else can be purged: what a rule finds, a conversation, a value that is typed.

use agentic_testkit::ProgramEnding;

use super::walk::PurgeWalk;
use super::{AFTER_AT, VALUE, json};
use crate::stage::{script, script_ok, text};

const TOLD: &str = r#"
agentic spawn alice -m "Work"
echo "log in with VALUE, then go" | agentic trace add --agent alice --kind log -
echo "plain words" | agentic trace add --agent alice --kind log -
echo a >file
agentic commit --agent alice --path file -m "Did" --trace
"#;

/// A rule of the project that nobody had when the words were written.
const RULE: &str = r#"
cat >agentic.toml <<'E'
[[redact.rule]]
id = "house"
regex = '(tulip-[a-z]+-\d{4}-[a-z]+)'
keywords = ["tulip"]
E
"#;

const SHOWN: [(&str, &str); 2] = [
    ("agentic trace show alice | grep -c purged:", "1"),
    ("agentic trace show alice | grep -c 'plain words'", "1"),
];

/// A value that the rule above finds.
const RULED: &str = "tulip-orbit-9941-lamp";

/// Two conversations of one agent, of which one is to go.
const CONVERSATIONS: &str = r#"
git config agentic.capture on
agentic spawn alice -m "Work" --worktree
projects=$HOME/.claude/projects/p
mkdir -p $projects
cd ../$(basename $PWD).agents/alice
say() {
  printf '{"type":"user","uuid":"%s","parentUuid":null,"sessionId":"%s","timestamp":"2026-11-20T10:00:00.000Z","cwd":"%s","message":{"role":"user","content":"%s"}}\n' \
    "$1" "$1" "$PWD" "$2" >$projects/$1.jsonl
  printf '{"session_id":"%s","cwd":"%s","transcript_path":"%s","hook_event_name":"%s"}' \
    "$1" "$PWD" "$projects/$1.jsonl" "$3" | agentic hook claude
}
say 0b6f3c1e-5d1a-4a57-9e44-000000000001 "VALUE" SessionEnd
say 0b6f3c1e-5d1a-4a57-9e44-000000000002 "VALUE pending" Stop
say 1c7f3c1e-5d1a-4a57-9e44-000000000003 "other words" SessionEnd
cat $projects/0b6f3c1e-5d1a-4a57-9e44-000000000001.jsonl >/dev/null
rm -r $projects
"#;

#[test]
fn what_a_rule_finds_today_goes_at_whichever_step_it_is_killed() {
    let story = format!("{TOLD}{RULE}");
    let purge = PurgeWalk {
        story: &story,
        value: RULED,
        arguments: &["purge", "--rule", "house", "--apply"],
        input: "",
        checks: &SHOWN,
    };
    purge.walk();
}

#[test]
fn a_conversation_goes_at_whichever_step_it_is_killed() {
    let purge = PurgeWalk {
        story: CONVERSATIONS,
        value: "words of the first",
        arguments: &[
            "purge",
            "--conversation",
            "claude:0b6f3c1e-5d1a-4a57-9e44-000000000001",
            "--apply",
        ],
        input: "",
        checks: &[
            ("agentic trace show alice | grep -c purged: | grep -vc '^0$'", "1"),
            ("agentic trace show alice | grep -c 'other words'", "1"),
        ],
    };
    // What the second one said is not what is looked for.
    let story = CONVERSATIONS.replace("VALUE pending", "nothing of that");
    PurgeWalk { story: &story, ..purge }.walk();
}

#[test]
fn private_tombstones_stay_here() {
    let private = PurgeWalk {
        story: TOLD,
        value: VALUE,
        arguments: &["--json", "purge", "--value", "--apply", "--private"],
        input: VALUE,
        checks: &SHOWN,
    };
    let sandbox = private.stage();
    let done = private.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    assert_eq!(private.broken(&sandbox), "");
    let listed = |name: &str| {
        let list = format!("git ls-tree -r --name-only {name} | grep -c tombstone || true");
        script_ok(&sandbox, &list, AFTER_AT).trim_end().to_owned()
    };
    assert_eq!(listed("refs/notes/agentic/alice"), "0");
    assert_ne!(listed("refs/agentic/tombstones"), "0");
    PurgeWalk { arguments: &["purge", "--value", "--apply", "--private"], ..private }.walk();
}

#[test]
fn a_value_across_two_objects_of_a_trace_goes() {
    // Pieces of 256 KiB, four to an object: the value begins in the last piece of one of them.
    let story = r#"
agentic spawn alice -m "Work"
{ head -c 1048566 /dev/zero | tr '\0' 'x'; printf 'VALUE and more'; head -c 700000 /dev/zero | tr '\0' 'y'; } >../long
agentic trace add --agent alice --kind log - <../long
agentic trace attach --agent alice $(git rev-parse agents/alice)
rm ../long
"#;
    let purge = PurgeWalk {
        story,
        value: VALUE,
        arguments: &["--json", "purge", "--value", "--apply"],
        input: VALUE,
        checks: &[
            ("agentic trace show alice | grep -c 'tulip-orb' || true", "0"),
            ("agentic trace show alice | grep -c 'and more'", "1"),
        ],
    };
    let sandbox = purge.stage();
    let parts = "git ls-tree -r --name-only refs/notes/agentic/alice | grep -c console-trace";
    let n_parts: usize = script_ok(&sandbox, parts, AFTER_AT).trim().parse().expect("a number");
    assert!(n_parts >= 3, "the trace has {n_parts} objects");
    let verify = PurgeWalk { arguments: &["--json", "purge", "verify"], ..purge };
    let found = verify.purge(&sandbox, &[]);
    assert_eq!(found.ending, ProgramEnding::Exit(1), "{}", text(&found));
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    assert_eq!(purge.broken(&sandbox), "");
    let found = verify.purge(&sandbox, &[]);
    assert_eq!(found.ending, ProgramEnding::Exit(0), "{}", text(&found));
}

#[test]
fn a_briefing_that_commits_name_is_found_without_the_value() {
    let story = "printf 'Work\\n\\nLog in with VALUE' | agentic spawn alice --briefing -\n\
                 agentic spawn bob --from alice -m 'Other work'\n";
    let purge = PurgeWalk {
        story,
        value: VALUE,
        arguments: &["--json", "purge", "--value", "--apply"],
        input: VALUE,
        checks: &[
            ("agentic briefing alice | grep -c 'Log in with .purged:'", "1"),
            ("agentic briefing bob", "Other work"),
        ],
    };
    purge.walk();
}

#[test]
fn a_proof_is_signed_where_people_sign() {
    let story = r#"
agentic spawn alice -m "Work"
ssh-keygen -q -t ed25519 -N '' -f ../key
git config gpg.format ssh
git config user.signingKey $PWD/../key.pub
git config agentic.sign true
"#;
    let verify = PurgeWalk {
        story,
        value: VALUE,
        arguments: &["--json", "purge", "verify"],
        input: VALUE,
        checks: &[],
    };
    let sandbox = verify.stage();
    let proved = verify.purge(&sandbox, &[]);
    assert_eq!(proved.ending, ProgramEnding::Exit(0), "{}", text(&proved));
    let proof = json(&proved);
    let signature = &proof["signature"];
    let told: serde_json::Value =
        serde_json::from_str(signature["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&told["objects"], &told["hits"]), (&proof["objects"], &proof["hits"]));
    let put = |name: &str, text: &serde_json::Value| {
        std::fs::write(sandbox.repositories().join(name), text.as_str().expect("a text"))
            .expect("writable");
    };
    put("text", &signature["text"]);
    put("signature", &signature["signature"]);
    let check = "ssh-keygen -Y check-novalidate -n agentic-purge -s ../signature <../text";
    assert_eq!(script(&sandbox, check, AFTER_AT, &[]).ending, ProgramEnding::Exit(0));
    std::fs::write(sandbox.repositories().join("text"), "something else").expect("writable");
    assert_ne!(script(&sandbox, check, AFTER_AT, &[]).ending, ProgramEnding::Exit(0));
}

#[test]
fn a_value_that_is_typed_is_not_shown() {
    let purge = PurgeWalk { story: TOLD, value: VALUE, arguments: &[], input: "", checks: &SHOWN };
    let sandbox = purge.stage();
    let typed = r#"
import os, pty, select, sys
value, words = sys.argv[1].encode(), sys.argv[2:]
pid, end = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
shown, is_typed = b"", False
while True:
    try:
        some = os.read(end, 4096)
    except OSError:
        break
    if not some:
        break
    shown += some
    if not is_typed and b"Enter:" in shown:
        os.write(end, value + b"\n")
        is_typed = True
_, status = os.waitpid(pid, 0)
assert is_typed, shown
assert value not in shown, shown
sys.exit(os.waitstatus_to_exitcode(status))
"#;
    std::fs::write(sandbox.root().join("typed.py"), typed).expect("writable");
    let line = format!(
        "python3 {}/typed.py {VALUE} agentic purge --value --apply",
        sandbox.root().display()
    );
    let finished = script(&sandbox, &line, AFTER_AT, &[]);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
    assert_eq!(purge.broken(&sandbox), "");
}
