//! `agentic query`

mod csv;
mod progress;
mod schema;
mod shown;
mod table;
mod tree;
mod watch;
mod why;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use agentic_api::Refusal;
use agentic_api::program::ProgramFindings;
use agentic_api::repl::{AnswerPart, TimedAnswer};
use agentic_api::verb::{
    AnsweredQuery, AskQuery, QueryAllowance, QueryOutcome, QueryPhase, QueryTextFindings,
    settle_peers,
};
use agentic_query::{AnswerSet, QueryReport};

use self::progress::QueryProgress;
use self::shown::CellStyle;
use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, print_text, show_result, talk, warn, warn_of};
use crate::program::show;

/// How many things that were left out are named; further ones are counted.
const NOTES_SHOWN_MAX: usize = 10;

/// Answer a question about what agents did
///
/// The query is Datalog over agents, commits, traces, relations and sessions; `--schema` lists what
/// there is.
///
/// Example: agentic query '? commit(id: C, agent: A, kind: finding), sub_agent_of(A, alice).'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct QueryArgs {
    /// One query, or rules and one query
    #[arg(value_name = "QUERY", conflicts_with = "file")]
    query: Option<String>,
    /// Read rules and queries from a file, or - for standard input
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    file: Option<String>,
    /// Ask rules that have a name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "file"])]
    named: Option<String>,
    /// Give a parameter its value; may be repeated
    #[arg(long = "param", value_name = "K=V", value_parser = parameter)]
    params: Vec<(String, String)>,
    /// Print comma-separated values
    #[arg(long, conflicts_with_all = ["tree", "json"])]
    csv: bool,
    /// Print rows below each other that begin alike
    #[arg(long, conflicts_with = "json")]
    tree: bool,
    /// List what can be asked for, or the columns of one predicate
    #[arg(long, value_name = "PREDICATE", num_args = 0..=1, default_missing_value = "",
        conflicts_with_all = ["query", "file", "named", "csv", "tree"])]
    schema: Option<String>,
    /// Tell how it was answered: what was read, and how much came of each goal
    #[arg(long)]
    explain: bool,
    /// Say why a row is an answer, as it is shown, from 1; may be repeated
    #[arg(long, value_name = "N")]
    why: Vec<usize>,
    /// Go on, and print rows that appear and vanish
    #[arg(long, conflicts_with_all = ["csv", "tree", "why", "schema"])]
    watch: bool,
    /// Show instants as time from now
    #[arg(long)]
    relative: bool,
    /// Fail with exit code 6 where something could not be read
    #[arg(long)]
    strict: bool,
    /// Read at most so many facts
    #[arg(long, value_name = "N")]
    max_facts: Option<usize>,
    /// Make at most so many rows
    #[arg(long, value_name = "N")]
    max_rows: Option<usize>,
    /// Take at most so many seconds
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<u64>,
    /// Take at most so much memory, in bytes
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<usize>,
}

/// Runs the verb.
pub fn run(context: &Context, args: QueryArgs) -> VerbOutcome {
    if let Some(predicate) = &args.schema {
        return schema::print(context, predicate);
    }
    let query = query_of(context, &args)?;
    let space = context.space()?;
    warn_of(&settle_peers(&space)?);
    if args.watch {
        return watch::run(context, &space, &query, args.relative);
    }
    let progress = QueryProgress::default();
    let show = |phase: QueryPhase<'_>, elapsed_ms| progress.tell(phase, elapsed_ms);
    let asked = query.ask_telling(&context.caller(&space), &AtomicBool::new(false), &show);
    drop(progress);
    match asked? {
        QueryOutcome::Answered(answered) => {
            let style = CellStyle::new(args.relative, space.now());
            tell(&answered);
            if args.explain {
                answered.report.explanation.lines().iter().for_each(|line| talk(line));
            }
            print(context, args.layout(), &answered.report, style);
            Ok(ExitCode::SUCCESS)
        }
        QueryOutcome::Refused(findings) => refuse_query(context, &findings),
    }
}

fn query_of(context: &Context, args: &QueryArgs) -> Result<AskQuery, CommandFailure> {
    let (text, name) = match (&args.query, &args.file) {
        (Some(text), _) => (text.clone(), None),
        (None, Some(file)) => {
            (context.named_text(file)?.read(&context.surroundings())?, Some(file.clone()))
        }
        (None, None) if args.named.is_some() => (String::new(), None),
        (None, None) => {
            return Err(CommandFailure::usage(
                "nothing is asked",
                "give a query, such as '? agent(name: A).', or a file with `-f`",
            ));
        }
    };
    let mut params = BTreeMap::new();
    for (name, value) in &args.params {
        if params.insert(name.clone(), value.clone()).is_some() {
            let message = format!("the parameter `{name}` is given twice");
            return Err(CommandFailure::usage(&message, "give each parameter once"));
        }
    }
    let limits = QueryAllowance {
        facts: args.max_facts,
        rows: args.max_rows,
        millis: args.max_seconds.map(|seconds| seconds.saturating_mul(1_000)),
        bytes: args.max_bytes,
    };
    let (named, why) = (args.named.clone(), args.why.clone());
    Ok(AskQuery { text, named, name, params, limits, why, strict: args.strict })
}

/// Tells what is probably not meant, and what was left out.
fn tell(answered: &AnsweredQuery) {
    show(&checked(&answered.warnings));
    let notes = &answered.report.notes;
    notes.iter().take(NOTES_SHOWN_MAX).for_each(|note| warn(&format!("left out: {note}")));
    if notes.len() > NOTES_SHOWN_MAX {
        warn(&format!("{} more things were left out", notes.len() - NOTES_SHOWN_MAX));
    }
}

/// How rows are laid out for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerLayout {
    Table,
    Tree,
    Csv,
}

impl QueryArgs {
    fn layout(&self) -> AnswerLayout {
        match (self.csv, self.tree) {
            (true, _) => AnswerLayout::Csv,
            (false, true) => AnswerLayout::Tree,
            (false, false) => AnswerLayout::Table,
        }
    }
}

/// Shows what a query of a repl gave, and how long that took.
pub(super) fn show_timed(context: &Context, timed: &TimedAnswer) {
    let (answered, report) = (&timed.answered, &timed.answered.report);
    match timed.shown {
        AnswerPart::Rows => {
            tell(answered);
            print(context, AnswerLayout::Table, report, CellStyle::default());
            let n_rows: usize = report.answers.iter().map(|answer| answer.rows.len()).sum();
            let rows = if n_rows == 1 { "row" } else { "rows" };
            talk(&format!("{n_rows} {rows} in {} ms", timed.millis));
        }
        AnswerPart::Reasons => {
            let why: Vec<String> = report.reasons.iter().flat_map(why::lines).collect();
            print_text(&why.join("\n"));
        }
        AnswerPart::Explanation => print_text(&report.explanation.lines().join("\n")),
    }
}

fn print(context: &Context, layout: AnswerLayout, report: &QueryReport, style: CellStyle) {
    let answers = &report.answers;
    let why: Vec<String> = report.reasons.iter().flat_map(why::lines).collect();
    if context.format == Format::Json {
        let all: Vec<String> = answers.iter().map(AnswerSet::to_json).collect();
        let all = match all.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(",\n")),
        };
        match report.reasons.as_slice() {
            [] => print_raw(&all),
            _ => print_raw(&format!("{{\"answer\":{all},\n\"why\":{}}}", json_texts(&why))),
        }
    } else {
        for (number, answer) in answers.iter().enumerate() {
            let gap = if number > 0 && !answer.rows.is_empty() { "\n" } else { "" };
            // A query without variables asks whether something holds.
            let is_yes = answer.columns.is_empty() && !answer.rows.is_empty();
            match layout {
                AnswerLayout::Csv => show_result(Format::Text, &csv::text(answer)),
                AnswerLayout::Tree | AnswerLayout::Table if is_yes => print_text("yes"),
                AnswerLayout::Tree => print_text(&format!("{gap}{}", tree::text(answer, style))),
                AnswerLayout::Table => {
                    let text = table::text(answer, style, table::width());
                    print_text(&format!("{gap}{text}"));
                }
            }
        }
    }
    if context.format == Format::Text && !why.is_empty() {
        print_text(&why.join("\n"));
    }
    for answer in answers {
        if answer.rows.is_empty() {
            talk("no rows");
        }
    }
}

/// Shows what is wrong with a query; what is wrong with its parameters alone is wrong usage.
fn refuse_query(context: &Context, findings: &QueryTextFindings) -> VerbOutcome {
    let refusal = if findings.is_usage() { findings.usage() } else { findings.refusal() };
    refuse(context, findings, refusal)
}

/// Shows what is wrong with a text, each finding under its line.
pub(super) fn refuse(
    context: &Context,
    findings: &QueryTextFindings,
    refusal: Refusal,
) -> VerbOutcome {
    let code = ExitCode::from(refusal.class.exit_code());
    match context.format {
        Format::Json => CommandFailure::from(refusal).report(true),
        Format::Text => show(&checked(findings)),
    }
    Ok(code)
}

pub(super) fn checked(findings: &QueryTextFindings) -> ProgramFindings {
    let found = findings.findings.iter();
    ProgramFindings {
        sources: findings.sources.clone(),
        findings: found.map(|finding| (finding.file, finding.diagnostic.clone())).collect(),
    }
}

fn json_texts(texts: &[String]) -> String {
    serde_json::to_string(texts).expect("texts are JSON")
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter is given as NAME=VALUE")?;
    Ok((name.trim_start_matches('$').to_owned(), value.to_owned()))
}
