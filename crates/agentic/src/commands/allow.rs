//! `agentic allow`

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::process::ExitCode;

use agentic_api::require_person;
use agentic_api::view::{AllowanceView, OpenedView};
use agentic_providers::configuration::allowance::{ALLOW_VARIABLE, Allowance, Allowances};
use agentic_providers::configuration::{Configuration, Examined};

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::talk;

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1024;
/// The fewest letters of a hash that stand for it.
const PREFIX_CHARS_MIN: usize = 10;

/// Let the configuration that came with the repository count
///
/// What agentic.toml and agentscript.mcp.json say of servers, keys, programs and variables does not
/// count while git tracks the file, until you have seen and allowed it. A file that changed is asked
/// about anew. Files that git does not track are your own. For machines AGENTIC_ALLOW holds hashes.
///
/// Example: agentic allow --list
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// List what was allowed, in all repositories
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Take back what was allowed: that with this hash, or all of the files that count here
    #[arg(long, value_name = "HASH", num_args = 0..=1, default_missing_value = "")]
    revoke: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: &Args) -> Outcome {
    let known = Allowances::of_user().ok_or_else(|| {
        Failure::refused("there is no place for what is allowed", "set HOME to your folder")
    })?;
    if args.list {
        return list(context, &known);
    }
    // What is done here needs no repository.
    let space = context.space_as_is().ok();
    require_person("say what counts", &context.surroundings(), space.as_ref())?;
    match &args.revoke {
        Some(hash) => revoke(context, &known, hash),
        None => allow(context, &known),
    }
}

fn list(context: &Context, known: &Allowances) -> Outcome {
    let found = known.list().map_err(|error| Failure::io("read what was allowed", &error))?;
    let views: Vec<AllowanceView> = found.iter().map(|it| view(it, "allowed", &[])).collect();
    context.format.answer(views.as_slice(), |views| views.iter().map(line).collect());
    Ok(ExitCode::SUCCESS)
}

fn revoke(context: &Context, known: &Allowances, hash: &str) -> Outcome {
    let found = known.list().map_err(|error| Failure::io("read what was allowed", &error))?;
    let here: Vec<Allowance> = match hash {
        "" => {
            let (_, examined) = Configuration::examine(&context.directory)?;
            let here: Vec<Allowance> =
                examined.into_iter().filter_map(|file| file.allowance).collect();
            let is_here = |it: &&Allowance| {
                here.iter().any(|own| own.repository == it.repository && own.file == it.file)
            };
            found.iter().filter(is_here).cloned().collect()
        }
        hash if hash.len() < PREFIX_CHARS_MIN => Vec::new(),
        hash => found.into_iter().filter(|it| it.hash.starts_with(hash)).collect(),
    };
    if here.is_empty() {
        let message = "nothing of that was allowed";
        return Err(Failure::refused(message, "`agentic allow --list` shows what was"));
    }
    for allowance in &here {
        known.remove(allowance).map_err(|error| Failure::io("take it back", &error))?;
    }
    let views: Vec<AllowanceView> = here.iter().map(|it| view(it, "revoked", &[])).collect();
    context.format.answer(views.as_slice(), |views| views.iter().map(line).collect());
    Ok(ExitCode::SUCCESS)
}

fn allow(context: &Context, known: &Allowances) -> Outcome {
    let (_, examined) = Configuration::examine(&context.directory)?;
    let mut views = Vec::new();
    let (mut declined, mut unasked) = (None, None);
    for file in &examined {
        let Some(allowance) = &file.allowance else { continue };
        let state = match file.counts() {
            true => "allowed",
            false => {
                show(file);
                match ask()? {
                    Reply::Yes => {
                        known.add(allowance).map_err(|error| Failure::io("keep it", &error))?;
                        "allowed"
                    }
                    Reply::No => {
                        declined = Some(allowance.file.clone());
                        "withheld"
                    }
                    Reply::Nobody => {
                        unasked = Some(allowance.hash.clone());
                        "withheld"
                    }
                }
            }
        };
        views.push(view(allowance, state, &file.loosenings));
    }
    context.format.answer(views.as_slice(), |views| match views {
        [] => "nothing here has to be allowed\n".to_owned(),
        views => views.iter().map(line).collect(),
    });
    match (unasked, declined) {
        (Some(hash), _) => Err(Failure::not_allowed(
            "nobody is there to be asked",
            &format!("run it on a terminal, or set {ALLOW_VARIABLE}={hash}"),
        )),
        (None, Some(file)) => Err(Failure::refused(
            &format!("`{}` was not allowed", shown(&file)),
            "what it opens does not count; the rest of it does",
        )),
        (None, None) => Ok(ExitCode::SUCCESS),
    }
}

/// Shows what a file opens, before anybody is asked.
fn show(file: &Examined) {
    talk(&format!("{} came with the repository. It", shown(&file.path.to_string_lossy())));
    for loosening in &file.loosenings {
        talk(&format!("  {} ({})", shown(&loosening.does), shown(&loosening.entry)));
    }
    talk(&format!("Its content is {}", file.hash));
}

/// What came of the question.
enum Reply {
    Yes,
    No,
    Nobody,
}

fn ask() -> Result<Reply, Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(Reply::Nobody);
    }
    talk("Let it count? [y/N]");
    let mut line = String::new();
    let read = std::io::stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut line);
    read.map_err(|error| Failure::io("read the answer", &error))?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Reply::Yes,
        _ => Reply::No,
    })
}

fn view(
    allowance: &Allowance,
    state: &str,
    opened: &[agentic_providers::configuration::loosening::Loosening],
) -> AllowanceView {
    let opened = opened.iter();
    AllowanceView {
        hash: allowance.hash.clone(),
        repository: allowance.repository.to_string_lossy().into_owned(),
        file: allowance.file.clone(),
        state: state.to_owned(),
        opens: opened
            .map(|it| OpenedView { entry: it.entry.clone(), does: it.does.clone() })
            .collect(),
    }
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
