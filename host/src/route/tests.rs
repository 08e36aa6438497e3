use super::*;

fn words() -> impl Iterator<Item = (usize, &'static str)> + Clone {
    [(0, "weather"), (1, "to-do")].into_iter()
}

#[test]
fn words_are_folded_and_builtins_win() {
    assert_eq!(route("/HELP", words()), Route::Builtin(Builtin::Help, String::new()));
    assert_eq!(route(" /to_do  buy milk ", words()), Route::Plugin(1, "buy milk".into()));
    assert_eq!(route("/weather@mybot Paris", words()), Route::Plugin(0, "Paris".into()));
}

#[test]
fn an_unknown_command_never_falls_through_to_the_model() {
    let Route::Unknown { word, nearest } = route("/wether Paris", words()) else { panic!("not unknown") };
    assert_eq!((word.as_str(), nearest.as_deref()), ("wether", Some("weather")));
}

#[test]
fn a_path_or_a_lone_slash_is_text() {
    for text in ["/", "/ x", "//", "/etc/passwd is a file", "a /help", "/a.b"] {
        assert_eq!(route(text, words()), Route::Turn, "{text}");
    }
}

#[test]
fn control_words_are_whole_messages() {
    assert_eq!(control("Stop"), Some((Builtin::Stop, "bare".into())));
    assert_eq!(control("停止"), Some((Builtin::Stop, "bare".into())));
    assert_eq!(control("stop the music"), None);
    assert_eq!(control("/why roll"), Some((Builtin::Why, "roll".into())));
    assert_eq!(control("/tools"), None);
}
