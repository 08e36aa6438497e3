use crate::loader::names::{NameRule, escaped, fold, is_legal, nearest_legal};
use crate::loader::text::{decode, front_matter, quote_colons};
use proptest::prelude::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

proptest! {
    #[test]
    fn the_nearest_legal_name_is_legal(name in "\\PC{0,80}") {
        for rule in [NameRule::Plain, NameRule::Slug] {
            let near = nearest_legal(&name, rule, "tool");
            prop_assert!(is_legal(&near, rule), "{near:?}");
            if is_legal(&name, rule) {
                prop_assert_eq!(near, name.clone());
            }
        }
    }

    #[test]
    fn folding_is_stable(name in "\\PC{0,20}") {
        prop_assert_eq!(fold(&fold(&name)), fold(&name));
        prop_assert_eq!(fold(&name.to_uppercase()), fold(&name));
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = decode(&bytes) {
            prop_assert!(!text.contains('\r') && !text.contains('\0'));
            let _ = front_matter(&text);
        }
        let _ = escaped(OsStr::from_bytes(&bytes));
    }

    #[test]
    fn front_matter_keeps_every_character(yaml in "([a-z: ]{0,10}\n){0,4}", body in "[a-z\n-]{0,20}") {
        let text = format!("---\n{yaml}---\n{body}");
        let parts = front_matter(&text).unwrap();
        prop_assert_eq!(parts.yaml, yaml);
        prop_assert_eq!(parts.body, body);
        let crlf = text.replace('\n', "\r\n");
        prop_assert_eq!(decode(crlf.as_bytes()).unwrap(), text);
    }

    #[test]
    fn a_colon_value_is_read_to_its_end(value in "[a-zA-Z'\"éß,;.!?#-]{1,10}: [a-z'\" :]{0,10}x") {
        prop_assume!(!value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!']));
        let yaml = format!("description: {value}\nname: a\n");
        let (quoted, found) = quote_colons(&yaml, &["description"]);
        prop_assert_eq!(found.len(), 1);
        let doc = crate::config::doc::Doc::parse_yaml("skill", "S.md", &quoted, 1).unwrap();
        let read = doc.root.value();
        prop_assert_eq!(read["description"].as_str(), Some(value.as_str()));
    }
}
