use super::*;

fn skill(text: &str) -> Vec<String> {
    Bot::with(&[("skills/trip/SKILL.md", text)]).found()
}

const AT: &str = "skills/trip/SKILL.md";

#[test]
fn text_rules() {
    let load = |bytes: &[u8]| {
        let bot = Bot::new();
        bot.file(AT, bytes);
        let tree = bot.scan();
        let found: Vec<String> = all(&tree).iter().map(line).collect();
        (found, tree.plugins[0].skills.first().map(|s| (s.description.clone(), s.body.clone())))
    };
    let whole = |d: &str, b: &str| Some((d.to_string(), b.to_string()));
    assert_eq!(
        load(b"\xef\xbb\xbf---\r\ndescription: yes\r\n---\r\nBody\rmore\r\n"),
        (vec![], whole("yes", "Body\nmore"))
    );
    assert_eq!(
        load(b"---\ndescription: Use it: now\n---\nBody"),
        (vec![format!("text::unquoted-colon {AT}:2:14")], whole("Use it: now", "Body"))
    );
    assert_eq!(load(b"---\ndescription: 1.0\n---\nBody").1, whole("1.0", "Body"));
    assert_eq!(load(b"---\ndescription: x\n---").0, [format!("skill::bad-value {AT}:3:1")]);
    assert_eq!(load(b"---\ndescription: x\n").0, [format!("text::front-matter {AT}:1:1")]);
    assert_eq!(load(b"\xff\xfe-\0-\0").0, [format!("text::encoding {AT}")]);
    assert_eq!(load(b"-\0-\0-\0").0, [format!("text::encoding {AT}")]);
    assert_eq!(load(b"---\ndescription: caf\xe9\n---\nx").0, [format!("text::encoding {AT}:2:17")]);
    assert_eq!(load(b"---\ndescription: a\0b\n---\nx").0, [format!("text::nul {AT}:2:15")]);
    assert_eq!(load(b"---\ndescription: &a x\n---\nx").0, [format!("text::yaml {AT}:2:14")]);
    assert_eq!(load(b"---\ndescription: x\ndescription: y\n---\nx").0, [format!("text::yaml {AT}:3:1")]);
    let bot = Bot::new();
    bot.file(AT, b"---\ndescription: caf\xe9\n---\nx");
    let d = bot.only("text::encoding");
    assert!(d.message.contains("byte offset 20"), "{}", d.message);
    assert!(d.help.unwrap().contains("[plugins] ignore"));
}

#[test]
fn keys() {
    let front = |keys: &str| skill(&format!("---\ndescription: x\n{keys}---\nBody\n"));
    assert_eq!(
        front("homepage: h\nversion: 1\nauthor: a\ntriggers: [x]\nrequires: {a: 1}\nmetadata:\n  a:\n    b: 1\n"),
        [format!("skill::extra-key {AT}:3:1")]
    );
    assert_eq!(
        front("permision: [x]\nallowedTools: x\nPlatforms: [web]\n"),
        [
            format!("skill::unknown-key {AT}:3:1"),
            format!("skill::unknown-key {AT}:4:1"),
            format!("skill::unknown-key {AT}:5:1"),
        ]
    );
    assert_eq!(front("allowed-tools: Bash\n"), [format!("skill::allowed-tools {AT}:3:1")]);
    assert_eq!(front("name: other\n"), [format!("skill::name-mismatch {AT}:3:7")]);
    assert_eq!(front("scopes: [grup]\n"), [format!("skill::bad-value {AT}:3:10")]);
    assert_eq!(skill("---\nname: trip\n---\nBody\n"), [format!("skill::missing-key {AT}:2:1")]);
    let long = format!("---\ndescription: {}\n---\nBody\n", "x".repeat(1030));
    assert_eq!(skill(&long), [format!("skill::description-cut {AT}:2:14")]);
    let bot = Bot::with(&[(AT, "---\ndescription: x\nkeywords: a, 旅行 ,a,\ntags: [b]\n---\nBody\n")]);
    let tree = bot.scan();
    let skill = &tree.plugins[0].skills[0];
    assert_eq!((skill.keywords.join("|"), skill.tags.join("|")), ("a|旅行".into(), "b".into()));
}

#[test]
fn a_pack_names_its_broken_skills_and_loads_without_them() {
    let mut bot = Bot::new();
    for n in 0..100 {
        let text = if n % 50 == 7 { "---\ndescription: [\n---\nBody\n" } else { SKILL };
        bot.file(&format!("skills/s{n}/SKILL.md"), text);
    }
    assert_eq!(bot.found(), ["text::yaml skills/s57/SKILL.md:3:1", "text::yaml skills/s7/SKILL.md:3:1"]);
    bot.toml = "[plugins]\nignore = [\"skills/s7\", \"skills/s57\"]\n".into();
    let tree = bot.scan();
    assert_eq!(all(&tree), []);
    assert_eq!(tree.plugins[0].skills.len(), 98);
}

#[test]
fn a_crowded_skill() {
    let bot = Bot::with(&[(AT, SKILL)]);
    for n in 0..13 {
        bot.file(&format!("skills/trip/tools/t{n}/tool.toml"), TOOL);
    }
    assert_eq!(bot.found(), [format!("skill::too-many-tools {AT}")]);
}

#[test]
fn workspace_skills() {
    let mut bot = Bot::with(&[
        ("data/workspace/.agents/skills/good/SKILL.md", SKILL),
        ("data/workspace/.agents/skills/trip/SKILL.md", SKILL),
        ("data/workspace/.agents/skills/bad/SKILL.md", "broken"),
        (AT, SKILL),
    ]);
    bot.toml = "[agent.skills]\nenabled = true\nrequire = [\"good\", \"bad\"]\n".into();
    bot.workspace_skills = Some(bot.path("data/workspace/.agents/skills"));
    let tree = bot.scan();
    assert_eq!(
        all(&tree).iter().map(|d| format!("{:?} {}", d.severity, line(d))).collect::<Vec<_>>(),
        [
            "Error skill::required-missing bot.toml:3:20",
            "Warning text::front-matter data/workspace/.agents/skills/bad/SKILL.md:1:1",
            "Warning skill::shadowed data/workspace/.agents/skills/trip/SKILL.md",
        ]
    );
    let names: Vec<(&str, bool)> = tree.plugins[0].skills.iter().map(|s| (s.name.as_str(), s.workspace)).collect();
    assert_eq!(names, [("trip", false), ("good", true)]);
    assert!(paths(&tree.plugins[0]).iter().all(|p| !p.contains(".agents")));
    let hash = |tree: &SourceTree| plugin_hash(&tree.plugins[0], HashInput::default());
    let before = hash(&tree);
    bot.file("data/workspace/.agents/skills/good/SKILL.md", SKILL.replace("Ask", "Look"));
    assert_ne!(before, hash(&bot.scan()));
    bot.toml = "[agent.skills]\nenabled = true\nroot = \"../x\"\n".into();
    assert_eq!(bot.found(), ["bot::bad-value bot.toml:3:8"]);
}
