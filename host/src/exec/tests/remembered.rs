//! Yes for the session, and the tool's own policy.

use super::*;
use crate::session::{Grants, SessionGrants, SessionKey};
use plugin_sdk::{Approval, Dedicated, Role};
use std::sync::atomic::AtomicBool;

fn session_yes() -> ApprovalAnswer {
    ApprovalAnswer::AllowedSession("telegram:1".into())
}

fn grants(w: &World) -> Grants {
    Grants::new(Arc::clone(&w.store), w.clock.shared())
}

async fn with_grants(mut w: World) -> (World, Grants) {
    let all = grants(&w);
    w.grants = Some(of(&all).await);
    (w, all)
}

fn session() -> SessionKey {
    SessionKey::from_text("telegram/main/private/7")
}

async fn of(all: &Grants) -> SessionGrants {
    all.of(&session(), "telegram:7").await.unwrap()
}

fn once() -> ToolDef {
    writes().requires_approval(Approval::Once)
}

#[tokio::test]
async fn a_yes_for_the_session_answers_later_calls_until_it_is_taken_back() {
    let person = Arc::new(Person::says([session_yes(), ApprovalAnswer::Allowed("telegram:1".into())]));
    let (w, all) = with_grants(World::new().tool("t", once(), echo()).person(&person)).await;
    w.set_policy(|p| p.approval.write_mode = crate::config::Mode::Confirm);
    assert!(!w.call("t", json!({"n": 1})).await.is_error);
    assert!(!w.call("t", json!({"n": 2})).await.is_error);
    assert_eq!(person.asked.lock().unwrap().len(), 1, "any arguments, and a confirm of the capability too");
    let kinds = w.kinds().await;
    let around = ["question.asked", "question.answered", "grant.added", "tool.started", "tool.finished"];
    assert_eq!(kinds[..5], around);
    assert_eq!(kinds[5..7], ["grant.used", "tool.started"]);
    let kept = all.list(&session()).await.unwrap();
    assert_eq!((kept.len(), kept[0].tool.as_str(), kept[0].granted_by.as_str()), (1, "t", "telegram:1"));
    all.revoke(&session(), &kept[0].id).await.unwrap().unwrap();
    assert!(!w.call("t", json!({"n": 3})).await.is_error);
    assert_eq!(person.asked.lock().unwrap().len(), 2, "the next check sees the revoke");
    w.set_policy(|p| p.denied_overrides = vec!["t".into()]);
    assert_eq!(code(&w.call("t", json!({})).await), "PERMISSION_ERROR", "a deny is never covered");
}

#[tokio::test]
async fn a_grant_is_one_persons_for_one_form_of_the_tool_and_is_forgotten_unused() {
    let person = Arc::new(Person::says([session_yes()]));
    let (mut w, all) = with_grants(World::new().tool("t", once(), echo()).person(&person)).await;
    assert!(!w.call("t", json!({})).await.is_error);
    let again = async |w: &World| w.turn().prepare_many(vec![ToolUse::new("c", "t", json!({}))], &w.cx).first_gate;
    // A restart: the list is read anew.
    let restarted = grants(&w);
    w.grants = Some(of(&restarted).await);
    assert_eq!(again(&w).await, None);
    w.tools[0].def.description = "Does something else".into();
    assert_eq!(again(&w).await, Some(0), "another description");
    w.tools[0].def.description = "Writes something".into();
    w.tools[0].code_digest = "e".into();
    assert_eq!(again(&w).await, Some(0), "other code");
    w.tools[0].code_digest = "d".into();
    assert_eq!(again(&w).await, None);
    w.grants = Some(all.of(&session(), "telegram:8").await.unwrap());
    assert_eq!(again(&w).await, Some(0), "somebody else");
    w.grants = Some(of(&all).await);
    w.clock.advance(Duration::from_secs(30 * 86_400 + 1));
    assert_eq!(again(&w).await, Some(0), "30 days unused");
}

#[tokio::test]
async fn always_is_never_remembered_and_the_oldest_of_65_leaves_with_a_notice() {
    let person = Arc::new(Person::says((0..70).map(|_| session_yes())));
    let (w, all) = with_grants(World::new().tool("a", asks(), echo()).person(&person)).await;
    assert!(!w.call("a", json!({})).await.is_error && !w.call("a", json!({})).await.is_error);
    assert_eq!(all.list(&session()).await.unwrap().len(), 0);
    assert_eq!(person.asked.lock().unwrap().len(), 2);
    let mut w = World::new().person(&person);
    w.grants = Some(of(&all).await);
    for n in 0..65 {
        w.clock.advance(Duration::from_secs(1));
        w = w.tool(&format!("t{n}"), once(), echo());
    }
    for n in 0..65 {
        assert!(!w.call(&format!("t{n}"), json!({})).await.is_error);
    }
    assert_eq!(all.list(&session()).await.unwrap().len(), 64);
    assert_eq!(*person.dropped.lock().unwrap(), ["t0"]);
}

#[tokio::test]
async fn a_master_may_end_the_asking_about_an_undeclared_tool() {
    for (role, def, offered) in [
        (Role::Master, ToolDef::new("Undeclared"), true),
        (Role::User, ToolDef::new("Undeclared"), false),
        (Role::Master, ToolDef::new("Net").capabilities([Capability::Network]), false),
        (Role::User, once(), true),
        (Role::Master, asks(), false),
    ] {
        let person = Arc::new(Person::says([ApprovalAnswer::Allowed("telegram:1".into())]));
        let (mut w, _) =
            with_grants(World::new().tool("t", def.input_schema(json!({"type": "object"})), echo()).person(&person))
                .await;
        w.facts.principal.role = Some(role);
        w.given_role = true;
        assert!(!w.call("t", json!({})).await.is_error);
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked[0].session.is_some(), offered, "{role:?} {:?}", asked[0].because);
        if offered && role == Role::Master {
            assert!(asked[0].session.as_ref().unwrap().ends.is_some());
        }
    }
}

/// A tool with a policy of its own, as the argument `say` tells it.
struct Judged {
    ran: Arc<AtomicBool>,
}

#[async_trait]
impl Callable for Judged {
    async fn call(&self, _: Map<String, Value>, _: &ToolExecutionContext) -> ToolResult {
        self.ran.store(true, Ordering::SeqCst);
        ToolResult::text("ran")
    }

    fn dedicated(&self, input: &Map<String, Value>, _: &ToolExecutionContext) -> Option<Dedicated> {
        match input.get("say").and_then(Value::as_str)? {
            "verified" => Some(Dedicated::Verified),
            "ask" => Some(Dedicated::Ask("not one plain command".into())),
            _ => Some(Dedicated::Deny { code: "COMMAND_DENIED".into(), reason: "sudo".into() }),
        }
    }
}

#[tokio::test]
async fn the_tools_own_policy_is_one_of_five_opinions() {
    let executes = || ToolDef::new("Runs").capabilities([Capability::Execute]).input_schema(json!({"type": "object"}));
    let cases = [
        (Source::Builtin, Approval::OnRisk, "verified", "", 0),
        (Source::Folder, Approval::OnRisk, "verified", "", 1),
        (Source::Builtin, Approval::OnRisk, "ask", "", 1),
        (Source::Builtin, Approval::Never, "ask", "", 1),
        (Source::Builtin, Approval::Never, "deny", "COMMAND_DENIED", 0),
    ];
    for (source, declared, say, wanted, cards) in cases {
        let ran = Arc::new(AtomicBool::new(false));
        let person = Arc::new(Person::says([ApprovalAnswer::Allowed("telegram:1".into())]));
        let mut w = World::new().person(&person);
        let mut tool = contribution(".", "t", source, executes().requires_approval(declared), echo());
        tool.callable = Arc::new(Judged { ran: Arc::clone(&ran) });
        w.tools.push(tool);
        w.set_policy(|p| p.approval.execute_mode = crate::config::Mode::Allow);
        let result = w.call("t", json!({"say": say})).await;
        assert_eq!((code(&result), person.asked.lock().unwrap().len()), (wanted, cards), "{say}");
        assert_eq!(ran.load(Ordering::SeqCst), wanted.is_empty());
        if cards > 0 && say == "ask" {
            let asked = person.asked.lock().unwrap();
            assert!(
                asked[0].gravity.policy_asks && asked[0].because.iter().any(|b| b.value == "not one plain command")
            );
        }
    }
}

#[tokio::test]
async fn a_grant_does_not_answer_the_tools_own_policy() {
    let person = Arc::new(Person::says([session_yes(), session_yes()]));
    let (mut w, all) = with_grants(World::new().person(&person)).await;
    let mut tool = contribution(".", "t", Source::Folder, once(), echo());
    tool.callable = Arc::new(Judged { ran: Arc::default() });
    w.tools.push(tool);
    assert!(!w.call("t", json!({})).await.is_error);
    assert!(!w.call("t", json!({"say": "ask"})).await.is_error);
    assert_eq!(all.list(&session()).await.unwrap().len(), 1);
    let asked = person.asked.lock().unwrap();
    assert_eq!((asked.len(), asked[1].session.is_some()), (2, false));
}
