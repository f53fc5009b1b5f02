//! What a commit changed.

use std::ops::Range;

use agentic_api::view::{CommitDiffView, DiffHunkView, DiffLineView, FileDiffView, visible};
use maud::{Markup, html};

use super::clip::{PageRoom, clip, page_bytes, short_line};
use super::short;
use crate::colour::{DiffColours, LineColours};

/// How much room a difference has beside the other parts of a page.
pub const BESIDE_ROOM: PageRoom = PageRoom { bytes: 43 << 10, elements: 560 };
/// How much room that of one file has.
const OWN_ROOM: PageRoom = PageRoom { bytes: 76 << 10, elements: 1_200 };
/// How much of a line is shown, in bytes of the page.
const LINE_BYTES_MAX: usize = 1_000;
/// How much a file takes besides its lines and its names, in bytes and in elements.
const FRAME_BYTES: usize = 400;
const FRAME_ELEMENTS: usize = 8;
/// How much of a path is shown, in bytes of the page.
const PATH_BYTES_MAX: usize = 300;

/// How many bytes an element with a colour takes besides its text.
const COLOUR_BYTES: usize = "<span class=\"x\"></span>".len();

/// The colours of a difference, and how much room there is for them beside its lines.
#[derive(Debug, Clone, Copy)]
pub struct DiffPaint<'c> {
    /// The colours.
    pub colours: &'c DiffColours,
    /// The room: each takes an element.
    pub room: PageRoom,
}

/// Shows what a commit changed, as much as there is room for.
pub fn section(
    commit: &str,
    view: &CommitDiffView,
    query: DiffQuery,
    mut paint: Option<DiffPaint<'_>>,
) -> Markup {
    let address = DiffAddress { commit, parent: query.parent };
    let mut room = if query.file.is_some() { OWN_ROOM } else { BESIDE_ROOM };
    let (mut shown, mut next) = (Vec::new(), view.next);
    for (at, file) in view.files.iter().enumerate() {
        let from = if query.file.is_some() { query.line } else { 0 };
        // Its name stands in the list of files too.
        let n_bytes = 2 * heading(file).0.len() + about(file).0.len() + FRAME_BYTES;
        if !room.take(n_bytes, FRAME_ELEMENTS) && !shown.is_empty() {
            next = Some(file.n);
            break;
        }
        let paint = paint.as_mut().map(|paint| FilePaint { paint, at });
        let part = FilePart::new(file, from, &mut room, paint);
        if part.lines.is_empty() && file.lines > from && !shown.is_empty() {
            next = Some(file.n);
            break;
        }
        shown.push(part.markup(file, address));
    }
    html! {
        section.diff id="diff" aria-labelledby="diff-title" {
            h2 id="diff-title" { "Diff" }
            (summary(view, address))
            @if view.files.len() > 1 { (index(&view.files[..shown.len().min(view.files.len())])) }
            @for file in &shown { (file) }
            @if query.file.is_some() || query.first > 0 {
                p { a href={ (address.page()) "#diff" } { "all files" } }
            }
            @if let Some(next) = next {
                p { a rel="next" href={ (address.of("first", next)) "#diff" } { "files " (next + 1) " to " (view.changed) } }
            }
        }
    }
}

/// Which part of a difference a page shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiffQuery {
    /// Against which parent, from 1.
    pub parent: Option<usize>,
    /// Only this file.
    pub file: Option<usize>,
    /// From which line of it on.
    pub line: usize,
    /// From which file on.
    pub first: usize,
}

/// Where the parts of a difference are.
#[derive(Clone, Copy)]
struct DiffAddress<'a> {
    commit: &'a str,
    parent: Option<usize>,
}

impl DiffAddress<'_> {
    fn page(self) -> String {
        match self.parent {
            Some(parent) => format!("/commits/{}?parent={parent}", self.commit),
            None => format!("/commits/{}", self.commit),
        }
    }

    fn of(self, name: &str, value: usize) -> String {
        let sign = if self.parent.is_some() { '&' } else { '?' };
        format!("{}{sign}{name}={value}", self.page())
    }
}

fn summary(view: &CommitDiffView, address: DiffAddress<'_>) -> Markup {
    html! {
        p.about {
            (view.changed) @if view.changed == 1 { " file" } @else { " files" }
            ", " span.added { "+" (view.added) } " " span.removed { "−" (view.deleted) }
            @if view.partial { " and more: there was too much to compare all" }
            @match &view.parent {
                Some(parent) => { " · against " a href={ "/commits/" (parent) } { code { (short(parent)) } } }
                None => { " · it has no parent" }
            }
        }
        @if view.parents > 1 {
            p.about {
                "against parent"
                @for n in 1..=view.parents.min(16) {
                    " " a href={ (DiffAddress { parent: Some(n), ..address }.page()) "#diff" }
                        aria-current=[(n == address.parent.unwrap_or(1)).then_some("true")] { (n) }
                }
            }
        }
        @if view.changed == 0 { p { "It changed no file." } }
    }
}

fn index(files: &[FileDiffView]) -> Markup {
    html! {
        details {
            summary { "Files" }
            ul.files {
                @for file in files {
                    li { a href={ "#file-" (file.n) } { (short_line(&file.path, PATH_BYTES_MAX)) } " " (counts(file)) }
                }
            }
        }
    }
}

fn counts(file: &FileDiffView) -> String {
    match file.content.as_str() {
        "text" => format!("+{} −{}", file.added, file.deleted),
        "same" => "same content".to_owned(),
        "unread" => "not compared".to_owned(),
        other => other.to_owned(),
    }
}

/// The lines of a file that are shown.
struct FilePart {
    lines: Vec<Markup>,
    /// From which line of the difference on, and how many.
    from: usize,
    n: usize,
}

impl FilePart {
    /// Takes as many lines of a file as there is room for.
    fn new(
        file: &FileDiffView,
        from: usize,
        room: &mut PageRoom,
        mut paint: Option<FilePaint<'_, '_>>,
    ) -> FilePart {
        let mut part = FilePart { lines: Vec::new(), from, n: 0 };
        for (at, hunk) in file.hunks.iter().enumerate() {
            let mut open = true;
            let blocks = blocks(hunk, file.crlf, room, &mut open);
            let n: usize = blocks.iter().map(|block| block.lines.len()).sum();
            part.n += n;
            if !blocks.is_empty() {
                let painted = match &mut paint {
                    Some(paint) => paint.lines(at, &hunk.lines[..n], file.crlf),
                    None => vec![None; n],
                };
                part.lines.push(html! { pre.lines { @for block in &blocks { (block.markup(hunk, file.crlf, &painted)) } } });
            }
            if !open || !room.take(0, 1) {
                break;
            }
        }
        part
    }

    fn markup(&self, file: &FileDiffView, address: DiffAddress<'_>) -> Markup {
        let end = self.from + self.n;
        let left = file.lines.saturating_sub(end);
        html! {
            h3 id={ "file-" (file.n) } { (heading(file)) }
            (about(file))
            @for hunk in &self.lines { (hunk) }
            @if self.from > 0 {
                p { a rel="prev" href={ (address.of("file", file.n)) "#diff" } { "from the first line" } }
            }
            @if left > 0 && file.content == "text" {
                p {
                    a rel="next" href={ (address.of("file", file.n)) "&line=" (end) "#diff" } {
                        (left) @if left == 1 { " line" } @else { " lines" } " more of this file"
                    }
                }
            }
        }
    }
}

fn heading(file: &FileDiffView) -> Markup {
    html! {
        @if let Some(from) = &file.moved_from { (short_line(from, PATH_BYTES_MAX)) " → " }
        (short_line(&file.path, PATH_BYTES_MAX))
    }
}

/// Says of a file what its lines do not.
fn about(file: &FileDiffView) -> Markup {
    let mode = match (file.old_mode.as_deref(), file.new_mode.as_deref()) {
        (Some(old), Some(new)) if old == new => sort(new).map(str::to_owned),
        (Some(old), Some(new)) => Some(format!("mode {old} → {new}")),
        (Some(mode), None) | (None, Some(mode)) => {
            Some(sort(mode).map_or_else(|| format!("mode {mode}"), str::to_owned))
        }
        (None, None) => None,
    };
    let id = |id: &Option<String>| id.as_deref().map_or("nothing", short).to_owned();
    let size = |n: Option<u64>| n.map_or("nothing".to_owned(), |n| format!("{n} bytes"));
    let sizes = || format!("{} → {}", size(file.old_bytes), size(file.new_bytes));
    let content = match file.content.as_str() {
        "bytes" => Some(format!("binary: {}", sizes())),
        "long" => Some(format!("too long to compare: {}", sizes())),
        "submodule" => Some(format!("commit {} → {}", id(&file.old), id(&file.new))),
        "unreadable" => Some("it cannot be read".to_owned()),
        "unread" => Some("not compared: there was too much before it".to_owned()),
        "same" => Some("the content is the same".to_owned()),
        _ if file.lines == 0 => Some("empty".to_owned()),
        _ => file.crlf.then(|| "lines end in CR LF".to_owned()),
    };
    let alike = file.alike.map(|alike| format!("{alike} % alike"));
    let words: Vec<String> =
        [Some(file.status.clone()), alike, mode, content].into_iter().flatten().collect();
    html! {
        p.about { (words.join(" · ")) }
        @if let Some(reason) = &file.reason { p.refusal { (short_line(reason, 500)) } }
    }
}

fn sort(mode: &str) -> Option<&'static str> {
    match mode {
        "120000" => Some("symbolic link"),
        "160000" => Some("submodule"),
        _ => None,
    }
}

/// The colours of a file, and the room for those of all.
struct FilePaint<'p, 'c> {
    paint: &'p mut DiffPaint<'c>,
    at: usize,
}

impl FilePaint<'_, '_> {
    /// Writes the lines of a hunk with their colours: those that have any, and as long as there is room.
    fn lines(
        &mut self,
        hunk: usize,
        lines: &[DiffLineView],
        hides_cr: bool,
    ) -> Vec<Option<Markup>> {
        let DiffPaint { colours, room } = self.paint;
        let colours = colours.of_hunk(self.at, hunk);
        let line = |(at, line): (usize, &DiffLineView)| {
            let parts = colours.get(at).filter(|parts| !parts.is_empty())?;
            let is_whole = !clip(said(line, hides_cr), LINE_BYTES_MAX).is_cut;
            let n = parts.len();
            (is_whole && room.take(n * COLOUR_BYTES, n)).then(|| coloured(line, hides_cr, parts))
        };
        lines.iter().enumerate().map(line).collect()
    }
}

/// Writes a line with the colours of its parts.
fn coloured(line: &DiffLineView, hides_cr: bool, parts: &LineColours) -> Markup {
    let said = said(line, hides_cr);
    let begins = std::iter::once(0).chain(parts.iter().map(|part| part.place.end));
    let plain = begins.zip(parts.iter().map(|part| part.place.start));
    let last = parts.last().map_or(0, |part| part.place.end);
    html! {
        (line_head(line))
        @for ((from, to), part) in plain.zip(parts) {
            (visible(&said[from..to]))
            span class=(part.sort.class()) { (visible(&said[part.place.clone()])) }
        }
        (visible(&said[last..])) (line_end(line))
    }
}

/// Lines one after the other that are of one sort.
struct LineBlock {
    sign: char,
    /// Which of the lines of the hunk.
    lines: Range<usize>,
}

impl LineBlock {
    fn markup(&self, hunk: &DiffHunkView, hides_cr: bool, painted: &[Option<Markup>]) -> Markup {
        let lines = hunk.lines[self.lines.clone()].iter().zip(&painted[self.lines.clone()]);
        let lines = html! {
            @for (line, painted) in lines {
                @match painted {
                    Some(painted) => (painted),
                    None => (text(line, hides_cr)),
                }
            }
        };
        html! {
            @match self.sign {
                '+' => ins.added { (lines) },
                '-' => del.removed { (lines) },
                _ => (lines),
            }
        }
    }
}

/// Puts lines of one sort together, as far as there is room: an element for each would be too many.
fn blocks(
    hunk: &DiffHunkView,
    hides_cr: bool,
    room: &mut PageRoom,
    open: &mut bool,
) -> Vec<LineBlock> {
    let mut blocks: Vec<LineBlock> = Vec::new();
    for (at, line) in hunk.lines.iter().enumerate() {
        let n_bytes = page_bytes(&text(line, hides_cr));
        let is_other = blocks.last().is_none_or(|block| block.sign != line.sign);
        let (bytes, elements) = match (is_other, line.sign) {
            (false, _) | (true, ' ') => (n_bytes, 0),
            (true, _) => (n_bytes + 32, 1),
        };
        if !room.take(bytes, elements) {
            *open = false;
            break;
        }
        match blocks.last_mut().filter(|_| !is_other) {
            Some(block) => block.lines.end = at + 1,
            None => blocks.push(LineBlock { sign: line.sign, lines: at..at + 1 }),
        }
    }
    blocks
}

/// Writes a line: its number, its sign, what it says.
fn text(line: &DiffLineView, hides_cr: bool) -> String {
    let clipped = clip(said(line, hides_cr), LINE_BYTES_MAX);
    let more =
        if clipped.is_cut { format!(" … {} bytes", line.text.len()) } else { String::new() };
    format!("{}{}{more}{}", line_head(line), clipped.shown, line_end(line))
}

fn line_head(line: &DiffLineView) -> String {
    let number = line.new.or(line.old).unwrap_or_default();
    format!("{number:>5} {} ", line.sign)
}

fn said(line: &DiffLineView, hides_cr: bool) -> &str {
    match line.text.strip_suffix('\r') {
        Some(said) if hides_cr => said,
        Some(_) | None => &line.text,
    }
}

fn line_end(line: &DiffLineView) -> &'static str {
    if line.unended { "\n      \\ no line feed at the end\n" } else { "\n" }
}
