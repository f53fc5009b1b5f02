//! A transcript that is one object of JSON, as lines: its head, then each of its `messages`.
//!
//! Nothing is parsed, and little held: what stands between the brackets of `messages` goes through as
//! it is, a break after each. What is cut off ends in the middle of a line, as it does in any
//! transcript.

use std::io::Read;

/// The key of the list whose items are the lines.
const LIST: &str = "messages";
/// What is told of the conversation itself.
const HEAD: [&str; 6] = ["sessionId", "projectHash", "startTime", "directories", "cwd", "kind"];
/// The longest value of the head that is told, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The longest key that is looked at, in bytes.
const KEY_BYTES_MAX: usize = 64;
/// How much is read at a time, in bytes.
const READ_BYTES: usize = 64 << 10;

/// Reads an object of JSON as lines.
pub struct MessageLines<R> {
    input: R,
    chunk: Vec<u8>,
    lines: Vec<u8>,
    /// How much of `lines` is given out.
    given: usize,
    splitter: Splitter,
}

/// Where in the object the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitPlace {
    /// Before its brace.
    Before,
    /// Where a key may begin.
    Key,
    /// Within a key.
    InKey,
    /// Between a key and its value.
    Value,
    /// Within a value that is no list of messages.
    InValue,
    /// Where a message may begin.
    Item,
    /// Within a message.
    InItem,
    /// After the object.
    After,
}

#[derive(Debug)]
struct Splitter {
    place: SplitPlace,
    /// How many brackets of the value or the message are open.
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    /// What the head has to tell since it was last told.
    head: Vec<(String, Vec<u8>)>,
    session: Option<Vec<u8>>,
}

impl<R: Read> MessageLines<R> {
    /// Begins at the first byte of a file.
    pub fn new(input: R) -> MessageLines<R> {
        let splitter = Splitter {
            place: SplitPlace::Before,
            depth: 0,
            is_text: false,
            is_escaped: false,
            key: Vec::new(),
            value: Vec::new(),
            head: Vec::new(),
            session: None,
        };
        MessageLines { input, chunk: vec![0; READ_BYTES], lines: Vec::new(), given: 0, splitter }
    }
}

impl<R: Read> Read for MessageLines<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.given == self.lines.len() {
            (self.given, _) = (0, self.lines.clear());
            let count = self.input.read(&mut self.chunk)?;
            if count == 0 {
                return Ok(0);
            }
            for byte in &self.chunk[..count] {
                self.splitter.take(*byte, &mut self.lines)?;
            }
        }
        let count = into.len().min(self.lines.len() - self.given);
        into[..count].copy_from_slice(&self.lines[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

impl Splitter {
    fn take(&mut self, byte: u8, lines: &mut Vec<u8>) -> std::io::Result<()> {
        match self.place {
            SplitPlace::Before => match byte {
                b'{' => self.place = SplitPlace::Key,
                0xef | 0xbb | 0xbf => {}
                _ if byte.is_ascii_whitespace() => {}
                _ => return Err(std::io::Error::other("it is no object of JSON")),
            },
            SplitPlace::Key => match byte {
                b'"' => {
                    self.key.clear();
                    self.place = SplitPlace::InKey;
                }
                b'}' => {
                    self.tell_head(lines);
                    self.place = SplitPlace::After;
                }
                _ => {}
            },
            SplitPlace::InKey => self.take_key(byte),
            SplitPlace::Value => self.begin_value(byte, lines),
            SplitPlace::InValue => self.take_value(byte, lines),
            SplitPlace::Item => match byte {
                b']' => self.place = SplitPlace::Key,
                b',' => {}
                _ if byte.is_ascii_whitespace() => {}
                _ => {
                    (self.place, self.depth) = (SplitPlace::InItem, 0);
                    self.take_item(byte, lines);
                }
            },
            SplitPlace::InItem => self.take_item(byte, lines),
            SplitPlace::After => {}
        }
        Ok(())
    }

    fn take_key(&mut self, byte: u8) {
        if byte == b'"' && !self.is_escaped {
            self.place = SplitPlace::Value;
        } else if self.key.len() <= KEY_BYTES_MAX {
            self.key.push(byte);
        }
        self.is_escaped = byte == b'\\' && !self.is_escaped;
    }

    fn begin_value(&mut self, byte: u8, lines: &mut Vec<u8>) {
        if byte == b':' || byte.is_ascii_whitespace() {
            return;
        }
        if byte == b'[' && self.key == LIST.as_bytes() {
            self.tell_head(lines);
            self.place = SplitPlace::Item;
            return;
        }
        self.value.clear();
        (self.place, self.depth) = (SplitPlace::InValue, 0);
        self.take_value(byte, lines);
    }

    fn take_value(&mut self, byte: u8, lines: &mut Vec<u8>) {
        if self.is_end(byte) {
            self.end_value();
            self.place = SplitPlace::Key;
            if byte == b'}' {
                self.tell_head(lines);
                self.place = SplitPlace::After;
            }
            return;
        }
        if self.value.len() <= HEAD_BYTES_MAX {
            self.value.push(byte);
        }
        self.step(byte);
    }

    fn take_item(&mut self, byte: u8, lines: &mut Vec<u8>) {
        if self.is_end(byte) {
            lines.push(b'\n');
            self.place = if byte == b']' { SplitPlace::Key } else { SplitPlace::Item };
            return;
        }
        // A break between values would end the line.
        lines.push(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
        self.step(byte);
    }

    /// Tells whether a byte ends what stands here: it belongs to what is around.
    fn is_end(&self, byte: u8) -> bool {
        self.depth == 0 && !self.is_text && matches!(byte, b',' | b'}' | b']')
    }

    fn step(&mut self, byte: u8) {
        if self.is_text {
            self.is_text = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        match byte {
            b'"' => self.is_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn end_value(&mut self) {
        let key = String::from_utf8_lossy(&self.key).into_owned();
        if !HEAD.contains(&key.as_str()) || self.value.len() > HEAD_BYTES_MAX {
            return;
        }
        let value = std::mem::take(&mut self.value);
        let value: Vec<u8> = value
            .into_iter()
            .map(|byte| if byte.is_ascii_whitespace() { b' ' } else { byte })
            .collect();
        match key == HEAD[0] {
            true => self.session = Some(value),
            false => self.head.push((key, value)),
        }
    }

    /// Tells what is known of the conversation, if that is more than was told.
    fn tell_head(&mut self, lines: &mut Vec<u8>) {
        let Some(session) = &self.session else { return };
        if self.head.is_empty() {
            return;
        }
        lines.extend_from_slice(b"{\"sessionId\":");
        lines.extend_from_slice(session);
        for (key, value) in self.head.drain(..) {
            lines.extend_from_slice(format!(",\"{key}\":").as_bytes());
            lines.extend_from_slice(&value);
        }
        lines.extend_from_slice(b"}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, piece: usize) -> String {
        struct Pieces<'p>(&'p [u8], usize);
        impl Read for Pieces<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let count = self.1.min(self.0.len()).min(into.len());
                let (first, rest) = self.0.split_at(count);
                into[..count].copy_from_slice(first);
                self.0 = rest;
                Ok(count)
            }
        }
        let mut found = Vec::new();
        let mut input = MessageLines::new(Pieces(text.as_bytes(), piece));
        match input.read_to_end(&mut found) {
            Ok(_) => String::from_utf8(found).expect("text"),
            Err(error) => format!("{error}"),
        }
    }

    fn check(text: &str, expected: &str) {
        for piece in [1, 2, 7, 1000] {
            assert_eq!(lines(text, piece), expected, "{text} in pieces of {piece}");
        }
    }

    #[test]
    fn each_message_is_a_line_after_the_head() {
        check(
            "\u{feff}{\n \"sessionId\": \"s\",\n \"projectHash\":\"h\", \"lastUpdated\": \"now\",\n \"messages\": [\n  {\"id\": \"1\",\n \"content\":\"a ] } \\\" , b\"},\n {\"id\":\"2\",\"parts\":[{},[1,2]]} ]\n}\n",
            "{\"sessionId\":\"s\",\"projectHash\":\"h\"}\n{\"id\": \"1\",  \"content\":\"a ] } \\\" , b\"}\n{\"id\":\"2\",\"parts\":[{},[1,2]]} \n",
        );
        check(
            "{\"messages\":[1,\"x\"],\"directories\":[\"/a\"],\"sessionId\":\"s\"}",
            "1\n\"x\"\n{\"sessionId\":\"s\",\"directories\":[\"/a\"]}\n",
        );
        check("{\"messages\":[]}", "");
        check("{}", "");
        check("{\"messages\":7,\"x\":{\"messages\":[1]}}", "");
    }

    #[test]
    fn what_is_cut_off_ends_in_the_middle_of_a_line() {
        check("{\"messages\":[{\"id\":\"1\"},{\"id\"", "{\"id\":\"1\"}\n{\"id\"");
        check("", "");
        check("{\"messages\":[{\"a\\", "{\"a\\");
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        check("[{}]", "it is no object of JSON");
        check("nonsense", "it is no object of JSON");
    }

    #[test]
    fn only_little_is_held_of_what_is_not_told() {
        let long = "x".repeat(1 << 20);
        let text = format!("{{\"{long}\":\"{long}\",\"sessionId\":\"{long}\",\"messages\":[1]}}");
        check(&text, "1\n");
    }
}
