//! System texts: one Fluent file per language. Nothing a person reads from the host is written elsewhere.

use super::Language;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use std::fmt;
use std::sync::{Arc, OnceLock};

const ENGLISH: &str = include_str!("en.ftl");
const CHINESE: &str = include_str!("zh.ftl");

/// The texts of one language; a key it lacks is taken from English.
#[derive(Clone)]
pub struct Texts {
    bundles: Arc<Vec<FluentBundle<FluentResource>>>,
    language: Language,
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Texts({:?})", self.language)
    }
}

impl Texts {
    /// Reads the files of a language.
    pub fn new(language: Language) -> Self {
        let english = bundle("en", ENGLISH);
        let bundles = match language {
            Language::En => vec![english],
            Language::Zh => vec![bundle("zh", CHINESE), english],
        };
        Self { bundles: Arc::new(bundles), language }
    }

    /// The texts of a language, read once: they are part of the program.
    pub fn shared(language: Language) -> Arc<Self> {
        static READ: OnceLock<[Arc<Texts>; 2]> = OnceLock::new();
        let [english, chinese] =
            READ.get_or_init(|| [Arc::new(Texts::new(Language::En)), Arc::new(Texts::new(Language::Zh))]);
        Arc::clone(match language {
            Language::En => english,
            Language::Zh => chinese,
        })
    }

    /// Which language it is.
    pub fn language(&self) -> Language {
        self.language
    }

    /// A text with its values. A value that is a plain whole number chooses plural forms. An unknown key comes back as it is.
    pub fn get(&self, key: &str, values: &[(&str, &str)]) -> String {
        let args: FluentArgs<'_> = values.iter().map(|(name, value)| (*name, argument(value))).collect();
        for bundle in self.bundles.iter() {
            let Some(pattern) = bundle.get_message(key).and_then(|m| m.value()) else { continue };
            let mut faults = Vec::new();
            let text = bundle.format_pattern(pattern, Some(&args), &mut faults);
            return text.into_owned();
        }
        key.to_string()
    }
}

/// Whole numbers as numbers, all else (ids such as `007` too) as it is.
fn argument(value: &str) -> FluentValue<'_> {
    let plain =
        value == "0" || (!value.starts_with('0') && value.len() <= 15 && value.bytes().all(|b| b.is_ascii_digit()));
    if plain && !value.is_empty() { FluentValue::try_number(value) } else { FluentValue::from(value) }
}

fn bundle(language: &str, source: &str) -> FluentBundle<FluentResource> {
    let mut bundle =
        FluentBundle::new_concurrent(vec![language.parse::<unic_langid::LanguageIdentifier>().unwrap_or_default()]);
    // marks around values would show up in terminals and break comparisons
    bundle.set_use_isolating(false);
    let resource = match FluentResource::try_new(source.to_string()) {
        Ok(resource) | Err((resource, _)) => resource,
    };
    // a key written twice keeps its first text; a test refuses both faults
    bundle.add_resource_overriding(resource);
    bundle
}

#[cfg(test)]
mod tests;
