//! The message of an error is a phrase: it begins with its subject, in lower case, and ends without a
//! full stop, so that it fits into a sentence.

use lock_runtime::LockError;

/// Asserts this form for every error.
#[track_caller]
pub(crate) fn assert_reads(error: &LockError) {
    let text = error.to_string();
    let first = text.chars().next().expect("it has a text");
    assert!(first.is_lowercase(), "{text}");
    assert!(!text.ends_with(['.', ' ', ':', ',']), "{text}");
    assert!(!text.contains("  ") && !text.contains('\n'), "{text}");
    assert!(!text.contains("::") && !text.contains("Some("), "{text}");
    if let Some(key) = error.key().filter(|key| !key.is_empty()) {
        assert!(text.starts_with(&format!("lock `{key}` ")), "{text}");
    }
    assert!(format!("{error:?}").contains(&format!("{:?}", error.kind())));
    let boxed: Box<dyn std::error::Error + Send + Sync> = text.clone().into();
    assert_eq!(boxed.to_string(), text);
}
