//! What can be asked for.

use std::process::ExitCode;

use agentic_api::verb::query_predicates;
use agentic_api::view::PredicateView;
use agentic_diag::nearest;

use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;

/// Lists all predicates, or shows the columns of one.
pub(super) fn print(context: &Context, name: &str) -> VerbOutcome {
    let space = context.space()?;
    let all = query_predicates(&context.caller(&space));
    let mut views: Vec<PredicateView> = all.iter().map(PredicateView::from).collect();
    views.sort_by(|left, right| left.name.cmp(&right.name));
    if name.is_empty() {
        context.format.answer(&views, |views| views.iter().map(PredicateView::line).collect());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(view) = views.iter().find(|view| view.name == name) else {
        let near = nearest(name, views.iter().map(|view| view.name.as_str()));
        let hint = near.map_or("`agentic query --schema` lists all of them".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        let message = format!("there is no predicate `{name}`");
        return Err(CommandFailure::refused(&message, &hint));
    };
    context.format.answer(view, PredicateView::whole);
    Ok(ExitCode::SUCCESS)
}
