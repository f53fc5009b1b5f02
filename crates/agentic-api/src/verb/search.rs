//! Finding what was said.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Instant as Moment;

use agentic_index::{SearchFindings, SearchQuery, SearchScope};
use agentic_model::Kind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::{
    CANDIDATES_MAX, CandidateFinder, GroundTexts, HitList, ScanProgress, scan, verify,
};
use crate::verb::{Reply, SubAgents, Verb, settle_peers};
use crate::view::{SearchHitView, SearchView};
use crate::{Caller, Refusal};

/// How many hits are shown where nothing else is said.
const LIMIT: usize = 50;
/// How many hits there may be.
pub const SEARCH_LIMIT_MAX: usize = 500;

/// Find words in traces, messages, briefings, decisions and sessions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchTexts {
    /// Words that must all occur, `"phrases"`, `-unwanted` words, `begin*`, and filters such as
    /// `agent:NAME` or `after:2d`.
    pub query: String,
    /// At most so many hits, of at most 500; else 50.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What became of a search.
#[derive(Debug)]
pub enum SearchOutcome {
    /// This was found.
    Found(SearchView),
    /// The query cannot be read.
    Unreadable(Box<SearchFindings>),
}

/// Hears how far a search is, and how many milliseconds it has taken.
pub type SearchTeller<'t> = dyn FnMut(ScanProgress, u64) -> ControlFlow<()> + 't;

/// How many more candidates are asked for at first than there could be hits.
const CANDIDATES_SPARE: usize = 20;

impl SearchTexts {
    /// Searches by reading everything.
    ///
    /// # Errors
    /// Fails when a filter names nothing, and when agents or sessions cannot be listed.
    pub fn scanned(
        &self,
        caller: &Caller<'_>,
        tell: &mut SearchTeller<'_>,
    ) -> Result<SearchOutcome, Refusal> {
        self.found(caller, |ground, scope, limit| {
            let begun = Moment::now();
            let mut told = |progress: ScanProgress| {
                tell(progress, u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX))
            };
            scan(ground, scope, limit, &mut told)
        })
    }

    /// Searches among what an index finds, and by reading everything where that finds nothing out.
    ///
    /// # Errors
    /// Fails as [`SearchTexts::scanned`] does.
    pub fn among(
        &self,
        caller: &Caller<'_>,
        finder: &CandidateFinder<'_>,
    ) -> Result<SearchOutcome, Refusal> {
        self.found(caller, |ground, scope, limit| {
            // Nearly all candidates are hits; only where few of them are, many are looked at.
            for most in [limit * 2 + CANDIDATES_SPARE, CANDIDATES_MAX] {
                let Some(found) = finder(scope, most) else { break };
                let hits = verify(ground, scope, found, limit);
                if !hits.is_partial || most >= CANDIDATES_MAX {
                    return Ok(hits);
                }
            }
            scan(ground, scope, limit, &mut |_| ControlFlow::Continue(()))
        })
    }

    /// Returns the address at which a process that stays answers it.
    pub fn address(&self) -> String {
        let escape = |byte: u8| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        let escaped: String = self.query.bytes().map(escape).collect();
        format!("/api/v1/search?q={escaped}&limit={}", self.limit.unwrap_or(LIMIT))
    }

    fn found(
        &self,
        caller: &Caller<'_>,
        find: impl FnOnce(&GroundTexts<'_>, &SearchScope, usize) -> Result<HitList, Refusal>,
    ) -> Result<SearchOutcome, Refusal> {
        let limit = self.limit.unwrap_or(LIMIT);
        if limit == 0 || limit > SEARCH_LIMIT_MAX {
            let hint = "ask for less, and narrow the query with words or filters";
            let message = format!("a search gives 1 to {SEARCH_LIMIT_MAX} hits, not {limit}");
            return Err(Refusal::usage(&message, hint));
        }
        let query = match SearchQuery::parse(&self.query, caller.space.now()) {
            Ok(query) => query,
            Err(findings) => return Ok(SearchOutcome::Unreadable(findings)),
        };
        let scope = scope(caller, query)?;
        let hits = find(&GroundTexts { space: caller.space }, &scope, limit)?;
        let (more, partial) = (hits.has_more, hits.is_partial);
        let items = hits.into_documents();
        let items = items.iter().map(|it| SearchHitView::new(it, &scope.query)).collect();
        Ok(SearchOutcome::Found(SearchView { items, more, partial }))
    }
}

impl Verb for SearchTexts {
    type Answer = SearchView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SearchView>, Refusal> {
        let notices = settle_peers(caller.space)?;
        let outcome = self.scanned(caller, &mut |_, _| ControlFlow::Continue(()))?;
        Ok(Reply { notices, ..Reply::plain(outcome.answer()?) })
    }
}

impl SearchOutcome {
    /// Returns what was found.
    ///
    /// # Errors
    /// Fails when the query cannot be read, which is wrong usage.
    pub fn answer(self) -> Result<SearchView, Refusal> {
        match self {
            SearchOutcome::Found(view) => Ok(view),
            SearchOutcome::Unreadable(findings) => Err(unreadable(&findings)),
        }
    }
}

/// Makes the refusal of a query, for those who do not show findings in their places.
pub fn unreadable(findings: &SearchFindings) -> Refusal {
    let hint = findings.findings.first().map(|finding| finding.hint.clone()).unwrap_or_default();
    let mut refusal = Refusal::usage("the query cannot be read", &hint);
    refusal.because = Some(findings.render_plain());
    refusal
}

/// Looks up what filters mean here.
fn scope(caller: &Caller<'_>, query: SearchQuery) -> Result<SearchScope, Refusal> {
    let mut below = std::collections::BTreeMap::new();
    for agent in &query.filters.under {
        let found = SubAgents { agent: agent.clone(), all: true }.run(caller)?.answer;
        let found: BTreeSet<String> = found.into_iter().chain([agent.clone()]).collect();
        below.insert(agent.clone(), found);
    }
    let tree = caller.space.kinds()?;
    let kinds = |kind: &str| {
        let mut found = BTreeSet::from([kind.to_owned()]);
        if let Ok(kind) = Kind::parse(kind) {
            let names = tree.entries().map(|entry| &entry.name);
            found.extend(names.filter(|it| tree.is_a(it, &kind)).map(ToString::to_string));
        }
        found
    };
    Ok(SearchScope::new(query, |agent| below.get(agent).cloned().unwrap_or_default(), kinds))
}
