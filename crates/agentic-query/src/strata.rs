//! Strata: which predicates depend on which, and in what order they are computed.

use std::collections::BTreeSet;

use agentic_diag::Diagnostic;

use crate::code::{self, QueryFindings, QueryPlace};
use crate::rule::{AtomUse, PredicateOrigin, RuleSet, each_atom};

/// A predicate that another asks for.
struct PredicateDependency {
    on: usize,
    asked: AtomUse,
    place: QueryPlace,
}

/// Groups predicates that depend on each other, those that others need first.
pub(crate) fn components(set: &RuleSet) -> Vec<Vec<usize>> {
    strongly_connected(&dependencies(set))
}

/// Says of each predicate whether it depends on itself.
pub(crate) fn recursive(set: &RuleSet) -> Vec<bool> {
    let graph = dependencies(set);
    let mut found = vec![false; graph.len()];
    for members in strongly_connected(&graph) {
        let is_own = |member: &usize| graph[*member].iter().any(|other| other.on == *member);
        if members.len() > 1 || members.iter().any(is_own) {
            members.iter().for_each(|member| found[*member] = true);
        }
    }
    found
}

/// Returns for each predicate a number that those have in common which depend on each other.
pub(crate) fn component_numbers(set: &RuleSet) -> Vec<usize> {
    numbers_of(&dependencies(set))
}

fn numbers_of(graph: &[Vec<PredicateDependency>]) -> Vec<usize> {
    let mut component_of = vec![0; graph.len()];
    for (number, members) in strongly_connected(graph).iter().enumerate() {
        members.iter().for_each(|member| component_of[*member] = number);
    }
    component_of
}

/// Says whether no negation and no aggregate asks for what depends on it.
pub(crate) fn is_stratified(set: &RuleSet) -> bool {
    let graph = dependencies(set);
    let component_of = numbers_of(&graph);
    graph.iter().enumerate().all(|(predicate, found)| {
        found.iter().all(|other| {
            other.asked == AtomUse::Positive || component_of[other.on] != component_of[predicate]
        })
    })
}

/// Complains about recursion through negation or aggregates, and about rules that nothing asks for.
pub(crate) fn check_strata(set: &RuleSet, findings: &mut QueryFindings) {
    let graph = dependencies(set);
    let component_of = numbers_of(&graph);
    for (predicate, found) in graph.iter().enumerate() {
        for dependency in found {
            let is_cycle = component_of[predicate] == component_of[dependency.on];
            if dependency.asked == AtomUse::Complete && is_cycle {
                let names = cycle(&graph, dependency.on, predicate);
                let names: Vec<&str> = names.iter().map(|n| &*set.predicates[*n].name).collect();
                let said = format!(
                    "recursion through a negation or an aggregate: {} → {}",
                    set.predicates[predicate].name,
                    names.join(" → ")
                );
                let hint = "a negation or an aggregate asks for what is known before";
                findings.error(code::UNSTRATIFIED, dependency.place, said, hint);
            }
        }
    }
    // A query or a rule that is a finding may have asked for it.
    if findings.has_errors() {
        return;
    }
    let reached = reached(set, &graph);
    for (number, predicate) in set.predicates.iter().enumerate() {
        let is_own = predicate.origin == PredicateOrigin::Rules && predicate.place.file == 0;
        if is_own && !reached.contains(&number) {
            let said = format!("no query asks for `{}`", predicate.name);
            let finding = Diagnostic::warning(code::UNUSED, predicate.place.span, said);
            findings.add(0, finding.hint("ask for it, or take it out"));
        }
    }
}

fn dependencies(set: &RuleSet) -> Vec<Vec<PredicateDependency>> {
    let mut graph: Vec<Vec<PredicateDependency>> =
        set.predicates.iter().map(|_| Vec::new()).collect();
    for rule in &set.rules {
        each_atom(&rule.body, &mut |atom, asked, place| {
            graph[rule.head.predicate].push(PredicateDependency {
                on: atom.predicate,
                asked,
                place,
            });
        });
    }
    graph
}

fn reached(set: &RuleSet, graph: &[Vec<PredicateDependency>]) -> BTreeSet<usize> {
    let mut open: Vec<usize> = set.queries.iter().map(|query| query.predicate).collect();
    let mut reached = BTreeSet::new();
    while let Some(predicate) = open.pop() {
        if reached.insert(predicate) {
            open.extend(graph[predicate].iter().map(|dependency| dependency.on));
        }
    }
    reached
}

/// Finds a shortest way from one predicate to another, both included.
fn cycle(graph: &[Vec<PredicateDependency>], from: usize, to: usize) -> Vec<usize> {
    let mut before = vec![None; graph.len()];
    let mut open = std::collections::VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            break;
        }
        for next in graph[at].iter().map(|dependency| dependency.on) {
            if before[next].is_none() && next != from {
                before[next] = Some(at);
                open.push_back(next);
            }
        }
    }
    let mut way = vec![to];
    while let Some(previous) = before[way[way.len() - 1]] {
        way.push(previous);
    }
    way.reverse();
    way
}

/// Tarjan's algorithm with a stack of its own, for chains of rules may be long.
fn strongly_connected(graph: &[Vec<PredicateDependency>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut found, mut next) = (Vec::new(), 0);
    let (mut order, mut low) = (vec![UNSEEN; graph.len()], vec![0; graph.len()]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; graph.len()]);
    for start in 0..graph.len() {
        if order[start] != UNSEEN {
            continue;
        }
        // Most predicates are facts, which ask for nothing.
        if graph[start].is_empty() {
            (order[start], low[start]) = (next, next);
            next += 1;
            found.push(vec![start]);
            continue;
        }
        let mut calls = vec![(start, 0)];
        while let Some((at, edge)) = calls.pop() {
            if edge == 0 {
                (order[at], low[at]) = (next, next);
                next += 1;
                open.push(at);
                is_open[at] = true;
            } else {
                let child = graph[at][edge - 1].on;
                if is_open[child] {
                    low[at] = low[at].min(low[child]);
                }
            }
            let ahead = graph[at][edge..].iter().position(|dependency| {
                let on = dependency.on;
                if is_open[on] {
                    low[at] = low[at].min(order[on]);
                }
                order[on] == UNSEEN
            });
            if let Some(ahead) = ahead {
                calls.push((at, edge + ahead + 1));
                calls.push((graph[at][edge + ahead].on, 0));
            } else if low[at] == order[at] {
                let from = open.iter().rposition(|member| *member == at).unwrap_or(0);
                let members = open.split_off(from);
                members.iter().for_each(|member| is_open[*member] = false);
                found.push(members);
            }
        }
    }
    found
}
