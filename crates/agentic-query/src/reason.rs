//! Reasons: why a row is an answer, down to the facts.
//!
//! Of all derivations by the rules as they are written a row has the lowest; among those of one
//! height the first rule decides, then the least rows. So a reason never depends on the plan, and
//! one of a recursive row ends.

use crate::value::{QueryType, QueryValue};

/// How many nodes the reasons of one query have; what follows is counted.
pub const REASON_NODES_MAX: usize = 1_000;
/// How many matches of an aggregate are shown.
pub const REASON_MATCHES_MAX: usize = 20;

/// A row whose reasons are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WhyRow {
    /// The number of the query in its text, from 0.
    pub query: usize,
    /// The number of the row among those that the answer shows, from 0.
    pub row: usize,
}

/// Why rows of one query are answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryReasons {
    /// The number of the query.
    pub query: usize,
    /// The rows, and the node of each; none where there was no room for it.
    pub rows: Vec<(usize, Option<usize>)>,
    /// What rows stand on. A row that several stand on is here once.
    pub nodes: Vec<ReasonNode>,
    /// How many more nodes there would be.
    pub n_more: usize,
}

/// A row, and why it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonNode {
    /// The predicate; `?` for a row of the query.
    pub predicate: String,
    /// The values.
    pub cells: Vec<ReasonCell>,
    /// How many rules deep its lowest derivation is: 0 for a fact.
    pub height: usize,
    /// The rule that gives the row; none for a fact.
    pub rule: Option<ReasonRule>,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonCell {
    /// The name of the column, which facts have.
    pub column: Option<String>,
    /// The value, unless it is left open.
    pub value: Option<QueryValue>,
    /// Its type.
    pub kind: QueryType,
}

/// How a rule gives a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonRule {
    /// The rule, as it is written.
    pub text: String,
    /// The values of its variables.
    pub variables: Vec<(String, QueryValue, QueryType)>,
    /// Its goals, as they are written.
    pub goals: Vec<ReasonGoal>,
}

/// Why a goal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonGoal {
    /// The goal, as it is written.
    pub text: String,
    /// What makes it hold.
    pub ground: ReasonGround,
}

/// What makes a goal hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasonGround {
    /// A row, unless there was no room for its node.
    Row(Option<usize>),
    /// No row of a predicate matches.
    Absent {
        /// The predicate.
        predicate: String,
        /// What would match.
        cells: Vec<ReasonCell>,
    },
    /// A comparison or a test of these values.
    Holds,
    /// An aggregate.
    Aggregate {
        /// Which one, in its words.
        name: &'static str,
        /// What it gives.
        value: QueryValue,
        /// The type of that.
        kind: QueryType,
        /// How many matches there are.
        n_matches: usize,
        /// The goals of the first of them.
        matches: Vec<Vec<ReasonGoal>>,
    },
}

impl ReasonNode {
    /// Prints the row as a goal that asks for it.
    pub fn row_text(&self) -> String {
        format!("{}({})", self.predicate, cells_text(&self.cells))
    }
}

impl QueryReasons {
    /// Prints all reasons as trees, a line each, two blanks for each step down.
    pub fn lines(&self) -> Vec<String> {
        let mut printer = ReasonPrinter {
            reasons: self,
            is_shown: vec![false; self.nodes.len()],
            lines: Vec::new(),
        };
        for node in self.rows.iter().filter_map(|(_, node)| *node) {
            printer.node(node, 0);
        }
        if self.n_more > 0 {
            printer.lines.push(format!("and {} more", self.n_more));
        }
        printer.lines
    }
}

fn cells_text(cells: &[ReasonCell]) -> String {
    let cell = |cell: &ReasonCell| {
        let value = cell.value.as_ref().map(|value| value.to_json(cell.kind));
        match (&cell.column, value) {
            (Some(column), Some(value)) => Some(format!("{column}: {value}")),
            (Some(_), None) => None,
            (None, value) => Some(value.unwrap_or_else(|| "_".to_owned())),
        }
    };
    cells.iter().filter_map(cell).collect::<Vec<_>>().join(", ")
}

/// Prints trees without recursion, for a chain of rules may be long.
struct ReasonPrinter<'a> {
    reasons: &'a QueryReasons,
    is_shown: Vec<bool>,
    lines: Vec<String>,
}

/// What is still to be printed.
enum PrintTask<'a> {
    Node(usize, usize),
    Goal(&'a ReasonGoal, usize),
    Line(String, usize),
}

impl<'a> ReasonPrinter<'a> {
    fn node(&mut self, node: usize, depth: usize) {
        let mut tasks = vec![PrintTask::Node(node, depth)];
        while let Some(task) = tasks.pop() {
            let mut below = Vec::new();
            match task {
                PrintTask::Node(node, depth) => self.print_node(node, depth, &mut below),
                PrintTask::Goal(goal, depth) => self.print_goal(goal, depth, &mut below),
                PrintTask::Line(text, depth) => self.say(depth, &text),
            }
            below.reverse();
            tasks.extend(below);
        }
    }

    fn say(&mut self, depth: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.lines.push(format!("{}{text}", "  ".repeat(depth)));
    }

    fn print_node(&mut self, node: usize, depth: usize, below: &mut Vec<PrintTask<'a>>) {
        let found = &self.reasons.nodes[node];
        let is_again = std::mem::replace(&mut self.is_shown[node], true) && found.rule.is_some();
        let again = if is_again { ", as above" } else { "" };
        self.say(depth, &format!("{}{again}", found.row_text()));
        if let Some(rule) = found.rule.as_ref().filter(|_| !is_again) {
            self.say(depth + 1, &format!("by {}", rule.text));
            below.extend(rule.goals.iter().map(|goal| PrintTask::Goal(goal, depth + 1)));
        }
    }

    fn print_goal(&mut self, goal: &'a ReasonGoal, depth: usize, below: &mut Vec<PrintTask<'a>>) {
        match &goal.ground {
            ReasonGround::Row(Some(node)) => below.push(PrintTask::Node(*node, depth)),
            ReasonGround::Row(None) => self.say(depth, &format!("{} …", goal.text)),
            ReasonGround::Absent { predicate, cells } => {
                let cells = cells_text(cells);
                self.say(depth, &format!("no row matches {predicate}({cells})"));
            }
            ReasonGround::Holds => self.say(depth, &goal.text),
            ReasonGround::Aggregate { name, value, kind, n_matches, matches } => {
                let value = value.to_json(*kind);
                self.say(
                    depth,
                    &format!("{name} is {value} of {n_matches} matches: {}", goal.text),
                );
                for (number, goals) in matches.iter().enumerate() {
                    below.push(PrintTask::Line(format!("match {}", number + 1), depth + 1));
                    below.extend(goals.iter().map(|goal| PrintTask::Goal(goal, depth + 2)));
                }
                if *n_matches > matches.len() {
                    let more = n_matches - matches.len();
                    below.push(PrintTask::Line(format!("and {more} more"), depth + 1));
                }
            }
        }
    }
}
