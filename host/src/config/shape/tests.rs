use super::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Approval {
    /// Never.
    Never,
    /// On risk.
    OnRisk,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(untagged)]
enum Input {
    Path(String),
    Inline(BTreeMap<String, Value>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tool {
    #[schemars(length(min = 1, max = 20))]
    description: String,
    #[serde(default)]
    requires_approval: Option<Approval>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    preview: Option<u32>,
    #[serde(default)]
    timeout_seconds: Option<f64>,
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    tags: Vec<String>,
    #[serde(default)]
    input: Option<Input>,
    #[serde(default)]
    run: Option<Run>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    command: Vec<String>,
}

fn faults(text: &str) -> Vec<String> {
    let doc = Doc::parse_toml("tool", "tool.toml", text).unwrap();
    let (tool, faults) = check::<Tool>("tool", &doc);
    assert_eq!(tool.is_none(), !faults.is_empty());
    faults
        .iter()
        .map(|d| {
            format!(
                "{} {}:{} {} | {}",
                d.code,
                d.line.unwrap(),
                d.column.unwrap(),
                d.message,
                d.help.clone().unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn good() {
    let doc = Doc::parse_toml(
        "tool",
        "tool.toml",
        "description = \"x\"\nrequires_approval = \"on-risk\"\ntimeout_seconds = 5\ninput = \"a.json\"\n[run]\ncommand=[\"a\",\"a\"]",
    )
    .unwrap();
    let (tool, found) = check::<Tool>("tool", &doc);
    assert_eq!(found, vec![]);
    let tool = tool.unwrap();
    assert_eq!(tool.timeout_seconds, Some(5.0));
    assert_eq!(tool.input, Some(Input::Path("a.json".into())));
    assert_eq!((tool.description.as_str(), tool.requires_approval), ("x", Some(Approval::OnRisk)));
    assert_eq!((tool.preview, tool.tags.len(), tool.run.map(|r| r.command.len())), (None, 0, Some(2)));
}

#[test]
fn ten_faults_are_ten_findings() {
    let found = faults(concat!(
        "require_approval = \"never\"\n",
        "requires_approval = \"nevr\"\n",
        "preview = 11\n",
        "timeout_seconds = nan\n",
        "tags = [\"a\", \"b\", \"a\", 4]\n",
        "input = 3\n",
        "zzz = 1\n",
        "[run]\n",
        "comand = \"x\"\n",
    ));
    assert_eq!(
        found,
        [
            "tool::missing-key 1:1 missing key `description` | ",
            "tool::unknown-key 1:1 unknown key `require_approval` | did you mean `requires_approval`?",
            "tool::bad-value 2:21 `requires_approval` must be one of `never`, `on-risk` | did you mean `never`?",
            "tool::bad-value 3:11 `preview` must be between 1 and 10 | ",
            "tool::bad-value 4:19 `timeout_seconds` must be a finite number | ",
            "tool::bad-value 5:19 `tags` has the entry \"a\" twice | remove one of them",
            "tool::wrong-type 5:24 `tags.3` must be a string, not an integer | ",
            "tool::wrong-type 6:9 `input` must be a string or a table, not an integer | ",
            "tool::unknown-key 7:1 unknown key `zzz` | known here: `description`, `input`, `preview`, `requires_approval`, `run`, `tags`, `timeout_seconds`",
            "tool::missing-key 8:2 missing key `run.command` | ",
            "tool::unknown-key 9:1 unknown key `run.comand` | did you mean `command`?",
        ]
    );
}

#[test]
fn plain_yaml_takes_the_type_of_its_key() {
    let doc = Doc::parse_yaml("skill", "S.md", "description: 1.0\npreview: 5\ntags: [yes, 2, null]\n", 1).unwrap();
    let (tool, found) = check::<Tool>("skill", &doc);
    assert_eq!(found, vec![]);
    let tool = tool.unwrap();
    assert_eq!((tool.description.as_str(), tool.preview), ("1.0", Some(5)));
    assert_eq!(tool.tags, ["yes", "2", "null"]);
}

#[test]
fn nearest_is_within_three_edits_and_half_the_word() {
    use crate::config::nearest;
    assert_eq!(nearest("abxy", ["abcd"]), Some("abcd".into()));
    assert_eq!(nearest("abx", ["acy"]), None);
    assert_eq!(nearest("cat", ["car", "bat"]), Some("bat".into()));
    assert_eq!(nearest("abcdefgh", ["abcdwxyz"]), None);
}
