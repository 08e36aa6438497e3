use super::*;

#[test]
fn keys_sort_by_number_and_decode() {
    let a = Key::new().str("s").u64(2);
    let b = Key::new().str("s").u64(10);
    assert!(a < b);
    assert_eq!(b.parts().unwrap(), [Part::Str("s".into()), Part::U64(10)]);
    assert_eq!((b.last_u64(), b.last_str()), (Some(10), None));
    assert!(Key::from_bytes(&[2, 0, 0, 0, 9, 1]).parts().is_none());
}
