//! `agentic allow`

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::process::ExitCode;

use agentic_api::verb::{
    AllowConfiguration, ExamineConfiguration, ListAllowances, RevokeAllowance, may_say_what_counts,
};
use agentic_api::view::AllowanceView;
use agentic_api::{LocalVerb as _, Surroundings};
use agentic_providers::configuration::allowance::ALLOW_VARIABLE;

use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Let the configuration that came with the repository count
///
/// What agentic.toml and agentscript.mcp.json say of servers, keys, programs and variables does not
/// count while git tracks the file, until you have seen and allowed it. A file that changed is asked
/// about anew. Files that git does not track are your own. For machines AGENTIC_ALLOW holds hashes.
///
/// Example: agentic allow --list
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AllowArgs {
    /// List what was allowed, in all repositories
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Take back what was allowed: that with this hash, or all of the files that count here
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "")]
    revoke: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: AllowArgs) -> VerbOutcome {
    let here = context.surroundings();
    let views = match (args.list, args.revoke) {
        (true, _) => ListAllowances {}.run_here(&here)?.answer,
        (false, None) => return allow(context, &here),
        (false, Some(hash)) => {
            let hash = Some(hash).filter(|hash| !hash.is_empty());
            RevokeAllowance { hash }.run_here(&here)?.answer
        }
    };
    context.format.answer(views.as_slice(), |views| views.iter().map(line).collect());
    Ok(ExitCode::SUCCESS)
}

/// Asks about each file that does not count yet, showing what it opens.
fn allow(context: &Context, here: &Surroundings) -> VerbOutcome {
    // Before anybody is asked.
    may_say_what_counts(here)?;
    let mut views = ExamineConfiguration {}.run_here(here)?.answer;
    let (mut declined, mut unasked) = (None, None);
    for view in views.iter_mut().filter(|view| view.state == "withheld") {
        show(view);
        match ask()? {
            AllowReply::Yes => {
                let (file, hash) = (view.file.clone(), view.hash.clone());
                *view = AllowConfiguration { file, hash }.run_here(here)?.answer;
            }
            AllowReply::No => declined = Some(view.file.clone()),
            AllowReply::Nobody => unasked = Some(view.hash.clone()),
        }
    }
    context.format.answer(views.as_slice(), |views| match views {
        [] => "nothing here has to be allowed\n".to_owned(),
        views => views.iter().map(line).collect(),
    });
    match (unasked, declined) {
        (Some(hash), _) => Err(CommandFailure::not_allowed(
            "nobody is there to be asked",
            &format!("run it on a terminal, or set {ALLOW_VARIABLE}={hash}"),
        )),
        (None, Some(file)) => Err(CommandFailure::refused(
            &format!("`{}` was not allowed", shown(&file)),
            "what it opens does not count; the rest of it does",
        )),
        (None, None) => Ok(ExitCode::SUCCESS),
    }
}

/// Shows what a file opens, before anybody is asked.
fn show(view: &AllowanceView) {
    talk(&format!("{} came with the repository. It", shown(&view.path)));
    for opened in &view.opens {
        talk(&format!("  {} ({})", shown(&opened.does), shown(&opened.entry)));
    }
    talk(&format!("Its content is {}", view.hash));
}

/// What came of the question.
enum AllowReply {
    Yes,
    No,
    Nobody,
}

fn ask() -> Result<AllowReply, CommandFailure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(AllowReply::Nobody);
    }
    talk("Let it count? [y/N]");
    let mut line = String::new();
    let read = std::io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line);
    read.map_err(|error| CommandFailure::io("read the answer", &error))?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => AllowReply::Yes,
        _ => AllowReply::No,
    })
}

fn line(view: &AllowanceView) -> String {
    let AllowanceView { hash, repository, file, state, .. } = view;
    format!("{hash} {state} {} in {}\n", shown(file), shown(repository))
}

/// Shows text of others: nothing in it may move the cursor or hide what stands there.
fn shown(text: &str) -> String {
    let plain = |letter: char| {
        let is_hidden = letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if is_hidden { letter.escape_unicode().collect() } else { letter.to_string() }
    };
    text.chars().map(plain).collect::<Vec<String>>().concat()
}
