//! Checks that the connection is encrypted.

use std::net::IpAddr;

use super::finding::Finding;

const SEEN: &str = "passwords and keys can be read on the network";

pub(crate) fn finding(url: &str) -> Finding {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let is_encrypted =
        scheme.starts_with("rediss") || scheme.starts_with("valkeys") || scheme == "redlocks";
    let is_local = scheme.contains("unix") || hosts(rest).all(is_this_machine);
    let parameters = rest
        .split_once('?')
        .map_or("", |(_, parameters)| parameters);
    let parameters = parameters.split('#').next().unwrap_or_default();
    let to_sentinels = !parameters
        .split('&')
        .any(|text| text == "sentinel_tls=false");
    match (is_encrypted && to_sentinels, is_local) {
        (true, _) => Finding::ok("tls", scheme),
        (false, true) => Finding::ok("tls", "none, on this machine"),
        (false, false) if is_encrypted => Finding::warn("tls", "none to the sentinels").since(
            "an attacker on the network can name another server, and read the password of the sentinels",
            "enable TLS on the sentinels, and remove sentinel_tls=false from the URL",
        ),
        (false, false) => Finding::warn("tls", "none")
            .since(SEEN, "use rediss:// (or redlocks://), or a unix socket"),
    }
}

/// The hosts in the URL after the scheme, without logins and ports.
fn hosts(rest: &str) -> impl Iterator<Item = &str> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].split(',').map(|host| {
        let host = host.rsplit('@').next().unwrap_or_default();
        match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((host, _)) => host,
            None => host.split(':').next().unwrap_or_default(),
        }
    })
}

fn is_this_machine(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn remote_hosts_are_distinguished_from_this_machine() {
        const HERE: &str = "none, on this machine";
        for (url, value) in [
            ("redis://127.0.0.1", HERE),
            ("redis://user:pass@127.0.0.2:6379/3", HERE),
            ("valkey://LOCALHOST:6379?wait_replicas=1", HERE),
            ("redis://[::1]:6379", HERE),
            ("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", HERE),
            ("redis-sentinel://localhost:1,[::1]:2#10.0.0.5", HERE),
            ("redis+unix:///run/redis.sock", HERE),
            ("redis://localhost.example.com", "none"),
            ("redis://127.example.com", "none"),
            ("redis://10.0.0.5:6379", "none"),
            ("redis://localhost@10.0.0.5", "none"),
            ("redis://[2001:db8::1]", "none"),
            ("redlock://127.0.0.1,10.0.0.5,127.0.0.1:2", "none"),
            ("redis-cluster://localhost,redis.internal", "none"),
            ("rediss://10.0.0.5", "rediss"),
            ("REDISS://10.0.0.5", "rediss"),
            ("redlocks://10.0.0.5,10.0.0.6,10.0.0.7", "redlocks"),
            ("rediss-sentinel://10.0.0.5#m", "rediss-sentinel"),
            (
                "rediss-sentinel://10.0.0.5?sentinel_user=a&sentinel_tls=false#m",
                "none to the sentinels",
            ),
        ] {
            let found = finding(url);
            assert_eq!(found.value, value, "{url}");
            let is_warning = value.starts_with("none") && value != HERE;
            assert_eq!(found.verdict == Verdict::Warn, is_warning, "{url}");
        }
    }
}
