//! Types of columns and variables: joined where one variable stands in several places, followed
//! through arithmetic until nothing new is known, then checked.

mod check;

use agentic_diag::Diagnostic;

use crate::ast::{AggregateKind, Arithmetic};
use crate::code::{self, QueryFindings, QueryPlace};
use crate::fact::{FactSource, IdMatch};
use crate::rule::{CheckedRule, RuleAtom, RuleGoal, RuleGoalKind, RuleSet, RuleTerm};
use crate::value::{QueryType, QueryValue};

/// What is known about types: sets of places that have one type.
struct TypeGraph {
    parents: Vec<usize>,
    kinds: Vec<Option<(QueryType, QueryPlace)>>,
    /// The first node of each predicate's columns.
    columns: Vec<usize>,
    /// The first node of each rule's variables.
    variables: Vec<usize>,
    /// The first node of the ids.
    ids: usize,
}

/// Infers all types and writes those into the rules that anything tells; resolves ids.
pub(crate) fn infer(
    set: &mut RuleSet,
    id_kinds: Vec<Option<(QueryType, QueryPlace)>>,
    facts: &dyn FactSource,
    findings: &mut QueryFindings,
) {
    let mut graph = TypeGraph::new(set, id_kinds);
    for (number, rule) in set.rules.iter().enumerate() {
        graph.join_atom(number, &rule.head, rule.place, findings);
        graph.join_body(number, &rule.body, findings);
    }
    graph.follow(set, findings);
    // The sum of what can only be `null` is the number 0, wherever it is used.
    let mut is_changed = false;
    for (number, rule) in set.rules.iter().enumerate() {
        is_changed |= graph.count_sums(number, &rule.body, findings);
    }
    if is_changed {
        graph.follow(set, findings);
    }
    graph.write(set);
    let mut resolver = IdResolver { graph: &mut graph, facts, findings };
    set.rules.iter_mut().for_each(|rule| resolver.rule(rule));
}

/// Checks operations against the types that were found. What nothing tells can only be `null`, which
/// has every type: it is shown as text, once nothing is wrong.
pub(crate) fn check_types(set: &mut RuleSet, findings: &mut QueryFindings) {
    set.rules.iter().for_each(|rule| check::check_rule(rule, findings));
    if findings.has_errors() {
        return;
    }
    let columns = set.predicates.iter_mut().flat_map(|predicate| &mut predicate.kinds);
    let variables = set.rules.iter_mut().flat_map(|rule| &mut rule.variables);
    for kind in columns.chain(variables.map(|variable| &mut variable.kind)) {
        *kind = kind.or(Some(QueryType::Text));
    }
}

impl TypeGraph {
    fn new(set: &RuleSet, id_kinds: Vec<Option<(QueryType, QueryPlace)>>) -> TypeGraph {
        let (mut kinds, mut columns, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        for predicate in &set.predicates {
            columns.push(kinds.len());
            let known = predicate.kinds.iter().map(|kind| kind.map(|kind| (kind, predicate.place)));
            kinds.extend(known);
        }
        for rule in &set.rules {
            variables.push(kinds.len());
            kinds.resize(kinds.len() + rule.variables.len(), None);
        }
        let ids = kinds.len();
        kinds.extend(id_kinds);
        TypeGraph { parents: (0..kinds.len()).collect(), kinds, columns, variables, ids }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn kind(&mut self, node: usize) -> Option<QueryType> {
        let root = self.root(node);
        self.kinds[root].map(|(kind, _)| kind)
    }

    fn join(&mut self, a: usize, b: usize, place: QueryPlace, findings: &mut QueryFindings) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        match (self.kinds[a], self.kinds[b]) {
            (Some(left), Some(right)) if left.0 != right.0 => {
                disagree(left, right, place, findings);
            }
            (left, right) => {
                self.parents[b] = a;
                self.kinds[a] = left.or(right);
            }
        }
    }

    /// Gives a node a type; says whether that is new.
    fn set(
        &mut self,
        node: usize,
        kind: QueryType,
        place: QueryPlace,
        findings: &mut QueryFindings,
    ) -> bool {
        let root = self.root(node);
        match self.kinds[root] {
            Some(known) if known.0 != kind => disagree(known, (kind, place), place, findings),
            Some(_) => {}
            None => {
                self.kinds[root] = Some((kind, place));
                return true;
            }
        }
        false
    }

    /// Returns the node of a term that is one.
    fn node(&self, rule: usize, term: &RuleTerm) -> Option<usize> {
        match term {
            RuleTerm::Variable(number) => Some(self.variables[rule] + number),
            RuleTerm::Id(number, _) => Some(self.ids + number),
            RuleTerm::Blank
            | RuleTerm::Constant(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => None,
        }
    }

    fn join_atom(
        &mut self,
        rule: usize,
        atom: &RuleAtom,
        place: QueryPlace,
        findings: &mut QueryFindings,
    ) {
        for (column, term) in atom.terms.iter().enumerate() {
            let column = self.columns[atom.predicate] + column;
            if let Some(node) = self.node(rule, term) {
                self.join(column, node, place, findings);
            } else if let RuleTerm::Constant(_, Some(kind)) = term {
                self.set(column, *kind, place, findings);
            }
        }
    }

    fn join_body(&mut self, rule: usize, body: &[RuleGoal], findings: &mut QueryFindings) {
        for goal in body {
            match &goal.kind {
                RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) => {
                    self.join_atom(rule, atom, goal.place, findings);
                }
                RuleGoalKind::Aggregate(aggregate) => {
                    self.join_body(rule, &aggregate.body, findings);
                }
                RuleGoalKind::Compare(..) | RuleGoalKind::Test(_) => {}
            }
        }
    }

    /// Follows comparisons and aggregates of all rules, until nothing new is known.
    fn follow(&mut self, set: &RuleSet, findings: &mut QueryFindings) {
        // Each round decides a type at least, or is the last one.
        loop {
            let mut is_changed = false;
            for (number, rule) in set.rules.iter().enumerate() {
                is_changed |= self.follow_body(number, &rule.body, findings);
            }
            if !is_changed {
                break;
            }
        }
    }

    /// Makes whole numbers of sums that nothing tells the type of; says whether there are any.
    fn count_sums(&mut self, rule: usize, body: &[RuleGoal], found: &mut QueryFindings) -> bool {
        let mut is_changed = false;
        for goal in body {
            if let RuleGoalKind::Aggregate(aggregate) = &goal.kind {
                is_changed |= self.count_sums(rule, &aggregate.body, found);
                let node = self.variables[rule] + aggregate.target;
                if aggregate.kind == AggregateKind::Sum && self.kind(node).is_none() {
                    is_changed |= self.set(node, QueryType::Int, goal.place, found);
                }
            }
        }
        is_changed
    }

    /// Follows comparisons and aggregates; says whether anything new is known.
    fn follow_body(&mut self, rule: usize, body: &[RuleGoal], found: &mut QueryFindings) -> bool {
        let mut is_changed = false;
        for goal in body {
            match &goal.kind {
                RuleGoalKind::Compare(_, left, right) => {
                    let kinds = (self.term_kind(rule, left), self.term_kind(rule, right));
                    let (node, kind) = match kinds {
                        (Some(kind), None) => (self.node(rule, right), kind),
                        (None, Some(kind)) => (self.node(rule, left), kind),
                        (None, None) | (Some(_), Some(_)) => continue,
                    };
                    if let Some(node) = node {
                        is_changed |= self.set(node, kind, goal.place, found);
                    }
                }
                RuleGoalKind::Aggregate(aggregate) => {
                    is_changed |= self.follow_body(rule, &aggregate.body, found);
                    let term = aggregate.term.as_ref();
                    let term = term.and_then(|term| self.term_kind(rule, term));
                    if let Some(kind) = aggregate_kind(aggregate.kind, term) {
                        let node = self.variables[rule] + aggregate.target;
                        is_changed |= self.set(node, kind, goal.place, found);
                    }
                }
                RuleGoalKind::Positive(_) | RuleGoalKind::Negative(_) | RuleGoalKind::Test(_) => {}
            }
        }
        is_changed
    }

    fn term_kind(&mut self, rule: usize, term: &RuleTerm) -> Option<QueryType> {
        if let Some(node) = self.node(rule, term) {
            return self.kind(node);
        }
        match term {
            RuleTerm::Negate(inner) => self.term_kind(rule, inner),
            RuleTerm::Binary(operator, left, right) => {
                let (left, right) = (self.term_kind(rule, left), self.term_kind(rule, right));
                arithmetic_kind(*operator, left?, right?)
            }
            RuleTerm::Constant(_, kind) => *kind,
            RuleTerm::Call(function, _) => Some(function.result()),
            RuleTerm::Blank | RuleTerm::Variable(_) | RuleTerm::Id(..) => None,
        }
    }

    /// Writes what is known into the rules.
    fn write(&mut self, set: &mut RuleSet) {
        for (number, predicate) in set.predicates.iter_mut().enumerate() {
            for (column, kind) in predicate.kinds.iter_mut().enumerate() {
                *kind = self.kind(self.columns[number] + column);
            }
        }
        for (number, rule) in set.rules.iter_mut().enumerate() {
            for (variable, found) in rule.variables.iter_mut().enumerate() {
                let node = self.variables[number] + variable;
                found.kind = self.kind(node);
            }
        }
    }
}

fn disagree(
    left: (QueryType, QueryPlace),
    right: (QueryType, QueryPlace),
    place: QueryPlace,
    findings: &mut QueryFindings,
) {
    let (first, second) = (left.0.name(), right.0.name());
    let said = format!("one value is of type {first} and of type {second}");
    let mut finding = Diagnostic::error(code::TYPES_DISAGREE, place.span, said)
        .hint("compare values of one type; `text(…)` makes a text of anything");
    for (kind, other) in [left, right] {
        if other.file == place.file && other.span != place.span && other != QueryPlace::default() {
            finding = finding.see(other.span, format!("{} here", kind.name()));
        }
    }
    findings.add(place.file, finding);
}

/// Returns the type of what arithmetic gives, if these types have it.
pub(crate) fn arithmetic_kind(
    operator: Arithmetic,
    left: QueryType,
    right: QueryType,
) -> Option<QueryType> {
    use QueryType::{Duration, Float, Instant, Int};
    let number = if (left, right) == (Int, Int) { Int } else { Float };
    let is_number = left.is_number() && right.is_number();
    match (operator, left, right) {
        (Arithmetic::Modulo, Int, Int) => Some(Int),
        (Arithmetic::Modulo, _, _) => None,
        _ if is_number => Some(number),
        (Arithmetic::Add | Arithmetic::Subtract, Instant, Duration)
        | (Arithmetic::Add, Duration, Instant) => Some(Instant),
        (Arithmetic::Subtract, Instant, Instant)
        | (Arithmetic::Add | Arithmetic::Subtract, Duration, Duration)
        | (Arithmetic::Multiply | Arithmetic::Divide, Duration, Int)
        | (Arithmetic::Multiply, Int, Duration) => Some(Duration),
        (Arithmetic::Divide, Duration, Duration) => Some(Float),
        (Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply, _, _)
        | (Arithmetic::Divide, _, _) => None,
    }
}

/// Returns the type of what an aggregate gives.
pub(crate) fn aggregate_kind(kind: AggregateKind, term: Option<QueryType>) -> Option<QueryType> {
    match kind {
        AggregateKind::Count | AggregateKind::CountDistinct => Some(QueryType::Int),
        AggregateKind::List => Some(QueryType::Text),
        AggregateKind::Sum | AggregateKind::Min | AggregateKind::Max => term,
        AggregateKind::Average if term == Some(QueryType::Int) => Some(QueryType::Float),
        AggregateKind::Average => term,
    }
}

/// Says whether two types compare.
pub(crate) fn is_comparable(left: QueryType, right: QueryType) -> bool {
    left == right || (left.is_number() && right.is_number())
}

/// Replaces ids by what they stand for.
struct IdResolver<'a> {
    graph: &'a mut TypeGraph,
    facts: &'a dyn FactSource,
    findings: &'a mut QueryFindings,
}

impl IdResolver<'_> {
    fn rule(&mut self, rule: &mut CheckedRule) {
        let place = rule.place;
        rule.head.terms.iter_mut().for_each(|term| self.term(term, place));
        self.body(&mut rule.body);
    }

    fn body(&mut self, body: &mut [RuleGoal]) {
        for goal in body {
            let place = goal.place;
            match &mut goal.kind {
                RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) => {
                    atom.terms.iter_mut().for_each(|term| self.term(term, place));
                }
                RuleGoalKind::Compare(_, left, right) => {
                    self.term(left, place);
                    self.term(right, place);
                }
                RuleGoalKind::Test(test) => {
                    test.terms.iter_mut().for_each(|term| self.term(term, place));
                }
                RuleGoalKind::Aggregate(aggregate) => {
                    aggregate.term.iter_mut().for_each(|term| self.term(term, place));
                    self.body(&mut aggregate.body);
                }
            }
        }
    }

    fn term(&mut self, term: &mut RuleTerm, place: QueryPlace) {
        match term {
            RuleTerm::Id(number, text) => {
                let kind = self.graph.kind(self.graph.ids + *number);
                *term = RuleTerm::Constant(self.resolve(kind, text, place), kind);
            }
            RuleTerm::Negate(inner) => self.term(inner, place),
            RuleTerm::Binary(_, left, right) => {
                self.term(left, place);
                self.term(right, place);
            }
            RuleTerm::Call(_, args) => args.iter_mut().for_each(|arg| self.term(arg, place)),
            RuleTerm::Blank | RuleTerm::Constant(..) | RuleTerm::Variable(_) => {}
        }
    }

    fn resolve(&mut self, kind: Option<QueryType>, text: &str, place: QueryPlace) -> QueryValue {
        if kind.is_none() && self.findings.has_errors() {
            return QueryValue::Null;
        }
        let Some(kind) = kind.filter(|kind| kind.is_id()) else {
            let said = format!("`#{text}` stands where no id can be");
            let hint = "ids are values of commit, cid, session and request";
            self.findings.error(code::TYPES_DISAGREE, place, said, hint);
            return QueryValue::Null;
        };
        let (least, name) = match kind {
            QueryType::Cid => (10, "characters"),
            QueryType::Session | QueryType::Request => (8, "digits"),
            QueryType::Commit => (4, "digits"),
            QueryType::Text
            | QueryType::Int
            | QueryType::Float
            | QueryType::Bool
            | QueryType::Instant
            | QueryType::Duration => (0, ""),
        };
        let (said, hint) = if text.len() < least {
            (format!("`#{text}` is too short"), format!("give {least} {name} at least"))
        } else {
            match self.facts.resolve(kind, text) {
                IdMatch::Found(id) => return QueryValue::text(&id),
                IdMatch::Unknown => {
                    let said = format!("no {} begins with `#{text}`", kind.name());
                    (said, "look the id up".to_owned())
                }
                IdMatch::Ambiguous => {
                    let said = format!("several {}s begin with `#{text}`", kind.name());
                    (said, "give more of it".to_owned())
                }
            }
        };
        self.findings.error(code::UNKNOWN_ID, place, said, hint);
        QueryValue::Null
    }
}
