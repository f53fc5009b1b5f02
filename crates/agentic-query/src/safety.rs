//! Safety: which goals bind which variables, and that all others find theirs bound.

use crate::ast::TermComparison;
use crate::code::{self, QueryFindings, QueryPlace};
use crate::rule::{
    CheckedRule, EmptyGroups, PredicateOrigin, RuleAggregate, RuleGoal, RuleGoalKind, RuleSet,
    RuleTerm, RuleVariable,
};

/// Finds what each aggregate groups by and waits for, and complains about what nothing binds.
pub(crate) fn check_safety(set: &mut RuleSet, findings: &mut QueryFindings) {
    let RuleSet { predicates, rules, .. } = set;
    for rule in rules {
        let unbound = check_rule(rule, findings);
        let is_query = predicates[rule.head.predicate].origin == PredicateOrigin::Query;
        if rule.place.file == 0 && !is_query {
            warn_of_unused(&rule.variables, &unbound, findings);
        }
    }
}

/// Returns which variables it complained about.
fn check_rule(rule: &mut CheckedRule, findings: &mut QueryFindings) -> Vec<bool> {
    let n_variables = rule.variables.len();
    let mut wanted = vec![false; n_variables];
    rule.head.terms.iter().for_each(|term| term.each_variable(&mut |v| wanted[v] = true));
    let lost: Vec<bool> = rule.variables.iter().map(|variable| variable.is_lost).collect();
    let mut bound = lost.clone();
    bind_body(&mut rule.body, &mut bound, &wanted);
    let said = vec![false; n_variables];
    let excused = lost.clone();
    let mut checker = SafetyChecker { variables: &rule.variables, findings, said, excused };
    checker.body(&rule.body, &lost, &bound);
    for term in &rule.head.terms {
        if matches!(term, RuleTerm::Blank) {
            let said = "`_` binds nothing in a head";
            let hint = "name a variable that a goal binds";
            checker.findings.error(code::UNSAFE, rule.place, said, hint);
        }
        term.each_variable(&mut |variable| {
            if !bound[variable] {
                checker.complain(variable, rule.variables[variable].place);
            }
        });
    }
    checker.said
}

/// Marks the variables that a body binds, and notes in its aggregates what they group by.
fn bind_body(body: &mut [RuleGoal], bound: &mut [bool], wanted: &[bool]) {
    for goal in body.iter() {
        if let RuleGoalKind::Aggregate(aggregate) = &goal.kind {
            bound[aggregate.target] = true;
        }
    }
    bind_goals(body, bound);
    let mut groups = Vec::new();
    for goal in body.iter_mut() {
        if let RuleGoalKind::Aggregate(aggregate) = &mut goal.kind {
            let mut inside = bound.to_vec();
            let mut inner_wanted = wanted.to_vec();
            if let Some(term) = &aggregate.term {
                term.each_variable(&mut |variable| inner_wanted[variable] = true);
            }
            bind_body(&mut aggregate.body, &mut inside, &inner_wanted);
            let is_group = |v: &usize| inside[*v] && !bound[*v] && wanted[*v];
            aggregate.groups = (0..bound.len()).filter(is_group).collect();
            if !aggregate.groups.is_empty() {
                aggregate.empty = EmptyGroups::Absent;
            }
            groups.extend(aggregate.groups.iter().copied());
        }
    }
    groups.into_iter().for_each(|variable| bound[variable] = true);
    bind_goals(body, bound);
    for goal in body.iter_mut() {
        if let RuleGoalKind::Aggregate(aggregate) = &mut goal.kind {
            let mut needs = Vec::new();
            aggregate.each_inner_variable(&mut |variable| {
                if bound[variable]
                    && !aggregate.groups.contains(&variable)
                    && !needs.contains(&variable)
                {
                    needs.push(variable);
                }
            });
            aggregate.needs = needs;
        }
    }
}

/// Marks what positive goals and equations bind, until nothing is added.
fn bind_goals(body: &[RuleGoal], bound: &mut [bool]) {
    for goal in body {
        if let RuleGoalKind::Positive(atom) = &goal.kind {
            atom.terms.iter().for_each(|term| term.each_variable(&mut |v| bound[v] = true));
        }
    }
    loop {
        let mut is_changed = false;
        for goal in body {
            if let Some(variable) = bound_by_equation(goal, bound) {
                is_changed |= !std::mem::replace(&mut bound[variable], true);
            }
        }
        if !is_changed {
            break;
        }
    }
}

/// Returns the variable that an equation binds, when its other side is bound.
pub(crate) fn bound_by_equation(goal: &RuleGoal, bound: &[bool]) -> Option<usize> {
    let RuleGoalKind::Compare(TermComparison::Equal, left, right) = &goal.kind else { return None };
    match (left, right) {
        (RuleTerm::Variable(v), other) if !bound[*v] && other.is_bound(bound) => Some(*v),
        (other, RuleTerm::Variable(v)) if !bound[*v] && other.is_bound(bound) => Some(*v),
        _ => None,
    }
}

/// Says whether a goal can be done when these variables are bound.
pub(crate) fn is_ready(goal: &RuleGoal, bound: &[bool]) -> bool {
    match &goal.kind {
        RuleGoalKind::Positive(_) => true,
        RuleGoalKind::Negative(atom) => {
            let mut all = true;
            atom.terms.iter().for_each(|term| term.each_variable(&mut |v| all &= bound[v]));
            all
        }
        RuleGoalKind::Compare(_, left, right) => {
            (left.is_bound(bound) && right.is_bound(bound))
                || bound_by_equation(goal, bound).is_some()
        }
        RuleGoalKind::Test(test) => test.terms.iter().all(|term| term.is_bound(bound)),
        RuleGoalKind::Aggregate(aggregate) => aggregate.needs.iter().all(|v| bound[*v]),
    }
}

/// Marks what a goal binds once it is done.
pub(crate) fn bind_goal(goal: &RuleGoal, bound: &mut [bool]) {
    match &goal.kind {
        RuleGoalKind::Positive(atom) => {
            atom.terms.iter().for_each(|term| term.each_variable(&mut |v| bound[v] = true));
        }
        RuleGoalKind::Aggregate(aggregate) => {
            bound[aggregate.target] = true;
            aggregate.groups.iter().for_each(|v| bound[*v] = true);
        }
        RuleGoalKind::Compare(..) => {
            if let Some(variable) = bound_by_equation(goal, bound) {
                bound[variable] = true;
            }
        }
        RuleGoalKind::Negative(_) | RuleGoalKind::Test(_) => {}
    }
}

/// Complains about what nothing binds: once about each variable, and not about what would be bound
/// if another one were.
struct SafetyChecker<'a> {
    variables: &'a [RuleVariable],
    findings: &'a mut QueryFindings,
    said: Vec<bool>,
    /// Variables that are complained about, and those that are unbound because of them.
    excused: Vec<bool>,
}

impl SafetyChecker<'_> {
    fn complain(&mut self, variable: usize, place: QueryPlace) {
        if self.excused[variable] || std::mem::replace(&mut self.said[variable], true) {
            return;
        }
        let said = format!("nothing binds `{}`", self.variables[variable].name);
        let hint = "bind it by a goal that is neither negated nor a comparison";
        self.findings.error(code::UNSAFE, place, said, hint);
    }

    /// Does the goals in thought, and complains about those that never become ready.
    fn body(&mut self, body: &[RuleGoal], outer: &[bool], binds: &[bool]) {
        let causes = causes(body, binds);
        for goal in waiting_goals(body, outer) {
            let mut is_said = false;
            goal.each_variable(&mut |variable| {
                let is_inner = matches!(goal.kind, RuleGoalKind::Aggregate(_));
                if !binds[variable] && !is_inner {
                    is_said = true;
                    if causes[variable] {
                        self.complain(variable, goal.place);
                    }
                }
            });
            if !is_said {
                let said = "this goal waits for what it binds itself, or for `_`";
                let hint = "bind its variables by a goal that is neither negated nor a comparison";
                self.findings.error(code::UNSAFE, goal.place, said, hint);
            }
        }
        for goal in body.iter().filter(|goal| !matches!(goal.kind, RuleGoalKind::Aggregate(_))) {
            goal.each_variable(&mut |variable| self.excused[variable] |= !binds[variable]);
        }
        for goal in body {
            if let RuleGoalKind::Aggregate(aggregate) = &goal.kind {
                self.aggregate(aggregate, goal.place);
            }
        }
    }

    /// Does the goals inside the braces of an aggregate in thought, and complains about its term.
    fn aggregate(&mut self, aggregate: &RuleAggregate, place: QueryPlace) {
        let mut outer = self.excused.clone();
        aggregate.needs.iter().for_each(|v| outer[*v] = true);
        let mut inner = outer.clone();
        bind_goals(&aggregate.body, &mut inner);
        for goal in &aggregate.body {
            if let RuleGoalKind::Aggregate(nested) = &goal.kind {
                inner[nested.target] = true;
                nested.groups.iter().for_each(|v| inner[*v] = true);
            }
        }
        bind_goals(&aggregate.body, &mut inner);
        self.body(&aggregate.body, &outer, &inner);
        let Some(term) = &aggregate.term else { return };
        term.each_variable(&mut |v| {
            if !inner[v] {
                self.complain(v, place);
            }
        });
        if matches!(term, RuleTerm::Blank) {
            self.findings.error(code::UNSAFE, place, "`_` has no value", "name a variable");
        }
    }
}

/// Returns the goals that never become ready.
fn waiting_goals<'g>(body: &'g [RuleGoal], outer: &[bool]) -> Vec<&'g RuleGoal> {
    let mut bound = outer.to_vec();
    let mut waiting: Vec<&RuleGoal> = body.iter().collect();
    loop {
        let n_before = waiting.len();
        waiting.retain(|goal| {
            let is_done = is_ready(goal, &bound);
            if is_done {
                bind_goal(goal, &mut bound);
            }
            !is_done
        });
        if waiting.len() == n_before {
            return waiting;
        }
    }
}

/// Finds the unbound variables of goals that no equation would bind if others were bound; of those
/// that wait for each other, the first.
fn causes(body: &[RuleGoal], binds: &[bool]) -> Vec<bool> {
    let (mut bound, mut causes) = (binds.to_vec(), vec![false; binds.len()]);
    let mut others = vec![true; binds.len()];
    loop {
        bind_goals(body, &mut bound);
        let (mut unbound, mut is_seen) = (Vec::new(), bound.clone());
        for goal in body.iter().filter(|goal| !matches!(goal.kind, RuleGoalKind::Aggregate(_))) {
            goal.each_variable(&mut |variable| {
                if !std::mem::replace(&mut is_seen[variable], true) {
                    unbound.push(variable);
                }
            });
        }
        let Some(first) = unbound.first().copied() else { return causes };
        unbound.retain(|variable| {
            others[*variable] = false;
            let binds_it = |goal| bound_by_equation(goal, &others) == Some(*variable);
            let is_bindable = body.iter().any(binds_it);
            others[*variable] = true;
            !is_bindable
        });
        if unbound.is_empty() {
            unbound.push(first);
        }
        for variable in unbound {
            (causes[variable], bound[variable]) = (true, true);
        }
    }
}

fn warn_of_unused(variables: &[RuleVariable], unbound: &[bool], findings: &mut QueryFindings) {
    for (variable, is_unbound) in variables.iter().zip(unbound) {
        let is_once = variable.n_uses == 1 && !is_unbound;
        if is_once && !variable.name.starts_with('_') && !variable.is_lost {
            let said = format!("`{}` stands in one place only", variable.name);
            let finding =
                agentic_diag::Diagnostic::warning(code::UNUSED, variable.place.span, said);
            findings.add(variable.place.file, finding.hint("write `_` for what does not matter"));
        }
    }
}
