//! Facts in memory and questions about them, which measure the evaluation of queries alone.
//!
//! A hundred roots with 99,900 agents forked from random earlier ones, a chain of 100,000, a million
//! commits and a million entries. [`EvaluationFacts::write`] hands the same facts to other databases.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agentic_diag::SourceText;
use agentic_query::{
    ConstantPushing, FactBase, FactCell, FactFailure, FactPredicate, FactRequest, FactSink,
    FactSource, IdMatch, QueryError, QueryInput, QueryLimits, QueryRun, QueryType, QueryValue,
    QueryWatch, compile,
};

use agentic_testkit::Error;

const AGENTS: i64 = 100_000;
const ROOTS: i64 = 100;
const COMMITS: i64 = 1_000_000;
const KINDS: i64 = 8;
const FIRST_COMMIT: i64 = 1_000_000;
const FIRST_INSTANT: i64 = 3_000_000;

/// What is asked, by name. The answer of each but the first is one number.
pub const EVALUATION_QUESTIONS: [(&str, &str); 6] = [
    (
        "three joins from a constant",
        "? child(A, 300), commit(id: M, agent: A, kind: 3), entry(commit: M, n: N, kind: 5).",
    ),
    (
        "descendants, chain of 100,000",
        "under(A) :- link(A, 0). under(A) :- link(A, B), under(B). ? N = count { under(A) }.",
    ),
    (
        "all pairs, forest of 100,000",
        "under(A, B) :- child(A, B). under(A, C) :- child(A, B), under(B, C). \
         ? N = count { under(A, B) }.",
    ),
    (
        "not in, 1,000,000",
        "tested(M) :- entry(commit: M, kind: 5). \
         ? N = count { commit(id: M, kind: 3), !tested(M) }.",
    ),
    (
        "grouped count, 1,000,000",
        "work(A, K, N) :- N = count { commit(agent: A, kind: K) }. ? N = count { work(A, K, C) }.",
    ),
    (
        "join that makes 1,000,000",
        "seen(A, P, K) :- entry(commit: M, kind: K), commit(id: M, agent: A), child(A, P). \
         ? N = count { seen(A, P, K) }.",
    ),
];
/// More rows than any limit allows.
pub const ENDLESS_QUESTION: &str =
    "far(A, B) :- link(A, B). far(A, C) :- link(A, B), far(B, C). ? far(A, B).";
/// Tables that questions find in memory.
const KEPT: [&str; 4] = ["child", "link", "commit", "entry"];
/// The commits once more, whose values are known by then.
const COPY: &str = "copy";
/// Two questions that each need an index of that table.
pub const COPY_LOOKUPS: [&str; 2] =
    ["? copy(id: 1000005, agent: A, kind: K, at: T).", "? copy(id: M, agent: 7, kind: K, at: T)."];

/// Nobody ends a question.
// process: it never changes.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The tables, a row after the other.
#[derive(Debug)]
pub struct EvaluationFacts {
    predicates: Vec<FactPredicate>,
    tables: Vec<Vec<i64>>,
}

/// The numbers that everybody draws.
struct EvaluationDice(u64);

impl EvaluationDice {
    /// Knuth's generator of MMIX.
    fn below(&mut self, most: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % most
    }
}

impl EvaluationFacts {
    /// Makes the same facts at each call.
    pub fn make() -> EvaluationFacts {
        let mut dice = EvaluationDice(7);
        let child = (ROOTS..AGENTS).flat_map(|agent| [agent, dice.below(agent)]).collect();
        let link = (1..AGENTS).flat_map(|agent| [agent, agent - 1]).collect();
        let commit = |number| {
            [FIRST_COMMIT + number, dice.below(AGENTS), dice.below(KINDS), FIRST_INSTANT + number]
        };
        let commits: Vec<i64> = (0..COMMITS).flat_map(commit).collect();
        let entry = |number| {
            let commit = FIRST_COMMIT + dice.below(COMMITS);
            [commit, number & 15, dice.below(KINDS), FIRST_INSTANT + number]
        };
        let entries = (0..COMMITS).flat_map(entry).collect();
        let table = |name, columns: &[&'static str]| {
            let columns: Vec<_> = columns.iter().map(|name| (*name, QueryType::Int)).collect();
            FactPredicate::new(name, &columns)
        };
        let commit = ["id", "agent", "kind", "at"];
        EvaluationFacts {
            predicates: vec![
                table("child", &["agent", "parent"]),
                table("link", &["agent", "parent"]),
                table("commit", &commit),
                table("entry", &["commit", "n", "kind", "at"]),
                table("copy", &commit),
            ],
            tables: vec![child, link, commits.clone(), entries, commits],
        }
    }

    /// Writes each table as a file of numbers, a row a line, with blanks between them.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for (predicate, table) in self.predicates.iter().zip(&self.tables) {
            let mut text = String::new();
            for row in table.chunks(predicate.columns.len()) {
                for number in row {
                    let _ = write!(text, "{number} ");
                }
                text.push('\n');
            }
            let path = folder.join(predicate.name);
            std::fs::write(path, text).map_err(Error::file("write the facts"))?;
        }
        Ok(())
    }
}

impl FactSource for EvaluationFacts {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        let n_columns = self.predicates[request.predicate].columns.len();
        let is_wanted = |row: &[i64]| {
            let is_bound = request
                .bound
                .iter()
                .all(|bound| bound.values.contains(&QueryValue::Int(row[bound.column])));
            is_bound && request.ranges.iter().all(|range| range.admits(row[range.column]))
        };
        let mut cells = Vec::with_capacity(n_columns);
        for row in self.tables[request.predicate].chunks(n_columns) {
            if !is_wanted(row) {
                continue;
            }
            cells.clear();
            cells.extend(request.columns.iter().map(|column| FactCell::Int(row[*column])));
            if sink.row(&cells).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn resolve(&self, _: QueryType, _: &str) -> IdMatch {
        IdMatch::Unknown
    }
}

/// What one question took.
#[derive(Debug)]
pub struct EvaluationTime {
    /// Parsing, planning and answering.
    pub taken: Duration,
    /// The rows of the last answer, or the number that is its only cell; for an error what it says.
    pub answer: Result<i64, QueryError>,
}

/// Facts that stay in memory from one question to the next.
pub struct EvaluationBench<'a> {
    facts: &'a EvaluationFacts,
    base: FactBase,
}

impl<'a> EvaluationBench<'a> {
    /// Reads the tables of the questions.
    pub fn begin(facts: &'a EvaluationFacts) -> EvaluationBench<'a> {
        let mut bench = EvaluationBench { facts, base: FactBase::default() };
        for name in KEPT {
            bench.keep(name);
        }
        bench
    }

    /// Reads the copy of the commits, and returns how many rows it has.
    pub fn keep_copy(&mut self) -> usize {
        self.keep(COPY);
        COMMITS as usize
    }

    /// Counts the memory of the values and the kept tables, as a limit does.
    pub fn bytes(&self) -> usize {
        self.base.bytes()
    }

    fn keep(&mut self, name: &str) {
        let elapsed_ms = || 0;
        let run = self.run(&elapsed_ms);
        self.base.keep(name, &run).expect("the tables are within the limits");
    }

    fn run<'b>(&self, elapsed_ms: &'b dyn Fn() -> u64) -> QueryRun<'b>
    where
        'a: 'b,
    {
        let limits = QueryLimits::default();
        let watch = QueryWatch { cancel: &NEVER, elapsed_ms, time_ms_max: limits.time_ms_max };
        QueryRun { facts: self.facts, limits, watch, pushing: ConstantPushing::On }
    }

    /// Asks one program within the default limits.
    pub fn ask(&mut self, program: &str) -> EvaluationTime {
        let began = Instant::now();
        let source = SourceText::new("question", program);
        let (files, params) = (BTreeMap::new(), BTreeMap::new());
        let input = QueryInput { source: &source, files: &files, params: &params, now: 0 };
        let compiled = compile(&input, self.facts).expect("the questions compile");
        let elapsed_ms = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let run = self.run(&elapsed_ms);
        let report = compiled.answer(&mut self.base, &run);
        let taken = began.elapsed();
        let answer = report.map(|report| {
            let last = report.answers.last().expect("each program asks something");
            let numbers = last.rows.first().map(Vec::as_slice);
            match numbers {
                Some([QueryValue::Int(number)]) if last.n_rows == 1 => *number,
                _ => last.rows.len() as i64,
            }
        });
        EvaluationTime { taken, answer }
    }
}
