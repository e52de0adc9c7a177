//! Recognises hashes that look like Redisson's locks.

use lock_runtime::inspect::Answer;

/// The command that reads some fields of a hash.
pub(crate) fn fields(name: &str) -> Vec<String> {
    ["HSCAN", name, "0", "COUNT", "16"]
        .map(str::to_owned)
        .to_vec()
}

/// Returns whether the answer shows a lock: each field is an owner with its hold count, or `mode`.
pub(crate) fn is_lock(answer: &Answer) -> bool {
    let Answer::List(parts) = answer else {
        return false;
    };
    let [_, Answer::List(fields)] = &parts[..] else {
        return false;
    };
    let is_field = |pair: &[Answer]| match pair {
        [Answer::Text(field), Answer::Text(value)] => {
            field == "mode" || (is_owner(field) && value.parse::<u64>().is_ok())
        }
        _ => false,
    };
    !fields.is_empty() && fields.chunks(2).all(is_field)
}

/// `<UUID>:<thread>`, with `:write` for a writer.
fn is_owner(field: &str) -> bool {
    let field = field.strip_suffix(":write").unwrap_or(field);
    let Some((id, thread)) = field.split_once(':') else {
        return false;
    };
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<usize> = id
        .split('-')
        .filter(|part| is_hex(part))
        .map(str::len)
        .collect();
    parts == [8, 4, 4, 4, 12] && thread.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_distinguished_from_other_hashes() {
        let hash = |fields: &[&str]| {
            let texts = fields.iter().map(|field| Answer::Text((*field).to_owned()));
            is_lock(&Answer::List(vec![
                Answer::Text("0".to_owned()),
                Answer::List(texts.collect()),
            ]))
        };
        const OWNER: &str = "285475da-9152-4c83-822a-67ee2f116a79:52";
        assert!(hash(&[OWNER, "1"]));
        assert!(hash(&["mode", "write", &format!("{OWNER}:write"), "2"]));
        for fields in [
            &[][..],
            &["name", "Ann"],
            &[OWNER, "Ann"],
            &[OWNER, "1", "name", "Ann"],
            &["285475da-9152-4c83-822a:52", "1"],
        ] {
            assert!(!hash(fields), "{fields:?}");
        }
        assert!(!is_lock(&Answer::Error("NOPERM".to_owned())));
    }
}
