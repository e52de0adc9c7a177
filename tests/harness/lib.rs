//! Servers, proxies and worker processes for the tests.
