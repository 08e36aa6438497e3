//! The compiled input schema of a tool.

use serde_json::Value;
use std::sync::Arc;

/// Original schema, validator, the form a model sees, and hashes. Built by `InputSchema::compile`.
pub struct InputSchema {
    /// As declared, `properties` and `required` filled.
    pub original: Arc<Value>,
    /// Without presets: what a model is sent and `list --schema` shows.
    pub visible: Arc<Value>,
    /// Validates against `original`.
    pub validator: jsonschema::Validator,
    /// SHA-256 of the canonical JSON of `{capabilities, input_schema, requires_approval}`.
    pub schema_hash: String,
    /// SHA-256 of the canonical JSON of the visible schema.
    pub visible_sha256: String,
}
