//! `agentic search`

use std::cell::OnceCell;
use std::ops::ControlFlow;
use std::process::ExitCode;

use agentic_api::program::ProgramFindings;
use agentic_api::search::ScanProgress;
use agentic_api::verb::{SearchOutcome, SearchTexts, settle_peers, unreadable};
use agentic_api::view::{SearchHitView, SearchView};
use agentic_resident::ResidentClient;
use indicatif::{ProgressBar, ProgressStyle};

use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, talk, warn_of};
use crate::text::{Colour, Text};

/// What takes less than this is not told, in milliseconds.
const QUIET_MS: u64 = 1_000;
/// How many characters of an id are shown, of those that tell ids of its sort apart.
const ID_CHARS: usize = 10;

/// Find words in traces, messages, briefings, decisions and sessions
///
/// All words of QUERY must occur. There are "phrases", -unwanted words, begin*, and the filters
/// agent:, under:, kind:, in:, by:, after: and before:. A process that serves the repository is asked
/// if there is one; else everything is read.
///
/// Example: agentic search 'token -refresh agent:alice after:2d'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct SearchArgs {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// At most so many hits, up to 500
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Read everything, whoever serves the repository
    #[arg(long)]
    no_serve: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: SearchArgs) -> VerbOutcome {
    let space = context.space()?;
    warn_of(&settle_peers(&space)?);
    let verb = SearchTexts { query: args.query.join(" "), limit: Some(args.limit) };
    let bar = SearchBar::default();
    let mut tell = |progress: ScanProgress, elapsed_ms: u64| {
        bar.tell(progress, elapsed_ms);
        ControlFlow::Continue(())
    };
    let caller = context.caller(&space);
    let served = match args.no_serve {
        true => None,
        false => ResidentClient::search(space.repository().layout(), &verb),
    };
    let outcome = match served {
        Some(view) => Ok(SearchOutcome::Found(view)),
        None => verb.scanned(&caller, &mut tell),
    };
    drop(bar);
    match outcome? {
        SearchOutcome::Found(view) => {
            show(context.format, &view);
            Ok(ExitCode::SUCCESS)
        }
        SearchOutcome::Unreadable(findings) if context.format == Format::Text => {
            let found = findings.findings.into_iter().map(|finding| (0, finding)).collect();
            crate::program::show(&ProgramFindings {
                sources: vec![findings.source],
                findings: found,
            });
            Ok(ExitCode::from(2))
        }
        SearchOutcome::Unreadable(findings) => Err(CommandFailure::from(unreadable(&findings))),
    }
}

fn show(format: Format, view: &SearchView) {
    format.answer_coloured(view, |view| {
        let mut text = Text::default();
        for (number, hit) in view.items.iter().enumerate() {
            text = if number > 0 { text.plain("\n") } else { text };
            text = paragraph(text, hit);
        }
        text
    });
    if format == Format::Json {
        return;
    }
    match (view.items.is_empty(), view.partial, view.more) {
        (true, false, _) => talk("nothing found"),
        (_, true, _) => talk("not everything was looked at: further words or filters look at less"),
        (false, false, true) => talk("there is more: further words or filters, or `--limit`"),
        (false, false, false) => {}
    }
}

fn paragraph(text: Text, hit: &SearchHitView) -> Text {
    let place = match hit.pending {
        true => "pending trace".to_owned(),
        false => hit.place.clone(),
    };
    let number = hit.n.map(|n| format!(" {n}")).unwrap_or_default();
    let mut text = text
        .coloured(Colour::Yellow, &short(&hit.id))
        .plain(&format!(" {} ", hit.agent))
        .coloured(Colour::Cyan, &hit.kind)
        .plain(&format!(" {place}{number} {}\n    ", hit.at));
    for (is_marked, piece) in hit.pieces() {
        text = match is_marked {
            true => text.coloured(Colour::Bold, &piece),
            false => text.plain(&piece),
        };
    }
    text
}

/// Shortens an id to what still names it.
fn short(id: &str) -> String {
    // All ids of objects begin alike.
    let begin = if id.starts_with("bafyr4i") { 7 } else { 0 };
    id.chars().take(begin + ID_CHARS).collect()
}

/// Shows how far a search is once it takes longer than a second; nothing where standard error is no
/// terminal.
#[derive(Default)]
struct SearchBar {
    bar: OnceCell<ProgressBar>,
}

impl SearchBar {
    fn tell(&self, progress: ScanProgress, elapsed_ms: u64) {
        if elapsed_ms < QUIET_MS {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("agents and sessions {bar:30} {pos}/{len}");
            ProgressBar::new(0).with_style(style.expect("a valid template"))
        });
        bar.set_length(progress.n_all as u64);
        bar.set_position(progress.n_done as u64);
    }
}

impl Drop for SearchBar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
