//! What one process under load does: the same write again and again, a line for each.

use std::path::Path;
use std::time::Instant as Moment;

use agentic_space::commit::{Capture, Draft, Edit, Emptiness, Source};
use agentic_space::model::{AgentName, Briefing, Kind, Map};
use agentic_space::spawn::Origin;
use agentic_space::{Durability, Options, Space};

use crate::load::Work;

/// How many commits a batch has.
const BATCH: usize = 100;
/// How many trace entries a batch has.
const ENTRY_BATCH: usize = 1000;

/// What one worker process does.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// What.
    pub work: Work,
    /// The number of the process.
    pub number: usize,
    /// How often each thread does it.
    pub n_rounds: usize,
    /// How durably.
    pub durability: Durability,
    /// How many threads do it.
    pub n_threads: usize,
}

/// Does one worker's part and prints a line for each write.
pub fn work(part: Part) {
    std::thread::scope(|scope| {
        for thread in 0..part.n_threads {
            let number = part.number * part.n_threads + thread;
            scope.spawn(move || work_alone(part, number));
        }
    });
    println!("cpu {}", cpu_seconds());
}

fn work_alone(part: Part, number: usize) {
    let options = Options { durability: Some(part.durability), ..Options::default() };
    let space = match Space::open(Path::new("."), options) {
        Ok(space) => space,
        Err(error) => return println!("error {error}"),
    };
    let agent = agent_of(part.work, number);
    for round in 0..part.n_rounds {
        let started = Moment::now();
        let outcome = one(&space, part.work, &agent, number, round);
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
    work: Work,
    agent: &AgentName,
    number: usize,
    round: usize,
) -> agentic_space::Result<Vec<String>> {
    let kind = Kind::parse("log").expect("valid");
    let text = format!("token-{number}-{round}-end");
    match work {
        Work::ReadersAmongWriters if number % 2 == 1 => {
            space.agents()?.collect::<agentic_space::Result<Vec<_>>>()?;
            space.pending_trace(agent)?;
            Ok(Vec::new())
        }
        Work::Spawns => {
            let name = parse(&format!("s-{number}-{round}"));
            let briefing = Briefing::of_text(&text).to_object()?;
            agentic_space::spawn::spawn(space, &name, &briefing, &Origin::Agent(agent.clone()))?;
            Ok(vec![name.to_string()])
        }
        Work::Entries => {
            space.add_trace(agent, &kind, text.as_bytes())?;
            Ok(vec![text])
        }
        Work::EntryBatches => {
            let texts: Vec<String> =
                (0..ENTRY_BATCH).map(|n| format!("token-{number}-{round}-{n}-end")).collect();
            let entries: Vec<(&Kind, &[u8])> =
                texts.iter().map(|text| (&kind, text.as_bytes())).collect();
            space.add_traces(agent, &entries)?;
            Ok(texts)
        }
        Work::Batches => {
            let text = |n| format!("token-{number}-{round}-{n}-end");
            let draft =
                |n: usize| small_draft(&place(number, round + n), &text(n), Capture::Nothing);
            let drafts: Vec<Draft> = (0..BATCH).map(draft).collect();
            let made = agentic_space::batch::commit_all(space, agent, &drafts)?;
            made.into_iter().map(|made| Ok(made?.commit.to_string())).collect()
        }
        Work::Commits => {
            let draft = small_draft(&place(number, round), &text, Capture::Nothing);
            let made = agentic_space::commit::commit(space, agent, &draft)?;
            Ok(vec![made.commit.to_string()])
        }
        Work::OwnBranches | Work::OneBranch | Work::ReadersAmongWriters => {
            space.add_trace(agent, &kind, text.as_bytes())?;
            let draft = small_draft(&place(number, round), &text, Capture::WithTrace);
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
pub fn small_draft(path: &str, text: &str, capture: Capture) -> Draft {
    let write = Edit::Write {
        content: format!("{text}\n").into_bytes(),
        mode: agentic_space::commit::FileMode::Plain,
    };
    Draft {
        message: text.to_owned(),
        kind: None,
        fields: Map::new(),
        source: Source::Edits([(path.to_owned(), write)].into()),
        capture,
        expect: None,
        emptiness: Emptiness::Refused,
        asker: None,
    }
}

fn agent_of(work: Work, number: usize) -> AgentName {
    match work {
        Work::OneBranch | Work::Spawns => parse("w0"),
        Work::ReadersAmongWriters => parse(&format!("w{}", number / 2 * 2)),
        Work::OwnBranches | Work::Entries | Work::EntryBatches | Work::Commits | Work::Batches => {
            parse(&format!("w{number}"))
        }
    }
}

/// Parses a name that is made here.
pub(crate) fn parse(name: &str) -> AgentName {
    AgentName::parse(name).expect("names made here are valid")
}
