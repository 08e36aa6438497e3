use super::*;

fn item(line: &str) -> RankItem {
    let part: Vec<&str> = line.split('|').collect();
    let at = |i: usize| part.get(i).copied().unwrap_or_default().to_string();
    let params = at(4);
    let params = params.split("; ").filter(|p| !p.is_empty()).map(|p| {
        let (name, rest) = p.split_once(": ").unwrap();
        let (description, values) = rest.split_once(", enum ").unwrap_or((rest, ""));
        RankParam {
            name: name.into(),
            description: description.into(),
            values: values.split_whitespace().map(str::to_string).collect(),
        }
    });
    RankItem {
        kind: ItemKind::Tool,
        name: at(0),
        qualified: at(0),
        wire: at(0),
        tags: part.get(3).filter(|t| !t.is_empty()).map(|t| (*t).to_string()).into_iter().collect(),
        group: at(2),
        description: at(1),
        params: params.collect(),
    }
}

const GOLDEN: [&str; 5] = [
    "get-weather|Get the current weather for a city|maps|forecast|city: City name; units: Temperature scale, enum celsius fahrenheit",
    "send-mail|Send an email message to a contact|mail|email smtp",
    "createGitHubIssue|Creates an issue in a repository|dev",
    "vector-lookup|检索向量知识库|research|embedding",
    "vector-index|向量索引|research|向量",
];

fn found(ranking: &Ranking, query: &str) -> String {
    let hits = ranking.search(query, |_| true, 10);
    let text = |(id, score): &(ItemId, f64)| format!("{} {score:.4}", ranking.item(*id).unwrap().name);
    hits.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[test]
fn scores_of_the_contract() {
    let ranking = Ranking::new(GOLDEN.map(item).to_vec());
    for (query, expected) in [
        ("weather in paris", "get-weather 4.7274"),
        ("send email", "send-mail 12.7572"),
        ("emails", "send-mail 6.1085"),
        ("forecasting", "get-weather 5.1850"),
        ("fahrenheit", "get-weather 1.5161"),
        ("weatherman", "get-weather 3.2963"),
        ("open a github issue", "createGitHubIssue 9.1636"),
        ("lookup", "vector-lookup 6.2383"),
        ("向量 检索", "vector-lookup 7.9866, vector-index 4.9934"),
        ("知识库", "vector-lookup 8.3950"),
        ("in", ""),
        ("get", ""),
        ("news", ""),
        ("quarterly tax return", ""),
        ("show me a joke", ""),
        ("", ""),
    ] {
        assert_eq!(found(&ranking, query), expected, "{query}");
    }
}

#[test]
fn scores_depend_on_no_order_and_no_filter() {
    let mut lines = GOLDEN;
    let one = Ranking::new(lines.map(item).to_vec());
    lines.reverse();
    let other = Ranking::new(lines.map(item).to_vec());
    for query in ["weather in paris", "send email message", "向量 检索", "open a github issue"] {
        assert_eq!(found(&one, query), found(&other, query));
        let admitted = one.search(query, |id| one.item(id).unwrap().name != "vector-lookup", 10);
        let all = one.search(query, |_| true, 10);
        assert!(admitted.iter().all(|hit| all.contains(hit)));
    }
    let first = one.search("向量 检索", |id| one.item(id).unwrap().name != "vector-lookup", 1);
    assert_eq!(first.len(), 1, "the filter comes before the limit");
}

#[test]
fn an_exact_name_adds_a_hundred_and_passes_the_floor() {
    let mut get = item("get|x|core");
    get.qualified = "maps__get".into();
    let ranking = Ranking::new(vec![get, item("send|y|core")]);
    assert_eq!(found(&ranking, "get set").len(), 0);
    for query in ["get", "maps__get", " maps__get "] {
        assert!(ranking.search(query, |_| true, 5)[0].1 >= 100.0, "{query}");
    }
}

#[test]
fn ties_go_by_kind_then_name() {
    let mut list: Vec<RankItem> = ["b|draw a card|x", "a|draw a card|x"].map(item).to_vec();
    list.push(RankItem { kind: ItemKind::Skill, qualified: "0".into(), ..list[1].clone() });
    let ranking = Ranking::new(list);
    let order: Vec<String> = ranking
        .search("draw card", |_| true, 10)
        .iter()
        .map(|h| ranking.item(h.0).unwrap().qualified.clone())
        .collect();
    assert_eq!(order, ["a", "b", "0"]);
}

#[test]
fn words_and_stems() {
    let texts = |t: &str| words_of(t).into_iter().map(|w| w.text).collect::<Vec<_>>();
    assert_eq!(texts("GitHub"), ["git", "hub", "github"]);
    assert_eq!(
        texts("get-weather v2Beta HTTPServer"),
        ["get", "weather", "v2", "beta", "v2beta", "http", "server", "httpserver"]
    );
    assert_eq!(texts("北京weather"), ["北京", "北", "京", "weather"]);
    assert_eq!(texts("ｆｕｌｌ①"), ["full1"]);
    for (word, term) in [
        ("emails", "email"),
        ("cities", "citi"),
        ("boxes", "box"),
        ("classes", "class"),
        ("status", "status"),
        ("running", "run"),
        ("calling", "call"),
        ("sing", "sing"),
        ("feed", "feed"),
        ("named", "nam"),
        ("news", "news"),
        ("core", "cor"),
        ("city", "citi"),
        ("day", "day"),
        ("convert", "convert"),
    ] {
        assert_eq!(stem(word), term, "{word}");
    }
    assert_eq!(query_terms("What is the weather in Paris?"), ["weather", "pari"]);
    assert!(query_terms("what can you do").is_empty());
}
