//! Colours of code: which parts of the lines of a difference are of which sort.
//!
//! Grammars are regular expressions over texts of others, and one of them may take as long as it likes
//! over one line. So they run on a thread of their own, few at a time, and a page waits a tenth of a
//! second for what they find. What is not found by then is plain.
//!
//! A hunk is read from its first line on, as other tools that colour differences do: what began above
//! it, such as a long comment, is not known to be one.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use agentic_api::verb::DIFF_LINES_MAX;
use agentic_api::view::{CommitDiffView, DiffHunkView, FileDiffView};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout_at;
use two_face::re_exports::syntect::parsing::{
    ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet,
};

/// How long a page waits for its colours.
const COLOUR_WAIT: Duration = Duration::from_millis(100);
/// How many threads look for colours.
const THREADS_MAX: usize = 2;
/// Above so many bytes a file is plain.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// Above so many characters a line is plain.
const LINE_CHARS_MAX: usize = 1_000;

/// Which sort a part of a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSort {
    Comment,
    Text,
    Keyword,
    Constant,
    Name,
}

impl CodeSort {
    /// Returns the class of its elements.
    pub fn class(self) -> &'static str {
        match self {
            CodeSort::Comment => "c",
            CodeSort::Text => "s",
            CodeSort::Keyword => "k",
            CodeSort::Constant => "n",
            CodeSort::Name => "f",
        }
    }
}

/// A part of a line that has a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColouredPart {
    /// Which of the line's bytes.
    pub place: Range<usize>,
    /// Its sort.
    pub sort: CodeSort,
}

/// The parts of a line that have colours, in their order.
pub type LineColours = Vec<ColouredPart>;

/// The colours of a difference, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffColours {
    /// By the place of the file and of the hunk in the view.
    hunks: BTreeMap<(usize, usize), Vec<LineColours>>,
}

impl DiffColours {
    /// Tells whether nothing has a colour.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    /// Returns the colours of the first lines of a hunk.
    pub fn of_hunk(&self, file: usize, hunk: usize) -> &[LineColours] {
        self.hunks.get(&(file, hunk)).map_or(&[], Vec::as_slice)
    }

    /// Finds the colours of a difference without a thread, as far as that can be done until then.
    #[cfg(test)]
    pub fn find(diff: &CommitDiffView, until: Instant) -> DiffColours {
        let mut found = DiffColours::default();
        for text in CodeText::all(diff) {
            let (place, lines) = (text.place, text.colours(until));
            found.take(place, lines);
        }
        found
    }

    fn take(&mut self, place: (usize, usize), lines: Vec<LineColours>) {
        if lines.iter().any(|line| !line.is_empty()) {
            self.hunks.insert(place, lines);
        }
    }
}

/// Who looks for colours.
#[derive(Debug)]
pub struct ColourDesk {
    permits: Arc<Semaphore>,
}

impl Default for ColourDesk {
    fn default() -> ColourDesk {
        ColourDesk { permits: Arc::new(Semaphore::new(THREADS_MAX)) }
    }
}

impl ColourDesk {
    /// Finds the colours of a difference, those that are found in time.
    pub async fn find(&self, diff: &CommitDiffView) -> DiffColours {
        let until = Instant::now() + COLOUR_WAIT;
        let (texts, mut found) = (CodeText::all(diff), DiffColours::default());
        if texts.is_empty() {
            return found;
        }
        let Ok(Ok(permit)) =
            timeout_at(until.into(), Arc::clone(&self.permits).acquire_owned()).await
        else {
            return found;
        };
        let (sender, mut coming) = mpsc::channel(DIFF_LINES_MAX);
        let look = move || {
            let _permit: OwnedSemaphorePermit = permit;
            for text in texts {
                let lines = text.colours(until);
                // Whoever asked may have what there was by then, and be gone.
                if sender.try_send((text.place, lines)).is_err() {
                    return;
                }
            }
        };
        let begun = std::thread::Builder::new().name("agentic-colours".to_owned()).spawn(look);
        if let Err(error) = begun {
            tracing::warn!(%error, "no thread to look for colours");
            return found;
        }
        while let Ok(Some((place, lines))) = timeout_at(until.into(), coming.recv()).await {
            found.take(place, lines);
        }
        found
    }
}

/// All grammars there are: they are read when the first of them is wanted.
// process: tables without state, a megabyte of them; they are read once.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Which sort is what grammars call so, or begin to call so; nothing for what has no colour even within
/// something that has one.
const SORTS: [(&str, Option<CodeSort>); 21] = [
    ("comment", Some(CodeSort::Comment)),
    ("meta.interpolation", None),
    ("meta.template.expression", None),
    ("meta.embedded", None),
    ("string", Some(CodeSort::Text)),
    ("markup.raw", Some(CodeSort::Text)),
    ("constant", Some(CodeSort::Constant)),
    ("keyword", Some(CodeSort::Keyword)),
    ("storage", Some(CodeSort::Keyword)),
    ("variable.language", Some(CodeSort::Keyword)),
    ("entity.name.tag", Some(CodeSort::Keyword)),
    ("markup.heading", Some(CodeSort::Keyword)),
    ("entity.name.section", Some(CodeSort::Keyword)),
    ("entity.other.attribute-name", Some(CodeSort::Name)),
    ("entity.name", Some(CodeSort::Name)),
    ("entity.other.inherited-class", Some(CodeSort::Name)),
    ("support.function", Some(CodeSort::Name)),
    ("support.macro", Some(CodeSort::Name)),
    ("support.type", Some(CodeSort::Name)),
    ("support.class", Some(CodeSort::Name)),
    ("variable.function", Some(CodeSort::Name)),
];

// process: constants in the numbers that grammars are read with; they are made once.
static SORT_SCOPES: LazyLock<Vec<(Scope, Option<CodeSort>)>> = LazyLock::new(|| {
    let scope = |name: &str| Scope::new(name).expect("the names of sorts are short");
    SORTS.iter().map(|(name, sort)| (scope(name), *sort)).collect()
});

/// Returns of which sort something is that has these names, the narrowest last.
fn sort_of(names: &ScopeStack) -> Option<CodeSort> {
    let known = |name: &Scope| SORT_SCOPES.iter().find(|(sort, _)| sort.is_prefix_of(*name));
    names.as_slice().iter().rev().find_map(known).and_then(|(_, sort)| *sort)
}

/// The lines of a hunk.
#[derive(Debug)]
struct CodeText {
    place: (usize, usize),
    path: String,
    /// Each with its sign.
    lines: Vec<(char, String)>,
    /// The first line of the file, where that is known.
    first: Option<String>,
}

impl CodeText {
    fn all(diff: &CommitDiffView) -> Vec<CodeText> {
        let mut texts = Vec::new();
        for (at, file) in diff.files.iter().enumerate().filter(|(_, file)| is_code(file)) {
            let first = file.hunks.first().and_then(first_line);
            for (hunk_at, hunk) in file.hunks.iter().enumerate() {
                let lines = hunk.lines.iter().map(|line| (line.sign, line.text.clone()));
                let (path, lines) = (file.path.clone(), lines.collect());
                let place = (at, hunk_at);
                texts.push(CodeText { place, path, lines, first: first.clone() });
            }
        }
        texts
    }

    fn colours(&self, until: Instant) -> Vec<LineColours> {
        let Some(grammar) = grammar(&self.path, self.first.as_deref()) else { return Vec::new() };
        let mut before = CodeReader::new(grammar);
        let mut now = before.clone();
        let mut found = Vec::new();
        for (sign, line) in &self.lines {
            if Instant::now() >= until {
                break;
            }
            found.push(match sign {
                '-' => before.read(line),
                '+' => now.read(line),
                _ if before == now => {
                    let colours = now.read(line);
                    before.clone_from(&now);
                    colours
                }
                _ => {
                    before.read(line);
                    now.read(line)
                }
            });
        }
        found
    }
}

fn is_code(file: &FileDiffView) -> bool {
    let bytes = file.old_bytes.max(file.new_bytes).unwrap_or_default();
    file.content == "text" && bytes <= FILE_BYTES_MAX && !file.is_link()
}

fn first_line(hunk: &DiffHunkView) -> Option<String> {
    let first = hunk.lines.iter().find(|line| line.new.or(line.old) == Some(1))?;
    is_short(&first.text).then(|| first.text.clone())
}

fn is_short(line: &str) -> bool {
    line.chars().nth(LINE_CHARS_MAX).is_none()
}

/// Finds the grammar of a file: by its name, else by how it ends, else by its first line.
fn grammar(path: &str, first: Option<&str>) -> Option<&'static SyntaxReference> {
    let of = |part: Option<&std::ffi::OsStr>| {
        part.and_then(|part| part.to_str()).and_then(|text| GRAMMARS.find_syntax_by_extension(text))
    };
    let path = Path::new(path);
    let by_line = || first.and_then(|line| GRAMMARS.find_syntax_by_first_line(line));
    of(path.file_name()).or_else(|| of(path.extension())).or_else(by_line)
}

/// Reads one side of a hunk, line by line.
#[derive(Clone, PartialEq)]
struct CodeReader {
    parser: ParseState,
    names: ScopeStack,
    /// Whether a line was not understood: those behind it are plain.
    is_lost: bool,
}

impl CodeReader {
    fn new(grammar: &SyntaxReference) -> CodeReader {
        CodeReader { parser: ParseState::new(grammar), names: ScopeStack::new(), is_lost: false }
    }

    fn read(&mut self, line: &str) -> LineColours {
        if self.is_lost || !is_short(line) {
            return Vec::new();
        }
        let text = line.strip_suffix('\r').unwrap_or(line);
        let Ok(changes) = self.parser.parse_line(&format!("{text}\n"), &GRAMMARS) else {
            self.is_lost = true;
            return Vec::new();
        };
        let (mut colours, mut at) = (Vec::new(), 0);
        for (place, change) in changes {
            let end = place.min(text.len());
            add(&mut colours, text, at..end, sort_of(&self.names));
            at = end.max(at);
            if self.names.apply(&change).is_err() {
                self.is_lost = true;
                return Vec::new();
            }
        }
        add(&mut colours, text, at..text.len(), sort_of(&self.names));
        colours
    }
}

/// Adds a part of a line, to the one before where both have one colour: each is an element of the page.
fn add(colours: &mut LineColours, text: &str, place: Range<usize>, sort: Option<CodeSort>) {
    let Some((sort, part)) = sort.zip(text.get(place.clone())) else { return };
    let is_word = |part: &str| part.contains(|c: char| c.is_alphanumeric());
    let (begin, said) = (place.end - part.trim_start().len(), part.trim());
    // Operators are keywords to many grammars, and there are many of them.
    if said.is_empty() || (sort == CodeSort::Keyword && !is_word(said)) {
        return;
    }
    let place = begin..begin + said.len();
    match colours.last_mut() {
        Some(last) if last.sort == sort && text[last.place.end..place.start].trim().is_empty() => {
            last.place.end = place.end;
        }
        _ => colours.push(ColouredPart { place, sort }),
    }
}

#[cfg(test)]
mod tests;
