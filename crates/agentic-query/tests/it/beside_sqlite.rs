//! Generated programs give the rows that SQLite gives, whose rules are done in rounds until nothing
//! is added, and aggregates give the values that SQLite's give.

use agentic_query::{ConstantPushing, QueryLimits, QueryType, QueryValue};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::generated::{Choices, NAMES, facts_of, program, rule_text};
use crate::memory::{MemoryFacts, ask, int};
use crate::naive::{NaiveGoal, NaiveRule, NaiveTerm};

/// The parts of a `select` while goals are added to it.
#[derive(Default)]
struct RuleSelect {
    tables: Vec<String>,
    conditions: Vec<String>,
    variables: [Option<String>; 6],
}

impl RuleSelect {
    fn value(&self, term: NaiveTerm) -> Option<String> {
        match term {
            NaiveTerm::Variable(variable) => self.variables[variable].clone(),
            NaiveTerm::Constant(value) => Some(value.to_string()),
            NaiveTerm::Blank => None,
        }
    }

    /// Says what an atom asks of the columns of a table; what is not bound yet is bound by it.
    fn conditions_of(&mut self, table: &str, args: [NaiveTerm; 2]) -> Vec<String> {
        let mut conditions = Vec::new();
        for (term, column) in args.into_iter().zip(["a", "b"]) {
            let column = format!("{table}.{column}");
            match (self.value(term), term) {
                (Some(value), _) => conditions.push(format!("{column} = {value}")),
                (None, NaiveTerm::Variable(variable)) => self.variables[variable] = Some(column),
                (None, NaiveTerm::Constant(_) | NaiveTerm::Blank) => {}
            }
        }
        conditions
    }

    /// Returns a question about the rows that an atom matches, in a scope of its own.
    fn matches(&mut self, what: &str, predicate: usize, args: [NaiveTerm; 2]) -> String {
        let before = self.variables.clone();
        let mut conditions = self.conditions_of("x", args);
        self.variables = before;
        conditions.push("true".to_owned());
        format!("select {what} from {} x where {}", NAMES[predicate], conditions.join(" and "))
    }

    fn goal(&mut self, goal: &NaiveGoal) {
        match goal {
            NaiveGoal::Positive(predicate, args) => {
                let table = format!("t{}", self.tables.len());
                self.tables.push(format!("{} {table}", NAMES[*predicate]));
                let conditions = self.conditions_of(&table, *args);
                self.conditions.extend(conditions);
            }
            NaiveGoal::Negative(predicate, args) => {
                let found = self.matches("1", *predicate, *args);
                self.conditions.push(format!("not exists ({found})"));
            }
            NaiveGoal::Less(left, right) => {
                let sides = (self.value(*left), self.value(*right));
                let (Some(left), Some(right)) = sides else { panic!("{goal:?} is bound") };
                self.conditions.push(format!("{left} < {right}"));
            }
            NaiveGoal::Count(target, predicate, args) => {
                let found = self.matches("count(*)", *predicate, *args);
                self.variables[*target] = Some(format!("({found})"));
            }
        }
    }
}

/// Makes a statement that adds what a rule gives now.
fn statement(rule: &NaiveRule) -> String {
    let mut select = RuleSelect::default();
    let is_positive = |goal: &&NaiveGoal| matches!(goal, NaiveGoal::Positive(..));
    rule.body.iter().filter(is_positive).for_each(|goal| select.goal(goal));
    rule.body.iter().filter(|goal| !is_positive(goal)).for_each(|goal| select.goal(goal));
    let head = rule.args.map(|term| select.value(term).expect("heads are bound"));
    select.conditions.push("true".to_owned());
    format!(
        "insert or ignore into {} select {} from {} where {}",
        NAMES[rule.head],
        head.join(", "),
        select.tables.join(", "),
        select.conditions.join(" and "),
    )
}

fn rows_of(connection: &Connection, sql: &str) -> Vec<Vec<QueryValue>> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let width = statement.column_count();
    let cell = |row: &rusqlite::Row<'_>, at: usize| match row.get_ref(at) {
        Ok(rusqlite::types::ValueRef::Integer(number)) => QueryValue::Int(number),
        Ok(rusqlite::types::ValueRef::Real(number)) => QueryValue::Float(number),
        Ok(rusqlite::types::ValueRef::Null) => QueryValue::Null,
        other => panic!("{sql}: {other:?}"),
    };
    let rows = statement.query_map([], |row| Ok((0..width).map(|at| cell(row, at)).collect()));
    rows.expect("it runs").map(|row| row.expect("a row")).collect()
}

fn fill(connection: &Connection, name: &str, rows: &[Vec<QueryValue>]) {
    let number = |value: &QueryValue| match value {
        QueryValue::Int(number) => number.to_string(),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Float(_) | QueryValue::Text(_) => {
            "null".to_owned()
        }
    };
    for row in rows {
        let cells: Vec<String> = row.iter().map(number).collect();
        let sql = format!("insert into {name} values ({})", cells.join(", "));
        connection.execute_batch(&sql).expect("a fact is added");
    }
}

fn check_program(seed: u64) {
    let mut choices = Choices(seed);
    let (rows, strata) = program(&mut choices);
    let facts = facts_of(&rows, &mut choices);
    let connection = Connection::open_in_memory().expect("a database in memory opens");
    for (number, name) in NAMES.iter().enumerate() {
        let key = if number < 2 { "" } else { ", primary key (a, b)" };
        let sql = format!("create table {name} (a integer, b integer{key})");
        connection.execute_batch(&sql).expect("a table is made");
    }
    for (name, rows) in NAMES.iter().zip(&facts.rows) {
        fill(&connection, name, rows);
    }
    for rules in &strata {
        loop {
            let add = |rule| {
                let sql = statement(rule);
                let added = connection.execute(&sql, []);
                added.unwrap_or_else(|error| panic!("{sql}: {error}"))
            };
            if rules.iter().map(add).sum::<usize>() == 0 {
                break;
            }
        }
    }
    let text: String =
        strata.concat().iter().map(|rule| format!("{}.\n", rule_text(rule))).collect();
    for name in &NAMES[2..] {
        let program = format!("{text}? {name}(X, Y).");
        let report = ask(&facts, &program, ConstantPushing::On, QueryLimits::default());
        let report = report.unwrap_or_else(|error| panic!("{program}\n{error}"));
        let expected = rows_of(&connection, &format!("select a, b from {name} order by a, b"));
        assert_eq!(report.answers[0].rows, expected, "{program}");
    }
}

fn check_aggregates(seed: u64) {
    let mut choices = Choices(seed);
    let mut rows = Vec::new();
    for _ in 0..choices.below(30) {
        let value = match choices.below(5) {
            0 => QueryValue::Null,
            _ => int(choices.below(9) as i64 - 4),
        };
        rows.push(vec![int(choices.below(4) as i64), value]);
    }
    let connection = Connection::open_in_memory().expect("a database in memory opens");
    connection.execute_batch("create table v (k integer, n integer)").expect("a table is made");
    fill(&connection, "v", &rows);
    let mut facts = MemoryFacts::default();
    facts.add("v", &[("k", QueryType::Int), ("n", QueryType::Int)], rows);
    for (ours, theirs) in [
        ("count { v(K, _) }", "count(*)"),
        ("count distinct { N : v(K, N) }", "count(distinct n)"),
        ("sum { N : v(K, N) }", "coalesce(sum(n), 0)"),
        ("sum { N * 2 + 1 : v(K, N) }", "coalesce(sum(n * 2 + 1), 0)"),
        ("min { N : v(K, N) }", "min(n)"),
        ("max { N : v(K, N) }", "max(n)"),
        ("avg { N : v(K, N) }", "avg(n)"),
    ] {
        let program = format!("r(K, X) :- X = {ours}. ? r(K, X).");
        let report = ask(&facts, &program, ConstantPushing::On, QueryLimits::default());
        let report = report.unwrap_or_else(|error| panic!("{program}\n{error}"));
        let sql = format!(
            "select * from (select k, {theirs} as x from v group by k) where x is not null order by k"
        );
        assert_eq!(
            report.answers[0].rows,
            rows_of(&connection, &sql),
            "{program} {:?}",
            facts.rows
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_agree_with_sqlite(seed in any::<u64>()) {
        check_program(seed);
    }

    #[test]
    fn aggregates_agree_with_sqlite(seed in any::<u64>()) {
        check_aggregates(seed);
    }
}
