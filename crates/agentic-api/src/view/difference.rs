//! A readable difference of two texts, line by line.

/// Texts with more lines than this are shown whole, one after the other.
const LINES_MAX: usize = 2_000;

/// Shows two texts as one: lines that both have, lines that go (`-`) and lines that come (`+`).
pub fn lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let common = match old.len().max(new.len()) > LINES_MAX {
        true => Vec::new(),
        false => longest_common(&old, &new),
    };
    let mut text = String::new();
    let (mut at_old, mut at_new) = (0, 0);
    for (in_old, in_new) in common.into_iter().chain([(old.len(), new.len())]) {
        old[at_old..in_old].iter().for_each(|line| push(&mut text, '-', line));
        new[at_new..in_new].iter().for_each(|line| push(&mut text, '+', line));
        old.get(in_old).into_iter().for_each(|line| push(&mut text, ' ', line));
        (at_old, at_new) = (in_old + 1, in_new + 1);
    }
    text
}

fn push(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push(' ');
    text.push_str(line);
    text.push('\n');
}

/// Returns the positions of a longest common subsequence in both.
fn longest_common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    // For each pair of ends, how many lines the rests have in common.
    let mut lengths = vec![0_u16; (old.len() + 1) * width];
    for (i, old) in old.iter().enumerate().rev() {
        for (j, new) in new.iter().enumerate().rev() {
            let at = i * width + j;
            lengths[at] = match old == new {
                true => lengths[at + width + 1] + 1,
                false => lengths[at + width].max(lengths[at + 1]),
            };
        }
    }
    let mut common = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let at = i * width + j;
        if old[i] == new[j] {
            common.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[at + width] >= lengths[at + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn texts_differ_line_by_line() {
        let cases = [
            ("a\nb\nc", "a\nb\nc", "  a\n  b\n  c\n"),
            ("a\nb\nc", "a\nx\nc", "  a\n- b\n+ x\n  c\n"),
            ("", "new", "+ new\n"),
            ("old", "", "- old\n"),
            ("", "", ""),
            ("a\na\nb", "a\nb\nb", "  a\n- a\n  b\n+ b\n"),
        ];
        for (before, after, expected) in cases {
            assert_eq!(lines(before, after), expected, "{before:?} and {after:?}");
        }
    }

    #[test]
    fn long_texts_are_shown_one_after_the_other() {
        let long = "line\n".repeat(super::LINES_MAX + 1);
        let shown = lines(&long, "line");
        assert!(shown.starts_with("- line\n") && shown.ends_with("+ line\n"));
    }
}
