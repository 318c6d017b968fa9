//! Limits on connections, in total and per address, and which one is closed when another comes.
//!
//! New connections never wait: each is accepted, and the one that has kept the server waiting longest is
//! closed. Pages are requested and read within a moment, so this hardly ever affects people, however many
//! clients are slow on purpose.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The open connections.
#[derive(Debug)]
pub(super) struct Crowd {
    guests: Mutex<(u64, HashMap<u64, Guest>)>,
    /// Most at once.
    in_all: usize,
    /// Most at once from one address.
    of_address: usize,
}

#[derive(Debug)]
struct Guest {
    address: IpAddr,
    /// Since when it has kept the server waiting: for a request, or for reading an answer. `None` while the
    /// server prepares the answer.
    waiting: Option<Instant>,
    sent_off: CancellationToken,
}

/// The slot of a connection, released when dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    number: u64,
    crowd: Arc<Crowd>,
    sent_off: CancellationToken,
}

impl Crowd {
    pub(super) fn new(in_all: usize, of_address: usize) -> Arc<Crowd> {
        Arc::new(Crowd { guests: Mutex::default(), in_all, of_address })
    }

    /// Accepts a connection from an address. `None` if answers are being prepared for all open ones.
    pub(super) fn admit_client(self: &Arc<Crowd>, address: IpAddr) -> Option<ConnectionSlot> {
        let address = client_network(address);
        let mut guests = self.lock();
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        guests.1.values().for_each(|guest| *count.entry(guest.address).or_default() += 1);
        let crowded = count.get(&address).is_some_and(|own| *own >= self.of_address);
        if crowded || guests.1.len() >= self.in_all {
            // A crowded address has to give up a connection of its own.
            let may_go = |guest: &Guest| !crowded || guest.address == address;
            // Of the address with most connections, the one that has waited longest.
            let longest = guests
                .1
                .iter()
                .filter(|(_, guest)| may_go(guest))
                .filter_map(|(number, guest)| {
                    Some((std::cmp::Reverse(count[&guest.address]), guest.waiting?, *number))
                })
                .min()?;
            // Removed at once, because its task needs a moment to end and would still be counted.
            if let Some(guest) = guests.1.remove(&longest.2) {
                guest.sent_off.cancel();
            }
        }
        let number = guests.0;
        guests.0 += 1;
        let sent_off = CancellationToken::new();
        guests.1.insert(number, Guest { address, waiting: Some(Instant::now()), sent_off: sent_off.clone() });
        Some(ConnectionSlot { number, crowd: self.clone(), sent_off })
    }

    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Guest>)> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// The answer is being prepared: the client is not responsible for the time.
    pub(super) fn mark_working(&self) {
        self.set_waiting(None);
    }

    /// From now on the server waits for the client.
    pub(super) fn mark_waiting(&self) {
        self.set_waiting(Some(Instant::now()));
    }

    fn set_waiting(&self, waiting: Option<Instant>) {
        // A connection that was sent off is no longer in the list.
        if let Some(guest) = self.crowd.lock().1.get_mut(&self.number) {
            guest.waiting = waiting;
        }
    }

    /// Returns once the slot is needed for another connection.
    pub(super) async fn sent_off(&self) {
        self.sent_off.cancelled().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.crowd.lock().1.remove(&self.number);
    }
}

/// An IPv6 site has a whole network of addresses, which counts as one.
pub(super) fn client_network(address: IpAddr) -> IpAddr {
    // An IPv4 client of an IPv6 socket has a mapped address, all of which share one IPv6 network.
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[8..].fill(0);
            IpAddr::from(octets)
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_longest_goes_first() {
        let crowd = Crowd::new(4, 3);
        let [many, few] = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])];
        let tick = || tokio::time::advance(std::time::Duration::from_secs(1));
        let old = crowd.admit_client(few).unwrap();
        tick().await;
        let first = crowd.admit_client(many).unwrap();
        tick().await;
        let second = crowd.admit_client(many).unwrap();
        let third = crowd.admit_client(many).unwrap();
        first.mark_working();
        let fourth = crowd.admit_client(many).unwrap();
        assert!(second.sent_off.is_cancelled() && !first.sent_off.is_cancelled());
        let newcomer = crowd.admit_client(IpAddr::from([10, 0, 0, 3])).unwrap();
        assert!(third.sent_off.is_cancelled() && !old.sent_off.is_cancelled(), "the greedy address pays");
        for place in [&old, &first, &fourth, &newcomer] {
            place.mark_working();
        }
        assert!(crowd.admit_client(few).is_none());
        drop(newcomer);
        assert!(crowd.admit_client(few).is_some());
    }
}
