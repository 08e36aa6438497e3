//! The controller as the executor asks it: which names the model may call in this step.

use crate::catalog::{self, Controller};
use crate::exec::{Offered, Refused};
use std::sync::Arc;

/// What this step's request offered.
pub(super) struct OfferedStep(pub(super) Arc<Controller>);

impl Offered for OfferedStep {
    fn may_call(&self, name: &str) -> Result<String, Refused> {
        match self.0.may_call(name) {
            Ok(tool) => Ok(tool.qualified.to_string()),
            Err(refused) => Err(match refused {
                catalog::Refused::Unknown { nearest, .. } => Refused::Unknown { nearest },
                catalog::Refused::NotLoaded(name, _) => Refused::NotLoaded(name.to_string()),
                catalog::Refused::NotAdmitted(name) => Refused::NotAdmitted(name.to_string()),
                catalog::Refused::NotListed(name) => Refused::NotListed(name.to_string()),
                catalog::Refused::Gone(name) => Refused::Gone(name),
            }),
        }
    }
}
