//! Looks names up: from what a text says to rules.

mod goal;
mod scope;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agentic_diag::{Diagnostic, SourceText};
use regex::Regex;

use crate::ast::{
    AtomText, GoalKind, LiteralText, ParamText, QueryProgram, QueryText, RuleText, TermText,
};
use crate::code::{self, QueryFindings, QueryPlace};
use crate::fact::FactPredicate;
use crate::function::{TextTest, is_function};
use crate::lower::scope::ClauseScope;
use crate::parser::{parse, parse_literal};
use crate::rule::{
    CheckedQuery, CheckedRule, PredicateOrigin, RuleAtom, RulePredicate, RuleSet, RuleTerm,
};
use crate::value::{QueryType, QueryValue};

/// What a query is compiled with.
pub struct QueryInput<'a> {
    /// The text.
    pub source: &'a SourceText,
    /// Rule files that the text may use, by name.
    pub files: &'a BTreeMap<String, SourceText>,
    /// Values of parameters, as they were given.
    pub params: &'a BTreeMap<String, String>,
    /// What `now` is, in milliseconds.
    pub now: i64,
}

/// Looks up the names of one compilation.
pub(crate) struct Lowering<'a> {
    input: &'a QueryInput<'a>,
    pub findings: &'a mut QueryFindings,
    pub set: RuleSet,
    pub names: BTreeMap<Cow<'static, str>, usize>,
    params: BTreeMap<(usize, String), (QueryType, QueryValue)>,
    /// Names whose declarations are findings, so that it is none that they are unknown.
    pub lost_heads: BTreeSet<String>,
    pub lost_params: BTreeSet<(usize, String)>,
    /// Whether any predicate may be missing, with the rules that define it.
    pub may_lack_rules: bool,
    /// The ids that wait for their types: where one is declared as a parameter, with its type.
    pub ids: Vec<Option<(QueryType, QueryPlace)>>,
    /// Regular expressions by their texts: each is compiled once.
    pub expressions: BTreeMap<String, Option<Rc<Regex>>>,
    file: usize,
    text: &'a str,
}

/// Reads all files and makes rules of them.
pub(crate) fn lower<'a>(
    input: &'a QueryInput<'a>,
    facts: &[FactPredicate],
    findings: &'a mut QueryFindings,
) -> (RuleSet, Vec<Option<(QueryType, QueryPlace)>>) {
    let mut files = Vec::new();
    let (program, found) = parse(input.source.text());
    found.into_iter().for_each(|finding| findings.add(0, finding));
    files.push((input.source.text(), program));
    let is_whole = read_used(input, &mut files, findings);
    let set = RuleSet {
        predicates: facts.iter().enumerate().map(fact_predicate).collect(),
        ..RuleSet::default()
    };
    let names = facts.iter().enumerate().map(|(n, fact)| (Cow::Borrowed(fact.name), n)).collect();
    let mut lowering = Lowering {
        input,
        findings,
        set,
        names,
        params: BTreeMap::new(),
        lost_heads: BTreeSet::new(),
        lost_params: BTreeSet::new(),
        may_lack_rules: !is_whole,
        ids: Vec::new(),
        expressions: BTreeMap::new(),
        file: 0,
        text: "",
    };
    for (file, (text, program)) in files.iter().enumerate() {
        (lowering.file, lowering.text) = (file, text);
        lowering.declare(program);
    }
    for (file, (text, program)) in files.iter().enumerate() {
        (lowering.file, lowering.text) = (file, text);
        program.rules.iter().for_each(|rule| lowering.rule(rule));
        // Queries of files that are used are theirs.
        if file == 0 {
            program.queries.iter().for_each(|query| lowering.query(query));
        }
    }
    let has_lost_query = files.first().is_some_and(|(_, program)| program.unread.has_query);
    if lowering.set.queries.is_empty() && !has_lost_query {
        lowering.findings.error(
            code::NO_QUERY,
            QueryPlace::default(),
            "the text asks nothing",
            "add a query, such as `? p(X).`",
        );
    }
    (lowering.set, lowering.ids)
}

/// Reads the files that are used, and those that they use; each once. Says whether all are there.
fn read_used<'a>(
    input: &'a QueryInput<'a>,
    files: &mut Vec<(&'a str, QueryProgram)>,
    findings: &mut QueryFindings,
) -> bool {
    let (mut known, mut is_whole) = (BTreeSet::new(), true);
    let mut at = 0;
    while at < files.len() {
        is_whole &= !files[at].1.unread.has_use;
        let wanted: Vec<_> = files[at].1.uses.clone();
        for used in wanted.into_iter().filter(|used| known.insert(used.name.clone())) {
            let Some(source) = input.files.get(&used.name) else {
                let place = QueryPlace { file: at, span: used.span };
                let known: Vec<&str> = input.files.keys().map(String::as_str).collect();
                let hint = match agentic_diag::nearest(&used.name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => {
                        "`agentic query --named` knows the names that there are".to_owned()
                    }
                    None => format!("there are {}", known.join(", ")),
                };
                let said = format!("there are no rules named `{}`", used.name);
                findings.error(code::UNKNOWN_RULES, place, said, hint);
                is_whole = false;
                continue;
            };
            let (program, found) = parse(source.text());
            found.into_iter().for_each(|finding| findings.add(files.len(), finding));
            files.push((source.text(), program));
        }
        at += 1;
    }
    is_whole
}

fn fact_predicate((source, fact): (usize, &FactPredicate)) -> RulePredicate {
    RulePredicate {
        name: Cow::Borrowed(fact.name),
        columns: fact.columns.clone(),
        kinds: fact.columns.iter().map(|column| Some(column.kind)).collect(),
        origin: PredicateOrigin::Fact,
        source,
        place: QueryPlace::default(),
    }
}

impl Lowering<'_> {
    pub fn place(&self, span: agentic_diag::Span) -> QueryPlace {
        QueryPlace { file: self.file, span }
    }

    fn declare(&mut self, program: &QueryProgram) {
        for param in &program.params {
            self.param(param);
        }
        self.lost_heads.extend(program.unread.heads.iter().cloned());
        let unread = program.unread.params.iter().map(|name| (self.file, name.clone()));
        self.lost_params.extend(unread);
        if self.file == 0 {
            let read = program.params.iter().map(|param| &param.name.name);
            let declared: BTreeSet<&String> = read.chain(&program.unread.params).collect();
            for name in self.input.params.keys().filter(|name| !declared.contains(name)) {
                let near = agentic_diag::nearest(name, declared.iter().map(|n| n.as_str()));
                let hint = near.map_or("declare it: `param $name: text.`".to_owned(), |name| {
                    format!("did you mean `{name}`?")
                });
                let said = format!("no parameter is named `{name}`");
                self.findings.error(code::UNKNOWN_PARAMETER, QueryPlace::default(), said, hint);
            }
        }
        for rule in &program.rules {
            self.declare_head(&rule.head);
        }
    }

    fn param(&mut self, param: &ParamText) {
        let place = self.place(param.name.span);
        let (name, kind) = (&param.name.name, param.kind);
        let given = self.input.params.get(name).filter(|_| self.file == 0);
        let literal = match given {
            Some(text) if kind == QueryType::Text => {
                Some(LiteralText::Value(kind, QueryValue::text(text)))
            }
            Some(text) if kind.is_id() => {
                Some(LiteralText::Id(text.trim_start_matches('#').to_owned()))
            }
            Some(text) => parse_literal(text),
            None => param.value.as_ref().map(|(literal, _)| literal.clone()),
        };
        let value = literal.and_then(|literal| self.param_value(literal, kind));
        let Some(value) = value else {
            let said = format!("the parameter `{name}` has no value of type {}", kind.name());
            let hint = format!("give one: --param {name}=…");
            self.findings.error(code::PARAMETER_VALUE, place, said, hint);
            self.lost_params.insert((self.file, name.clone()));
            return;
        };
        if self.params.insert((self.file, name.clone()), (kind, value)).is_some() {
            let said = format!("the parameter `{name}` is declared twice");
            self.findings.error(code::UNKNOWN_PARAMETER, place, said, "take one of them out");
        }
    }

    fn param_value(&self, literal: LiteralText, kind: QueryType) -> Option<QueryValue> {
        match literal {
            LiteralText::Value(QueryType::Int, QueryValue::Int(n)) if kind == QueryType::Float => {
                QueryValue::float(n as f64)
            }
            LiteralText::Value(found, value) => (found == kind).then_some(value),
            LiteralText::Null => Some(QueryValue::Null),
            LiteralText::Now => {
                (kind == QueryType::Instant).then_some(QueryValue::Int(self.input.now))
            }
            LiteralText::Id(text) => kind.is_id().then(|| QueryValue::text(&text)),
        }
    }

    fn declare_head(&mut self, head: &AtomText) {
        let (name, place) = (&head.name.name, self.place(head.name.span));
        let n_args = head.args.len();
        let taken = |what: &str| format!("`{name}` is {what}");
        let hint = "take another name";
        if is_function(name) || TextTest::parse(name).is_some() {
            let said = taken("built in");
            self.findings.error(code::DEFINES_FACT, place, said, hint);
            return;
        }
        if let Some(known) = self.names.get(name.as_str()) {
            let known = &self.set.predicates[*known];
            // Who asks for it asks for what this would have been.
            if known.origin == PredicateOrigin::Fact {
                self.lost_heads.insert(name.clone());
            }
            if known.origin == PredicateOrigin::Fact {
                let said = taken("a fact, which no rule defines");
                self.findings.error(code::DEFINES_FACT, place, said, hint);
            } else if known.place.file != self.file {
                let said = taken("defined by other rules, too");
                self.findings.error(code::DEFINES_FACT, place, said, hint);
            } else if known.kinds.len() != n_args {
                let said = format!("`{name}` has {n_args} columns here");
                let other = format!("and {} here", known.kinds.len());
                let finding = Diagnostic::error(code::WRONG_ARITY, place.span, said)
                    .see(known.place.span, other)
                    .hint("all rules of one name have as many columns");
                self.findings.add(self.file, finding);
            }
            return;
        }
        self.names.insert(Cow::Owned(name.clone()), self.set.predicates.len());
        self.set.predicates.push(RulePredicate {
            name: Cow::Owned(name.clone()),
            columns: Cow::Borrowed(&[]),
            kinds: vec![None; n_args],
            origin: PredicateOrigin::Rules,
            source: self.set.predicates.len(),
            place,
        });
    }

    fn rule(&mut self, rule: &RuleText) {
        let mut scope = ClauseScope::default();
        let Some(predicate) = self.names.get(rule.head.name.name.as_str()).copied() else { return };
        let known = &self.set.predicates[predicate];
        // What is no rule, or one of another file, is a finding already.
        if known.origin == PredicateOrigin::Fact || known.kinds.len() != rule.head.args.len() {
            return;
        }
        let mut body = Vec::new();
        for arg in &rule.head.args {
            if let Some(name) = &arg.name {
                let place = self.place(name.span);
                let hint = "write the arguments of a head by place";
                self.findings.error(code::MIXED_ARGUMENTS, place, "a head has no names", hint);
            }
            scope.declare_term(&arg.term, self.file);
        }
        scope.declare_body(&rule.body, self.file);
        let terms: Vec<&TermText> = rule.head.args.iter().map(|arg| &arg.term).collect();
        let terms = terms.into_iter().map(|term| self.simple_term(term, &mut scope, &mut body));
        let head = RuleAtom { predicate, terms: terms.collect() };
        self.goals(&rule.body, &mut scope, &mut body);
        self.finish_rule(head, body, scope, self.place(rule.span));
    }

    fn finish_rule(
        &mut self,
        head: RuleAtom,
        body: Vec<crate::rule::RuleGoal>,
        scope: ClauseScope,
        place: QueryPlace,
    ) {
        let text = self.text.get(place.span.start..place.span.end).unwrap_or_default().to_owned();
        let variables = scope.into_variables();
        self.set.rules.push(CheckedRule { head, body, variables, place, text });
    }

    fn query(&mut self, query: &QueryText) {
        let mut scope = ClauseScope::default();
        let mut body = Vec::new();
        let mut listed = BTreeSet::new();
        for name in query.columns.iter().flatten() {
            scope.declare(&name.name, self.place(name.span));
            if !listed.insert(&name.name) {
                let (said, place) =
                    (format!("`{}` is listed twice", name.name), self.place(name.span));
                self.findings.error(code::MIXED_ARGUMENTS, place, said, "take one of them out");
            }
        }
        scope.declare_body(&query.body, self.file);
        let columns: Vec<(String, usize)> = match &query.columns {
            Some(listed) => {
                let found = listed.iter().map(|name| (name.name.clone(), scope.find(&name.name)));
                found.filter_map(|(name, number)| Some((name, number?))).collect()
            }
            None => scope.visible().collect(),
        };
        self.goals(&query.body, &mut scope, &mut body);
        let mut order = Vec::new();
        for key in &query.order {
            match columns.iter().position(|(name, _)| *name == key.name.name) {
                Some(column) => order.push((column, key.direction)),
                None => {
                    let place = self.place(key.name.span);
                    let said = format!("`{}` is no column of the answer", key.name.name);
                    let near = agentic_diag::nearest(
                        &key.name.name,
                        columns.iter().map(|(name, _)| name.as_str()),
                    );
                    let hint = near.map_or("order by a column".to_owned(), |name| {
                        format!("did you mean `{name}`?")
                    });
                    self.findings.error(code::UNKNOWN_COLUMN, place, said, hint);
                }
            }
        }
        let predicate = self.set.predicates.len();
        let place = self.place(query.span);
        self.set.predicates.push(RulePredicate {
            name: Cow::Borrowed("?"),
            columns: Cow::Borrowed(&[]),
            kinds: vec![None; columns.len()],
            origin: PredicateOrigin::Query,
            source: predicate,
            place,
        });
        let terms = columns.iter().map(|(_, number)| RuleTerm::Variable(*number)).collect();
        self.finish_rule(RuleAtom { predicate, terms }, body, scope, place);
        self.set.queries.push(CheckedQuery {
            predicate,
            columns: columns.into_iter().map(|(name, _)| name).collect(),
            order,
            limit: query.limit,
            offset: query.offset.unwrap_or(0),
            is_why: query.is_why,
        });
    }
}

/// Says whether a goal is an atom of a test.
pub(crate) fn test_of(goal: &GoalKind) -> Option<TextTest> {
    match goal {
        GoalKind::Positive(atom) | GoalKind::Negative(atom) => TextTest::parse(&atom.name.name),
        GoalKind::Compare(..) | GoalKind::Aggregate(_) => None,
    }
}
