//! The facts: a forest and a chain of agents, commits and entries.

use agentic_query::{
    FactCell, FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch, QueryType,
};

const AGENTS: u32 = 100_000;
const COMMITS: u32 = 1_000_000;
const KINDS: u32 = 8;
/// The first agents of the forest that nobody made.
const ROOTS: u32 = 100;

/// Rows of whole numbers.
pub struct BenchTable {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    pub words: Vec<u32>,
}

/// All tables, as a source.
pub struct BenchFacts {
    pub tables: Vec<BenchTable>,
    predicates: Vec<FactPredicate>,
}

/// A small source of numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % n
    }
}

impl BenchFacts {
    /// Makes all of them.
    pub fn make() -> BenchFacts {
        let mut numbers = Numbers(7);
        let sub = (ROOTS..AGENTS).flat_map(|agent| [agent, numbers.below(agent)]).collect();
        let commit = (0..COMMITS)
            .flat_map(|id| [id, numbers.below(AGENTS), numbers.below(KINDS), id / 3])
            .collect();
        let entry = (0..COMMITS)
            .flat_map(|n| [numbers.below(COMMITS), n & 15, numbers.below(KINDS), n / 2])
            .collect();
        BenchFacts::new(vec![
            BenchTable { name: "sub", columns: &["a", "p"], words: sub },
            BenchFacts::chain_table(),
            BenchTable { name: "commit", columns: &["id", "agent", "kind", "at"], words: commit },
            BenchTable { name: "entry", columns: &["c", "n", "kind", "at"], words: entry },
        ])
    }

    /// Makes the chain alone.
    pub fn chain() -> BenchFacts {
        BenchFacts::new(vec![BenchFacts::chain_table()])
    }

    fn chain_table() -> BenchTable {
        let words = (1..AGENTS).flat_map(|agent| [agent, agent - 1]).collect();
        BenchTable { name: "chain", columns: &["a", "p"], words }
    }

    fn new(tables: Vec<BenchTable>) -> BenchFacts {
        let predicate = |table: &BenchTable| {
            let columns: Vec<_> =
                table.columns.iter().map(|column| (*column, QueryType::Int)).collect();
            FactPredicate::new(table.name, &columns)
        };
        BenchFacts { predicates: tables.iter().map(predicate).collect(), tables }
    }
}

impl FactSource for BenchFacts {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        let table = &self.tables[request.predicate];
        for row in table.words.chunks_exact(table.columns.len()) {
            let cell = |column: &usize| FactCell::Int(i64::from(row[*column]));
            let cells: Vec<FactCell<'_>> = request.columns.iter().map(cell).collect();
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
