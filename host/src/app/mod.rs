//! Room 28, `app`: construct the rooms once, signals, shutdown.
//! Must not contain rules. Next room: `none`.

mod check;
mod dispatch;
mod doctor;
mod error;
mod ground;
mod host;
mod logging;
mod options;
mod overview;
mod places;
mod subject;
mod theatre;

pub use check::{CheckOptions, CheckReport, check};
pub use doctor::{DoctorOptions, Health, doctor};
pub use error::StartError;
pub use host::Host;
pub use logging::init_logging;
pub use options::{HostOptions, StoreKind};
pub use places::{DirFault, bot_dir, data_dir};
pub use theatre::{TestReport, test};
