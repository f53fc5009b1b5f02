//! Who signed a commit: verified in this process, against keys that a document names.

use agentic_model::Oid;

use crate::key::{COMMIT_NAMESPACE, PeerKey, SignedText, live_signer, signer};

/// How the headers of signatures are called, by the length of ids.
const HEADERS: [(usize, &str); 2] = [(20, "gpgsig"), (32, "gpgsig-sha256")];

/// Finds the key that signed a commit, among those that count, whether or not it has expired since. One with
/// several signatures has none.
pub fn commit_signer<'k>(
    commit: Oid,
    bytes: &[u8],
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    let (signature, plain) = split_signature(commit, bytes)?;
    signer(signed_commit(&plain), &signature, keys)
}

/// Finds it likewise, among those that have not expired.
pub fn live_commit_signer<'k>(
    commit: Oid,
    bytes: &[u8],
    keys: impl IntoIterator<Item = &'k PeerKey>,
) -> Option<&'k PeerKey> {
    let (signature, plain) = split_signature(commit, bytes)?;
    live_signer(signed_commit(&plain), &signature, keys)
}

fn signed_commit(plain: &[u8]) -> SignedText<'_> {
    SignedText { namespace: COMMIT_NAMESPACE, line: "", object: plain }
}

/// Takes the signature out of a commit; the rest is what was signed.
fn split_signature(commit: Oid, bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n")? + 1;
    let (headers, rest) = bytes.split_at(end);
    let headers = std::str::from_utf8(headers).ok()?;
    let (mut signature, mut plain) = (Vec::new(), String::new());
    let (mut is_inside, mut n_signatures) = (false, 0);
    for line in headers.lines() {
        if let Some(more) = line.strip_prefix(' ').filter(|_| is_inside) {
            signature.push(more);
            continue;
        }
        let (name, value) = line.split_once(' ')?;
        is_inside = HEADERS.iter().any(|(_, header)| *header == name);
        if is_inside {
            n_signatures += 1;
            let is_right = HEADERS.contains(&(commit.as_bytes().len(), name));
            signature.push(Some(value).filter(|_| is_right)?);
        } else {
            plain.push_str(line);
            plain.push('\n');
        }
    }
    let signature = signature.join("\n") + "\n";
    (n_signatures == 1).then(|| (signature, [plain.as_bytes(), rest].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "tree a\nauthor b\ncommitter c\n";

    fn split(text: &str) -> Option<(String, String)> {
        let commit = Oid::parse(&"1".repeat(40)).expect("an id");
        let (signature, plain) = split_signature(commit, text.as_bytes())?;
        Some((signature, String::from_utf8(plain).expect("it is text")))
    }

    #[test]
    fn a_signature_is_taken_out_of_the_headers_alone() {
        let text = format!("{HEAD}gpgsig x\n y\n z\n\nWhy\n\ngpgsig w\n");
        let plain = format!("{HEAD}\nWhy\n\ngpgsig w\n");
        assert_eq!(split(&text), Some(("x\ny\nz\n".to_owned(), plain)));
    }

    #[test]
    fn none_two_or_one_of_another_hash_are_no_signature() {
        for headers in
            ["", "gpgsig x\ngpgsig y\n", "gpgsig-sha256 x\n", "gpgsig x\ngpgsig-sha256 y\n"]
        {
            assert_eq!(split(&format!("{HEAD}{headers}\nWhy\n")), None, "{headers}");
        }
        assert_eq!(split("tree a"), None);
    }
}
