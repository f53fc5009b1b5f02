//! Programs that a session starts: `exec`.

use std::path::Path as FolderPath;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Moment};

use agentic_model::{Map, Value};
use agentic_providers::host::CancelFlag;
use agentic_providers::process::{
    Launch, LaunchEnvironment, LaunchInput, Leftover, RunningProgram,
};
use agentic_replay::{CancelExtent, Path, Performance, ProgramFailure, Request, RequestAnswer};
use rustix::process::Signal;

use super::backlog::wanted;
use super::outcome::{EffectOutcome, ExecOutcome};

/// How long a program may run unless the request says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The most that is kept of a program's output, in bytes; the rest is read and dropped.
const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// How much of it is read at once, in bytes.
const PIECE_BYTES: usize = 16 << 10;
/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(2);
/// How long a program that was told to stop is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// How long a probe may run.
const PROBE_TIME_LIMIT: Duration = Duration::from_secs(60);
/// The field of a payload that names the probe.
pub const PROBE: &str = "probe";

/// The status by which a program says that it failed for the time being: `EX_TEMPFAIL`.
const STATUS_TRY_AGAIN: i32 = 75;

/// A program under way.
pub struct Process {
    stop: CancelFlag,
    thread: JoinHandle<()>,
}

impl Process {
    /// Starts the program of an `exec` request on a thread of its own, under a flag; its answer is
    /// sent.
    pub fn start(
        performance: &Performance,
        folder: &FolderPath,
        flag: CancelFlag,
        arrivals: mpsc::Sender<(Path, EffectOutcome)>,
    ) -> Process {
        let request = Arc::clone(&performance.request);
        let folder = folder.to_owned();
        Process::begin(flag, move |stop| {
            let limit = time_limit(&request);
            let ended = match probe_of(&request.payload) {
                Some(Err(message)) => failed("bad-request", message).into(),
                Some(Ok(_)) | None => run(&request.payload, &folder, Bounds { limit, stop }),
            };
            // A driver that has gone away reads the doubt from its records.
            let _ = arrivals.send((request.path.clone(), EffectOutcome::Exec(ended)));
        })
    }

    /// Starts the program that knows whether the effect of a request happened.
    pub fn probe(
        performance: &Performance,
        probe: Value,
        folder: &FolderPath,
        flag: CancelFlag,
        arrivals: mpsc::Sender<(Path, EffectOutcome)>,
    ) -> Process {
        let path = performance.request.path.clone();
        let folder = folder.to_owned();
        Process::begin(flag, move |stop| {
            let ended = run(&probe, &folder, Bounds { limit: PROBE_TIME_LIMIT, stop });
            let _ = arrivals.send((path, EffectOutcome::Probe(ended)));
        })
    }

    fn begin(stop: CancelFlag, work: impl FnOnce(&CancelFlag) + Send + 'static) -> Process {
        let flag = stop.clone();
        Process { stop, thread: std::thread::spawn(move || work(&flag)) }
    }

    /// Stops the program, waits for its end and says what is known about it then.
    pub fn stop(&self) -> CancelExtent {
        self.stop.set();
        let deadline = Moment::now() + GRACE;
        while !self.thread.is_finished() && Moment::now() < deadline {
            std::thread::sleep(POLL);
        }
        if self.thread.is_finished() { CancelExtent::Stopped } else { CancelExtent::Unknown }
    }
}

/// What ends a program from outside.
struct Bounds<'b> {
    limit: Duration,
    stop: &'b CancelFlag,
}

/// Says how long the program of an `exec` may run.
fn time_limit(request: &Request) -> Duration {
    let own = request.payload.get("timeout_ms").and_then(Value::as_int);
    let own = own.and_then(|millis| u64::try_from(millis).ok());
    request.timeout_ms.or(own).map_or(TIME_LIMIT, Duration::from_millis)
}

fn run(payload: &Value, folder: &FolderPath, bounds: Bounds<'_>) -> ExecOutcome {
    let Some(argv) = command_of(payload) else {
        let needs = "`exec` needs `argv`, a list of texts, or `command`, a text";
        return failed("bad-request", needs).into();
    };
    let folder = payload
        .get("cwd")
        .and_then(Value::as_text)
        .map_or(folder.to_owned(), |cwd| folder.join(cwd));
    let stdin = payload.get("stdin").and_then(Value::as_text).unwrap_or_default();
    let launched = Launch {
        argv: &argv,
        folder: &folder,
        input: LaunchInput::Whole(stdin.as_bytes()),
        environment: LaunchEnvironment::Inherited,
        variables: &[],
        limit: bounds.limit,
        charge: bounds.stop.charge(),
    };
    let mut program = match launched.start() {
        Ok(program) => program,
        Err(error) => return not_started(error),
    };
    let deadline = Moment::now().checked_add(bounds.limit);
    let is_late = || deadline.is_some_and(|deadline| Moment::now() >= deadline);
    let stdout = Output::collect(program.take_stdout());
    let stderr = Output::collect(program.take_stderr());
    let status = match wait(&program, &is_late, bounds.stop) {
        ProcessWait::Ended(status) => status,
        ProcessWait::TimedOut => return RequestAnswer::TimedOut.into(),
        ProcessWait::Stopped => return RequestAnswer::Cancelled(CancelExtent::Stopped).into(),
        ProcessWait::Lost(error) => return failed("exec", &error.to_string()).into(),
    };
    let mut leftover = Leftover::Left;
    // What the program left running may hold its output open.
    while !(stdout.is_finished() && stderr.is_finished()) {
        if bounds.stop.is_set() || is_late() {
            leftover = Leftover::Ended;
            break;
        }
        std::thread::sleep(POLL);
    }
    program.finish(leftover);
    let status = status.code().unwrap_or(-1);
    let answer = RequestAnswer::Ok(Value::Map(Map::from([
        ("status".to_owned(), Value::Int(i64::from(status))),
        ("stdout".to_owned(), stdout.text()),
        ("stderr".to_owned(), stderr.text()),
    ])));
    let may_try_again = status == STATUS_TRY_AGAIN && wanted(payload).is_some();
    let fault = may_try_again.then(|| format!("the program ended with status {status}"));
    ExecOutcome { answer, fault, no_room: None }
}

/// Tells what came of a program that could not be started. Some reasons pass by themselves.
fn not_started(error: std::io::Error) -> ExecOutcome {
    use std::io::ErrorKind::{ExecutableFileBusy, OutOfMemory, ResourceBusy, WouldBlock};
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let message = format!("cannot start the program: {error}");
    let passes =
        matches!(error.kind(), ExecutableFileBusy | OutOfMemory | ResourceBusy | WouldBlock);
    let is_full = matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull);
    ExecOutcome {
        answer: failed("exec", &message),
        fault: passes.then_some(message),
        no_room: is_full.then_some(error),
    }
}

/// Says whether a payload names a program that can be started.
fn is_program(payload: &Value) -> bool {
    command_of(payload).is_some()
}

/// Reads the probe that a payload names, as the payload of an `exec` that runs in the same folder.
/// Nothing if it names none; an error if what it names is no program.
pub fn probe_of(payload: &Value) -> Option<std::result::Result<Value, &'static str>> {
    let mut probe = match payload.get(PROBE)? {
        line @ Value::Text(_) => Map::from([("command".to_owned(), line.clone())]),
        words @ Value::List(_) => Map::from([("argv".to_owned(), words.clone())]),
        Value::Map(probe) => probe.clone(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Link(_) => Map::new(),
    };
    if let Some(folder) = payload.get("cwd") {
        probe.entry("cwd".to_owned()).or_insert_with(|| folder.clone());
    }
    let probe = Value::Map(probe);
    Some(is_program(&probe).then_some(probe).ok_or("`probe` is no program"))
}

fn command_of(payload: &Value) -> Option<Vec<String>> {
    if let Some(line) = payload.get("command").and_then(Value::as_text) {
        return Some(["sh", "-c", line].map(str::to_owned).to_vec());
    }
    let argv = payload.get("argv")?.as_list()?;
    let words: Vec<String> =
        argv.iter().map(|word| word.as_text().map(str::to_owned)).collect::<Option<_>>()?;
    (!words.is_empty()).then_some(words)
}

enum ProcessWait {
    Ended(std::process::ExitStatus),
    TimedOut,
    Stopped,
    Lost(std::io::Error),
}

/// Waits for the end of a program. One that takes too long, or is told to stop, is killed with
/// everything that it started.
fn wait(program: &RunningProgram, is_late: &dyn Fn() -> bool, stop: &CancelFlag) -> ProcessWait {
    loop {
        match program.ended() {
            Ok(Some(status)) => return ProcessWait::Ended(status),
            Ok(None) => {}
            Err(error) => return ProcessWait::Lost(error),
        }
        let stopped = stop.is_set();
        if stopped || is_late() {
            program.signal(Signal::KILL);
            return if stopped { ProcessWait::Stopped } else { ProcessWait::TimedOut };
        }
        std::thread::sleep(POLL);
    }
}

/// The output of a program, as far as it was read.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    /// Reads a stream to its end on a thread of its own, and drops what is more than is kept.
    fn collect(stream: Option<impl std::io::Read + Send + 'static>) -> Output {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&kept);
        let reader = std::thread::spawn(move || {
            let Some(mut stream) = stream else { return };
            let mut piece = vec![0; PIECE_BYTES];
            while let Ok(n @ 1..) = stream.read(&mut piece) {
                let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
                let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len());
                kept.extend_from_slice(&piece[..n.min(room)]);
            }
        });
        Output { kept, reader }
    }

    fn is_finished(&self) -> bool {
        self.reader.is_finished()
    }

    /// Returns what was read so far. What the program left running may write on for ever.
    fn text(&self) -> Value {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Value::Text(String::from_utf8_lossy(&kept).into_owned())
    }
}

fn failed(code: &str, message: &str) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new(code, message))
}

#[cfg(test)]
mod tests;
