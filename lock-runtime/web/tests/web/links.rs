//! Links, wherever the router is nested.

use axum::Router;
use lock_runtime::LockClient;

use crate::get;

/// The addresses that a page links to, as a browser reads them.
fn links(page: &str, of: &str) -> Vec<String> {
    let mut links = Vec::new();
    for attribute in ["href=\"", "action=\""] {
        for part in page.split(attribute).skip(1) {
            let link = part.split('"').next().expect("an attribute ends");
            links.push(resolve(of, &link.replace("&amp;", "&")));
        }
    }
    links
}

/// A relative link of a page, as a path.
fn resolve(page: &str, link: &str) -> String {
    let path = page.split('?').next().expect("a path");
    let mut parts: Vec<&str> = path.split('/').collect();
    // The part after the last slash is the page itself.
    parts.pop();
    let mut rest = link;
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            parts.pop();
            rest = after;
        } else {
            break;
        }
    }
    assert!(!rest.starts_with('/') && link.starts_with('.'), "{link}");
    format!("{}/{rest}", parts.join("/"))
}

#[tokio::test]
async fn links_lead_to_pages_under_any_nesting() {
    let client = LockClient::memory();
    let mut guards = Vec::new();
    for key in ["order:42", "a/b/../c", "50% & more?#=+ ü", "..", "\u{1b}\n"] {
        guards.push(client.lock(key).acquire().await.unwrap());
    }
    for number in 0..300 {
        let lock = client.lock(format!("many:{number:03}"));
        guards.push(lock.acquire().await.unwrap());
    }
    let locks = lock_web::router(client.clone());
    let deep = Router::new().nest("/ops/{tenant}/locks", locks.clone());
    for (service, begin) in [
        (locks.clone(), "/"),
        (Router::new().nest("/locks", locks.clone()), "/locks"),
        (Router::new().nest("/locks/", locks.clone()), "/locks/"),
        (
            Router::new().nest_service("/locks", locks.clone()),
            "/locks",
        ),
        (
            Router::new().nest_service("/locks", locks.clone()),
            "/locks/",
        ),
        (deep, "/ops/a:b%20c/locks"),
    ] {
        let (mut to_visit, mut seen) = (vec![begin.to_owned()], Vec::new());
        while let Some(address) = to_visit.pop() {
            if seen.contains(&address) {
                continue;
            }
            let answer = get(&service, &address).await;
            assert_eq!(answer.status, 200, "{address} from {begin}");
            let is_page = answer.headers["content-type"]
                .to_str()
                .unwrap()
                .contains("html");
            // The pages of many similar locks need not be visited.
            if is_page && !address.contains("/lock?key=many") {
                to_visit.extend(links(&answer.body, &address));
            }
            seen.push(address);
        }
        let held = seen
            .iter()
            .filter(|address| address.contains("/lock?key=") && !address.contains("/api/"));
        assert_eq!(held.count(), guards.len(), "from {begin}");
        for path in ["/process", "/audit", "/style.css?v=", "/api/lock?key=order"] {
            let is_seen = seen.iter().any(|address| address.contains(path));
            assert!(is_seen, "{path} from {begin}");
        }
    }
}

#[tokio::test]
async fn documented_nesting_serves_the_page_with_and_without_a_slash() {
    let service = crate::service(lock_web::router(LockClient::memory()));
    for address in ["/locks", "/locks/", "/locks/list"] {
        let answer = get(&service, address).await;
        assert_eq!(answer.status, 200, "{address}");
        answer.has("</html>");
    }
    // Everywhere else the documentation nests it in this way, too.
    for page in [
        include_str!("../../README.md"),
        include_str!("../../src/lib.rs"),
        include_str!("../../src/lock_web.rs"),
        include_str!("../../../src/docs/production.md"),
    ] {
        assert!(page.contains(".nest_service(\"/locks\", "), "{page}");
        assert!(!page.contains(".nest(\"/locks\""), "{page}");
    }
}
