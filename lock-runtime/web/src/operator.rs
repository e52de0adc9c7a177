//! Who may take locks away, and whether it is them who ask for it.

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;

use crate::site::Site;

/// Names the operator who sends a request; `None` for one who may only look.
pub(crate) type NameOperator = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Site {
    /// The operator who sends a request.
    pub(crate) fn operator(&self, request: &Parts) -> Option<String> {
        let name = self.name_operator.as_ref()?(request)?;
        // A line of the audit without a name would accuse nobody.
        Some(name).filter(|name| !name.trim().is_empty())
    }
}

/// Whether a request is sent by a page of this site itself.
///
/// Browsers say so with HTTPS and on the machine itself. Otherwise they name the page's origin, which is compared with the
/// host that was asked; its scheme is known to the proxy alone. What says neither is no browser's form.
pub(crate) fn is_same_site(request: &Parts) -> bool {
    let header = |name: &str| request.headers.get(name).map(|value| value.as_bytes());
    if let Some(site) = header("sec-fetch-site") {
        return site == b"same-origin";
    }
    let host = header(HOST.as_str()).or(request
        .uri
        .authority()
        .map(|authority| authority.as_str().as_bytes()));
    let origin = header(ORIGIN.as_str()).and_then(|origin| {
        origin
            .strip_prefix(b"https://")
            .or_else(|| origin.strip_prefix(b"http://"))
    });
    match (origin, host) {
        (Some(origin), Some(host)) => !host.is_empty() && origin.eq_ignore_ascii_case(host),
        _ => false,
    }
}

/// Whether a page of another site loads an answer as a part of itself, or its script does. A link from there is none.
pub(crate) fn is_load_by_another_site(request: &Parts) -> bool {
    let is = |name: &str, value: &str| {
        let header = request.headers.get(name);
        header.is_some_and(|header| header.as_bytes() == value.as_bytes())
    };
    is("sec-fetch-site", "cross-site") && !is("sec-fetch-mode", "navigate")
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn is_allowed(headers: &[(&str, &str)]) -> bool {
        let mut request = Request::post("/revoke");
        for &(name, value) in headers {
            request = request.header(name, value);
        }
        is_same_site(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn request_of_another_sites_page_is_refused() {
        let host = ("host", "ops.example:8443");
        assert!(is_allowed(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(is_allowed(&[host, ("origin", "https://ops.example:8443")]));
        assert!(is_allowed(&[host, ("origin", "http://OPS.example:8443")]));
        for refused in [
            &[host][..],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site")],
            &[host, ("sec-fetch-site", "none")],
            // What the browser says of the page counts before what is said of its name.
            &[
                host,
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://ops.example:8443"),
            ],
            &[host, ("origin", "null")],
            &[host, ("origin", "https://ops.example")],
            &[host, ("origin", "https://evil.example:8443")],
            &[host, ("origin", "https://ops.example:8443.evil.example")],
            &[host, ("origin", "ops.example:8443")],
            &[("origin", "https://ops.example:8443")],
            &[("host", ""), ("origin", "https://")],
        ] {
            assert!(!is_allowed(refused), "{refused:?}");
        }
    }

    #[test]
    fn host_of_http_2_is_in_its_address() {
        let request = Request::post("https://ops.example/revoke")
            .header("origin", "https://ops.example")
            .body(())
            .unwrap();
        assert!(is_same_site(&request.into_parts().0));
    }
}
