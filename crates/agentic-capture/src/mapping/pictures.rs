//! Pictures in transcripts: they cannot be scanned, so they are described and dropped.

/// Counts the bytes that a text in base64 stands for.
pub(super) fn decoded_length(data: &str) -> usize {
    let is_digit = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'=';
    data.bytes().filter(is_digit).count() * 3 / 4
}

/// Splits an address that holds its data itself into what it is and the data.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.split(';').next().unwrap_or(head), data))
}
