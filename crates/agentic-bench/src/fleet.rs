//! Worker processes that begin at the same moment.
//!
//! Each starts, opens the space and says that it is ready. When all are, a pipe that they wait on is
//! closed, and the clock runs from then until the last says that it is over: what is measured is
//! the work, not how long many processes take to start. What each prints meanwhile is read at once, so
//! that none has to wait.

use std::io::{BufRead as _, BufReader, Lines, PipeWriter, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant as Moment;

use agentic_testkit::Error;

/// The line of a worker that has started.
const READY: &str = "ready";
/// The line of a worker whose work is done.
const OVER: &str = "over";

/// Processes that have started and wait.
pub struct Fleet {
    workers: Vec<FleetWorker>,
    gate: PipeWriter,
}

struct FleetWorker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// What the processes did.
#[derive(Debug, Default)]
pub struct FleetReport {
    /// From the common beginning until the last was over.
    pub seconds: f64,
    /// What they printed; a line for each that did not end well, too.
    pub lines: Vec<String>,
}

impl Fleet {
    /// Starts processes and waits until all are ready.
    ///
    /// # Errors
    /// Fails when one cannot be started.
    pub fn start(commands: impl IntoIterator<Item = Command>) -> Result<Fleet, Error> {
        let (wait, gate) = std::io::pipe().map_err(Error::file("make a pipe"))?;
        let mut workers = Vec::new();
        for mut command in commands {
            let stdin = wait.try_clone().map_err(Error::file("share a pipe"))?;
            command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::inherit());
            let mut child = command.spawn().map_err(Error::file("start a worker"))?;
            let stdout = child.stdout.take().expect("the pipe was asked for");
            workers.push(FleetWorker { child, lines: BufReader::new(stdout).lines() });
        }
        for worker in &mut workers {
            // One that ends before is found when it is waited for.
            let _is_ready = worker.lines.by_ref().map_while(Result::ok).find(|line| line == READY);
        }
        Ok(Fleet { workers, gate })
    }

    /// Lets all begin, and waits for the last.
    ///
    /// # Errors
    /// Fails when one cannot be waited for.
    pub fn work(self) -> Result<FleetReport, Error> {
        let Fleet { workers, gate } = self;
        let started = Moment::now();
        drop(gate);
        let ends: Vec<_> = std::thread::scope(|scope| {
            let listen = |worker| scope.spawn(move || hear(worker, started));
            let threads: Vec<_> = workers.into_iter().map(listen).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("listening does not panic"))
                .collect()
        });
        let mut voyage = FleetReport::default();
        for end in ends {
            let end = end?;
            voyage.seconds = voyage.seconds.max(end.seconds);
            voyage.lines.extend(end.lines);
        }
        Ok(voyage)
    }
}

/// Reads what a worker prints to its end.
fn hear(mut worker: FleetWorker, started: Moment) -> Result<FleetReport, Error> {
    let mut voyage = FleetReport::default();
    for line in worker.lines.by_ref().map_while(Result::ok) {
        match line == OVER {
            true => voyage.seconds = started.elapsed().as_secs_f64(),
            false => voyage.lines.push(line),
        }
    }
    let status = worker.child.wait().map_err(Error::file("wait for a worker"))?;
    if !status.success() || voyage.seconds == 0.0 {
        voyage.lines.push(format!("error a worker ended with {status}"));
    }
    Ok(voyage)
}

/// Says that this worker is ready, and waits for the common beginning.
pub fn wait_for_start() {
    println!("{READY}");
    let _flushed_or_nobody_listens = std::io::stdout().flush();
    // The end of the pipe is the sign; nothing is ever written to it.
    let _the_end = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Says that this worker's work is done.
pub fn say_over() {
    println!("{OVER}");
    let _flushed_or_nobody_listens = std::io::stdout().flush();
}
