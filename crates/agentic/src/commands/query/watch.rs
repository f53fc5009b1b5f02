//! Queries that go on: what appears and what vanishes.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant as Moment};

use agentic_api::WriteMark;
use agentic_api::verb::{AskQuery, QueryOutcome};
use agentic_query::{AnswerSet, QueryValue};
use agentic_session::SessionSpace;
use agentic_store::watch::WriteWatch;

use super::shown::{CellStyle, IdLengths};
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::output::{Format, is_reader_gone, print_raw, print_text};

/// How often is looked whether something was written, though nothing was noticed.
const POLL: Duration = Duration::from_secs(1);
/// How often a query about the time is asked again although nothing was written.
const CLOCK: Duration = Duration::from_secs(60);

/// The rows of all queries of a text.
type SeenRows = BTreeSet<(usize, Vec<QueryValue>)>;

/// Asks at each write, and each minute if the time is part of the query; prints what changed.
pub(super) fn run(
    context: &Context,
    space: &SessionSpace,
    query: &AskQuery,
    is_relative: bool,
) -> VerbOutcome {
    let mut seen = SeenRows::new();
    let repository = space.repository();
    let mut watch = WriteWatch::aside(repository.layout(), repository.common_dir());
    let (mut written, mut asked) = (None, Moment::now());
    loop {
        let now_written = WriteMark::of(space)?;
        if written != Some(now_written) || asked.elapsed() >= CLOCK {
            (written, asked) = (Some(now_written), Moment::now());
            let answers = match query.ask(&context.caller(space), &AtomicBool::new(false))? {
                QueryOutcome::Answered(answered) => answered.report.answers,
                QueryOutcome::Refused(findings) => return super::refuse_query(context, &findings),
            };
            let style = CellStyle::new(is_relative, space.now());
            let rows = answers.iter().enumerate();
            let rows: SeenRows =
                rows.flat_map(|(n, it)| it.rows.iter().map(move |row| (n, row.clone()))).collect();
            for (sign, change) in [("-", seen.difference(&rows)), ("+", rows.difference(&seen))] {
                change.for_each(|(n, row)| print(context, sign, &answers[*n], row, style));
            }
            seen = rows;
        }
        if is_reader_gone() {
            return Ok(ExitCode::SUCCESS);
        }
        watch.wait(POLL);
    }
}

fn print(context: &Context, sign: &str, answer: &AnswerSet, row: &[QueryValue], style: CellStyle) {
    let one = AnswerSet { columns: answer.columns.clone(), rows: vec![row.to_vec()], n_rows: 1 };
    if context.format == Format::Json {
        let row = one.to_json();
        let row = row.trim_start_matches("[\n").trim_end_matches("\n]");
        print_raw(&format!("{{\"change\":\"{sign}\",\"row\":{row}}}"));
        return;
    }
    let ids = IdLengths::of(&one);
    let cells = row.iter().zip(&one.columns).enumerate();
    let cells = cells.map(|(at, (value, (_, kind)))| ids.cut(at, style.cell(value, *kind)));
    print_text(&format!("{sign} {}", cells.collect::<Vec<_>>().join("  ").trim_end()));
}
