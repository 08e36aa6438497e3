//! Room 27, `scenario`: the runner of `understudy test`. Must not reach the live world: it plays in a
//! scratch one that `app` builds. Next room: `app`.

mod file;
mod run;
mod script;
mod stage;

pub use file::{Edit, Press, Say, ScenarioFile, parse};
pub use run::{CaseFailure, run};
pub use script::{Scripted, SeenRequest};
pub use stage::{Heard, More, Stage, StageCall, StageFactory, StagePlan};
