//! Plans that are stored, with where their nodes come from.

use agentic_model::Kind;
use agentic_plan::{Plan, PlanSourceMap, SOURCE_MAP_KIND};

use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// Reads a stored plan, checks it, and finds its source map, by the id of the plan or its beginning.
/// Of several maps, which different layouts of one program have, it is the one with the first id; a
/// plan that came from elsewhere has none.
///
/// # Errors
/// Fails when there is no such object, and when it is not a plan that can run.
pub fn stored_plan(space: &SessionSpace, id: &str) -> Result<(Plan, PlanSourceMap)> {
    let cid = space.find_object(id)?;
    let plan = Plan::from_object(&space.object(cid)?).map_err(|error| {
        Error::Program(ProgramError::NotAPlan {
            id: cid.to_string(),
            kind: format!("{:?}", error.kind()),
            reason: error.to_string(),
        })
    })?;
    let kind = Kind::parse(SOURCE_MAP_KIND).expect("a valid name");
    let beside = space.objects_beside(cid, &kind)?;
    let maps = beside.iter().filter_map(PlanSourceMap::from_object);
    let own = maps.filter(|(plan, _)| *plan == cid).map(|(_, places)| places).next();
    Ok((plan, own.unwrap_or_default()))
}
