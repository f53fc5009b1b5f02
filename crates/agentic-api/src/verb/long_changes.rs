//! Changes that arrive as one long JSON text.
//!
//! What is short of them is read as any JSON. A long text in them goes to the disk while it is read,
//! without its escapes, and a mark that nobody can guess stands in its place.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{BufReader, Read};
use std::sync::Arc;

use agentic_session::SessionSpace;
use agentic_space::commit::{Edit, FileMode, SpoolWriter, SpooledContent};
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::read::DecoderReader;
use serde_json::Value as Json;

use super::long_text::LongText;
use crate::Refusal;

/// From how many bytes on, as it is written, a text goes to the disk.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// How much is read at a time, in bytes.
const PART_BYTES: usize = 64 << 10;

/// Changes with long texts.
#[derive(Debug, Clone, PartialEq)]
pub struct LongChanges {
    /// The changes, with marks in place of long texts.
    pub map: serde_json::Map<String, Json>,
    /// The long texts by their marks.
    texts: BTreeMap<String, Arc<SpooledContent>>,
}

impl LongChanges {
    /// Makes them of what was sifted.
    pub fn new(
        map: serde_json::Map<String, Json>,
        texts: BTreeMap<String, Arc<SpooledContent>>,
    ) -> LongChanges {
        LongChanges { map, texts }
    }

    /// Tells whether a text is a mark.
    pub fn is_mark(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }

    /// Returns what becomes of a file whose content is long: nothing for one that is short.
    ///
    /// # Errors
    /// Fails when the disk is full, and when the content is no base64.
    pub fn edit(&self, change: &Json) -> Result<Option<Edit>, Refusal> {
        if let Some(content) = self.text(Some(change)) {
            return Ok(Some(Edit::WriteSpooled { content, mode: FileMode::Plain }));
        }
        let Some(form) = change.as_object() else { return Ok(None) };
        let is_executable = form.get("executable").and_then(Json::as_bool) == Some(true);
        let mode = if is_executable { FileMode::Executable } else { FileMode::Plain };
        if let Some(content) = self.text(form.get("text")) {
            return Ok(Some(Edit::WriteSpooled { content, mode }));
        }
        if let Some(content) = self.text(form.get("symlink")) {
            return Ok(Some(Edit::WriteSpooled { content, mode: FileMode::Link }));
        }
        let Some(encoded) = self.text(form.get("base64")) else { return Ok(None) };
        let content = Arc::new(decoded(&encoded)?);
        Ok(Some(Edit::WriteSpooled { content, mode }))
    }

    fn text(&self, value: Option<&Json>) -> Option<Arc<SpooledContent>> {
        self.texts.get(value?.as_str()?).cloned()
    }
}

/// Writes what a long text in base64 stands for.
fn decoded(encoded: &SpooledContent) -> Result<SpooledContent, Refusal> {
    let mut reader = DecoderReader::new(BufReader::new(encoded.open()?), &BASE64);
    let mut out = encoded.spool_beside()?;
    let mut part = vec![0; PART_BYTES];
    loop {
        let n_read = reader.read(&mut part).map_err(|error| {
            let message = format!("a content is not base64: {error}");
            Refusal::schema(&message, "encode it with padding")
        })?;
        if n_read == 0 {
            return Ok(out.finish()?);
        }
        out.append(&part[..n_read])?;
    }
}

/// Takes a JSON text part by part, and keeps what is short of it.
pub struct TextSifter<'a> {
    space: &'a SessionSpace,
    /// What is kept, with marks.
    kept: Vec<u8>,
    place: SiftPlace,
    /// How every mark begins.
    mark: String,
    texts: BTreeMap<String, Arc<SpooledContent>>,
}

/// Where the sifter is.
enum SiftPlace {
    Outside,
    /// In a text that begins there in what is kept; behind a backslash or not.
    InShort {
        begin: usize,
        is_escaped: bool,
    },
    InLong(Box<LongText<SpoolWriter>>),
}

impl<'a> TextSifter<'a> {
    /// Begins with nothing.
    pub fn new(space: &'a SessionSpace) -> TextSifter<'a> {
        // Nobody can write a text that is taken for a mark.
        let random = || RandomState::new().build_hasher().finish();
        let mark = format!("long text {:016x}{:016x} ", random(), random());
        let (kept, texts) = (Vec::new(), BTreeMap::new());
        TextSifter { space, kept, place: SiftPlace::Outside, mark, texts }
    }

    /// Takes the next part.
    ///
    /// # Errors
    /// Fails when the disk is full, and when a long text is none of JSON.
    pub fn take(&mut self, mut part: &[u8]) -> Result<(), Refusal> {
        while !part.is_empty() {
            part = match &mut self.place {
                SiftPlace::Outside => self.outside(part),
                SiftPlace::InShort { .. } => self.in_short(part)?,
                SiftPlace::InLong(text) => match text.take(part)? {
                    None => &[],
                    Some(n_taken) => {
                        self.end_long()?;
                        &part[n_taken..]
                    }
                },
            };
        }
        Ok(())
    }

    /// Ends it. Returns what was kept, and the long texts by their marks.
    pub fn finish(self) -> (Vec<u8>, BTreeMap<String, Arc<SpooledContent>>) {
        (self.kept, self.texts)
    }

    fn outside<'p>(&mut self, part: &'p [u8]) -> &'p [u8] {
        let n_before = part.iter().position(|byte| *byte == b'"');
        let n_taken = n_before.map_or(part.len(), |at| at + 1);
        self.kept.extend_from_slice(&part[..n_taken]);
        if n_before.is_some() {
            self.place = SiftPlace::InShort { begin: self.kept.len(), is_escaped: false };
        }
        &part[n_taken..]
    }

    fn in_short<'p>(&mut self, part: &'p [u8]) -> Result<&'p [u8], Refusal> {
        let SiftPlace::InShort { begin, is_escaped } = &mut self.place else { return Ok(part) };
        let begin = *begin;
        for (at, byte) in part.iter().enumerate() {
            match (std::mem::take(is_escaped), byte) {
                (false, b'\\') => *is_escaped = true,
                (false, b'"') => {
                    self.kept.extend_from_slice(&part[..=at]);
                    self.place = SiftPlace::Outside;
                    return Ok(&part[at + 1..]);
                }
                (_, _) => {}
            }
        }
        self.kept.extend_from_slice(part);
        if self.kept.len() - begin > TEXT_BYTES_MAX {
            let mut text = LongText::new(self.space.repository().scratch().spool()?);
            text.take(&self.kept[begin..])?;
            self.kept.truncate(begin);
            self.place = SiftPlace::InLong(Box::new(text));
        }
        Ok(&[])
    }

    fn end_long(&mut self) -> Result<(), Refusal> {
        let SiftPlace::InLong(text) = std::mem::replace(&mut self.place, SiftPlace::Outside) else {
            return Ok(());
        };
        let mark = format!("{}{}", self.mark, self.texts.len());
        self.kept.extend_from_slice(mark.as_bytes());
        self.kept.push(b'"');
        self.texts.insert(mark, Arc::new(text.finish().finish()?));
        Ok(())
    }
}
