//! URLs with a secret in each part.

/// The characters that separate parts of URLs, and others that are rarely encoded.
const CHARACTERS: &str = ":/?#[]@!$&'()*+,;=%\"<>\\^`{|}~é \t\n";

/// The two parts of the secret, with one of the characters between them. The first could be parsed
/// as a port.
const PARTS: [&str; 2] = ["24680", "w1nt3r"];

/// The places of a secret, or of text that is parsed as one. Nothing listens on the ports, and no
/// file has the name.
const PLACES: &[&str] = &[
    "redis://app:{}@127.0.0.1:1",
    "redis://{}@127.0.0.1:1",
    "redis://:{}@127.0.0.1:1/3",
    "redis://{}:x@127.0.0.1:1?wait_replicas=1",
    "redis://127.0.0.1:1/{}",
    "redis://127.0.0.1:1?wait_replicas={}",
    "redis://127.0.0.1:1?replica_timeout={}",
    "redis://127.0.0.1:1?{}=1",
    "redis://127.0.0.1:1#{}",
    "rediss://app:{}@127.0.0.1:1",
    "redis-cluster://app:{}@127.0.0.1:1,127.0.0.1:2/3",
    "redis-cluster://app:x@127.0.0.1:1,app:{}@127.0.0.1:2",
    "redis-sentinel://app:{}@127.0.0.1:1,127.0.0.1:2/3#name",
    "redis-sentinel://app:{}@127.0.0.1:1?sentinelMasterId=name",
    "redis-sentinel://127.0.0.1:1?sentinel_user=app&sentinel_password={}#name",
    "redis-sentinel://127.0.0.1:1?sentinelMasterId=name&sentinel_user={}&sentinel_password=x",
    "redis-sentinel://127.0.0.1:1?sentinel_password={}&sentinelMasterId=name",
    "redis-sentinel://127.0.0.1:1?sentinel_tls={}#name",
    "redlock://app:{}@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
    "redlock://{}@127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/3?restart_delay=60s",
    "redlock://a:x@127.0.0.1:1,b:{}@127.0.0.1:2,c:x@127.0.0.1:3",
    "redlock://127.0.0.1:1,127.0.0.1:2,app:{}@127.0.0.1:3",
    "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?restart_delay={}",
    "redis+unix:///no/socket?user=app&pass={}",
    "redis+unix:///no/socket?pass={}&db=3",
    "redis+unix:///no/socket?db={}",
    "redis+unix:///no/socket&pass={}",
    "redis+unix://{}@/no/socket",
    "memory://{}",
    "https://app:{}@127.0.0.1:1",
    "app:{}@127.0.0.1:1",
];

/// URLs whose secret is not percent-encoded, and contains each reserved character. Most are refused.
pub fn urls_with_secrets() -> impl Iterator<Item = String> {
    let secrets = CHARACTERS.chars().flat_map(|character| {
        let [number, word] = PARTS;
        [
            format!("{number}{character}{word}"),
            format!("{word}{character}{word}"),
            format!("{word}{character}{number}{character}{word}"),
        ]
    });
    secrets.flat_map(|secret| PLACES.iter().map(move |place| place.replace("{}", &secret)))
}

/// Whether a text contains a part of the secret. Tokens and times in a log are longer numbers,
/// which may contain any digits.
pub fn shows_secret(text: &str) -> bool {
    let [number, word] = PARTS;
    text.contains(word)
        || text
            .split(|c: char| !c.is_ascii_digit())
            .any(|digits| digits == number)
}
