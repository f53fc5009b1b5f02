//! What one process under load does: the same write again and again, a line for each.

use std::path::Path;
use std::sync::Barrier;
use std::time::Instant as Moment;

use agentic_space::commit::{CommitDraft, Edit, Emptiness, TraceBinding, TreeSource};
use agentic_space::model::{AgentName, Briefing, Kind, Map};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{Options, Space};

use crate::fleet::{say_over, wait_for_start};
use crate::load::{Load, LoadWork};

/// How many commits a batch has.
const BATCH: usize = 100;
/// How many trace entries a batch has.
const ENTRY_BATCH: usize = 1000;

/// Does the part of the worker with this number, and prints a line for each write as soon as it is
/// acknowledged: whoever kills it knows what must be there.
pub fn work(load: &Load, number: usize) {
    let (here, ready) = (Path::new("."), Barrier::new(load.n_threads + 1));
    let options = Options { durability: Some(load.durability), ..Options::default() };
    let mut cpu_before = 0.0;
    let space = Space::open(here, options);
    std::thread::scope(|scope| {
        let start = |thread| {
            let (space, ready, number) = (&space, &ready, number * load.n_threads + thread);
            scope.spawn(move || {
                ready.wait();
                ready.wait();
                match space {
                    Ok(space) => work_alone(space, load, number),
                    Err(error) => println!("error {error}"),
                }
            })
        };
        let _joined_by_the_scope: Vec<_> = (0..load.n_threads).map(start).collect();
        ready.wait();
        wait_for_start();
        cpu_before = cpu_seconds();
        ready.wait();
    });
    say_over();
    println!("cpu {}", cpu_seconds() - cpu_before);
}

/// Does the work of the first worker in the current folder, once for each line, and prints after each how
/// many microseconds it took.
///
/// # Errors
/// Fails when the space cannot be opened, and as the work does.
pub fn work_each(
    load: &Load,
    lines: impl Iterator<Item = std::io::Result<String>>,
) -> agentic_space::Result<()> {
    let options = Options { durability: Some(load.durability), ..Options::default() };
    let space = Space::open(Path::new("."), options)?;
    let agent = agent_of(load.work, 0);
    for (round, _) in lines.map_while(Result::ok).enumerate() {
        let started = Moment::now();
        one(&space, load.work, &agent, 0, round)?;
        println!("{}", started.elapsed().as_micros());
    }
    Ok(())
}

fn work_alone(space: &Space, load: &Load, number: usize) {
    let agent = agent_of(load.work, number);
    for round in 0..load.n_rounds {
        let started = Moment::now();
        let outcome = one(space, load.work, &agent, number, round);
        let micros = started.elapsed().as_micros();
        match outcome {
            Ok(all) => {
                let lines = all.iter().map(|what| format!("done {agent} {what} {micros}\n"));
                print!("{}", lines.collect::<String>());
            }
            Err(error) => println!("error {error}"),
        }
    }
}

/// Reads the processor time that this process has taken.
fn cpu_seconds() -> f64 {
    /// How many ticks the kernel counts a second.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS
}

fn one(
    space: &Space,
    work: LoadWork,
    agent: &AgentName,
    number: usize,
    round: usize,
) -> agentic_space::Result<Vec<String>> {
    let kind = Kind::parse("log").expect("valid");
    let text = format!("token-{number}-{round}-end");
    match work {
        LoadWork::ReadersAmongWriters if number % 2 == 1 => {
            let read: Result<Vec<_>, _> = space.agents()?.collect();
            read.map_err(|damaged| damaged.why)?;
            space.pending_trace(agent)?;
            Ok(Vec::new())
        }
        LoadWork::Spawns => {
            let name = parse(&format!("s-{number}-{round}"));
            let briefing = Briefing::of_text(&text).to_object()?;
            agentic_space::spawn::spawn(
                space,
                &name,
                &briefing,
                &SpawnOrigin::Agent(agent.clone()),
            )?;
            Ok(vec![name.to_string()])
        }
        LoadWork::Entries => {
            space.add_trace(agent, &kind, text.as_bytes())?;
            Ok(vec![text])
        }
        LoadWork::EntryBatches => {
            let texts: Vec<String> =
                (0..ENTRY_BATCH).map(|n| format!("token-{number}-{round}-{n}-end")).collect();
            let entries: Vec<(&Kind, &[u8])> =
                texts.iter().map(|text| (&kind, text.as_bytes())).collect();
            space.add_traces(agent, &entries)?;
            Ok(texts)
        }
        LoadWork::Batches => {
            let text = |n| format!("token-{number}-{round}-{n}-end");
            let draft =
                |n: usize| small_draft(&place(number, round + n), &text(n), TraceBinding::Nothing);
            let drafts: Vec<CommitDraft> = (0..BATCH).map(draft).collect();
            let made = agentic_space::commit::commit_all(space, agent, &drafts)?;
            made.into_iter().map(|made| Ok(made?.commit.to_string())).collect()
        }
        LoadWork::Commits | LoadWork::OneBranchCommits => {
            let draft = small_draft(&place(number, round), &text, TraceBinding::Nothing);
            let made = agentic_space::commit::commit(space, agent, &draft)?;
            Ok(vec![made.commit.to_string()])
        }
        LoadWork::OwnBranches | LoadWork::OneBranch | LoadWork::ReadersAmongWriters => {
            space.add_trace(agent, &kind, text.as_bytes())?;
            let draft = small_draft(&place(number, round), &text, TraceBinding::WithTrace);
            let made = agentic_space::commit::commit(space, agent, &draft)?;
            Ok(vec![made.commit.to_string()])
        }
    }
}

/// Chooses the file that a commit changes.
fn place(number: usize, round: usize) -> String {
    format!("dir{}/w{number}", round % 10)
}

/// Makes a draft that writes one small file and says so.
pub fn small_draft(path: &str, text: &str, capture: TraceBinding) -> CommitDraft {
    let write = Edit::Write {
        content: format!("{text}\n").into_bytes(),
        mode: agentic_space::commit::FileMode::Plain,
    };
    CommitDraft {
        behaviour: None,
        message: text.to_owned(),
        kind: None,
        fields: Map::new(),
        source: TreeSource::Edits([(path.to_owned(), write)].into()),
        capture,
        expect: None,
        emptiness: Emptiness::Refused,
        asker: None,
    }
}

fn agent_of(work: LoadWork, number: usize) -> AgentName {
    match work {
        LoadWork::OneBranch | LoadWork::OneBranchCommits | LoadWork::Spawns => parse("w0"),
        LoadWork::ReadersAmongWriters => parse(&format!("w{}", number / 2 * 2)),
        LoadWork::OwnBranches
        | LoadWork::Entries
        | LoadWork::EntryBatches
        | LoadWork::Commits
        | LoadWork::Batches => parse(&format!("w{number}")),
    }
}

/// Parses a name that is made here.
pub(crate) fn parse(name: &str) -> AgentName {
    AgentName::parse(name).expect("names made here are valid")
}
