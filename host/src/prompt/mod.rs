//! Room 17, `prompt`: sections under a budget.
//! Must not cut silently. Next room: `model`.
