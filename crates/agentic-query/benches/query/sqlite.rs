//! SQLite's side: the same facts in memory, with the indices that its questions want.

use rusqlite::{Connection, params_from_iter};

use crate::facts::{BenchFacts, BenchTable};

const INDICES: [&str; 7] = [
    "sub (p, a)",
    "sub (a, p)",
    "chain (p, a)",
    "commits (agent, kind, id)",
    "entry (c, kind, n)",
    "commits (kind, id)",
    "commits (id, agent)",
];

/// A database in memory.
pub struct SqliteFacts {
    connection: Connection,
}

impl SqliteFacts {
    /// Fills a database and makes its indices.
    pub fn new(facts: &BenchFacts) -> SqliteFacts {
        let connection = Connection::open_in_memory().expect("a database in memory opens");
        connection.execute_batch("pragma cache_size = -2000000; begin").expect("it begins");
        facts.tables.iter().for_each(|table| fill(&connection, table));
        connection.execute_batch("commit").expect("it ends");
        for (number, columns) in INDICES.iter().enumerate() {
            let sql = format!("create index i{number} on {columns}");
            connection.execute_batch(&sql).expect("an index is made");
        }
        connection.execute_batch("analyze").expect("it is analysed");
        SqliteFacts { connection }
    }

    /// Asks for one number.
    pub fn ask(&self, sql: &str) -> u64 {
        let mut statement = self.connection.prepare(sql).expect("the question is right");
        let count: i64 = statement.query_row([], |row| row.get(0)).expect("it has an answer");
        u64::try_from(count).unwrap_or(0)
    }
}

fn fill(connection: &Connection, table: &BenchTable) {
    // `commit` is a word of SQL.
    let name = if table.name == "commit" { "commits" } else { table.name };
    let columns: Vec<String> = table.columns.iter().map(|c| format!("{c} integer")).collect();
    let create = format!("create table {name} ({})", columns.join(", "));
    connection.execute_batch(&create).expect("a table is made");
    let marks = vec!["?"; table.columns.len()].join(", ");
    let insert = format!("insert into {name} values ({marks})");
    let mut statement = connection.prepare(&insert).expect("rows can be added");
    for row in table.words.chunks_exact(table.columns.len()) {
        statement.execute(params_from_iter(row)).expect("a row is added");
    }
}
