//! Rows of facts that are in memory, as a query asks for them.

use agentic_query::{FactCell, FactFailure, FactRequest, FactSink, QueryValue};

/// Hands over those rows of a predicate that a request is about, with the columns that it wants.
pub(crate) fn hand_over(
    request: &FactRequest,
    rows: Option<&[Vec<QueryValue>]>,
    sink: &mut FactSink<'_>,
) -> Result<(), FactFailure> {
    let Some(rows) = rows else {
        return Err(FactFailure(format!("there is no predicate number {}", request.predicate)));
    };
    for row in rows {
        let fits = request.bound.iter().all(|bound| bound.values.contains(&row[bound.column]));
        let is_inside = request.ranges.iter().all(
            |range| matches!(&row[range.column], QueryValue::Int(number) if range.admits(*number)),
        );
        if !fits || !is_inside {
            continue;
        }
        let cells: Vec<FactCell<'_>> =
            request.columns.iter().map(|column| cell(&row[*column])).collect();
        if sink.row(&cells).is_break() {
            break;
        }
    }
    Ok(())
}

fn cell(value: &QueryValue) -> FactCell<'_> {
    match value {
        QueryValue::Null => FactCell::Null,
        QueryValue::Bool(truth) => FactCell::Bool(*truth),
        QueryValue::Int(number) => FactCell::Int(*number),
        QueryValue::Float(number) => FactCell::Float(*number),
        QueryValue::Text(text) => FactCell::Text(text),
    }
}
