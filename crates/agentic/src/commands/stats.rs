//! `agentic stats`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use agentic_api::verb::{CaseGrouping, CaseStatistics, TrialCases};
use agentic_api::view::{
    CaseGroupView, CaseRateView, CaseStatisticsView, CaseTimeView, SinceAdoptionView,
};
use agentic_api::{Refusal, Verb as _};

use super::VerbOutcome;
use crate::context::Context;
use crate::output::{print_raw, talk, warn};

/// How many milliseconds a second, a minute, an hour and a day have, with their letters.
const UNITS: [(f64, &str); 4] =
    [(86_400_000.0, "d"), (3_600_000.0, "h"), (60_000.0, "m"), (1_000.0, "s")];
/// How many digits of an id people are shown.
const KEY_CHARS: usize = 24;

/// Tell what came of agents and sessions, and how sure one may be of it
///
/// A case is an agent, or a session that no other began. Rates are over cases of which nothing more is
/// expected. Under 5 cases are too few to say anything.
///
/// Example: agentic stats --by behaviour
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct StatsArgs {
    /// By what cases are put together: behaviour, kind, agent, model, person, day or week
    #[arg(long, value_name = "WHAT", default_value = "behaviour", value_parser = grouping)]
    by: CaseGrouping,
    /// Only the versions of a name of behaviours
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// Only what one agent did
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Only cases that began from this day or instant on
    #[arg(long, visible_alias = "since", value_name = "T")]
    from: Option<String>,
    /// Only cases that began before this day or instant
    #[arg(long, value_name = "T")]
    to: Option<String>,
    /// Only one figure: landed, reverted, failed, rejected, first-commit, landing, duration, wait or usage
    #[arg(long, value_name = "M")]
    metric: Option<String>,
    /// Count the agents of trials, too
    #[arg(long)]
    trials: bool,
    /// Tell how many of the lines that landed are still there after so many days; it takes long
    #[arg(long, value_name = "DAYS")]
    survival: Option<u32>,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Draw the rates with their intervals into a file
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["csv", "json"])]
    plot: Option<PathBuf>,
}

fn grouping(text: &str) -> Result<CaseGrouping, String> {
    CaseGrouping::parse(text).ok_or_else(|| {
        let names: Vec<&str> = CaseGrouping::ALL.iter().map(|by| by.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

/// Runs the verb.
pub fn run(context: &Context, args: StatsArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = CaseStatistics {
        by: args.by,
        of: args.of,
        agent: args.agent,
        from: args.from,
        to: args.to,
        metric: args.metric,
        trials: if args.trials { TrialCases::Counted } else { TrialCases::Apart },
        survival: args.survival,
    };
    let view = verb.run(&context.caller(&space))?.answer;
    view.left_out.iter().for_each(|what| warn(what));
    if let Some(file) = &args.plot {
        let place = context.surroundings().folder.join(file);
        let drawn = agentic_web::rates_drawing(&view);
        std::fs::write(&place, drawn).map_err(|error| {
            let message = format!("cannot write {}", file.display());
            let refusal = Refusal::refused(&message, "name a file in a folder that is there");
            Refusal { because: Some(error.to_string()), ..refusal }
        })?;
        talk(&format!("drawn: {}", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if args.csv {
        print_raw(&view.csv());
        return Ok(ExitCode::SUCCESS);
    }
    context.format.answer(&view, text);
    Ok(ExitCode::SUCCESS)
}

/// Writes it for people.
fn text(view: &CaseStatisticsView) -> String {
    let mut out = format!("cases: {}, closed: {}", view.cases, view.closed);
    if view.mixed > 0 {
        let _ = write!(out, ", mixed: {}", view.mixed);
    }
    for (why, n) in &view.apart {
        let _ = write!(out, ", apart ({why}): {n}");
    }
    out.push('\n');
    for group in &view.groups {
        out.push_str(&group_text(group));
    }
    if let Some(since) = &view.since_adoption {
        out.push_str(&since_text(since));
    }
    if !view.holds.is_empty() {
        out.push_str("\nholds, by program and place in it\n");
    }
    for place in &view.holds {
        let key: String = place.behaviour.chars().take(KEY_CHARS).collect();
        let _ = writeln!(
            out,
            "  {key} {}: approved {}, rejected {}, open {}, waited {} on average",
            place.path,
            place.approved,
            place.rejected,
            place.open,
            duration(place.wait_ms)
        );
    }
    out
}

fn since_text(since: &SinceAdoptionView) -> String {
    let mut out =
        format!("\nsince its adoption at {}{}", since.adopted, group_text(&since.figures));
    let number = |number: Option<f64>| number.map_or("?".to_owned(), |it| format!("{it:.3}"));
    for trial in &since.trials {
        let figures = &trial.said.figures;
        let _ = writeln!(
            out,
            "  its trial    {}, difference {} ({} … {}), tasks {}; chosen for being high",
            trial.said.verdict,
            number(figures.difference),
            number(figures.low),
            number(figures.high),
            figures.tasks
        );
    }
    out
}

fn group_text(group: &CaseGroupView) -> String {
    let key: String = match (group.names.as_slice(), &group.key) {
        ([], Some(key)) => key.chars().take(KEY_CHARS).collect(),
        ([], None) => "none".to_owned(),
        (names, _) => names.join(", "),
    };
    let few = if group.too_few { ", too few" } else { "" };
    let volume = &group.volume;
    let mut out = format!(
        "\n{key}: {} cases{few}\n  agents {}, sessions {}, commits {}",
        group.cases, volume.agents, volume.sessions, volume.commits
    );
    if volume.approved + volume.rejected + volume.in_doubt > 0 {
        let _ = write!(
            out,
            ", holds approved {}, rejected {}, in doubt {}",
            volume.approved, volume.rejected, volume.in_doubt
        );
    }
    out.push('\n');
    if let Some(usage) = volume.usage.as_ref().filter(|usage| usage.calls > 0) {
        let _ = writeln!(
            out,
            "  tokens {} read, {} written, known for {} of {}; cost {}, known for {} of {}",
            usage.input,
            usage.output,
            usage.tokens_known,
            usage.calls,
            usage.cost,
            usage.cost_known,
            usage.calls
        );
    }
    group.rates.iter().for_each(|rate| out.push_str(&rate_text(rate)));
    group.times.iter().for_each(|time| out.push_str(&time_text(time)));
    if let Some(left) = &group.survival {
        let percent =
            |share: Option<f64>| share.map_or("?".to_owned(), |it| format!("{:.0} %", it * 100.0));
        let _ = writeln!(
            out,
            "  lines        {} of {} left after {} days, half of {} cases kept {} or less",
            left.alive,
            left.added,
            left.days,
            left.cases,
            percent(left.median)
        );
    }
    out
}

fn rate_text(rate: &CaseRateView) -> String {
    let percent =
        |share: Option<f64>| share.map_or("?".to_owned(), |it| format!("{:.0}", it * 100.0));
    format!(
        "  {:<12} {} % ({} … {}), {} of {}\n",
        rate.metric,
        percent(rate.rate),
        percent(rate.low),
        percent(rate.high),
        rate.n_true,
        rate.n
    )
}

fn time_text(time: &CaseTimeView) -> String {
    let said = |millis: Option<f64>| millis.map_or("not reached".to_owned(), duration);
    let mut out = format!("  {:<12} median {}", time.metric, said(time.median_ms));
    if let (Some(low), Some(high)) = (time.low_ms, time.high_ms) {
        let _ = write!(out, " ({} … {})", duration(low), duration(high));
    }
    if let (Some(lower), Some(upper)) = (time.lower_ms, time.upper_ms) {
        let _ = write!(out, ", quarters {} and {}", duration(lower), duration(upper));
    }
    let _ = writeln!(out, ", {} of {} over", time.n_over, time.n);
    out
}

fn duration(millis: f64) -> String {
    match UNITS.iter().find(|(unit, _)| millis >= *unit) {
        Some((unit, letter)) => format!("{:.1} {letter}", millis / unit),
        None => format!("{millis:.0} ms"),
    }
}
