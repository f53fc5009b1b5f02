//! `agentic blame`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::BlameFile;
use agentic_api::view::BlameView;

use super::VerbOutcome;
use crate::context::Context;

/// How many digits of a commit are shown.
const COMMIT_DIGITS: usize = 10;

/// Tell who wrote each line of a file: which agent, in which conversation
///
/// Git says which commit a line comes from; notes, recorded rewrites, equal patches and equal files
/// lead from it to a trace. What nothing proves is `unknown`, whatever it looks like.
///
/// Example: agentic blame src/auth.rs -L 10,20
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct BlameArgs {
    /// The file
    file: String,
    /// Only these lines, as `git blame -L` takes them
    #[arg(short = 'L', long = "lines", value_name = "FIRST,LAST", allow_hyphen_values = true)]
    lines: Option<String>,
    /// The file as a commit has it; else as it lies there
    #[arg(long, value_name = "REVISION")]
    rev: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: BlameArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = BlameFile { file: args.file, lines: args.lines, revision: args.rev };
    let found = verb.run(&context.caller(&space))?.answer;
    context.format.answer(found.as_slice(), |found| found.iter().map(line).collect());
    Ok(ExitCode::SUCCESS)
}

fn line(view: &BlameView) -> String {
    let [first, last] = view.lines;
    let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let commit = match view.commit.as_deref() {
        Some(commit) => commit.get(..COMMIT_DIGITS).unwrap_or(commit),
        None => "not-committed",
    };
    let how = view.how.iter().filter(|how| *how != "exact");
    let agents = view.agent.iter().chain(&view.agents);
    let conversation = match (&view.source, &view.conversation) {
        (Some(source), Some(conversation)) => Some(format!("{source}:{conversation}")),
        (None, _) | (_, None) => None,
    };
    let words = agents.chain(how).chain(&conversation).chain(&view.model);
    let words: String = words.map(|word| format!(" {word}")).collect();
    format!("{lines}\t{commit} {}{words}\n", view.by)
}
