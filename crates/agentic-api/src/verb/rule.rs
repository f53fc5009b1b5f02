//! Rules that people and agents store under names.

mod change;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use agentic_diag::{Severity, SourceText};
use agentic_model::{LibraryName, LibraryPointer, Map, StoredRules};
use agentic_query::{QueryFinding, QueryInput, QueryType, ReadProgress, compile, declared_params};
use agentic_space::library::LibraryEntry;
use schemars::JsonSchema;
use serde::Deserialize;

use self::change::RuleChange;
use crate::facts::with_facts;
use crate::redaction::refuse_secret_text;
use crate::rule_files::{FoundRules, RuleFiles, RuleOrigin, RuleShelf, purpose};
use crate::shipped::{SHIPPED_RULES, ShippedRules};
use crate::verb::{QueryTextFindings, Reply, Verb};
use crate::view::{
    RuleChangeView, RuleMoveView, RuleParamView, RuleShowView, RuleVersionView, RuleView,
};
use crate::{Caller, Notice, Refusal};

/// The finding that a text asks nothing: rules need not.
const NO_QUERY: &str = "Q44";
/// The finding that nothing uses a rule or variable.
const UNUSED: &str = "Q32";
/// How the message of a rule begins that nothing uses.
const NOT_ASKED: &str = "no query asks for";
/// The finding that nothing, or several things, have an id.
const UNKNOWN_ID: &str = "Q42";
/// The finding that a parameter has no value.
const NO_VALUE: &str = "Q41";

/// Store rules under a name, or move a name to other rules. They are checked first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuleAdd {
    /// The name.
    pub name: String,
    /// The rules.
    pub source: String,
    /// What findings call the text.
    pub file: Option<String>,
    /// Why.
    pub why: String,
    /// The object that the name has to mean before.
    pub expect: Option<String>,
    /// Whether this ends that another clone changed the name, too.
    pub resolve: bool,
}

/// What became of rules to be stored.
#[derive(Debug)]
// size: there is one at a time, on its way to whoever asked.
#[allow(clippy::large_enum_variant)]
pub enum RuleAddOutcome {
    /// They are stored.
    Stored {
        /// The answer.
        reply: Reply<RuleMoveView>,
        /// What is probably not meant.
        warnings: QueryTextFindings,
    },
    /// Something is wrong with them.
    Refused(QueryTextFindings),
}

impl RuleAdd {
    /// Checks the rules and stores them.
    ///
    /// # Errors
    /// Fails when the name is none, or comes with the program, when somebody moved it meanwhile, and
    /// when an agent may not move it.
    pub fn store(self, caller: &Caller<'_>) -> Result<RuleAddOutcome, Refusal> {
        let name = rule_name(&self.name)?;
        if ShippedRules::find(name.as_str()).is_some() {
            let message = format!("rules named `{name}` come with the program");
            return Err(Refusal::refused(&message, "take another name"));
        }
        let change = RuleChange::begin(caller, name, self.resolve, self.expect.as_deref())?;
        refuse_secret_text(caller, "the source", &self.source)?;
        let source = SourceText::new(self.file.as_deref().unwrap_or("rules"), &*self.source);
        let used = RuleShelf::new(caller.space).used_by(source.text())?;
        let warnings = match check_rules(caller, source, &used) {
            Ok(warnings) => warnings,
            Err(findings) => return Ok(RuleAddOutcome::Refused(findings)),
        };
        let uses = used.pins.iter().map(|(name, cid)| (name.clone(), cid.to_string())).collect();
        let rules =
            StoredRules { source: self.source, uses: used.pins.clone(), fields: Map::new() };
        let object = rules.to_object().map_err(agentic_space::Error::Object)?;
        let to = Some(object.cid());
        let objects = used.objects.into_iter().chain([object]).collect();
        let reply = change.carry_out(caller, to, objects, self.why, uses)?;
        Ok(RuleAddOutcome::Stored { reply, warnings })
    }
}

impl Verb for RuleAdd {
    type Answer = RuleMoveView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<RuleMoveView>, Refusal> {
        match self.store(caller)? {
            RuleAddOutcome::Stored { reply, .. } => Ok(reply),
            RuleAddOutcome::Refused(findings) => Err(findings.refusal_of("the rules have")),
        }
    }
}

/// Take a name away. What it meant stays stored, for those who use it by id.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuleRemove {
    /// The name.
    pub name: String,
    /// Why.
    pub why: String,
    /// The object that the name has to mean before.
    pub expect: Option<String>,
    /// Whether this ends that another clone changed the name, too.
    pub resolve: bool,
}

impl Verb for RuleRemove {
    type Answer = RuleMoveView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<RuleMoveView>, Refusal> {
        let name = rule_name(&self.name)?;
        if ShippedRules::find(name.as_str()).is_some() {
            let message = format!("the rules `{name}` come with the program");
            return Err(Refusal::refused(&message, "only stored rules can be removed"));
        }
        let change = RuleChange::begin(caller, name, self.resolve, self.expect.as_deref())?;
        change.carry_out(caller, None, Vec::new(), self.why, BTreeMap::new())
    }
}

/// List the rules that have a name: shipped ones, those stored here, and those of other spaces.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleList {}

impl Verb for RuleList {
    type Answer = Vec<RuleView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RuleView>>, Refusal> {
        let shelf = RuleShelf::new(caller.space);
        let mut views = Vec::new();
        let mut known = BTreeMap::new();
        let (mut notices, mut told) = (Vec::new(), BTreeSet::new());
        for origin in shelf.origins() {
            let state = shelf.state(&origin)?;
            let all = state.entries()?;
            for why in all.damaged.into_iter().filter(|why| told.insert(why.clone())) {
                let what = format!("rules ({}): {why}", origin.word());
                notices.push(Notice::Unreadable { what });
            }
            for entry in all.entries {
                let cid = entry.pointer.as_ref().map(|pointer| pointer.cid);
                match &origin {
                    // What a remote means by a name is told where it differs.
                    RuleOrigin::Remote(_)
                        if cid.is_none() || known.get(&entry.name) == Some(&cid) => {}
                    RuleOrigin::Remote(_) => views.push(view_of(&shelf, &origin, &entry)),
                    RuleOrigin::Here | RuleOrigin::Shipped => {
                        views.push(view_of(&shelf, &origin, &entry));
                        known.insert(entry.name, cid);
                    }
                }
            }
        }
        views.extend(SHIPPED_RULES.iter().map(|rules| RuleView {
            name: rules.name.to_owned(),
            origin: RuleOrigin::Shipped.word().to_owned(),
            purpose: rules.purpose().to_owned(),
            version: None,
            contested: None,
            damaged: None,
        }));
        Ok(Reply { notices, ..Reply::plain(views) })
    }
}

/// Show rules with all that is known of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleShow {
    /// The name, or `REMOTE/NAME`.
    pub name: String,
}

impl Verb for RuleShow {
    type Answer = RuleShowView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<RuleShowView>, Refusal> {
        let shelf = RuleShelf::new(caller.space);
        if let Some(rules) = ShippedRules::find(&self.name) {
            let rule = RuleView {
                name: rules.name.to_owned(),
                origin: RuleOrigin::Shipped.word().to_owned(),
                purpose: rules.purpose().to_owned(),
                version: None,
                contested: None,
                damaged: None,
            };
            return Ok(Reply::plain(show(
                rule,
                Some(rules.text.to_owned()),
                BTreeMap::new(),
                None,
            )));
        }
        let Some(named) = shelf.pointer(&self.name)? else {
            return Err(shelf.unknown(&self.name)?);
        };
        let read = |pointer: &Option<LibraryPointer>| -> Result<Option<FoundRules>, Refusal> {
            let stored =
                |pointer: &LibraryPointer| shelf.stored(&self.name, pointer.cid, &named.origin);
            pointer.as_ref().map(stored).transpose()
        };
        let (here, there) = (read(&named.entry.pointer)?, read(&named.entry.contested)?);
        let text = |found: &FoundRules| found.source.text().to_owned();
        let uses = here.iter().flat_map(|found| &found.uses);
        let uses = uses.map(|(name, cid)| (name.clone(), cid.to_string())).collect();
        let rule = view_of(&shelf, &named.origin, &named.entry);
        let (source, contested) = (here.as_ref().map(text), there.as_ref().map(text));
        Ok(Reply::plain(show(rule, source, uses, contested)))
    }
}

/// List the changes of a name, newest first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleLog {
    /// The name, or `REMOTE/NAME`.
    pub name: String,
}

impl Verb for RuleLog {
    type Answer = Vec<RuleChangeView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RuleChangeView>>, Refusal> {
        let shelf = RuleShelf::new(caller.space);
        if ShippedRules::find(&self.name).is_some() {
            let message = format!("the rules `{}` come with the program", self.name);
            return Err(Refusal::refused(&message, "only stored rules have a history"));
        }
        let (origin, bare) = match self.name.rsplit_once('/') {
            Some((remote, bare)) => (RuleOrigin::Remote(remote.to_owned()), bare),
            None => (RuleOrigin::Here, self.name.as_str()),
        };
        let name = rule_name(bare)?;
        // A name that was removed has a history still.
        let changes = shelf.state(&origin)?.changes(caller.space, &name)?;
        if changes.is_empty() {
            return Err(shelf.unknown(&self.name)?);
        }
        Ok(Reply::plain(changes.iter().map(RuleChangeView::from).collect()))
    }
}

/// Checks rules as a query would that has them. They need not ask anything, and parameters need no
/// values yet.
pub(crate) fn check_rules(
    caller: &Caller<'_>,
    source: SourceText,
    used: &RuleFiles,
) -> Result<QueryTextFindings, QueryTextFindings> {
    let declared = declared_params(source.text());
    let lacking = declared.iter().filter(|param| !param.has_value);
    let params = lacking.clone().map(|param| (param.name.clone(), some_value(param.kind)));
    let params: BTreeMap<String, String> = params.collect();
    let now = caller.space.now().millis();
    let input = QueryInput { source: &source, files: &used.files, params: &params, now };
    let nobody_is_told = |_: ReadProgress<'_>| ControlFlow::Continue(());
    let compiled = with_facts(caller.space, &nobody_is_told, |facts| {
        compile(&input, facts.joined).map(|compiled| compiled.warnings().to_vec())
    });
    let mut findings = compiled.unwrap_or_else(|findings| findings);
    // A rule that is there for others is used by them.
    findings.retain(|finding| {
        let said = &finding.diagnostic;
        said.code != NO_QUERY && !(said.code == UNUSED && said.message.starts_with(NOT_ASKED))
    });
    let made_up: Vec<String> = lacking.map(|param| format!("`{}`", param.name)).collect();
    findings.retain(|finding| !is_of_made_up(finding, &made_up));
    let is_refused = findings.iter().any(|it| it.diagnostic.severity == Severity::Error);
    let sources = std::iter::once(source).chain(used.order.iter().cloned()).collect();
    let findings = QueryTextFindings { sources, findings };
    if is_refused { Err(findings) } else { Ok(findings) }
}

/// Tells whether a finding is about a value that was made up for a parameter.
fn is_of_made_up(finding: &QueryFinding, made_up: &[String]) -> bool {
    let said = &finding.diagnostic;
    let is_value = said.code == NO_VALUE && made_up.iter().any(|name| said.message.contains(name));
    let is_id = said.code == UNKNOWN_ID && said.message.contains(MADE_UP_ID);
    is_value || is_id
}

/// An id that nothing has.
const MADE_UP_ID: &str = "0000000000";

/// Returns a value of a type, for parameters that get theirs later.
fn some_value(kind: QueryType) -> String {
    match kind {
        QueryType::Text => "text",
        QueryType::Int => "1",
        QueryType::Float => "1.5",
        QueryType::Bool => "true",
        QueryType::Instant => "now",
        QueryType::Duration => "1s",
        QueryType::Commit | QueryType::Cid | QueryType::Session | QueryType::Request => MADE_UP_ID,
    }
    .to_owned()
}

fn view_of(shelf: &RuleShelf<'_>, origin: &RuleOrigin, entry: &LibraryEntry) -> RuleView {
    let name = origin.name(entry.name.as_str());
    let read = entry.pointer.as_ref().map(|pointer| shelf.stored(&name, pointer.cid, origin));
    let (purpose, damaged) = match read {
        Some(Ok(found)) => (purpose(found.source.text()), None),
        Some(Err(refusal)) => (String::new(), Some(refusal.because.unwrap_or(refusal.message))),
        None => (String::new(), None),
    };
    RuleView {
        name,
        origin: origin.word().to_owned(),
        purpose,
        version: entry.pointer.as_ref().map(RuleVersionView::from),
        contested: entry.contested.as_ref().map(RuleVersionView::from),
        damaged,
    }
}

fn show(
    rule: RuleView,
    source: Option<String>,
    uses: BTreeMap<String, String>,
    contested_source: Option<String>,
) -> RuleShowView {
    let declared = source.as_deref().map(declared_params).unwrap_or_default().into_iter();
    let params = declared.map(|param| RuleParamView {
        name: param.name,
        r#type: param.kind.name().to_owned(),
        required: !param.has_value,
    });
    let (language, params) = (agentic_model::rules::RULES_LANGUAGE.to_owned(), params.collect());
    RuleShowView { rule, language, source, uses, params, contested_source }
}

fn rule_name(text: &str) -> Result<LibraryName, Refusal> {
    let hint = "a name has lower-case letters, digits, `.`, `_` and `-`";
    LibraryName::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
