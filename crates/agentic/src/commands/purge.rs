//! `agentic purge`

use std::io::{BufRead as _, IsTerminal as _, Read as _, StdinLock};
use std::process::ExitCode;

use agentic_api::verb::{
    IgnoreTombstone, ListTombstones, Purge, PurgeChoice, PurgeVerify, VerbCompletion,
};
use agentic_api::view::{PurgeHitView, PurgeProofView, PurgeView, TombstoneView};
use agentic_api::{Refusal, Verb as _};
use agentic_capture::HookEnvironment;
use agentic_capture::purge::{
    BranchFate, TombstoneScope, UnendedSessions, UnreachableObjects, VendorTranscripts,
};
use clap::{ArgGroup, Subcommand};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{talk, warn_of};

/// The longest value that is read, in bytes.
const VALUE_BYTES_MAX: u64 = 1 << 20;

/// Take a value out of everything that this repository keeps
///
/// The value comes from standard input, never as an argument. Traces, notes with their history,
/// pending entries and archives are made again without it; tombstones tell other clones. Without
/// --apply the plan is shown. What cannot be reached is named, and the exit code is 1 then: branches of
/// agents are made again only with --branches, others never. A session that holds it lacks it from
/// then on and can only be looked at; one that is not over is refused without --cancel. Revoke the
/// secret first.
///
/// Example: agentic purge --value --apply -m "a key in a log" < secret.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
#[command(group = ArgGroup::new("aim").args(["value", "rule", "conversation", "agent", "cid", "follow"]))]
pub struct PurgeArgs {
    #[command(subcommand)]
    verb: Option<PurgeSubverb>,
    /// A value, from standard input
    #[arg(long)]
    value: bool,
    /// What a rule of redaction finds today
    #[arg(long)]
    rule: Option<String>,
    /// All entries of a conversation
    #[arg(long, value_name = "SOURCE:ID")]
    conversation: Option<String>,
    /// Entries of an agent's traces, with --before
    #[arg(long, requires = "before")]
    agent: Option<String>,
    /// Entries older than this day
    #[arg(long, value_name = "DATE", requires = "agent")]
    before: Option<String>,
    /// All that one trace says
    #[arg(long)]
    cid: Option<String>,
    /// What a tombstone from elsewhere names
    #[arg(long, value_name = "TOMBSTONE")]
    follow: Option<String>,
    /// Do it
    #[arg(long)]
    apply: bool,
    /// Why, for the tombstones
    #[arg(short = 'm', long = "message", value_name = "WHY")]
    message: Option<String>,
    /// Keep the tombstones in this space: an id can confirm a guess
    #[arg(long)]
    private: bool,
    /// Make branches of agents again, too
    #[arg(long)]
    branches: bool,
    /// Remove objects that nothing reaches and that hold the value, too
    #[arg(long)]
    unreachable: bool,
    /// Stop sessions that hold it and are not over
    #[arg(long)]
    cancel: bool,
    /// Take it out of the transcripts of coding agents, too
    #[arg(long)]
    sources: bool,
}

/// Prove a purge, and decide on those of others
#[derive(Debug, Subcommand)]
pub enum PurgeSubverb {
    /// Read every object and every file, and tell where the value is
    ///
    /// The value comes from standard input. What was read is counted as git counts; the exit code is 1
    /// where something was found, and 3 where others write all the time.
    ///
    /// Example: agentic purge verify --json < secret.txt
    #[command(verbatim_doc_comment)]
    Verify,
    /// List the tombstones that came from elsewhere and wait for a decision
    ///
    /// Until then push refuses the agents that have what they name. --follow of purge takes one over.
    ///
    /// Example: agentic purge tombstones
    #[command(verbatim_doc_comment)]
    Tombstones,
    /// Set a tombstone from elsewhere aside
    ///
    /// What it names stays here, and can be pushed again.
    ///
    /// Example: agentic purge ignore bafyr4i…
    #[command(verbatim_doc_comment)]
    Ignore {
        /// Its id
        tombstone: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, args: PurgeArgs) -> VerbOutcome {
    match args.verb {
        Some(PurgeSubverb::Verify) => verify(context),
        Some(PurgeSubverb::Tombstones) => {
            let space = context.space()?;
            let found = ListTombstones.run(&context.caller(&space))?.answer;
            context.format.answer(found.as_slice(), tombstone_lines);
            Ok(ExitCode::SUCCESS)
        }
        Some(PurgeSubverb::Ignore { tombstone }) => {
            let space = context.space()?;
            let found = IgnoreTombstone { tombstone }.run(&context.caller(&space))?.answer;
            context.format.answer(found.as_slice(), tombstone_lines);
            Ok(ExitCode::SUCCESS)
        }
        None => purge(context, args),
    }
}

fn purge(context: &Context, args: PurgeArgs) -> VerbOutcome {
    let (apply, reason) = (args.apply, args.message.clone());
    let scope = match args.private {
        true => TombstoneScope::ThisSpace,
        false => TombstoneScope::Everybody,
    };
    let branches = match args.branches {
        true => BranchFate::MadeAgain,
        false => BranchFate::Named,
    };
    let unreachable = match args.unreachable {
        true => UnreachableObjects::Forgotten,
        false => UnreachableObjects::Named,
    };
    let sessions = match args.cancel {
        true => UnendedSessions::Cancelled,
        false => UnendedSessions::Refused,
    };
    let sources = match args.sources {
        true => VendorTranscripts::Edited,
        false => VendorTranscripts::Named,
    };
    let choice = choice(args)?;
    let space = context.space()?;
    let environment = HookEnvironment::of_process();
    let verb = Purge {
        choice,
        apply,
        reason,
        scope,
        branches,
        unreachable,
        sessions,
        sources,
        environment,
    };
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, text);
    finished(reply.completion)
}

fn verify(context: &Context) -> VerbOutcome {
    let space = context.space()?;
    let verb = PurgeVerify { value: read_value()? };
    let reply = verb.run(&context.caller(&space))?;
    context.format.answer(&reply.answer, proof_text);
    finished(reply.completion)
}

fn finished(completion: VerbCompletion) -> VerbOutcome {
    match completion.exit_code() {
        0 => Ok(ExitCode::SUCCESS),
        _ => ended(completion),
    }
}

fn choice(args: PurgeArgs) -> Result<PurgeChoice, CommandFailure> {
    let chosen = [
        args.rule.map(PurgeChoice::Rule),
        args.conversation.map(PurgeChoice::Conversation),
        args.agent.zip(args.before).map(|(agent, before)| PurgeChoice::Agent { agent, before }),
        args.cid.map(PurgeChoice::Object),
        args.follow.map(PurgeChoice::Tombstone),
    ];
    match chosen.into_iter().flatten().next() {
        Some(choice) => Ok(choice),
        None if args.value => Ok(PurgeChoice::Value(read_value()?)),
        None => Err(Refusal::usage(
            "nothing says what is to go",
            "name one of --value, --rule, --conversation, --agent with --before, --cid and --follow",
        )
        .into()),
    }
}

/// Reads the value; the end of its last line is none of it.
fn read_value() -> Result<Vec<u8>, CommandFailure> {
    let mut input = std::io::stdin().lock();
    if input.is_terminal() {
        return read_hidden(&mut input);
    }
    let mut value = Vec::new();
    let read = input.by_ref().take(VALUE_BYTES_MAX).read_to_end(&mut value);
    read.map_err(|error| CommandFailure::io("read the value", &error))?;
    let end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| value.ends_with(end));
    value.truncate(value.len() - end.map_or(0, <[u8]>::len));
    Ok(value)
}

/// Asks for the value at a terminal that shows nothing of it.
fn read_hidden(input: &mut StdinLock<'_>) -> Result<Vec<u8>, CommandFailure> {
    let failed = |error: std::io::Error| CommandFailure::io("read the value", &error);
    let shown = tcgetattr(&*input).map_err(|error| failed(error.into()))?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&*input, OptionalActions::Flush, &hidden).map_err(|error| failed(error.into()))?;
    talk("the value, which is not shown, and Enter:");
    let mut line = String::new();
    let read = input.read_line(&mut line);
    let restored = tcsetattr(&*input, OptionalActions::Flush, &shown);
    read.map_err(failed)?;
    restored.map_err(|error| failed(error.into()))?;
    Ok(line.trim_end_matches(['\r', '\n']).as_bytes().to_vec())
}

fn text(view: &PurgeView) -> String {
    let mut out = format!("{}\n", view.first);
    let what = if view.applied { "took out" } else { "would take out" };
    for hit in &view.hits {
        out.push_str(&format!("{what} {}", hit_line(hit)));
    }
    for moved in &view.refs {
        out.push_str(&format!("made again {}\n", moved.name));
    }
    if let Some(forgotten) = view.forgotten {
        out.push_str(&format!("forgot {forgotten} objects\n"));
    }
    out.extend(view.tombstones.iter().map(|cid| format!("tombstone {cid}\n")));
    if let Some(announcement) = &view.announced {
        out.push_str(&format!(
            "announced anew {announcement}; `agentic push` replaces what remotes have\n"
        ));
    }
    out.extend(view.accepted_anew.iter().map(|space| {
        format!(
            "begun anew {space}; `agentic fetch` asks again, and takes nothing in that reaches it\n"
        )
    }));
    out.extend(view.left.iter().map(|hit| format!("LEFT {}", hit_line(hit))));
    out.extend(view.sessions.iter().map(|id| format!("REFUSED: session {id} holds it\n")));
    out.extend(view.sources.iter().map(|hit| format!("not ours: {}", hit_line(hit))));
    out.push_str("Out of reach:\n");
    out.extend(view.elsewhere.iter().map(|place| format!("- {place}\n")));
    if !view.applied {
        out.push_str("Nothing was changed; --apply does it\n");
    }
    out
}

fn hit_line(hit: &PurgeHitView) -> String {
    let path = match (&hit.path, hit.line) {
        (Some(path), Some(line)) => Some(format!("{path}:{line}")),
        (path, _) => path.clone(),
    };
    let words = [&hit.reference, &path, &hit.object, &hit.entry];
    let words: String = words.into_iter().flatten().map(|word| format!(" {word}")).collect();
    format!("{}{words}\n", hit.place)
}

fn proof_text(view: &PurgeProofView) -> String {
    let PurgeProofView { objects, loose, packed, bytes, files, .. } = view;
    let mut out: String = view.hits.iter().map(|hit| format!("found {}", hit_line(hit))).collect();
    out.push_str(&format!(
        "read {objects} objects ({loose} loose, {packed} packed) and {files} files, {bytes} bytes\n"
    ));
    out.push_str(if view.hits.is_empty() { "nothing was found\n" } else { "" });
    out.extend(view.signature.iter().map(|it| format!("signed by {}\n", it.key)));
    out
}

fn tombstone_lines(found: &[TombstoneView]) -> String {
    let line = |one: &TombstoneView| {
        let TombstoneView { tombstone, agent, purged, reason, by, at } = one;
        format!("{tombstone} {agent}: {purged} ids, by {by} at {at}: {reason}\n")
    };
    found.iter().map(line).collect()
}
