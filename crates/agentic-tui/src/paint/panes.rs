//! The three panes.

use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Text};
use ratatui::widgets::Paragraph;

use super::{Painter, PartFocus};
use crate::line::{PaneLine, Tone};
use crate::state::{DetailTab, PaneList, PaneName, UiState};
use crate::wish::DetailSubject;

/// A line and the one before it may be of one thing; how much of a very long line is cut into rows.
const LINE_ROWS_MAX: usize = 200;

impl Painter<'_, '_> {
    /// Draws a list, with its selected row in sight.
    pub(super) fn list(&mut self, area: Rect, list: &PaneList, focus: PartFocus) {
        if area.height == 0 {
            return;
        }
        let area = self.border(area, &list.title, focus);
        if list.rows.is_empty() {
            let width = usize::from(area.width);
            let rows: Vec<_> = list.empty.iter().flat_map(|line| line.rows(width)).collect();
            self.rows(area, &rows);
            return;
        }
        let height = usize::from(area.height);
        let from = first_row(list.at, list.rows.len(), height, |_| 1);
        let shown = list.rows.iter().enumerate().skip(from).take(height);
        let row = |(at, row): (usize, &crate::state::ListRow)| {
            let line = self.spans(row.line.pieces());
            self.marked(line, at == list.at, focus)
        };
        let lines: Vec<Line<'_>> = shown.map(row).collect();
        self.frame.render_widget(Paragraph::new(Text::from(lines)), area);
    }

    /// Draws what is looked at: long lines go on below.
    pub(super) fn detail(&mut self, area: Rect, state: &UiState) {
        if area.height == 0 {
            return;
        }
        let detail = &state.detail;
        let focus = PartFocus::of(state.focus == PaneName::Detail);
        let area = self.border(area, &detail_title(state), focus);
        if detail.is_reading && detail.lines.is_empty() {
            self.lines(area, &[PaneLine::default().say(Tone::Faint, "reading…")]);
            return;
        }
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        let n_rows = |at: usize| detail.lines[at].n_rows(width).min(LINE_ROWS_MAX);
        let from = first_row(detail.at, detail.lines.len(), height, n_rows);
        let mut rows: Vec<Line<'_>> = Vec::with_capacity(height);
        for (at, line) in detail.lines.iter().enumerate().skip(from) {
            for row in line.rows(width).into_iter().take(LINE_ROWS_MAX) {
                let row = self.spans(&row);
                rows.push(self.marked(row, at == detail.at, focus));
            }
            if rows.len() >= height {
                break;
            }
        }
        rows.truncate(height);
        self.frame.render_widget(Paragraph::new(Text::from(rows)), area);
    }

    /// Marks the selected row, more where keys go.
    fn marked(&self, line: Line<'static>, is_selected: bool, focus: PartFocus) -> Line<'static> {
        match (is_selected, focus) {
            (true, PartFocus::Here) => line.patch_style(Modifier::REVERSED),
            (true, PartFocus::Elsewhere) => line.patch_style(Modifier::UNDERLINED),
            (false, _) => line,
        }
    }
}

fn detail_title(state: &UiState) -> String {
    let name = |tab: DetailTab, name: &str| match state.tab == tab {
        true => format!("[{name}]"),
        false => name.to_owned(),
    };
    let tabs = [
        name(DetailTab::Log, "1 log"),
        name(DetailTab::Trace, "2 trace"),
        name(DetailTab::Session, "3 session"),
    ]
    .join(" ");
    match &state.detail.subject {
        Some(DetailSubject::Commit(_)) => format!("{tabs} › commit"),
        Some(DetailSubject::Found(_)) => format!("{tabs} › search"),
        Some(DetailSubject::Statistics) => format!("{tabs} › statistics"),
        Some(
            DetailSubject::Log(_)
            | DetailSubject::Trace(_)
            | DetailSubject::Sessions(_)
            | DetailSubject::Session(_),
        )
        | None => tabs,
    }
}

/// Says with which line a pane begins, so that the selected one is in its middle, or as near to that as
/// the ends allow. Only lines that could be in sight are measured.
fn first_row(at: usize, n_lines: usize, height: usize, n_rows: impl Fn(usize) -> usize) -> usize {
    if n_lines == 0 {
        return 0;
    }
    let at = at.min(n_lines - 1);
    // What follows takes no more than half, but for what there is too little of.
    let mut below = 0;
    for line in at..n_lines {
        below += n_rows(line);
        if below * 2 >= height {
            below = (height / 2).max(n_rows(at).min(height));
            break;
        }
    }
    let mut from = at;
    let mut used = below;
    while from > 0 {
        used += n_rows(from - 1);
        if used > height {
            break;
        }
        from -= 1;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::first_row;

    #[test]
    fn the_selected_line_is_in_sight_and_the_ends_are_used() {
        let one = |_: usize| 1;
        assert_eq!(first_row(0, 100, 10, one), 0);
        assert_eq!(first_row(4, 100, 10, one), 0);
        assert_eq!(first_row(50, 100, 10, one), 45);
        assert_eq!(first_row(99, 100, 10, one), 90);
        assert_eq!(first_row(2, 3, 10, one), 0);
        assert_eq!(first_row(0, 0, 10, one), 0);
        // Every line stands in sight when it is selected, however long those around it are.
        for n_rows in 1..30 {
            for at in 0..20 {
                let from = first_row(at, 20, 10, |_| n_rows);
                let before = (from..at).count() * n_rows;
                assert!(before < 10, "{n_rows} rows each: line {at} from {from}");
            }
        }
    }
}
