//! A clock that is set: logins, events and deadlines neither hang nor come twice.

use std::path::PathBuf;

use super::decision::with;
use super::event::EventListener;
use super::*;

/// Tells programs that it is as much later than it is as a file says, in seconds.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    long failed = syscall(SYS_clock_gettime, id, at);
    const char *path = getenv("TEST_CLOCK");
    if (failed || id != CLOCK_REALTIME || !path) return (int)failed;
    char text[32] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length > 0) at->tv_sec += atol(text);
    return 0;
}
"#;
/// How far the clock is set back, in seconds.
const HOUR: i64 = 3_600;

/// A clock that programs believe.
struct TestClock {
    shift: PathBuf,
    library: PathBuf,
}

impl TestClock {
    /// Makes one; nothing where there is no compiler.
    fn new(folder: &Path) -> Option<TestClock> {
        let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
        std::fs::write(&source, CLOCK).expect("writable");
        let mut compile = std::process::Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source);
        let is_made = compile.status().is_ok_and(|status| status.success());
        let clock = TestClock { shift: folder.join("shift"), library };
        clock.set(0);
        is_made.then_some(clock)
    }

    fn set(&self, seconds: i64) {
        // Whoever reads it meanwhile sees one or the other.
        let fresh = self.shift.with_extension("new");
        std::fs::write(&fresh, seconds.to_string()).expect("writable");
        std::fs::rename(fresh, &self.shift).expect("writable");
    }

    fn command(&self, sandbox: &Sandbox, arguments: &[&str]) -> std::process::Command {
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(arguments).env("LD_PRELOAD", &self.library).env("TEST_CLOCK", &self.shift);
        command.stdin(Stdio::null());
        command
    }
}

/// Has a program ask until an instant so many seconds from now, as the clock says.
fn ask_until(served: &Served, clock: &TestClock, agent: &str, seconds: i64) -> String {
    let shift: i64 =
        std::fs::read_to_string(&clock.shift).expect("it is set").parse().expect("one");
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(since.expect("after 1970").as_secs()).expect("this age") + shift;
    let deadline = agentic_model::Instant::from_millis((now + seconds) * 1_000);
    let flow = format!("hold(\"Go?\", #{{deadline: \"{deadline}\", on_expiry: \"late\"}}).value");
    let file = format!("{agent}.rhai");
    std::fs::write(served.sandbox.start().join(&file), flow).expect("writable");
    let spawn = clock.command(&served.sandbox, &["spawn", agent, "-m", "x"]).output();
    assert!(spawn.expect("it runs").status.success());
    let start = ["session", "start", agent, "--flow", &file, "--json"];
    let start = clock.command(&served.sandbox, &start).output().expect("it runs");
    let started: Json = serde_json::from_slice(&start.stdout).expect("JSON");
    started["pending"][0].as_str().expect("one request").to_owned()
}

/// Waits until a request was answered by the clock.
fn await_expiry(served: &Served, agent: &str) {
    let begun = Instant::now();
    while served.decisions(agent).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{agent} never expires");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(served.decisions(agent)[0]["fields"]["principal"], "system:expiry");
}

#[test]
fn a_clock_set_back_an_hour_makes_nothing_hang_or_come_twice() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let Some(clock) = TestClock::new(sandbox.root()) else {
        println!("skipped: there is no compiler");
        return;
    };
    let mut serve = clock.command(&sandbox, &["serve", "--drive"]);
    let process = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let process = await_answer(&sandbox, sandbox.start(), process).expect("it ended");
    let served = Served::of(sandbox, process);
    let cookie = served.log_in();
    let mut listener = EventListener::begin(&served, &cookie);
    let spawn = |agent: &str| {
        let spawn = clock.command(&served.sandbox, &["spawn", agent, "-m", "x"]).output();
        assert!(spawn.expect("it runs").status.success());
    };

    ask_until(&served, &clock, "early", 5);
    await_expiry(&served, "early");
    ask_until(&served, &clock, "between", 60);
    let kept = ask_until(&served, &clock, "kept", 4 * HOUR);
    let form = fields(&served.page(&cookie, &format!("/holds/{kept}")));

    clock.set(-HOUR);
    assert_eq!(served.ask("GET", "/", &[("Cookie", &cookie)], "").status, 200, "still logged in");
    for number in 0..15 {
        let agent = format!("n{number}");
        spawn(&agent);
        listener.hear("agent", &[("agent", &agent), ("state", "new")]);
    }
    ask_until(&served, &clock, "later", 5);
    await_expiry(&served, "later");
    assert!(served.decisions("between").is_empty(), "its time has not come");
    let decided = served.send_form(&cookie, &kept, &with(&form, &[("action", "approve")]));
    assert_eq!(decided.status, 303, "{}", decided.body);
    served.log_in();

    // As much later as it was earlier: what was to come has come.
    clock.set(60);
    spawn("again");
    listener.hear("agent", &[("agent", "again"), ("state", "new")]);
    await_expiry(&served, "between");
    for agent in ["early", "later", "between", "kept"] {
        assert_eq!(served.decisions(agent).len(), 1, "{agent}");
    }
    assert_eq!(served.ask("GET", "/", &[("Cookie", &cookie)], "").status, 200, "still logged in");
}
