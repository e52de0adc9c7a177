//! The texts of a server's refusals.

use redis::RedisError;

/// The code of an error, also of one in a script. Servers before Redis 7.0 have that behind its position:
/// `ERR Error running script (call to f_<digest>): @user_script:33: @user_script: 33: -OOM …`.
pub fn code_of(error: &RedisError) -> &str {
    let detail = error.detail().unwrap_or_default();
    let in_script = detail.starts_with("Error running script");
    let text = match detail.rsplit_once(": ") {
        Some((_, text)) if in_script => text.trim_start_matches('-'),
        _ => return error.code().unwrap_or_default(),
    };
    text.split(' ').next().unwrap_or_default()
}
