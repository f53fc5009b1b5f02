//! `agentic import`

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::verb::{ImportConversations, Reply};
use agentic_api::view::ImportedView;
use agentic_capture::import::{ImportProgress, ImportRun};
use agentic_capture::{HookEnvironment, Source};
use agentic_model::Instant;
use agentic_session::SessionSpace;
use indicatif::{ProgressBar, ProgressStyle};

use super::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;

/// How far back conversations are taken where nobody says it, in milliseconds: 30 days.
const SINCE_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Take in what coding agents did in this repository before
///
/// Conversations are found where each coding agent keeps them, and belong here by the folders that
/// they name. Each becomes the trace of an agent: that of its worktree, else one of its own, which
/// goes to the archive and is private. A second import makes nothing new. Without --since or --all
/// conversations of the last 30 days are taken.
///
/// Example: agentic import claude --all
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ImportArgs {
    /// Coding agents (claude, codex, cursor, gemini, copilot, opencode), or files; all without
    #[arg(value_name = "SOURCE|FILE")]
    what: Vec<String>,
    /// Only what somebody has gone on with since: 2026-01-31, or an instant
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Instant>,
    /// However long ago
    #[arg(long, conflicts_with = "since")]
    all: bool,
    /// Give them to this agent, wherever they took place
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Write nothing; say what would be taken
    #[arg(long)]
    dry_run: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: ImportArgs) -> VerbOutcome {
    let is_source = |word: &&String| Source::parse(word).is_ok();
    let (sources, files): (Vec<&String>, Vec<&String>) = args.what.iter().partition(is_source);
    let space = context.space()?;
    let since = match (args.since, args.all || !files.is_empty()) {
        (Some(since), _) => Some(since),
        (None, true) => None,
        (None, false) => Some(since_by_default(&space)),
    };
    let run = if args.dry_run { ImportRun::Dry } else { ImportRun::Apply };
    let verb = ImportConversations {
        sources: sources.iter().filter_map(|name| Source::parse(name).ok()).collect(),
        files: files.into_iter().map(PathBuf::from).collect(),
        since,
        agent: args.agent,
        run,
        environment: HookEnvironment::of_process(),
    };
    answer(context, &space, verb)
}

/// Returns since when conversations are taken where nobody says it.
pub fn since_by_default(space: &SessionSpace) -> Instant {
    space.now().plus_millis(-SINCE_MS)
}

/// Imports, and says how far it is.
pub fn with_progress(
    context: &Context,
    space: &SessionSpace,
    verb: ImportConversations,
) -> Result<Reply<Vec<ImportedView>>, CommandFailure> {
    let bar = ImportBar::default();
    Ok(verb.run(&context.caller(space), &mut |progress| bar.tell(progress))?)
}

fn answer(context: &Context, space: &SessionSpace, verb: ImportConversations) -> VerbOutcome {
    let run = verb.run;
    let done = with_progress(context, space, verb)?;
    context.format.answer(done.answer.as_slice(), |views| text(views, run));
    match done.completion.exit_code() {
        0 => Ok(ExitCode::SUCCESS),
        _ => ended(done.completion),
    }
}

/// Says what was taken.
pub fn text(views: &[ImportedView], run: ImportRun) -> String {
    let line = |view: &ImportedView| {
        let ImportedView { source, conversation, agent, new, reason, .. } = view;
        match (agent, reason.as_deref()) {
            // Of other repositories there may be very many.
            (_, Some("elsewhere")) => String::new(),
            (Some(agent), None) if *new > 0 => {
                format!("{agent} {new} new entries of {source}:{conversation}\n")
            }
            (Some(_) | None, None) => String::new(),
            (_, Some(reason)) => format!("{source}:{conversation} left out: {reason}\n"),
        }
    };
    let lines: String = views.iter().map(line).collect();
    let n_elsewhere = views.iter().filter(|it| it.reason.as_deref() == Some("elsewhere")).count();
    let taken = views.iter().filter(|view| view.skipped.is_none());
    let n_taken = taken.clone().filter(|view| view.new > 0).count();
    let n_known = taken.count() - n_taken;
    let would = if run == ImportRun::Dry { "would take" } else { "took" };
    format!(
        "{lines}{would} {n_taken} conversations; {n_known} had nothing new, {n_elsewhere} are of other repositories\n"
    )
}

/// Reads a day or an instant.
fn date(text: &str) -> Result<Instant, String> {
    let day = || Instant::parse(&format!("{text}T00:00:00Z"));
    let read = Instant::parse(text).or_else(day);
    read.ok_or_else(|| format!("`{text}` is neither a day such as 2026-01-31 nor an instant"))
}

/// Says how far an import is, where somebody looks.
#[derive(Default)]
struct ImportBar {
    bar: OnceCell<ProgressBar>,
}

impl ImportBar {
    fn tell(&self, progress: ImportProgress) {
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("conversations {bar:30} {pos}/{len}");
            ProgressBar::new(0).with_style(style.expect("a valid template"))
        });
        bar.set_length(progress.n_all as u64);
        bar.set_position(progress.n_done as u64);
    }
}

impl Drop for ImportBar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
