//! The rule files that a query uses, and those that they use.
//!
//! A name means the rules that come with the program, else those that the library of the space has,
//! else, as `REMOTE/NAME`, those of another space. In a stored file a name means what it meant when
//! the file was stored: it is pinned to an id, and nobody changes a file by moving a name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agentic_diag::{SourceText, nearest};
use agentic_model::{Cid, LibraryName, Object, StoredRules};
use agentic_query::used_rules;
use agentic_session::SessionSpace;
use agentic_space::Error as SpaceError;
use agentic_space::library::{Library, LibraryEntry, LibraryState};

use crate::Refusal;
use crate::shipped::{SHIPPED_RULES, ShippedRules};

/// How many rule files a query uses at most.
const RULE_FILES_MAX: usize = 100;
/// How long they are together at most, in bytes.
const RULE_BYTES_MAX: usize = 8 << 20;

/// The rules that have a name somewhere.
pub(crate) struct RuleShelf<'s> {
    space: &'s SessionSpace,
}

/// Where rules stand that have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleOrigin {
    /// They come with the program.
    Shipped,
    /// They are in the library of this space.
    Here,
    /// They are in that of another one, by the name of its remote.
    Remote(String),
}

/// Rules that were found by name.
#[derive(Debug, Clone)]
pub(crate) struct FoundRules {
    /// The text, under the name that findings have for it.
    pub source: SourceText,
    /// Where they stand.
    pub origin: RuleOrigin,
    /// What they use that is pinned.
    pub uses: BTreeMap<String, Cid>,
    /// The object; nothing of shipped ones.
    pub object: Option<Object>,
}

/// What a name means in some library.
#[derive(Debug, Clone)]
pub(crate) struct NamedPointer {
    /// Where it stands.
    pub origin: RuleOrigin,
    /// What it means.
    pub entry: LibraryEntry,
}

/// Rule files that were found.
#[derive(Debug, Default)]
pub(crate) struct RuleFiles {
    /// The texts by name.
    pub files: BTreeMap<String, SourceText>,
    /// The texts in the order in which findings number them.
    pub order: Vec<SourceText>,
    /// The stored ones that the text itself uses.
    pub pins: BTreeMap<String, Cid>,
    /// The objects of all stored ones.
    pub objects: Vec<Object>,
}

/// Where the names of a file are looked up.
#[derive(Debug, Clone)]
enum RuleNameScope {
    /// Those of a text that is asked or stored now: what they mean now.
    Now,
    /// Those of a stored file: what they meant then.
    Pinned { origin: RuleOrigin, uses: BTreeMap<String, Cid> },
    /// Those of a shipped file: other shipped ones.
    Shipped,
}

impl<'s> RuleShelf<'s> {
    /// Looks at the rules of a space.
    pub fn new(space: &'s SessionSpace) -> RuleShelf<'s> {
        RuleShelf { space }
    }

    /// Finds the rules of a name.
    pub fn find(&self, name: &str) -> Result<Option<FoundRules>, Refusal> {
        if let Some(rules) = ShippedRules::find(name) {
            return Ok(Some(FoundRules::shipped(rules)));
        }
        let Some(named) = self.pointer(name)? else { return Ok(None) };
        let Some(pointer) = named.entry.pointer else { return Ok(None) };
        self.stored(name, pointer.cid, &named.origin).map(Some)
    }

    /// Finds what a name means in a library: here, or as `REMOTE/NAME`.
    pub fn pointer(&self, name: &str) -> Result<Option<NamedPointer>, Refusal> {
        let (origin, bare) = match name.rsplit_once('/') {
            None => (RuleOrigin::Here, name),
            Some((remote, bare)) => {
                if !self.space.repository().remotes().iter().any(|known| known == remote) {
                    return Ok(None);
                }
                (RuleOrigin::Remote(remote.to_owned()), bare)
            }
        };
        let Ok(bare) = LibraryName::parse(bare) else { return Ok(None) };
        let entry = self.state(&origin)?.entry(&bare)?;
        if entry.pointer.is_none() && entry.contested.is_none() {
            return Ok(None);
        }
        Ok(Some(NamedPointer { origin, entry }))
    }

    /// Reads the rules of an id.
    pub fn stored(&self, name: &str, cid: Cid, origin: &RuleOrigin) -> Result<FoundRules, Refusal> {
        let object = match self.state(origin)?.object(cid) {
            Ok(object) => object,
            // What was taken over from somebody stands in the own library, too.
            Err(_) if matches!(origin, RuleOrigin::Remote(_)) => {
                let here = self.space.library(Library::Rules)?.object(cid);
                here.map_err(|error| damaged(name, &error))?
            }
            Err(error) => return Err(damaged(name, &error)),
        };
        let rules = StoredRules::from_object(&object);
        let rules = rules.map_err(|error| damaged(name, &SpaceError::Object(error)))?;
        Ok(FoundRules {
            source: SourceText::new(name, rules.source),
            origin: origin.clone(),
            uses: rules.uses,
            object: Some(object),
        })
    }

    /// Opens the library that something stands in.
    pub fn state(&self, origin: &RuleOrigin) -> Result<LibraryState<'s>, Refusal> {
        Ok(match origin {
            RuleOrigin::Shipped | RuleOrigin::Here => self.space.library(Library::Rules)?,
            RuleOrigin::Remote(remote) => self.space.library_of(Library::Rules, remote)?,
        })
    }

    /// Lists the libraries that there are: the own one first.
    pub fn origins(&self) -> Vec<RuleOrigin> {
        let remotes = self.space.repository().remotes().into_iter();
        let remotes = remotes.map(RuleOrigin::Remote);
        std::iter::once(RuleOrigin::Here).chain(remotes).collect()
    }

    /// Lists the names that may be asked for: of other spaces' those that mean something else here.
    pub fn names(&self) -> Result<Vec<String>, Refusal> {
        let mut names: Vec<String> =
            SHIPPED_RULES.iter().map(|rules| rules.name.to_owned()).collect();
        for origin in self.origins() {
            let entries = self.state(&origin)?.entries()?.entries.into_iter();
            let named = entries.filter(|entry| entry.pointer.is_some());
            names.extend(named.map(|entry| origin.name(entry.name.as_str())));
        }
        Ok(names)
    }

    /// Says that nothing has a name.
    pub fn unknown(&self, name: &str) -> Result<Refusal, Refusal> {
        let known = self.names()?;
        let ending = format!("/{name}");
        let theirs = known.iter().find(|known| known.ends_with(&ending));
        let near = || nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        let hint = match theirs.cloned().or_else(near) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        Ok(Refusal::refused(&format!("there are no rules named `{name}`"), &hint))
    }

    /// Finds the files that a text uses, directly or not. What is not found is a finding later.
    pub fn used_by(&self, text: &str) -> Result<RuleFiles, Refusal> {
        self.collect(text, RuleNameScope::Now)
    }

    /// Does the same for rules that were found by name.
    pub fn used_by_found(&self, found: &FoundRules) -> Result<RuleFiles, Refusal> {
        self.collect(found.source.text(), found.scope())
    }

    fn collect(&self, text: &str, scope: RuleNameScope) -> Result<RuleFiles, Refusal> {
        let mut files = RuleFiles::default();
        let mut meanings: BTreeMap<String, Option<Cid>> = BTreeMap::new();
        let mut kept = BTreeSet::new();
        let mut n_bytes = 0;
        let mut next = VecDeque::from([(text.to_owned(), scope, true)]);
        while let Some((text, scope, is_first)) = next.pop_front() {
            for name in used_rules(&text) {
                let Some(found) = self.look_up(&name, &scope)? else { continue };
                let cid = found.object.as_ref().map(Object::cid);
                if let (true, Some(cid)) = (is_first, cid) {
                    files.pins.insert(name.clone(), cid);
                }
                match meanings.get(&name) {
                    Some(known) if *known == cid => continue,
                    Some(_) => return Err(two_versions(&name)),
                    None => {}
                }
                meanings.insert(name.clone(), cid);
                n_bytes += found.source.text().len();
                if files.order.len() == RULE_FILES_MAX || n_bytes > RULE_BYTES_MAX {
                    return Err(too_many());
                }
                next.push_back((found.source.text().to_owned(), found.scope(), false));
                files.order.push(found.source.clone());
                files.files.insert(name, found.source);
                files.objects.extend(found.object.filter(|object| kept.insert(object.cid())));
            }
        }
        Ok(files)
    }

    fn look_up(&self, name: &str, scope: &RuleNameScope) -> Result<Option<FoundRules>, Refusal> {
        match scope {
            RuleNameScope::Now => self.find(name),
            RuleNameScope::Shipped => Ok(ShippedRules::find(name).map(FoundRules::shipped)),
            RuleNameScope::Pinned { origin, uses } => match uses.get(name) {
                Some(cid) => self.stored(name, *cid, origin).map(Some),
                None => Ok(ShippedRules::find(name).map(FoundRules::shipped)),
            },
        }
    }
}

impl FoundRules {
    fn shipped(rules: &ShippedRules) -> FoundRules {
        FoundRules {
            source: SourceText::new(rules.name, rules.text),
            origin: RuleOrigin::Shipped,
            uses: BTreeMap::new(),
            object: None,
        }
    }

    fn scope(&self) -> RuleNameScope {
        match &self.origin {
            RuleOrigin::Shipped => RuleNameScope::Shipped,
            origin @ (RuleOrigin::Here | RuleOrigin::Remote(_)) => {
                RuleNameScope::Pinned { origin: origin.clone(), uses: self.uses.clone() }
            }
        }
    }
}

impl RuleOrigin {
    /// Returns what a name of this place is asked for by.
    pub fn name(&self, name: &str) -> String {
        match self {
            RuleOrigin::Shipped | RuleOrigin::Here => name.to_owned(),
            RuleOrigin::Remote(remote) => format!("{remote}/{name}"),
        }
    }

    /// Returns the word for the place.
    pub fn word(&self) -> &str {
        match self {
            RuleOrigin::Shipped => "shipped",
            RuleOrigin::Here => "here",
            RuleOrigin::Remote(remote) => remote,
        }
    }
}

/// Returns what rules are for: the comment that they begin with.
pub(crate) fn purpose(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//").unwrap_or_default().trim().to_owned()
}

fn damaged(name: &str, error: &SpaceError) -> Refusal {
    let mut refusal = Refusal::of(error);
    refusal.class = agentic_model::guidance::ErrorClass::Corrupt;
    refusal.because = Some(error.to_string());
    refusal.message = format!("the rules `{name}` cannot be read");
    refusal.hint =
        "`agentic doctor` writes again what journals have; else fetch them from a clone".to_owned();
    refusal
}

fn two_versions(name: &str) -> Refusal {
    let mut refusal = Refusal::refused(
        &format!("two versions of the rules `{name}` would be used at once"),
        &format!("store the rules that use `{name}` once more with `agentic rule add`"),
    );
    refusal.because =
        Some("stored rules use the version that there was when they were stored".to_owned());
    refusal
}

fn too_many() -> Refusal {
    let message = format!(
        "more than {RULE_FILES_MAX} rule files, or {RULE_BYTES_MAX} bytes of them, would be used at once"
    );
    Refusal::refused(&message, "use fewer")
}
