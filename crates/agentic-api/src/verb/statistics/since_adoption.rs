//! What came of a version since it was adopted, beside what the trials said that spoke for it.

use agentic_model::Cid;
use agentic_space::library::NameChange;

use super::by_case::group;
use super::case_figures::CaseMetric;
use super::cases::CountedCase;
use crate::behaviours::behaviour_name;
use crate::verb::trial::figures_of;
use crate::view::{AdoptedTrialView, SinceAdoptionView};
use crate::{Caller, Refusal};

/// Of which cases and figures is told.
pub(super) struct AskedSince<'a> {
    /// The name of behaviours.
    pub name: &'a str,
    /// The cases that were asked for.
    pub cases: &'a [&'a CountedCase],
    /// The figures that were.
    pub metrics: &'a [CaseMetric],
}

/// Tells of the version that a name means here; nothing where it means none. What cannot be read of its
/// trials is added to `left_out`.
pub(super) fn since_adoption(
    caller: &Caller<'_>,
    asked: &AskedSince<'_>,
    left_out: &mut Vec<String>,
) -> Result<Option<SinceAdoptionView>, Refusal> {
    let name = behaviour_name(asked.name)?;
    let Some(pointer) = caller.space.behaviour_in_force(&name)?.pointer else { return Ok(None) };
    let changes = caller.space.behaviour_changes(&name)?;
    let adoption = changes.iter().find(|change| change.cid == Some(pointer.cid));
    let evidence = adoption.into_iter().flat_map(NameChange::evidence);
    let mut trials = Vec::new();
    for cid in evidence.filter_map(|text| Cid::parse(text).ok()) {
        match caller.space.object(cid) {
            Ok(object) => trials.extend(
                figures_of(&object, &pointer.cid)
                    .map(|said| AdoptedTrialView { cid: cid.to_string(), said }),
            ),
            Err(error) => left_out.push(format!("the trial {cid}: {error}")),
        }
    }
    // Commits keep seconds.
    let since = pointer.at.millis().div_euclid(1000);
    let version = pointer.cid.to_string();
    let is_since = |case: &&&CountedCase| {
        case.began.div_euclid(1000) >= since
            && case.behaviours.len() == 1
            && case.behaviours.contains(&version)
    };
    let cases: Vec<&CountedCase> = asked.cases.iter().filter(is_since).copied().collect();
    let names = vec![name.to_string()];
    Ok(Some(SinceAdoptionView {
        adopted: pointer.at.to_string(),
        figures: group(Some(version), names, &cases, asked.metrics),
        trials,
    }))
}
