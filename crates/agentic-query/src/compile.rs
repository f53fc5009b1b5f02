//! From a text to a program that can be asked: all findings at once.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::answer::{AnswerSet, answer};
use crate::code::{self, QueryFinding, QueryFindings};
use crate::evaluate::{
    BaseTables, DerivationSearch, Evaluation, FactTables, GROWN_COLUMNS_MAX, with_open_cells,
};
use crate::explain::QueryExplanation;
use crate::fact::{FactRequest, FactSource};
use crate::limit::{QueryBudget, QueryError, QueryLimits, QueryWatch};
use crate::lower::{QueryInput, lower};
use crate::parser::parse;
use crate::reason::{QueryReasons, WhyRow};
use crate::rule::{PredicateOrigin, RuleSet, each_atom};
use crate::safety::check_safety;
use crate::specialise::{ConstantPushing, RecursiveRows, specialise};
use crate::strata::check_strata;
use crate::types::{check_types, infer};
use crate::value::QueryType;

/// A program without findings that forbid it.
#[derive(Debug, Clone)]
pub struct CompiledQuery {
    set: RuleSet,
    warnings: Vec<QueryFinding>,
}

/// Values, and tables of facts, that stay from one query to the next.
#[derive(Default)]
pub struct FactBase {
    tables: BaseTables,
}

/// How a program is asked.
pub struct QueryRun<'a> {
    /// Where facts come from; the same source that the text was compiled with.
    pub facts: &'a dyn FactSource,
    /// What it may take.
    pub limits: QueryLimits,
    /// Who may end it.
    pub watch: QueryWatch<'a>,
    /// Whether constants are pushed into rules.
    pub pushing: ConstantPushing,
}

/// What a program gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryReport {
    /// The answer of each query, in the order in which they are written.
    pub answers: Vec<AnswerSet>,
    /// Why rows are answers, for each query that was asked about.
    pub reasons: Vec<QueryReasons>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// How many facts were read.
    pub n_facts: usize,
    /// What was done and read for it.
    pub explanation: QueryExplanation,
}

/// Lists the rule files that a text uses, in the order in which it names them.
pub fn used_rules(text: &str) -> Vec<String> {
    if !may_use(text) {
        return Vec::new();
    }
    parse(text).0.uses.into_iter().map(|used| used.name).collect()
}

/// A parameter that a text declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredParam {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: QueryType,
    /// Whether it has a value where none is given.
    pub has_value: bool,
}

/// Lists the parameters that a text declares, in their order.
pub fn declared_params(text: &str) -> Vec<DeclaredParam> {
    let param = |param: crate::ast::ParamText| DeclaredParam {
        name: param.name.name,
        kind: param.kind,
        has_value: param.value.is_some(),
    };
    parse(text).0.params.into_iter().map(param).collect()
}

/// Lists the predicates that the rules of a text define, each once.
pub fn defined_predicates(text: &str) -> Vec<String> {
    let names = parse(text).0.rules.into_iter().map(|rule| rule.head.name.name);
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

/// Says whether `use` stands anywhere in a text as a word: without it there is nothing to parse for.
fn may_use(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices("use").any(|(at, found)| {
        !text[..at].ends_with(is_letter) && !text[at + found.len()..].starts_with(is_letter)
    })
}

/// Compiles a text.
pub fn compile(
    input: &QueryInput<'_>,
    facts: &dyn FactSource,
) -> Result<CompiledQuery, Vec<QueryFinding>> {
    let mut findings = QueryFindings::default();
    let (mut set, id_kinds) = lower(input, facts.predicates(), &mut findings);
    infer(&mut set, id_kinds, facts, &mut findings);
    check_safety(&mut set, &mut findings);
    check_types(&mut set, &mut findings);
    check_strata(&set, &mut findings);
    check_widths(&set, &mut findings);
    if findings.has_errors() {
        return Err(findings.sorted());
    }
    Ok(CompiledQuery { set, warnings: findings.sorted() })
}

fn check_widths(set: &RuleSet, findings: &mut QueryFindings) {
    for predicate in &set.predicates {
        let is_wide = predicate.kinds.len() > GROWN_COLUMNS_MAX;
        if is_wide && predicate.origin == PredicateOrigin::Rules {
            let said = format!("`{}` has more than {GROWN_COLUMNS_MAX} columns", predicate.name);
            let hint = "give parts of it rules of their own";
            findings.error(code::TOO_LARGE, predicate.place, said, hint);
        }
    }
}

impl CompiledQuery {
    /// Lists what is probably not meant.
    pub fn warnings(&self) -> &[QueryFinding] {
        &self.warnings
    }

    /// Says of each query whether it asks for reasons.
    pub fn asks_why(&self) -> Vec<bool> {
        self.set.queries.iter().map(|query| query.is_why).collect()
    }

    /// Says whether any rule asks for a predicate of the source.
    pub fn mentions(&self, predicate: usize) -> bool {
        let mut found = false;
        for rule in &self.set.rules {
            each_atom(&rule.body, &mut |atom, _, _| found |= atom.predicate == predicate);
        }
        found
    }

    /// Lists what the source will be asked for.
    pub fn requests(&self, pushing: ConstantPushing) -> Vec<FactRequest> {
        crate::evaluate::requests(&specialise(&self.set, pushing, RecursiveRows::Asked, &|_, _| {
            1.0
        }))
    }

    /// Answers all queries of the text, with reasons for the rows of those that ask why.
    pub fn answer(
        &self,
        base: &mut FactBase,
        run: &QueryRun<'_>,
    ) -> Result<QueryReport, QueryError> {
        self.answer_why(base, run, &[])
    }

    /// Answers all queries of the text, with reasons for some rows beside those that ask why.
    pub fn answer_why(
        &self,
        base: &mut FactBase,
        run: &QueryRun<'_>,
        wanted: &[WhyRow],
    ) -> Result<QueryReport, QueryError> {
        let budget = QueryBudget::new(run.limits, &run.watch);
        let is_asked = !wanted.is_empty() || self.set.queries.iter().any(|query| query.is_why);
        let rows = if is_asked { RecursiveRows::OnTheWay } else { RecursiveRows::Asked };
        let set = {
            let facts = FactTables::new(&RuleSet::default(), run.facts, &base.tables.kept, &budget);
            let estimate = |fact: usize, columns: &[usize]| facts.estimate(fact, columns);
            specialise(&self.set, run.pushing, rows, &estimate)
        };
        let written = if is_asked {
            with_open_cells(specialise(&self.set, ConstantPushing::Off, rows, &|_, _| 1.0))
        } else {
            RuleSet::default()
        };
        let mut evaluation = Evaluation::new(&set, &mut base.tables, run.facts, &budget);
        evaluation.run()?;
        let answers: Vec<AnswerSet> =
            set.queries.iter().map(|query| answer(&evaluation, query)).collect();
        let mut explanation = evaluation.explanation();
        let mut reasons = Vec::new();
        if is_asked {
            let mut search = DerivationSearch::new(evaluation.into_written(&written));
            for (number, answer) in answers.iter().enumerate() {
                let rows = self.rows_asked_about(number, answer, wanted);
                if !rows.is_empty() {
                    reasons.push(crate::evaluate::reasons(&mut search, number, answer, &rows)?);
                }
            }
            evaluation = search.evaluation;
            explanation.reads.extend(evaluation.explanation().reads);
        }
        explanation.caches = run.facts.caches();
        let FactTables { notes, n_facts, .. } = evaluation.facts;
        Ok(QueryReport { answers, reasons, notes, n_facts, explanation })
    }

    /// Lists the rows of a query whose reasons are wanted, as they are shown.
    fn rows_asked_about(&self, query: usize, answer: &AnswerSet, wanted: &[WhyRow]) -> Vec<usize> {
        if self.set.queries[query].is_why {
            return (0..answer.rows.len()).collect();
        }
        let rows: BTreeSet<usize> =
            wanted.iter().filter(|why| why.query == query).map(|why| why.row).collect();
        rows.into_iter().filter(|row| *row < answer.rows.len()).collect()
    }
}

impl FactBase {
    /// Reads all of one predicate and keeps it for the queries that follow.
    pub fn keep(&mut self, name: &str, run: &QueryRun<'_>) -> Result<Vec<String>, QueryError> {
        let Some(predicate) = run.facts.predicates().iter().position(|known| known.name == name)
        else {
            return Ok(Vec::new());
        };
        let columns = (0..run.facts.predicates()[predicate].columns.len()).collect();
        let request = FactRequest { predicate, columns, ..FactRequest::default() };
        let budget = QueryBudget::new(run.limits, &run.watch);
        let BaseTables { pool, kept } = &mut self.tables;
        let mut tables = FactTables::new(&RuleSet::default(), run.facts, kept, &budget);
        let table = tables.read_table(&request, pool)?;
        let notes = std::mem::take(&mut tables.notes);
        kept.insert(predicate, Rc::new(table));
        Ok(notes)
    }

    /// Counts the memory that values and kept tables take.
    pub fn bytes(&self) -> usize {
        let tables: usize = self.tables.kept.values().map(|table| table.bytes()).sum();
        self.tables.pool.bytes() + tables
    }
}
