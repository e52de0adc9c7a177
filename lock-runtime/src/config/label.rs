//! The label of a client: its service and its host.

/// The most characters of a service's name, and of a host's.
const LONGEST: usize = 64;

/// `service@host`. A name that contains an `@` has its place already.
pub(crate) fn label_of(service: &str) -> String {
    let service = clean(service);
    if service.contains('@') {
        service
    } else {
        format!("{service}@{}", clean(&host()))
    }
}

/// `program@host`, or what is known of the two.
pub(super) fn default_label() -> String {
    let program = std::env::current_exe().ok();
    let program = program
        .as_deref()
        .and_then(|path| path.file_stem())
        .map_or_else(|| "unknown".into(), |name| name.to_string_lossy());
    label_of(&program)
}

/// The name of this machine; in a container that is the container's.
fn host() -> String {
    #[cfg(unix)]
    return rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").unwrap_or_default();
}

/// Short, on one line.
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
        // A long name takes nothing from the host, by which the instances of a service differ.
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
