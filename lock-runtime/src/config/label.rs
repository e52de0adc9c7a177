//! The label of a client: its service and its host.

/// The longest name of a service, and of a host, in characters.
const LONGEST: usize = 64;

/// Returns `service@host`. A name that contains an `@` is returned as it is.
pub(crate) fn label_of(service: &str) -> String {
    let service = clean(service);
    if service.contains('@') {
        service
    } else {
        format!("{service}@{}", clean(&host()))
    }
}

/// Returns `program@host`, or the part of it that is known.
pub(super) fn default_label() -> String {
    let program = std::env::current_exe().ok();
    let program = program
        .as_deref()
        .and_then(|path| path.file_stem())
        .map_or_else(|| "unknown".into(), |name| name.to_string_lossy());
    label_of(&program)
}

/// Returns the name of this machine, or of the container.
fn host() -> String {
    #[cfg(unix)]
    return rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").unwrap_or_default();
}

/// Returns the text shortened, on one line.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_has_the_host_behind_the_service() {
        let host = clean(&host());
        assert!(!host.is_empty());
        assert_eq!(label_of("checkout"), format!("checkout@{host}"));
        // A long name does not shorten the host, which tells instances of a service apart.
        let long = label_of(&"é".repeat(65));
        assert_eq!(long, format!("{}@{host}", "é".repeat(64)));
        assert!(default_label().ends_with(&format!("@{host}")));
    }

    #[test]
    fn label_that_names_its_place_stays() {
        assert_eq!(label_of("checkout@eu-1"), "checkout@eu-1");
    }

    #[test]
    fn label_has_no_control_characters() {
        assert_eq!(label_of("a\nb\u{1b}c@d"), "a b c@d");
    }
}
