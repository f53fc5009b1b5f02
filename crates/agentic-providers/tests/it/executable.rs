//! Programs that behave, and programs that do not.

use std::time::{Duration, Instant};

use agentic_providers::executable::{Executable, OUTPUT_BYTES_MAX, ProgramOutcome};
use agentic_providers::host::CancelFlag;

/// Long enough for a program that ends by itself, short enough for a test that waits for it.
const LIMIT: Duration = Duration::from_secs(20);

fn shell(line: &str, limit: Duration) -> Executable {
    Executable {
        argv: ["sh", "-c", line].map(str::to_owned).to_vec(),
        folder: std::env::temp_dir(),
        input: b"given".to_vec(),
        environment: vec![("WORD".to_owned(), "set".to_owned())],
        limit,
    }
}

/// Names the outcome with what was printed or said.
fn outcome(line: &str, limit: Duration) -> String {
    match shell(line, limit).run(&CancelFlag::new()) {
        ProgramOutcome::Done(printed) => format!("done {}", String::from_utf8_lossy(&printed)),
        ProgramOutcome::Crashed { status, complaint } => {
            format!("crashed {:?} {complaint}", status.code())
        }
        ProgramOutcome::Lost(_) => "lost".to_owned(),
        ProgramOutcome::Flooded => "flooded".to_owned(),
        ProgramOutcome::TimedOut => "timed out".to_owned(),
        ProgramOutcome::Stopped => "stopped".to_owned(),
    }
}

#[test]
fn every_way_to_end_has_its_outcome() {
    let short = Duration::from_millis(200);
    let cases = [
        ("cat; printf \" $WORD\"", LIMIT, "done given set"),
        ("true", LIMIT, "done "),
        ("echo printed; echo why >&2; exit 3", LIMIT, "crashed Some(3) why"),
        ("kill -9 $$", LIMIT, "crashed None "),
        ("yes", LIMIT, "flooded"),
        ("sleep 60", short, "timed out"),
        ("sleep 60 & echo x", short, "timed out"),
        ("exec 1>&-; sleep 60", short, "timed out"),
    ];
    for (line, limit, wanted) in cases {
        assert_eq!(outcome(line, limit), wanted, "{line}");
    }
}

#[test]
fn a_program_that_is_not_there_is_lost() {
    let argv = vec!["./there-is-no-such-program".to_owned()];
    for argv in [argv, Vec::new()] {
        let executable = Executable { argv, ..shell("", LIMIT) };
        assert!(matches!(executable.run(&CancelFlag::new()), ProgramOutcome::Lost(_)));
    }
}

#[test]
fn as_much_as_is_allowed_may_be_printed() {
    let line = format!("head -c {OUTPUT_BYTES_MAX} /dev/zero");
    assert!(outcome(&line, LIMIT).len() > OUTPUT_BYTES_MAX);
    let line = format!("head -c {} /dev/zero", OUTPUT_BYTES_MAX + 1);
    assert_eq!(outcome(&line, LIMIT), "flooded");
}

#[test]
fn a_program_that_is_told_to_stop_takes_what_it_started_along() {
    let cancel = CancelFlag::new();
    cancel.set();
    let began = Instant::now();
    let outcome = shell("sleep 60 & wait", LIMIT).run(&cancel);
    assert!(matches!(outcome, ProgramOutcome::Stopped));
    assert!(began.elapsed() < LIMIT);
}

/// Runs a line that tells by its output that it is ready, stops it then, and names the outcome.
fn stopped(line: &str, grace: Duration) -> String {
    let cancel = CancelFlag::with_grace(grace);
    let ready = std::env::temp_dir().join(format!("agentic-ready-{}", std::process::id()));
    let _ = std::fs::remove_file(&ready);
    let executable = Executable {
        environment: vec![("READY".to_owned(), ready.display().to_string())],
        ..shell(line, LIMIT)
    };
    let watched = cancel.clone();
    let thread = std::thread::spawn(move || executable.run(&watched));
    while !ready.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    cancel.set();
    let outcome = thread.join().expect("no panic");
    let _ = std::fs::remove_file(&ready);
    match outcome {
        ProgramOutcome::Done(printed) => format!("done {}", String::from_utf8_lossy(&printed)),
        ProgramOutcome::Stopped => "stopped".to_owned(),
        other @ (ProgramOutcome::Crashed { .. }
        | ProgramOutcome::Lost(_)
        | ProgramOutcome::Flooded
        | ProgramOutcome::TimedOut) => format!("{other:?}"),
    }
}

#[test]
fn a_program_that_is_told_to_stop_may_end_by_itself() {
    let wait = "touch \"$READY\"; while :; do sleep 0.01; done";
    let polite = format!("trap 'echo bye; exit 0' TERM; {wait}");
    let failing = format!("trap 'exit 3' TERM; {wait}");
    let deaf = format!("trap '' TERM; {wait}");
    let short = Duration::from_millis(200);
    assert_eq!(stopped(&polite, LIMIT), "done bye\n");
    assert_eq!(stopped(&failing, LIMIT), "stopped");
    assert_eq!(stopped(&deaf, short), "stopped");
    assert_eq!(stopped(&deaf, Duration::ZERO), "stopped");
}
