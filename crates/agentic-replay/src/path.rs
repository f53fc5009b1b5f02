//! Where in a program a request stands, whatever order things happened in.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The longest path that is kept in full, in bytes. Of a longer one the beginning is replaced by
/// its hash.
pub const PATH_BYTES_MAX: usize = 256;

/// What the hash in place of a beginning begins with, and how many digits it has.
const CUT: char = 'h';
const CUT_DIGITS: usize = 32;

/// The most digits of a number that is surely in bounds.
const PLAIN_DIGITS_MAX: usize = 18;

/// The place of a request: components joined by `/`, such as `3`, `b1/0` or `n7/2`.
///
/// A component is a counter of its context, or a name fixed by the source with an optional number:
/// branch `b0`, plan node `n7`, iteration `i12`. Paths are ordered component by component, numbers
/// by value, so that `b2/0` comes before `b10/0`. To copy one is cheap.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Path(Arc<str>);

/// A text that is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the path of a request")]
pub struct InvalidPath {
    /// The text as it was given.
    pub text: String,
}

impl Path {
    /// Returns the path of the outermost context.
    pub fn root() -> Path {
        Path::default()
    }

    /// Parses a printed path.
    ///
    /// # Errors
    /// Fails on empty components, control characters and texts above `PATH_BYTES_MAX`.
    pub fn parse(text: &str) -> Result<Path, InvalidPath> {
        let valid = text.len() <= PATH_BYTES_MAX
            && !text.chars().any(char::is_control)
            && (text.is_empty() || text.split('/').all(|component| !component.is_empty()));
        if valid { Ok(Path(text.into())) } else { Err(InvalidPath { text: text.to_owned() }) }
    }

    /// Returns the path one component further in.
    pub fn child(&self, component: &str) -> Path {
        if self.0.is_empty() && component.len() <= PATH_BYTES_MAX {
            return Path(component.into());
        }
        let slash = if self.0.is_empty() { "" } else { "/" };
        let joined = format!("{}{slash}{component}", self.0);
        if joined.len() <= PATH_BYTES_MAX {
            return Path(joined.into());
        }
        let hash = blake3::hash(self.0.as_bytes()).to_hex();
        Path(format!("{CUT}{}/{component}", &hash[..CUT_DIGITS]).into())
    }

    /// Returns the contexts that the path stands in, innermost first, without the outermost one.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.0.rmatch_indices('/').map(|(at, _)| &self.0[..at])
    }

    /// Says whether the beginning of the path was replaced by its hash, so that what it stands in
    /// cannot be told.
    pub fn is_cut(&self) -> bool {
        let first = self.0.split('/').next().and_then(|first| first.strip_prefix(CUT));
        first.is_some_and(|hash| {
            hash.len() == CUT_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// Returns the printed form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Path) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Path) -> Ordering {
        let (left, right) = (self.0.as_bytes(), other.0.as_bytes());
        let n_same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        if n_same == left.len() && n_same == right.len() {
            return Ordering::Equal;
        }
        if let Some(order) = cmp_numbers(left, right, n_same) {
            return order;
        }
        cmp_components(left, right, n_same)
    }
}

/// Compares two paths component by component, given how many bytes they begin with in common.
fn cmp_components(left: &[u8], right: &[u8], n_same: usize) -> Ordering {
    // Siblings share a long beginning; only what lies behind their last common `/` can tell.
    let shared = left[..n_same].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let mut one = left[shared..].split(|byte| *byte == b'/').map(sort_key);
    let mut other = right[shared..].split(|byte| *byte == b'/').map(sort_key);
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if one == other => {}
            (None, None) => return left.cmp(right),
            (one, other) => return one.cmp(&other),
        }
    }
}

/// Compares two paths that first differ at a byte, where both have a number there: so do almost all
/// that stand side by side. Nothing where the slow way has to tell.
fn cmp_numbers(left: &[u8], right: &[u8], n_same: usize) -> Option<Ordering> {
    let same = &left[..n_same];
    let from = same.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    let (left, right) = (plain_number(&left[from..])?, plain_number(&right[from..])?);
    let order = left.len().cmp(&right.len()).then_with(|| left.cmp(right));
    // The same number: they differ behind it.
    (order != Ordering::Equal).then_some(order)
}

/// Returns the digits at the beginning, where they end a component and say their value plainly.
fn plain_number(rest: &[u8]) -> Option<&[u8]> {
    let n_digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let ends = rest.get(n_digits).is_none_or(|byte| *byte == b'/');
    let is_plain = n_digits == 1 || rest.first().is_some_and(|first| *first != b'0');
    (ends && is_plain && (1..=PLAIN_DIGITS_MAX).contains(&n_digits)).then(|| &rest[..n_digits])
}

/// Splits a component into its name and its number.
fn sort_key(component: &[u8]) -> (&[u8], u64) {
    let n_name = component.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    let (name, digits) = component.split_at(n_name);
    // A number beyond all bounds counts as none; the full text still tells it from others.
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    (name, number.unwrap_or(0))
}

/// A context of a program: gives each request and each child context its path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestScope {
    path: Path,
    next: u64,
}

impl RequestScope {
    /// Returns the outermost context.
    pub fn root() -> RequestScope {
        RequestScope::default()
    }

    /// Opens a child context under a name that the source fixes.
    pub fn child(&self, component: &str) -> RequestScope {
        RequestScope { path: self.path.child(component), next: 0 }
    }

    /// Returns the path of the next request of this context.
    pub fn next_path(&mut self) -> Path {
        let path = self.path.child(&self.next.to_string());
        self.next += 1;
        path
    }

    /// Returns the path of the context itself.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_sort_by_number_not_by_text() {
        let mut paths: Vec<Path> = ["b10/0", "b2/0", "10", "9", "b2"]
            .iter()
            .map(|text| Path::parse(text).expect("valid"))
            .collect();
        paths.sort();
        let texts: Vec<&str> = paths.iter().map(Path::as_str).collect();
        assert_eq!(texts, ["9", "10", "b2", "b2/0", "b10/0"]);
    }

    /// The order, said in the simplest way.
    fn plain_order(left: &Path, right: &Path) -> Ordering {
        let keys = |path: &Path| -> Vec<(String, u64)> {
            let key = |component: &str| {
                let name = component.trim_end_matches(|c: char| c.is_ascii_digit());
                (name.to_owned(), component[name.len()..].parse().unwrap_or(0))
            };
            path.as_str().split('/').map(key).collect()
        };
        keys(left).cmp(&keys(right)).then_with(|| left.as_str().cmp(right.as_str()))
    }

    #[test]
    fn the_order_of_paths_is_that_of_their_components() {
        let components = ["0", "1", "01", "10", "a", "a0", "a9", "a10", "\u{e9}1", "\u{e9}2", "a-"];
        let huge = "99999999999999999999999";
        let mut paths = vec![Path::root()];
        for one in components.iter().chain([&huge]) {
            for other in &components {
                paths.push(Path::root().child(one));
                paths.push(Path::root().child(one).child(other));
                paths.push(Path::root().child("b0").child(one).child(other));
            }
        }
        for left in &paths {
            for right in &paths {
                assert_eq!(left.cmp(right), plain_order(left, right), "{left} against {right}");
            }
        }
    }

    #[test]
    fn long_paths_keep_a_bounded_length_and_stay_apart() {
        let (mut left, mut right) =
            (RequestScope::root().child("a"), RequestScope::root().child("b"));
        for _ in 0..500 {
            (left, right) = (left.child("call"), right.child("call"));
        }
        assert_ne!(left.path(), right.path());
        let path = left.next_path();
        assert!(path.as_str().len() <= PATH_BYTES_MAX && path.is_cut());
    }

    #[test]
    fn a_path_knows_the_contexts_it_stands_in() {
        let path = Path::parse("a.0/b1/3").expect("valid");
        assert_eq!(path.ancestors().collect::<Vec<_>>(), ["a.0/b1", "a.0"]);
        assert_eq!(Path::root().ancestors().count(), 0);
        assert!(!path.is_cut() && !Path::root().is_cut());
    }
}
