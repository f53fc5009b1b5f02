//! Paths as git prints them.

use gix::bstr::{BStr, ByteSlice as _};

/// Reads a path as git prints it: one with quotes, strokes or control characters stands in quotes, as C
/// writes texts. What only looks so is taken as it is.
pub fn unquoted(printed: &str) -> String {
    let bytes = <&BStr>::from(printed);
    match gix::quote::ansi_c::undo(bytes) {
        Ok((path, n_read)) if n_read == bytes.len() => path.to_str_lossy().into_owned(),
        Ok(_) | Err(_) => printed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_as_they_are() {
        for (printed, path) in [
            ("a b", "a b"),
            (r#""q\"x""#, "q\"x"),
            (r#""tab\tx\r""#, "tab\tx\r"),
            (r#""ff\fé\303\251\001\\""#, "ff\u{c}éé\u{1}\\"),
            (r#""a\"#, r#""a\"#),
        ] {
            assert_eq!(unquoted(printed), path, "{printed}");
        }
    }
}
