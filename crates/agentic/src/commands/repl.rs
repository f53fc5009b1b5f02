//! `agentic repl`

mod lines;

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::Refusal;
use agentic_api::program::parse_dialect;
use agentic_api::repl::{QueryReplStart, Repl, ReplNext, ReplOutput, ReplReply, ReplStart};
use agentic_api::verb::parse_adapter;
use agentic_lang_agent::{AgentLang, TraceCapture};
use agentic_lang_context::Dialect;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Adapter;
use agentic_providers::process::InterruptListener;
use agentic_replay::Language;
use agentic_session::language_of_file;

use self::lines::{LinePlace, Lines, NextLine};
use super::VerbOutcome;
use super::query::show_timed;
use super::run::show_answer;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::follower::{EventPrinter, followed};
use crate::language;
use crate::live::RunDisplay;
use crate::output::{Format, print_text, talk, warn_of};
use crate::program::{self, optional_text};
use crate::screen::plain;

/// The file that remembers the lines of programs.
const HISTORY: &str = "repl-history";
/// The file that remembers the lines of queries.
const QUERY_HISTORY: &str = "query-history";
/// How many lines in a row may be unreadable before the input is.
const UNREADABLE_MAX: usize = 100;

/// Try out a language, line by line
///
/// That is the context language, unless the file or --lang says agentlang.
///
/// Imports and agents are kept, statements run at once and see what earlier ones left behind. What
/// was asked once is not asked again. A line goes on while a bracket is open; an empty line ends
/// it. :help lists the commands. On a terminal lines can be edited and come back later; from a
/// pipe it exits with 1 if anything went wrong.
///
/// With --query it answers queries of this repository: rules stay, `?` asks, and the tabulator
/// completes names.
///
/// Example: agentic repl review.as --mock
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReplArgs {
    /// A program to begin with
    file: Option<String>,
    /// The language: context or agentlang
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parser())]
    lang: Option<&'static dyn Language>,
    /// Who performs what agents do in an AgentLang program: mock, live or anthropic
    #[arg(long, value_name = "ADAPTER", value_parser = parse_adapter)]
    adapter: Option<Adapter>,
    /// Show what happens in an AgentLang program, as it happens
    #[arg(long)]
    trace_live: bool,
    /// Let models, tools and memories be made up, always alike
    #[arg(long)]
    mock: bool,
    /// Answer models from a list of `{"text"}`, `{"value"}`, `{"error"}`
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// The version that programs are held to
    #[arg(long, value_name = "VERSION", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Let programs import files from this folder, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_import: Vec<PathBuf>,
    /// Ask queries of this repository instead; a file is one of rules
    #[arg(long, conflicts_with_all = ["lang", "adapter", "trace_live", "mock", "script", "dialect",
        "allow_import"])]
    query: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: ReplArgs) -> VerbOutcome {
    if args.query {
        return ask(context, args.file);
    }
    let flag = if args.trace_live { TraceCapture::On } else { TraceCapture::Off };
    let live = RunDisplay::of(context.format, flag);
    let named = args.file.as_deref().and_then(|file| language_of_file(file, b""));
    let is_agentlang = args.lang.or(named).is_some_and(|language| language.is(&AgentLang));
    let start = ReplStart {
        file: args.file,
        language: args.lang.map(|language| language.name().to_owned()),
        adapter: args.adapter,
        live: args.trace_live || (is_agentlang && live.trace == TraceCapture::On),
        keep_trace: context.format == Format::Json,
        mock: args.mock,
        script: optional_text(context, args.script.as_deref())?,
        dialect: args.dialect,
        imports: args.allow_import,
    };
    let (repl, reply) = start.begin(&context.surroundings())?;
    let first = show(context, reply);
    let lines = Lines::open(HISTORY)?;
    ReplConversation { context, live, interrupt: None }.hold(repl, lines, first)
}

/// Asks queries line by line.
fn ask(context: &Context, file: Option<String>) -> VerbOutcome {
    let space = context.space()?;
    space.repository().follow_configuration();
    let interrupt = InterruptListener::begin();
    let interrupt = interrupt.map_err(|error| CommandFailure::io("listen to signals", &error))?;
    let start = QueryReplStart { space, file, cancel: interrupt.flag() };
    let (repl, reply) = start.begin(&context.surroundings())?;
    let first = show(context, reply);
    let lines = Lines::open(QUERY_HISTORY)?;
    let live = RunDisplay::of(context.format, TraceCapture::Off);
    ReplConversation { context, live, interrupt: Some(interrupt) }.hold(repl, lines, first)
}

/// Somebody types, and somebody answers.
struct ReplConversation<'c> {
    context: &'c Context,
    live: RunDisplay,
    /// What ends a piece that takes too long, where ctrl-c does.
    interrupt: Option<InterruptListener>,
}

impl ReplConversation<'_> {
    /// Takes pieces until there are no more.
    fn hold(self, mut repl: Repl, mut lines: Lines, first: ReplNext) -> VerbOutcome {
        let context = self.context;
        let (mut has_failed, mut n_unreadable) = (first == ReplNext::Faulty, 0);
        loop {
            lines.offer(|| repl.words());
            let piece = match self.next(&mut lines, &repl) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(failure) if !repl.forgives() || n_unreadable == UNREADABLE_MAX => {
                    return Err(failure);
                }
                Err(failure) => {
                    n_unreadable += 1;
                    failure.report(context.format == Format::Json);
                    continue;
                }
            };
            n_unreadable = 0;
            match self.take(&mut repl, &piece) {
                Ok(reply) => match show(context, reply) {
                    ReplNext::GoOn => {}
                    ReplNext::Faulty => has_failed = true,
                    ReplNext::Leave => break,
                },
                Err(refusal) => {
                    has_failed = true;
                    CommandFailure::from(refusal).report(context.format == Format::Json);
                }
            }
        }
        lines.close();
        let is_counted = !lines.is_terminal() && !repl.forgives();
        Ok(if has_failed && is_counted { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    /// Waits for the next piece. On a terminal ctrl-c is a key of the line meanwhile.
    fn next(&self, lines: &mut Lines, repl: &Repl) -> Result<Option<String>, CommandFailure> {
        let Some(interrupt) = &self.interrupt else { return next_piece(lines, repl) };
        interrupt.forget();
        match lines.is_terminal() {
            true => next_piece(lines, repl),
            false => interrupt.while_idle(|| next_piece(lines, repl)),
        }
    }

    /// Has a piece taken; shows meanwhile what its program says.
    fn take(&self, repl: &mut Repl, piece: &str) -> Result<ReplReply, Refusal> {
        if self.interrupt.is_some() {
            return repl.take(&self.context.surroundings(), piece);
        }
        let mut printer = EventPrinter::new(self.context, self.live);
        let stop = CancelFlag::new();
        let tell = |event| printer.show(event);
        let taken = followed(self.context, &stop, tell, |here| repl.take(&here, piece));
        printer.end();
        taken
    }
}

/// Shows what a piece came to, and says what comes next.
fn show(context: &Context, reply: ReplReply) -> ReplNext {
    warn_of(&reply.notices);
    for output in reply.outputs {
        match output {
            ReplOutput::Text(text) => print_text(&text),
            ReplOutput::Trace(text) => print_text(&plain(&text)),
            ReplOutput::Said(text) => talk(&text),
            ReplOutput::Run(answer) => show_answer(context, &answer),
            ReplOutput::Answer(timed) => show_timed(context, &timed),
            ReplOutput::Findings(findings) => program::show(&findings),
            ReplOutput::Refused(refusal) => {
                CommandFailure::from(refusal).report(context.format == Format::Json);
            }
        }
    }
    reply.next
}

/// Reads lines until nothing is open any more. An empty line ends what stays open.
fn next_piece(lines: &mut Lines, repl: &Repl) -> Result<Option<String>, CommandFailure> {
    let mut piece = String::new();
    loop {
        let place = if piece.is_empty() { LinePlace::First } else { LinePlace::Further };
        match lines.next(place)? {
            NextLine::End if piece.trim().is_empty() => return Ok(None),
            NextLine::End => return Ok(Some(piece)),
            NextLine::Dropped => {
                piece.clear();
                continue;
            }
            NextLine::Text(line) if line.trim().is_empty() && !piece.is_empty() => {
                return Ok(Some(piece));
            }
            NextLine::Text(line) => piece.push_str(&line),
        }
        piece.push('\n');
        if repl.is_whole(&piece) {
            return Ok(Some(piece));
        }
    }
}
