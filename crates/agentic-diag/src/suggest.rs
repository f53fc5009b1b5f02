//! What a misspelt name may have meant.

/// How far a suggestion may be from what was written.
const DISTANCE_MAX: usize = 2;
/// The longest name that suggestions are looked for; longer ones are no typing errors.
const NAME_BYTES_MAX: usize = 64;

/// Returns the nearest of the names, the first one if several are equally near.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let near = names.filter(|other| other.len().abs_diff(name.len()) <= DISTANCE_MAX);
    let ranked = near.map(|other| (distance(name.as_bytes(), other.as_bytes()), other));
    let nearest = ranked.min_by_key(|(distance, _)| *distance)?;
    (nearest.0 <= DISTANCE_MAX).then_some(nearest.1)
}

/// Counts the insertions, deletions and replacements between two names.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(nearest(name, ["echo", "summarize", "upper", "wrap"].into_iter()), expected);
    }

    #[test]
    fn only_near_names_are_suggested() {
        check("sumarize", Some("summarize"));
        check("Upper", Some("upper"));
        check("ecoh", Some("echo"));
        check("translate", None);
        check(&"x".repeat(1 << 20), None);
    }
}
