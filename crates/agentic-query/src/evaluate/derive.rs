//! Derivations: all ways in which rules give the rows that a reason may need, and of each row the
//! lowest.
//!
//! From a row down, each rule is done with the variables of its head bound: what comes out are its
//! instances, each with the derived rows that it stands on. Heights are counted from below.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::limit::{QueryError, QueryLimitKind};
use crate::plan::stride_of;
use crate::pool::ValuePool;
use crate::rule::{
    CheckedRule, PredicateOrigin, RuleAtom, RuleGoal, RuleGoalKind, RulePredicate, RuleSet,
    RuleTerm, RuleVariable,
};
use crate::value::QueryValue;

use super::step::RowBatch;
use super::{Evaluation, goal_text};

/// What an instance takes beside its words, in bytes.
const INSTANCE_BYTES: usize = 96;

/// A row of a predicate; a column of a fact that the goal leaves open has no value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ReasonRow {
    pub predicate: usize,
    pub cells: Box<[Option<u32>]>,
    /// Which of the facts that fit, from 0, where columns are open.
    pub nth: usize,
}

/// A way in which a rule gives a row.
#[derive(Debug)]
pub(crate) struct RuleInstance {
    pub rule: usize,
    /// The words of the rule's variables.
    pub slots: Box<[u32]>,
    /// The derived rows that it stands on.
    pub needs: Vec<usize>,
}

/// Rows with their instances and heights.
pub(crate) struct DerivationSearch<'a> {
    pub evaluation: Evaluation<'a>,
    rules_of: Vec<Vec<usize>>,
    numbers: HashMap<ReasonRow, usize>,
    rows: Vec<ReasonRow>,
    instances: Vec<Option<Vec<RuleInstance>>>,
    heights: Vec<usize>,
}

/// Names what goals about derived predicates leave open, so that an instance has all of its rows.
pub(crate) fn with_open_cells(mut set: RuleSet) -> RuleSet {
    let RuleSet { predicates, rules, .. } = &mut set;
    for rule in rules {
        let CheckedRule { body, variables, .. } = rule;
        name_open_cells(body, variables, predicates);
    }
    set
}

fn name_open_cells(
    body: &mut [RuleGoal],
    variables: &mut Vec<RuleVariable>,
    predicates: &[RulePredicate],
) {
    for goal in body {
        let place = goal.place;
        match &mut goal.kind {
            RuleGoalKind::Positive(atom) => {
                let predicate = &predicates[atom.predicate];
                if predicate.origin == PredicateOrigin::Fact {
                    continue;
                }
                for (term, kind) in atom.terms.iter_mut().zip(&predicate.kinds) {
                    if matches!(term, RuleTerm::Blank) {
                        *term = RuleTerm::Variable(variables.len());
                        let name = "_".to_owned();
                        variables.push(RuleVariable {
                            name,
                            kind: *kind,
                            place,
                            n_uses: 1,
                            is_lost: false,
                        });
                    }
                }
            }
            RuleGoalKind::Aggregate(inner) => {
                name_open_cells(&mut inner.body, variables, predicates);
            }
            RuleGoalKind::Negative(_) | RuleGoalKind::Compare(..) | RuleGoalKind::Test(_) => {}
        }
    }
}

/// Fills an atom with the words of a row of its rule.
pub(crate) fn filled(atom: &RuleAtom, slots: &[u32], pool: &mut ValuePool) -> ReasonRow {
    let cell = |term: &RuleTerm| match term {
        RuleTerm::Variable(variable) => Some(slots[*variable]),
        RuleTerm::Constant(value, _) => Some(pool.intern_value(value)),
        RuleTerm::Blank
        | RuleTerm::Id(..)
        | RuleTerm::Negate(_)
        | RuleTerm::Binary(..)
        | RuleTerm::Call(..) => None,
    };
    ReasonRow { predicate: atom.predicate, cells: atom.terms.iter().map(cell).collect(), nth: 0 }
}

impl<'a> DerivationSearch<'a> {
    /// Begins with the rows that an evaluation found.
    pub fn new(evaluation: Evaluation<'a>) -> DerivationSearch<'a> {
        let mut rules_of = vec![Vec::new(); evaluation.set.predicates.len()];
        for (number, rule) in evaluation.set.rules.iter().enumerate() {
            rules_of[rule.head.predicate].push(number);
        }
        DerivationSearch {
            evaluation,
            rules_of,
            numbers: HashMap::new(),
            rows: Vec::new(),
            instances: Vec::new(),
            heights: Vec::new(),
        }
    }

    /// Says whether rules give a row.
    pub fn is_derived(&self, row: &ReasonRow) -> bool {
        self.evaluation.set.predicates[row.predicate].origin != PredicateOrigin::Fact
    }

    /// Says whether all ways to a row are known.
    pub fn is_known(&self, row: &ReasonRow) -> bool {
        let number = self.numbers.get(row);
        number.is_some_and(|number| self.instances[*number].is_some())
    }

    fn number(&mut self, row: ReasonRow) -> usize {
        if let Some(number) = self.numbers.get(&row) {
            return *number;
        }
        let number = self.rows.len();
        self.rows.push(row.clone());
        self.numbers.insert(row, number);
        self.instances.push(None);
        number
    }

    /// Finds all ways to rows, and to the rows that those stand on, and counts heights.
    pub fn explore(&mut self, rows: &BTreeSet<ReasonRow>) -> Result<(), QueryError> {
        let mut open: BTreeSet<usize> = BTreeSet::new();
        for row in rows {
            open.insert(self.number(row.clone()));
        }
        while !open.is_empty() {
            let mut by_predicate: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for number in std::mem::take(&mut open) {
                if self.instances[number].is_none() {
                    self.instances[number] = Some(Vec::new());
                    let predicate = self.rows[number].predicate;
                    by_predicate.entry(predicate).or_default().push(number);
                }
            }
            for (predicate, numbers) in by_predicate {
                for rule in self.rules_of[predicate].clone() {
                    self.instances_of(rule, &numbers, &mut open)?;
                }
            }
        }
        self.count_heights();
        Ok(())
    }

    /// Finds the instances of a rule that give these rows.
    fn instances_of(
        &mut self,
        number: usize,
        rows: &[usize],
        open: &mut BTreeSet<usize>,
    ) -> Result<(), QueryError> {
        let set = self.evaluation.set;
        let rule = &set.rules[number];
        let (batch, bound) = self.head_rows(rule, rows);
        let done = self.evaluation.run_goals(rule, &rule.body, (batch, bound), &mut Vec::new());
        let batch = done.map_err(|stop| self.evaluation.error(rule, stop))?;
        // Facts with equal values give equal instances.
        let mut found: Vec<&[u32]> = batch.rows().collect();
        found.sort_unstable();
        found.dedup();
        let n_bytes = found.len() * (batch.stride * 4 + INSTANCE_BYTES);
        self.evaluation.ground.grown_bytes += n_bytes;
        self.check_memory(rule)?;
        for slots in found {
            let head = filled(&rule.head, slots, self.evaluation.pool);
            let head = self.number(head);
            let needs = self.needs(rule, slots);
            open.extend(needs.iter().copied().filter(|need| self.instances[*need].is_none()));
            let slots = slots[..rule.variables.len()].into();
            let known = self.instances[head].get_or_insert_default();
            known.push(RuleInstance { rule: number, slots, needs });
        }
        Ok(())
    }

    fn check_memory(&self, rule: &CheckedRule) -> Result<(), QueryError> {
        let (budget, ground) = (self.evaluation.budget, &self.evaluation.ground);
        if ground.bytes + ground.grown_bytes <= budget.limits.bytes_max {
            return Ok(());
        }
        let kind = QueryLimitKind::Memory;
        let goal = goal_text(&rule.text, rule.place, rule.place);
        Err(QueryError::Limit { kind, most: budget.most(kind), rule: rule.text.clone(), goal })
    }

    /// Returns the rows of a rule whose head is one of these rows, with nothing else bound.
    fn head_rows(&mut self, rule: &CheckedRule, rows: &[usize]) -> (RowBatch, Vec<bool>) {
        let stride = stride_of(rule);
        let mut words = Vec::new();
        let mut bound = vec![false; rule.variables.len()];
        rule.head.terms.iter().for_each(|term| term.each_variable(&mut |v| bound[v] = true));
        for row in rows {
            let mut slots = vec![None; stride];
            let cells = self.rows[*row].cells.iter();
            let fits = rule.head.terms.iter().zip(cells).all(|(term, cell)| match term {
                RuleTerm::Variable(variable) => {
                    let held = slots[*variable].get_or_insert(*cell);
                    *held == *cell
                }
                RuleTerm::Constant(value, _) => {
                    Some(self.evaluation.pool.intern_value(value)) == *cell
                }
                RuleTerm::Blank
                | RuleTerm::Id(..)
                | RuleTerm::Negate(_)
                | RuleTerm::Binary(..)
                | RuleTerm::Call(..) => false,
            });
            if fits {
                words.extend(slots.into_iter().map(|slot| slot.flatten().unwrap_or(0)));
            }
        }
        (RowBatch { stride, words }, bound)
    }

    fn needs(&mut self, rule: &CheckedRule, slots: &[u32]) -> Vec<usize> {
        let mut needs = Vec::new();
        for goal in &rule.body {
            if let RuleGoalKind::Positive(atom) = &goal.kind {
                let row = filled(atom, slots, self.evaluation.pool);
                if self.is_derived(&row) {
                    let need = self.number(row);
                    if !needs.contains(&need) {
                        needs.push(need);
                    }
                }
            }
        }
        needs
    }

    /// Counts heights from below: a row is as high as the least of its instances, and that is one
    /// more than the highest row that it stands on.
    fn count_heights(&mut self) {
        let mut waiting: Vec<Vec<usize>> = Vec::with_capacity(self.rows.len());
        let mut users: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.rows.len()];
        let mut level = Vec::new();
        self.heights = vec![usize::MAX; self.rows.len()];
        for (row, instances) in self.instances.iter().enumerate() {
            let instances = instances.as_deref().unwrap_or_default();
            for (at, instance) in instances.iter().enumerate() {
                instance.needs.iter().for_each(|need| users[*need].push((row, at)));
                if instance.needs.is_empty() {
                    level.push(row);
                }
            }
            waiting.push(instances.iter().map(|instance| instance.needs.len()).collect());
        }
        let mut height = 0;
        while !level.is_empty() {
            height += 1;
            let heights = &mut self.heights;
            level.retain(|row| {
                let is_new = heights[*row] == usize::MAX;
                heights[*row] = heights[*row].min(height);
                is_new
            });
            let mut next = Vec::new();
            for row in &level {
                for (user, at) in &users[*row] {
                    waiting[*user][*at] -= 1;
                    if waiting[*user][*at] == 0 && self.heights[*user] == usize::MAX {
                        next.push(*user);
                    }
                }
            }
            level = next;
        }
    }

    /// Returns how high a row is: 0 for a fact.
    pub fn height(&self, row: &ReasonRow) -> usize {
        self.numbers.get(row).map_or(0, |number| self.heights[*number])
    }

    /// Returns the instance that a reason shows: the lowest, then of the first rule, then of the
    /// least rows.
    pub fn lowest(&self, row: &ReasonRow) -> Option<(usize, Box<[u32]>)> {
        let number = *self.numbers.get(row)?;
        let height = self.heights[number];
        let instances = self.instances[number].as_deref()?;
        let is_lowest = |instance: &&RuleInstance| {
            instance.needs.iter().all(|need| self.heights[*need] < height)
        };
        let mut best: Option<(usize, Vec<QueryValue>, &RuleInstance)> = None;
        for instance in instances.iter().filter(is_lowest) {
            if best.as_ref().is_some_and(|(rule, ..)| *rule < instance.rule) {
                continue;
            }
            let rows = self.rows_of(instance);
            let is_better =
                best.as_ref().is_none_or(|(rule, held, _)| (instance.rule, &rows) < (*rule, held));
            if is_better {
                best = Some((instance.rule, rows, instance));
            }
        }
        best.map(|(rule, _, instance)| (rule, instance.slots.clone()))
    }

    /// Returns the values of the rows that an instance stands on, goal by goal, then those of its
    /// variables.
    fn rows_of(&self, instance: &RuleInstance) -> Vec<QueryValue> {
        let rule = &self.evaluation.set.rules[instance.rule];
        let pool = &*self.evaluation.pool;
        let mut values = Vec::new();
        for goal in &rule.body {
            if let RuleGoalKind::Positive(atom) = &goal.kind {
                for term in &atom.terms {
                    if let RuleTerm::Variable(variable) = term {
                        values.push(pool.value(instance.slots[*variable]));
                    }
                }
            }
        }
        values.extend(instance.slots.iter().map(|word| pool.value(*word)));
        values
    }
}
