//! A message to send, or the change of one.

use super::{components, embeds};
use crate::form::{Fields, FormErrors, under};
use crate::id::Id;
use crate::model::flags;
use crate::options::LengthUnit;
use crate::refusal::Refusal;
use crate::upload::{Body, File};
use serde_json::Value;

const CONTENT: usize = 2000;
const NONCE: usize = 25;
const FILES: usize = 10;

/// What the place of the message allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) unit: LengthUnit,
    pub(crate) file_max: usize,
    pub(crate) ephemeral: bool,
}

/// Whom a message may ping.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Allowed {
    pub(crate) everyone: bool,
    pub(crate) all_users: bool,
    pub(crate) all_roles: bool,
    pub(crate) users: Vec<Id>,
    pub(crate) roles: Vec<Id>,
    pub(crate) replied_user: bool,
}

impl Allowed {
    /// Without the field everything pings.
    pub(crate) fn everything() -> Self {
        Self { everyone: true, all_users: true, all_roles: true, replied_user: true, ..Self::default() }
    }
}

/// A checked body; absent fields are `None`.
#[derive(Debug, Clone)]
pub(crate) struct MessageBody {
    pub(crate) content: Option<String>,
    pub(crate) embeds: Option<Vec<Value>>,
    pub(crate) components: Option<Vec<Value>>,
    pub(crate) flags: Option<u64>,
    pub(crate) nonce: Option<Value>,
    pub(crate) enforce_nonce: bool,
    pub(crate) reference: Option<(Id, Option<Id>, bool)>,
    pub(crate) allowed: Allowed,
    /// Attachments of the message that stay, when the body lists any.
    pub(crate) kept: Option<Vec<Id>>,
}

/// The body with the files that came beside it.
pub(crate) struct Draft {
    pub(crate) body: MessageBody,
    pub(crate) files: Vec<(File, Option<String>)>,
}

impl Draft {
    /// Whether it shows anything at all.
    pub(crate) fn is_blank(&self) -> bool {
        let empty = |list: &Option<Vec<Value>>| list.as_ref().is_none_or(Vec::is_empty);
        self.body.content.as_deref().is_none_or(str::is_empty)
            && empty(&self.body.embeds)
            && empty(&self.body.components)
            && self.files.is_empty()
    }
}

/// Checks a message body.
pub(crate) fn draft(body: &Body, limits: Limits) -> Result<Draft, Refusal> {
    if body.files.iter().any(|file| file.bytes.len() > limits.file_max) {
        return Err(Refusal::new(413, 40005, "Request entity too large"));
    }
    let mut errors = FormErrors::default();
    let fields = Fields::new(&body.json, "");
    let content = content(&fields, limits.unit, &mut errors);
    let embed_list = fields.get("embeds").map(|_| fields.list("embeds", 10, &mut errors).to_vec());
    embeds::check(embed_list.as_deref().unwrap_or_default(), &mut errors);
    let rows = fields.get("components").map(|_| fields.list("components", usize::MAX, &mut errors).to_vec());
    components::check(rows.as_deref().unwrap_or_default(), &mut errors);
    fields.flag("tts", &mut errors);
    let enforce_nonce = fields.flag("enforce_nonce", &mut errors).unwrap_or(false);
    let checked = MessageBody {
        content,
        embeds: embed_list,
        components: rows,
        flags: flags_of(&fields, limits.ephemeral, &mut errors),
        nonce: nonce(&fields, &mut errors),
        enforce_nonce,
        reference: reference(&fields, &mut errors),
        allowed: allowed(&fields, &mut errors),
        kept: kept(&fields, &mut errors),
    };
    let files = files(&fields, body, &mut errors);
    errors.result()?;
    Ok(Draft { body: checked, files })
}

fn content(fields: &Fields<'_>, unit: LengthUnit, errors: &mut FormErrors) -> Option<String> {
    // the white space around a text is cut before it is measured
    let text = fields.text("content", (0, usize::MAX), errors)?.trim();
    let length = match unit {
        LengthUnit::Scalars => text.chars().count(),
        LengthUnit::Utf16 => text.encode_utf16().count(),
    };
    if length > CONTENT {
        errors.add("content", "BASE_TYPE_MAX_LENGTH", &format!("Must be {CONTENT} or fewer in length."));
    }
    Some(text.to_owned())
}

fn flags_of(fields: &Fields<'_>, ephemeral: bool, errors: &mut FormErrors) -> Option<u64> {
    let set = fields.number("flags", errors)?;
    let mut may = flags::SUPPRESS_EMBEDS | flags::SUPPRESS_NOTIFICATIONS;
    if ephemeral {
        may |= flags::EPHEMERAL;
    }
    if set & !may != 0 {
        errors.add("flags", "BITFIELD_TYPE_INVALID", &format!("Flags {} cannot be set here.", set & !may));
    }
    Some(set)
}

fn nonce(fields: &Fields<'_>, errors: &mut FormErrors) -> Option<Value> {
    let value = fields.get("nonce")?;
    if value.is_string() {
        fields.text("nonce", (0, NONCE), errors);
    } else if value.as_i64().is_none() {
        errors.add("nonce", "NONCE_TYPE_INVALID", "A nonce is text or a whole number.");
    }
    Some(value.clone())
}

fn reference(fields: &Fields<'_>, errors: &mut FormErrors) -> Option<(Id, Option<Id>, bool)> {
    let reference = Fields::new(fields.get("message_reference")?, "message_reference");
    if reference.number("type", errors).is_some_and(|kind| kind != 0) {
        errors.choices("message_reference.type", "0");
    }
    let channel = reference.id("channel_id", errors);
    let must = reference.flag("fail_if_not_exists", errors).unwrap_or(true);
    let Some(message) = reference.id("message_id", errors) else {
        errors.required("message_reference.message_id");
        return None;
    };
    Some((message, channel, must))
}

fn allowed(fields: &Fields<'_>, errors: &mut FormErrors) -> Allowed {
    let Some(value) = fields.get("allowed_mentions") else { return Allowed::everything() };
    let field = Fields::new(value, "allowed_mentions");
    let mut allowed = Allowed {
        users: field.ids("users", 100, errors),
        roles: field.ids("roles", 100, errors),
        replied_user: field.flag("replied_user", errors).unwrap_or(false),
        ..Allowed::default()
    };
    for (i, kind) in field.list("parse", usize::MAX, errors).iter().enumerate() {
        match kind.as_str() {
            Some("everyone") => allowed.everyone = true,
            Some("users") => allowed.all_users = true,
            Some("roles") => allowed.all_roles = true,
            _ => errors.choices(&under("allowed_mentions.parse", i), "'everyone', 'roles', 'users'"),
        }
    }
    for (all, list, name) in
        [(allowed.all_users, &allowed.users, "users"), (allowed.all_roles, &allowed.roles, "roles")]
    {
        if all && !list.is_empty() {
            let message = format!("parse:[\"{name}\"] and {name}: [ids...] are mutually exclusive.");
            errors.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", &message);
        }
    }
    allowed
}

/// Entries of `attachments` whose id is that of a stored file.
fn kept(fields: &Fields<'_>, errors: &mut FormErrors) -> Option<Vec<Id>> {
    fields.get("attachments")?;
    let list = fields.list("attachments", FILES, errors);
    Some(list.iter().filter_map(|a| Id::of(a.get("id")?)).filter(|id| id.0 >= FILES as u64).collect())
}

fn files(fields: &Fields<'_>, body: &Body, errors: &mut FormErrors) -> Vec<(File, Option<String>)> {
    if body.files.len() > FILES {
        errors.add("files", "BASE_TYPE_MAX_LENGTH", &format!("Must be {FILES} or fewer in length."));
    }
    let list = fields.list("attachments", FILES, errors);
    let number = |entry: &Value| entry.get("id").and_then(Id::of).map(|id| id.0).filter(|n| *n < FILES as u64);
    for (i, entry) in list.iter().enumerate() {
        let entry_fields = Fields::new(entry, under("attachments", i));
        entry_fields.text("description", (0, 1024), errors);
        if let Some(n) = number(entry)
            && !body.files.iter().any(|file| file.number == Some(n))
        {
            errors.add(&entry_fields.path("id"), "ATTACHMENT_NOT_FOUND", &format!("There is no part files[{n}]."));
        }
    }
    body.files
        .iter()
        .map(|file| {
            let entry = list.iter().find(|entry| file.number.is_some() && number(entry) == file.number);
            let of = |key: &str| entry.and_then(|e| e.get(key)?.as_str()).map(str::to_owned);
            let mut file = file.clone();
            if let Some(name) = of("filename") {
                file.name = name;
            }
            (file, of("description"))
        })
        .collect()
}
