//! Any question about what agents did, asked in Datalog.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant as Moment;

use agentic_diag::{DiagnosticStyle, Severity, SourceText};
use agentic_model::guidance::ErrorClass;
use agentic_query::{
    ConstantPushing, FactBase, FactPredicate, FactSource, QueryError, QueryFinding, QueryInput,
    QueryLimits, QueryReport, QueryRun, QueryWatch, compile,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::with_facts;
use crate::verb::{Reply, Verb};
use crate::view::QueryView;
use crate::{Caller, Refusal};

/// Answer a query over the facts of a space.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AskQuery {
    /// The text: one query, or rules and queries.
    pub text: String,
    /// What findings call the text.
    pub name: Option<String>,
    /// Values of parameters: literals of their types, texts as they are.
    pub params: BTreeMap<String, String>,
    /// What it may take, where that is not as usual.
    pub limits: QueryAllowance,
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
        with_facts(caller.space, |facts| self.ask_of(caller, facts, cancel))
    }

    fn ask_of(
        &self,
        caller: &Caller<'_>,
        facts: &dyn FactSource,
        cancel: &AtomicBool,
    ) -> Result<QueryOutcome, Refusal> {
        let started = Moment::now();
        let source = SourceText::new(self.name.as_deref().unwrap_or("query"), self.text.as_str());
        let files = BTreeMap::new();
        let now = caller.space.now().millis();
        let input = QueryInput { source: &source, files: &files, params: &self.params, now };
        let compiled = match compile(&input, facts) {
            Ok(compiled) => compiled,
            Err(findings) => {
                let sources = vec![source];
                return Ok(QueryOutcome::Refused(QueryTextFindings { sources, findings }));
            }
        };
        let limits = self.limits.limits();
        let elapsed_ms = || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let watch = QueryWatch { cancel, elapsed_ms: &elapsed_ms, time_ms_max: limits.time_ms_max };
        let run = QueryRun { facts, limits, watch, pushing: ConstantPushing::On };
        let mut report = compiled.answer(&mut FactBase::default(), &run).map_err(refusal)?;
        report.notes.sort();
        report.notes.dedup();
        match report.notes.first() {
            Some(first) if self.strict => Err(left_out(first, report.notes.len())),
            Some(_) | None => {
                let findings = compiled.warnings().to_vec();
                let warnings = QueryTextFindings { sources: vec![source], findings };
                Ok(QueryOutcome::Answered(AnsweredQuery { report, warnings }))
            }
        }
    }
}

impl Verb for AskQuery {
    type Answer = QueryView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<QueryView>, Refusal> {
        match self.ask(caller, &AtomicBool::new(false))? {
            QueryOutcome::Answered(answered) => Ok(Reply::plain(QueryView::new(&answered.report))),
            QueryOutcome::Refused(findings) if findings.is_usage() => Err(findings.usage()),
            QueryOutcome::Refused(findings) => Err(findings.refusal()),
        }
    }
}

impl QueryAllowance {
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
        errors.all(|finding| matches!(finding.diagnostic.code, "Q40" | "Q41"))
    }

    /// Says it as wrong usage.
    pub fn usage(&self) -> Refusal {
        Refusal { class: ErrorClass::Usage, ..self.refusal() }
    }

    /// Says it as a refusal, for those who do not show findings in their places.
    pub fn refusal(&self) -> Refusal {
        let shown = |finding: &QueryFinding| {
            let source = self.sources.get(finding.file).unwrap_or(&self.sources[0]);
            finding.diagnostic.render(source, DiagnosticStyle::Plain)
        };
        let message = match self.findings.len() {
            1 => "the query has a finding".to_owned(),
            n => format!("the query has {n} findings"),
        };
        let mut refusal =
            Refusal::refused(&message, "`agentic query --schema` lists what there is");
        refusal.because = Some(self.findings.iter().map(shown).collect::<Vec<_>>().join("\n"));
        refusal
    }
}

/// Lists all predicates that queries may ask for.
pub fn query_predicates(caller: &Caller<'_>) -> Vec<FactPredicate> {
    with_facts(caller.space, |facts| facts.predicates().to_vec())
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
