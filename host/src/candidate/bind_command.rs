//! A chat command with a program of its own becomes a hidden tool: there is one way to run anything.

use super::bind::{Binding, Bound};
use crate::index::{Contribution, Source};
use crate::loader::{ArgumentKind, CommandSource, CommandTarget, Placement, RunSpec};
use crate::runtime::command::bind;
use plugin_sdk::{Diagnostic, ToolDef, ToolOptions};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Binding<'_> {
    pub(super) fn commands(&self, out: &mut Bound) {
        for command in &self.plugin.commands {
            let CommandTarget::Run(run) = &command.target else { continue };
            let before = out.findings.len();
            let runs = self.program((run, &command.folder, &command.place), &mut out.findings);
            let sound = !out.findings[before..].iter().any(Diagnostic::is_error);
            if sound && runs {
                out.contributions.push(self.command(command, run));
            } else {
                out.left_out.push(self.plugin.owner.qualify(&command.tool_name()));
            }
        }
    }

    fn command(&self, command: &CommandSource, run: &RunSpec) -> Contribution {
        let gate = &command.gate;
        let options = ToolOptions {
            requires_approval: gate.requires_approval,
            platforms: gate.audience.platforms.clone(),
            scopes: gate.audience.scopes.clone(),
            permissions: gate.audience.permissions.clone(),
            timeout_seconds: gate.timeout_seconds,
            hidden: true,
            metadata: Map::from_iter([("title".to_string(), json!(format!("/{}", command.words())))]),
            ..ToolOptions::default()
        };
        let input_schema = schema(command);
        Contribution {
            owner: self.plugin.owner.clone(),
            name: command.tool_name(),
            placement: Placement::Plugin,
            source: Source::Folder,
            def: ToolDef { description: command.description.clone(), input_schema, preset: Map::new(), options },
            callable: bind(self.spec(run, &command.folder), Arc::clone(self.pool)),
            runtime: "command",
            place: Some(command.place.clone()),
            schema_pointer: "/arguments".into(),
            code_digest: self.code_digest(&command.folder),
            config: Arc::clone(self.config),
        }
    }
}

fn schema(command: &CommandSource) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in &command.arguments {
        let name = match argument.kind {
            ArgumentKind::Text | ArgumentKind::Rest => "string",
            ArgumentKind::Int => "integer",
            ArgumentKind::Number => "number",
            ArgumentKind::Bool => "boolean",
        };
        let mut property = json!({ "type": name });
        if let Some(description) = &argument.description {
            property["description"] = json!(description);
        }
        properties.insert(argument.name.clone(), property);
        if argument.required {
            required.push(json!(argument.name));
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
