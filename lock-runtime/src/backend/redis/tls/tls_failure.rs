//! Classifies TLS errors, and describes them.
//!
//! Errors that no retry can fix are refused, like a wrong password: a certificate that either side rejects, or no
//! common TLS version. Everything else is an outage, such as a connection that breaks during the handshake.

use std::io;
use std::sync::Arc;

use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

use crate::backend::wire::error::{Detail, WireError};

/// The origin of a server's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Url,
    /// A cluster or sentinels announced it, perhaps replaced through a map.
    Announced,
}

/// The error of a failed handshake with a server whose name is from `origin`.
pub(super) fn classify_handshake(error: &io::Error, origin: Origin) -> WireError {
    match tls_error(error) {
        Some(error) => wire_error(error, origin),
        None => WireError::unavailable(format!("the TLS handshake failed: {error}")),
    }
}

/// Classifies an error after the handshake; `None` if it is not a TLS error. With TLS 1.3 a server verifies the
/// client's certificate only after the client has completed the handshake.
pub(in crate::backend::redis) fn classify(error: &io::Error) -> Option<WireError> {
    tls_error(error).map(|error| wire_error(error, Origin::Url))
}

fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn wire_error(error: &Error, origin: Origin) -> WireError {
    let (is_permanent, reason) = match error {
        Error::InvalidCertificate(problem) => (true, describe_certificate(problem, origin)),
        Error::AlertReceived(alert) => classify_alert(*alert),
        Error::PeerIncompatible(_) => (true, NOTHING_IN_COMMON.to_owned()),
        Error::InvalidMessage(_) => (true, "the server's port does not speak TLS".to_owned()),
        Error::PeerMisbehaved(_) => (false, "the server breaks the rules of TLS".to_owned()),
        error => (false, error.to_string()),
    };
    let detail = Detail::from(format!("the TLS handshake failed: {reason}"));
    let detail = detail.caused_by(Arc::new(error.clone()));
    if is_permanent {
        WireError::Refused(detail)
    } else {
        WireError::Unavailable(detail)
    }
}

const NOTHING_IN_COMMON: &str = "the server has no TLS version or cipher that this client accepts";

fn describe_certificate(problem: &CertificateError, origin: Origin) -> String {
    use CertificateError as Problem;
    let reason = match problem {
        // A bad signature belongs here: a CA may have the name of a trusted CA but another key.
        Problem::UnknownIssuer | Problem::BadSignature => "was issued by an unknown CA",
        Problem::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "has no subjectAltName, where the host must be: its common name does not count"
        }
        Problem::NotValidForNameContext { expected, .. } if origin == Origin::Announced => {
            let host = expected.to_str();
            return format!(
                "the server's certificate is for another name than {host}, which the cluster, the sentinels or an \
                 address_map name: let them name the certificate's host"
            );
        }
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => {
            "is for another name than the URL's host"
        }
        Problem::Expired | Problem::ExpiredContext { .. } => "has expired",
        Problem::NotValidYet | Problem::NotValidYetContext { .. } => "is not valid yet",
        Problem::Revoked => "was revoked",
        Problem::BadEncoding => "is malformed",
        Problem::InvalidPurpose | Problem::InvalidPurposeContext { .. } => {
            "is not for servers, by its extended key usage"
        }
        Problem::UnhandledCriticalExtension => CRITICAL_EXTENSION,
        Problem::UnsupportedSignatureAlgorithmContext { .. }
        | Problem::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "has a signature of a kind that this client does not accept"
        }
        Problem::Other(problem) => match describe_other(&problem.to_string()) {
            Some(reason) => reason,
            None => return format!("the server's certificate cannot be verified ({problem})"),
        },
        problem => return format!("the server's certificate cannot be verified ({problem})"),
    };
    format!("the server's certificate {reason}")
}

const CRITICAL_EXTENSION: &str = "has a critical extension that this client does not know";

/// Describes a problem that the TLS library reports only in its verifier's terms.
fn describe_other(name: &str) -> Option<&'static str> {
    Some(match name {
        "UnsupportedCertVersion" => "is of X.509 version 1 or 2, and must be of version 3",
        "CaUsedAsEndEntity" => "is one of a CA, which a server must not show as its own",
        "EndEntityUsedAsCa" => "was issued by a certificate that is not one of a CA",
        "NameConstraintViolation" => {
            "is for a name that its CA must not sign for, by its name constraints"
        }
        "PathLenConstraintViolated" => "has more CAs above it than one of them allows",
        "UnsupportedCriticalExtension" => CRITICAL_EXTENSION,
        _ => return None,
    })
}

/// Returns whether the alert is permanent, and its text.
fn classify_alert(alert: AlertDescription) -> (bool, String) {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired => (true, "the server asks for a client certificate".to_owned()),
        Alert::AccessDenied
        | Alert::BadCertificate
        | Alert::CertificateExpired
        | Alert::CertificateRevoked
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::UnsupportedCertificate => (
            true,
            format!("the server does not accept the client's certificate ({alert:?})"),
        ),
        Alert::ProtocolVersion | Alert::InsufficientSecurity => {
            (true, NOTHING_IN_COMMON.to_owned())
        }
        Alert::CloseNotify | Alert::InternalError | Alert::UserCanceled => {
            (false, format!("the server broke it off ({alert:?})"))
        }
        alert => (true, format!("the server broke it off ({alert:?})")),
    }
}

#[cfg(test)]
mod tests {
    use tokio_rustls::rustls::pki_types::ServerName;

    use super::*;

    fn refused(error: Error) -> String {
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        match classify_handshake(&error, Origin::Url) {
            WireError::Refused(detail) => detail.to_string(),
            WireError::Unavailable(detail) => panic!("an outage: {detail}"),
        }
    }

    #[test]
    fn certificate_that_is_not_accepted_is_refused_with_the_reason() {
        for (problem, words) in [
            (CertificateError::UnknownIssuer, "unknown CA"),
            (CertificateError::NotValidForName, "another name"),
            (CertificateError::Expired, "has expired"),
            (CertificateError::NotValidYet, "not valid yet"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::BadSignature, "unknown CA"),
            (CertificateError::InvalidPurpose, "is not for servers"),
            (CertificateError::BadEncoding, "is malformed"),
            (
                CertificateError::ApplicationVerificationFailure,
                "cannot be verified",
            ),
        ] {
            let text = refused(Error::InvalidCertificate(problem));
            assert!(text.contains(words), "{text}");
        }
        let text = refused(Error::AlertReceived(AlertDescription::CertificateRequired));
        assert!(text.ends_with("asks for a client certificate"), "{text}");
        let text = refused(Error::AlertReceived(AlertDescription::UnknownCA));
        assert!(text.contains("the client's certificate"), "{text}");
    }

    /// The name may also come from an `address_map`.
    #[test]
    fn name_that_is_not_the_urls_is_shown_with_all_that_may_have_given_it() {
        let expected = ServerName::try_from("10.0.0.5").expect("it is an address");
        let presented = vec!["DNS:node".to_owned()];
        let problem = CertificateError::NotValidForNameContext {
            expected,
            presented,
        };
        let error = wire_error(&Error::InvalidCertificate(problem), Origin::Announced);
        let WireError::Refused(detail) = error else {
            panic!("an outage");
        };
        let text = detail.to_string();
        for words in ["10.0.0.5", "cluster", "sentinels", "address_map"] {
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn transient_errors_are_outages() {
        let broken = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert!(matches!(
            classify_handshake(&broken, Origin::Url),
            WireError::Unavailable(_)
        ));
        let internal = Error::AlertReceived(AlertDescription::InternalError);
        assert!(matches!(
            wire_error(&internal, Origin::Url),
            WireError::Unavailable(_)
        ));
    }
}
