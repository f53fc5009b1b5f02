//! Reading facts: the predicates and columns that rules reach, restricted by the constants in them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::fact::{FactBinding, FactRequest, FactSink, FactSource};
use crate::limit::{QueryBudget, QueryError, QueryLimitKind};
use crate::pool::ValuePool;
use crate::rule::{PredicateOrigin, RuleSet, RuleTerm, each_atom};
use crate::table::FactTable;
use crate::value::{QueryType, QueryValue};

/// Values and whole tables that are kept from one query to the next.
#[derive(Default)]
pub(crate) struct BaseTables {
    pub pool: ValuePool,
    pub kept: BTreeMap<usize, Rc<FactTable>>,
}

/// What was read.
pub(crate) struct LoadedFacts {
    pub tables: Vec<Rc<FactTable>>,
    pub notes: Vec<String>,
    pub n_facts: usize,
}

/// Lists what a program asks its source for.
pub(crate) fn requests(set: &RuleSet) -> Vec<FactRequest> {
    let mut asked: BTreeMap<usize, Vec<Vec<RuleTerm>>> = BTreeMap::new();
    for rule in &set.rules {
        each_atom(&rule.body, &mut |atom, _, _| {
            if set.predicates[atom.predicate].origin == PredicateOrigin::Fact {
                asked.entry(atom.predicate).or_default().push(atom.terms.clone());
            }
        });
    }
    let requests = asked.into_iter().map(|(predicate, atoms)| {
        let width = set.predicates[predicate].kinds.len();
        let is_used =
            |column: &usize| atoms.iter().any(|terms| !matches!(terms[*column], RuleTerm::Blank));
        let columns = (0..width).filter(is_used).collect();
        let bound = (0..width).filter_map(|column| binding(column, &atoms)).collect();
        FactRequest { predicate, columns, bound }
    });
    requests.collect()
}

/// Returns the values of a column, if all goals have a constant there.
fn binding(column: usize, atoms: &[Vec<RuleTerm>]) -> Option<FactBinding> {
    let mut values = BTreeSet::<QueryValue>::new();
    for terms in atoms {
        let RuleTerm::Constant(value, _) = &terms[column] else { return None };
        values.insert(value.clone());
    }
    Some(FactBinding { column, values: values.into_iter().collect() })
}

/// Reads what a program asks for.
pub(crate) fn load(
    set: &RuleSet,
    base: &mut BaseTables,
    facts: &dyn FactSource,
    budget: &QueryBudget<'_>,
) -> Result<LoadedFacts, QueryError> {
    let nothing = Rc::new(FactTable::default());
    let mut loaded =
        LoadedFacts { tables: vec![nothing; set.predicates.len()], notes: Vec::new(), n_facts: 0 };
    for request in requests(set) {
        let predicate = request.predicate;
        if let Some(kept) = base.kept.get(&predicate) {
            loaded.tables[predicate] = Rc::clone(kept);
            continue;
        }
        let table = read(&request, base, facts, budget, &mut loaded)?;
        loaded.tables[predicate] = Rc::new(table);
    }
    Ok(loaded)
}

/// Reads one predicate.
pub(crate) fn read(
    request: &FactRequest,
    base: &mut BaseTables,
    facts: &dyn FactSource,
    budget: &QueryBudget<'_>,
    loaded: &mut LoadedFacts,
) -> Result<FactTable, QueryError> {
    let described = &facts.predicates()[request.predicate];
    let kinds: Vec<QueryType> =
        request.columns.iter().map(|column| described.columns[*column].kind).collect();
    let rows_max = budget.limits.facts_max.saturating_sub(loaded.n_facts);
    let mut sink = FactSink::new(&mut base.pool, budget.watch, kinds, rows_max);
    facts
        .read(request, &mut sink)
        .map_err(|source| QueryError::Facts { predicate: described.name.clone(), source })?;
    let FactSink { columns: read, n_rows, notes, .. } = sink;
    loaded.notes.extend(notes);
    loaded.n_facts += n_rows;
    let mut columns = vec![Vec::new(); described.columns.len()];
    for (column, values) in request.columns.iter().zip(read) {
        columns[*column] = values;
    }
    let table = FactTable::new(columns, n_rows);
    let kind = if budget.watch.is_cancelled() {
        return Err(QueryError::Cancelled);
    } else if n_rows > rows_max {
        QueryLimitKind::Facts
    } else if budget.watch.is_over() {
        QueryLimitKind::Time
    } else if base.pool.bytes() + table.bytes() > budget.limits.bytes_max {
        QueryLimitKind::Memory
    } else {
        return Ok(table);
    };
    let name = described.name.clone();
    Err(QueryError::Limit { kind, most: budget.most(kind), rule: name.clone(), goal: name })
}

/// Reads all of one predicate, with what was left out.
pub(crate) fn read_whole(
    request: &FactRequest,
    base: &mut BaseTables,
    facts: &dyn FactSource,
    budget: &QueryBudget<'_>,
) -> Result<(FactTable, Vec<String>), QueryError> {
    let mut loaded = LoadedFacts { tables: Vec::new(), notes: Vec::new(), n_facts: 0 };
    let table = read(request, base, facts, budget, &mut loaded)?;
    Ok((table, loaded.notes))
}
