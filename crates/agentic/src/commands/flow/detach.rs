//! Runs that go on in a process of their own.
//!
//! Whoever starts a session also performs its first effects, so the new process starts it. This one
//! waits only until the session is recorded: from then on it survives everything.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agentic_replay::SessionId;
use agentic_space::Space;

use super::run::Args;
use crate::commands::Outcome;
use crate::commands::run::durable;
use crate::commands::run::pipeline::{Ready, Wish};
use crate::commands::session::answer;
use crate::context::Context;
use crate::failure::Failure;
use crate::program::Program;

/// How often it is looked whether the session is recorded.
const POLL: Duration = Duration::from_millis(5);

/// Starts a run elsewhere and says which one it is.
pub fn run(
    engine: &Context,
    here: &Context,
    (args, program): (Args, Program),
    (ready, wish): (Ready, Wish),
) -> Outcome {
    let space = engine.space()?;
    ready.refuse_nobody()?;
    let ready = ready.pinned(&space)?;
    let flow = (ready.flow.to_object()?, ready.input);
    let begin = durable::begin(engine, &space, wish.setting, flow, &ready.flow.source)?;
    let id = begin.session()?;
    let mut arguments: Vec<OsString> = vec!["-C".into(), here.directory.clone().into()];
    arguments.extend(["flow", "run", "-", "--run-id"].map(OsString::from));
    arguments.push(begin.key.into());
    let options = [
        ("--agent", Some(begin.agent.as_str().to_owned())),
        ("--as", args.identity),
        ("--sibyl-addr", args.sibyl_addr),
        ("--input", args.input),
        ("--registry", args.registry),
    ];
    for (name, value) in options {
        // Joined, so that no value can pose as an option.
        arguments.extend(value.map(|value| OsString::from(format!("{name}={value}"))));
    }
    arguments.extend(args.parallel_blocks.then(|| "--parallel-blocks".into()));
    wait_until_recorded(&space, &id, start(&arguments, &program.bytes)?)?;
    answer(engine, &space, &id)
}

fn start(arguments: &[OsString], program: &[u8]) -> Result<Child, Failure> {
    let cannot = |error: std::io::Error| Failure::io("start a process for the run", &error);
    let mut child = Command::new(std::env::current_exe().map_err(cannot)?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(program).map_err(cannot)?;
    }
    Ok(child)
}

fn wait_until_recorded(space: &Space, id: &SessionId, mut child: Child) -> Result<(), Failure> {
    loop {
        // Looked at first: a process that has ended has recorded what it ever will.
        let ended = child.try_wait().map_err(|error| Failure::io("watch the run", &error))?;
        if space.session(id).is_ok() {
            return Ok(());
        }
        if let Some(status) = ended {
            return Err(Failure::refused(
                &format!("the run ended before it was recorded: {status}"),
                "run it without `--detach` to see why",
            ));
        }
        std::thread::sleep(POLL);
    }
}
