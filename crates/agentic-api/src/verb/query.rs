//! Any question about what agents did, asked in Datalog.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Moment;

use agentic_diag::{DiagnosticStyle, Severity, SourceText};
use agentic_model::guidance::ErrorClass;
use agentic_query::{
    ConstantPushing, FactBase, FactPredicate, FactSource, QueryError, QueryFinding, QueryInput,
    QueryLimits, QueryReport, QueryRun, QueryValue, QueryWatch, ReadProgress, WhyRow, compile,
};
use agentic_session::QueriedFacts;
use agentic_space::Space;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::with_facts;
use crate::rule_files::{RuleFiles, RuleShelf};
use crate::verb::{Reply, Verb, settle_peers};
use crate::view::QueryView;
use crate::{Caller, Refusal};

/// How long a query may take whose text comes from others, in milliseconds.
pub const FOREIGN_QUERY_MS_MAX: u64 = 5_000;
/// The findings that say that parameters were given wrongly, or not at all.
const OF_PARAMETERS: [&str; 2] = ["Q40", "Q41"];

/// The goal that ids are looked for at, as a limit that is reached there names it.
const ID_GOAL: &str = "#…";

/// What is being done for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryPhase<'a> {
    /// Facts are read.
    Reading(ReadProgress<'a>),
    /// Rows are derived.
    Evaluating,
}

/// Answer a query over the facts of a space.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AskQuery {
    /// The text: one query, or rules and queries.
    pub text: String,
    /// The rules to ask instead of a text.
    pub named: Option<String>,
    /// What findings call the text.
    pub name: Option<String>,
    /// Values of parameters: literals of their types, texts as they are.
    pub params: BTreeMap<String, String>,
    /// What it may take, where that is not as usual.
    pub limits: QueryAllowance,
    /// The rows whose reasons are wanted, as they are shown, from 1; of the first query.
    pub why: Vec<usize>,
    /// Whether it fails where something could not be read.
    pub strict: bool,
}

/// What a query may take; each as usual where nothing is said.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryAllowance {
    /// How many facts may be read.
    pub facts: Option<usize>,
    /// How many rows may be made.
    pub rows: Option<usize>,
    /// How long it may take, in milliseconds.
    pub millis: Option<u64>,
    /// How much memory it may take, in bytes.
    pub bytes: Option<usize>,
}

/// What became of a query.
#[derive(Debug)]
pub enum QueryOutcome {
    /// It has answers.
    Answered(AnsweredQuery),
    /// It cannot be asked.
    Refused(QueryTextFindings),
}

/// The answers of a query.
#[derive(Debug)]
pub struct AnsweredQuery {
    /// The answers, and what was left out.
    pub report: QueryReport,
    /// What is probably not meant.
    pub warnings: QueryTextFindings,
}

/// What is wrong with the text of a query.
#[derive(Debug)]
pub struct QueryTextFindings {
    /// The texts that the findings point into, the query itself first.
    pub sources: Vec<SourceText>,
    /// What was found.
    pub findings: Vec<QueryFinding>,
}

impl AskQuery {
    /// Asks, until `cancel` is set.
    ///
    /// # Errors
    /// Fails when a limit is reached, when facts cannot be read, and, if that is asked for, when some
    /// of them were left out.
    pub fn ask(&self, caller: &Caller<'_>, cancel: &AtomicBool) -> Result<QueryOutcome, Refusal> {
        self.ask_telling(caller, cancel, &|_, _| ())
    }

    /// Does the same, and tells what is being done and how many milliseconds it has taken.
    ///
    /// # Errors
    /// As [`AskQuery::ask`].
    pub fn ask_telling(
        &self,
        caller: &Caller<'_>,
        cancel: &AtomicBool,
        tell: &dyn Fn(QueryPhase<'_>, u64),
    ) -> Result<QueryOutcome, Refusal> {
        let (started, limits) = (Moment::now(), self.limits.limits());
        let elapsed_ms = || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let time_ms_max = limits.time_ms_max;
        let teller = |progress: ReadProgress<'_>| {
            let elapsed_ms = elapsed_ms();
            tell(QueryPhase::Reading(progress), elapsed_ms);
            let is_over = cancel.load(Ordering::Relaxed) || elapsed_ms > time_ms_max;
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let told_ms = || {
            let elapsed_ms = elapsed_ms();
            tell(QueryPhase::Evaluating, elapsed_ms);
            elapsed_ms
        };
        let watch = QueryWatch { cancel, elapsed_ms: &told_ms, time_ms_max };
        with_facts(caller.space, &teller, |facts| self.ask_of(caller, facts, limits, watch))
    }

    fn ask_of(
        &self,
        caller: &Caller<'_>,
        facts: &QueriedFacts<'_>,
        limits: QueryLimits,
        watch: QueryWatch<'_>,
    ) -> Result<QueryOutcome, Refusal> {
        let (source, used) = self.source(caller)?;
        let RuleFiles { files, order, .. } = used;
        let now = Space::now(caller.space).millis();
        let input = QueryInput { source: &source, files: &files, params: &self.params, now };
        let compiled = match compile(&input, facts.joined) {
            Ok(compiled) => compiled,
            Err(findings) => {
                // Ids that were not looked for to the end are no findings.
                if let Some(ended) = watch.ended_at(ID_GOAL) {
                    return Err(refusal(ended));
                }
                let sources = std::iter::once(source).chain(order).collect();
                return Ok(QueryOutcome::Refused(QueryTextFindings { sources, findings }));
            }
        };
        let pushing = ConstantPushing::On;
        facts.begin(&compiled, pushing);
        let run = QueryRun { facts: facts.joined, limits, watch, pushing };
        let why: Vec<WhyRow> = self.why.iter().map(|n| why_row(*n)).collect();
        let answered = compiled.answer_why(&mut FactBase::default(), &run, &why);
        let mut report = answered.map_err(refusal)?;
        self.check_rows(&report)?;
        report.notes.sort();
        report.notes.dedup();
        match report.notes.first() {
            Some(first) if self.strict => Err(left_out(first, report.notes.len())),
            Some(_) | None => {
                let findings = compiled.warnings().to_vec();
                let sources = std::iter::once(source).chain(order).collect();
                let warnings = QueryTextFindings { sources, findings };
                Ok(QueryOutcome::Answered(AnsweredQuery { report, warnings }))
            }
        }
    }
}

impl AskQuery {
    /// Returns the text that is asked, under the name that findings have for it, and the files that it
    /// uses.
    fn source(&self, caller: &Caller<'_>) -> Result<(SourceText, RuleFiles), Refusal> {
        let shelf = RuleShelf::new(caller.space);
        match &self.named {
            None => {
                let name = self.name.as_deref().unwrap_or("query");
                let source = SourceText::new(name, self.text.as_str());
                let used = shelf.used_by(source.text())?;
                Ok((source, used))
            }
            Some(name) => match shelf.find(name)? {
                Some(found) => {
                    let used = shelf.used_by_found(&found)?;
                    Ok((found.source, used))
                }
                None => Err(shelf.unknown(name)?),
            },
        }
    }

    fn check_rows(&self, report: &QueryReport) -> Result<(), Refusal> {
        let n_rows = report.answers.first().map_or(0, |answer| answer.rows.len());
        match self.why.iter().find(|row| **row == 0 || **row > n_rows) {
            Some(row) => {
                let message = format!("there is no row {row} in the answer");
                let hint = format!("the answer has {n_rows} rows, counted from 1");
                Err(Refusal::usage(&message, &hint))
            }
            None => Ok(()),
        }
    }
}

fn why_row(n: usize) -> WhyRow {
    WhyRow { query: 0, row: n.wrapping_sub(1) }
}

impl Verb for AskQuery {
    type Answer = QueryView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<QueryView>, Refusal> {
        let notices = settle_peers(caller.space)?;
        let reply = self.ask(caller, &AtomicBool::new(false))?.reply()?;
        Ok(Reply { notices: [notices, reply.notices].concat(), ..reply })
    }
}

impl QueryOutcome {
    /// Says it to those who do not show findings in their places.
    pub(crate) fn reply(self) -> Result<Reply<QueryView>, Refusal> {
        match self {
            QueryOutcome::Answered(answered) => Ok(Reply::plain(QueryView::new(&answered.report))),
            QueryOutcome::Refused(findings) if findings.is_usage() => Err(findings.usage()),
            QueryOutcome::Refused(findings) => Err(findings.refusal()),
        }
    }
}

impl QueryAllowance {
    /// Returns what a query may take whose text comes from others: no more than as usual, and five
    /// seconds.
    pub fn of_others(&self) -> QueryAllowance {
        let (asked, usual) = (self.limits(), QueryLimits::default());
        QueryAllowance {
            facts: Some(asked.facts_max.min(usual.facts_max)),
            rows: Some(asked.rows_max.min(usual.rows_max)),
            millis: Some(asked.time_ms_max.min(FOREIGN_QUERY_MS_MAX)),
            bytes: Some(asked.bytes_max.min(usual.bytes_max)),
        }
    }

    fn limits(&self) -> QueryLimits {
        let usual = QueryLimits::default();
        QueryLimits {
            facts_max: self.facts.unwrap_or(usual.facts_max),
            rows_max: self.rows.unwrap_or(usual.rows_max),
            time_ms_max: self.millis.unwrap_or(usual.time_ms_max),
            bytes_max: self.bytes.unwrap_or(usual.bytes_max),
        }
    }
}

impl QueryTextFindings {
    /// Says whether nothing is wrong but the parameters that were given, or not given.
    pub fn is_usage(&self) -> bool {
        let is_error = |finding: &&QueryFinding| finding.diagnostic.severity == Severity::Error;
        let mut errors = self.findings.iter().filter(is_error);
        errors.all(|finding| OF_PARAMETERS.contains(&finding.diagnostic.code))
    }

    /// Says it as wrong usage.
    pub fn usage(&self) -> Refusal {
        Refusal { class: ErrorClass::Usage, ..self.refusal() }
    }

    /// Says it as a refusal, for those who do not show findings in their places.
    pub fn refusal(&self) -> Refusal {
        self.refusal_of("the query has")
    }

    /// Says it of something that is no query by itself, which has the findings.
    pub fn refusal_of(&self, what_has: &str) -> Refusal {
        let shown = |finding: &QueryFinding| {
            let source = self.sources.get(finding.file).unwrap_or(&self.sources[0]);
            finding.diagnostic.render(source, DiagnosticStyle::Plain)
        };
        let message = match self.findings.len() {
            1 => format!("{what_has} a finding"),
            n => format!("{what_has} {n} findings"),
        };
        let mut refusal =
            Refusal::refused(&message, "`agentic query --schema` lists what there is");
        refusal.because = Some(self.findings.iter().map(shown).collect::<Vec<_>>().join("\n"));
        refusal
    }
}

/// Asks rules that come with the program, and returns the rows of their one answer. Nothing may be
/// left out of it.
pub(crate) fn ask_shipped(
    caller: &Caller<'_>,
    name: &str,
    params: BTreeMap<String, String>,
) -> Result<Vec<Vec<QueryValue>>, Refusal> {
    let named = Some(name.to_owned());
    let query = AskQuery { named, params, strict: true, ..AskQuery::default() };
    match query.ask(caller, &AtomicBool::new(false))? {
        QueryOutcome::Answered(AnsweredQuery { report, .. }) => {
            Ok(report.answers.into_iter().next().map(|answer| answer.rows).unwrap_or_default())
        }
        QueryOutcome::Refused(findings) => Err(findings.refusal()),
    }
}

/// Lists all predicates that queries may ask for.
pub fn query_predicates(caller: &Caller<'_>) -> Vec<FactPredicate> {
    let nothing_is_read = |_: ReadProgress<'_>| ControlFlow::Continue(());
    with_facts(caller.space, &nothing_is_read, |facts| facts.joined.predicates().to_vec())
}

fn refusal(error: QueryError) -> Refusal {
    let hint = match &error {
        QueryError::Limit { .. } => "ask for less, or allow more with a flag of `agentic query`",
        QueryError::Arithmetic { .. } => "keep such rows out with a comparison before it",
        QueryError::Cancelled => "ask again when there is time",
        QueryError::Facts { .. } => "`agentic doctor` looks for damage",
    };
    let mut refusal = Refusal::refused(&error.to_string(), hint);
    refusal.because = std::error::Error::source(&error).map(ToString::to_string);
    refusal
}

fn left_out(first: &str, n_notes: usize) -> Refusal {
    let message = match n_notes {
        1 => "something could not be read".to_owned(),
        n => format!("{n} things could not be read"),
    };
    let hint = "`agentic doctor` looks for damage";
    let mut refusal = Refusal::new(ErrorClass::Corrupt, &message, hint);
    refusal.because = Some(first.to_owned());
    refusal
}
