//! Which addresses may be contacted at all.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use url::{Host, Url};

/// Resolves names; replaceable in tests of changing answers.
pub trait Lookup: Send + Sync {
    /// All addresses of a name.
    fn lookup_host<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
}

/// The system's resolver.
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup_host<'a>(
        &'a self,
        host: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|addr| addr.ip()).collect()) })
    }
}

/// Why an address is not contacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Neither http nor https.
    #[error("scheme `{0}` is not allowed (only http and https are)")]
    Scheme(String),
    /// A user name or password in the address, because `https://known@other/` is misleading.
    #[error("the address carries a user name")]
    UserInfo,
    /// The host is not on the list.
    #[error("host `{0}` is not in scope (`scope.hosts` adds one)")]
    Host(String),
    /// The name resolves to, or is, an address of this machine or network.
    #[error("`{host}` is at {address}, which is not public")]
    Private {
        /// The name.
        host: String,
        address: IpAddr,
    },
    /// The name has no address.
    #[error("`{0}` cannot be resolved: {1}")]
    Unresolved(String, String),
}

/// The allow-list, the resolver, and the addresses that were checked.
pub struct Guard {
    hosts: BTreeSet<String>,
    private: BTreeSet<String>,
    lookup: Arc<dyn Lookup>,
    pins: HostPins,
}

/// The checked addresses of each host; connections only use these.
#[derive(Clone, Default)]
pub(super) struct HostPins(Arc<Mutex<HashMap<String, Vec<IpAddr>>>>);

impl Guard {
    /// `hosts` are `host` (ports 80 and 443) or `host:port`; `private` are exact `host:port` pairs that may
    /// be on private addresses.
    pub fn new(hosts: BTreeSet<String>, private: BTreeSet<String>, lookup: Arc<dyn Lookup>) -> Self {
        Guard { hosts, private, lookup, pins: HostPins::default() }
    }

    pub(super) fn pins(&self) -> HostPins {
        self.pins.clone()
    }

    /// Whether an address is on the list, without resolving it.
    ///
    /// # Errors
    /// All of [`Refusal`] except those that need the resolver.
    pub fn in_scope(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(url.scheme().into()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let host = super::settings::host_and_port(url).unwrap_or_default();
        if self.hosts.contains(&host) { Ok(()) } else { Err(Refusal::Host(host)) }
    }

    /// Checks an address and pins the addresses it resolves to, for the next connection.
    ///
    /// One private address among the answers refuses all of them.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn check_url(&self, url: &Url) -> Result<IpAddr, Refusal> {
        self.in_scope(url)?;
        let host = url.host_str().unwrap_or_default().to_string();
        let unresolved = |why: String| Refusal::Unresolved(host.clone(), why);
        let addresses = match url.host() {
            Some(Host::Ipv4(ip)) => vec![IpAddr::V4(ip)],
            Some(Host::Ipv6(ip)) => vec![IpAddr::V6(ip)],
            Some(Host::Domain(name)) => {
                self.lookup.lookup_host(name).await.map_err(|e| unresolved(e.to_string()))?
            }
            None => Vec::new(),
        };
        let &first = addresses.first().ok_or_else(|| unresolved("no address".into()))?;
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.private.contains(&format!("{host}:{port}"))
            && let Some(&address) = addresses.iter().find(|ip| !is_public(**ip))
        {
            return Err(Refusal::Private { host, address });
        }
        // The connection must use these: another lookup could give addresses that were never checked.
        self.pins.0.lock().unwrap_or_else(PoisonError::into_inner).insert(host, addresses);
        Ok(first)
    }
}

impl reqwest::dns::Resolve for HostPins {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let pins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = pins.get(name.as_str()).cloned();
        Box::pin(async move {
            let addresses = found.ok_or_else(|| io::Error::other("the host was not checked"))?;
            // With port zero, the client uses the port of the address.
            let addresses: reqwest::dns::Addrs =
                Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Whether an address belongs to the public internet: not loopback, private, link-local, shared
/// (CGNAT), documentation, benchmarking, multicast or reserved; and no IPv6 form that carries
/// an IPv4 address inside (mapped, compatible, NAT64, 6to4, Teredo).
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    // Global unicast is 2000::/3; everything else is local, mapped or reserved.
    match ip.segments() {
        [0x2001, 0..=0x01ff, ..] => false,
        [0x2001, 0x0db8, ..] => false,
        [0x2002, ..] => false,
        [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static [&'static str]);

    impl Lookup for Fixed {
        fn lookup_host<'a>(
            &'a self,
            _: &'a str,
        ) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
            Box::pin(async { Ok(self.0.iter().map(|ip| ip.parse().unwrap()).collect()) })
        }
    }

    fn guard(hosts: &[&str], private: &[&str], answers: &'static [&'static str]) -> Guard {
        let set = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
        Guard::new(set(hosts), set(private), Arc::new(Fixed(answers)))
    }

    async fn check(guard: &Guard, url: &str) -> Result<IpAddr, Refusal> {
        guard.check_url(&Url::parse(url).unwrap()).await
    }

    #[test]
    fn addresses_inside_are_distinguished_from_those_outside() {
        for inside in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "2400:da00::1",
            "2606:4700::1",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }

    #[tokio::test]
    async fn numbers_in_any_notation_are_the_address_they_mean() {
        let hosts = ["127.0.0.1", "[::ffff:7f00:1]"];
        let guard = guard(&hosts, &[], &[]);
        for host in ["2130706433", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1", "[::ffff:127.0.0.1]"] {
            let refused = check(&guard, &format!("http://{host}/")).await;
            assert!(matches!(refused, Err(Refusal::Private { .. })), "{host}: {refused:?}");
        }
    }

    #[tokio::test]
    async fn scheme_user_host_and_port_are_all_checked() {
        let guard = guard(&["good.example", "other.example:8080"], &[], &["93.184.215.14"]);
        assert!(check(&guard, "https://good.example/").await.is_ok());
        assert!(check(&guard, "http://other.example:8080/").await.is_ok());
        assert_eq!(check(&guard, "https://good.example@evil.example/").await, Err(Refusal::UserInfo));
        assert_eq!(check(&guard, "https://u:p@good.example/").await, Err(Refusal::UserInfo));
        for outside in [
            "https://good.example:8443/",
            "https://evil.example/",
            "https://good.example.evil.example/",
            "http://other.example/",
        ] {
            assert!(matches!(check(&guard, outside).await, Err(Refusal::Host(_))), "{outside}");
        }
        assert!(matches!(check(&guard, "file:///etc/passwd").await, Err(Refusal::Scheme(_))));
    }

    #[tokio::test]
    async fn one_private_answer_refuses_all_and_the_override_is_exact() {
        let hosts = ["a.example", "a.example:81"];
        let mixed = guard(&hosts, &[], &["8.8.8.8", "10.0.0.1"]);
        assert!(matches!(check(&mixed, "http://a.example/").await, Err(Refusal::Private { .. })));
        let local = guard(&hosts, &["a.example:81"], &["127.0.0.1"]);
        assert!(check(&local, "http://a.example:81/").await.is_ok());
        assert!(matches!(check(&local, "http://a.example/").await, Err(Refusal::Private { .. })));
    }
}
