//! Authorises revocations, and rejects requests from other sites' pages.

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;

use crate::site::Site;

/// Names the operator who sends a request; `None` for a user who may only view.
pub(crate) type NameOperator = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Site {
    /// Returns the operator who sends a request.
    pub(crate) fn operator(&self, request: &Parts) -> Option<String> {
        let name = self.name_operator.as_ref()?(request)?;
        // The audit needs a name.
        Some(name).filter(|name| !name.trim().is_empty())
    }
}

/// Returns whether a page of this site sends a request.
///
/// With HTTPS and on localhost, browsers report it. Otherwise they send the page's origin, which is compared with the requested
/// host; only the proxy knows its scheme. A request with neither is not from a browser's form.
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

/// Returns whether another site's page or script loads the response as a part of that page. A link from there does not.
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
            // `Sec-Fetch-Site` takes precedence over `Origin`.
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
