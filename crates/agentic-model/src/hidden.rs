//! Characters that a reader does not see as what they are.

/// Tells whether a screen would not show a character: controls, and those that turn text around, take no
/// room or carry hidden data. Line breaks and tabs are among them.
pub fn is_hidden(c: char) -> bool {
    if (' '..='~').contains(&c) {
        return false;
    }
    c.is_control()
        || matches!(u32::from(c),
            // Soft hyphen, joiners, fillers.
            0x00ad | 0x034f | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x3164 | 0xfeff | 0xffa0
            // What turns text around, and separators of lines.
            | 0x061c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
            // Variation selectors, but the one that makes emoji of signs; annotations; tags.
            | 0xfe00..=0xfe0e | 0xfff9..=0xfffb | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}
