//! Assignment of clients to the hosts of a target, which are identified by an index, called place.
//! Not here: connecting to a host (connect), and moving a client (session).

use std::collections::BTreeMap;

/// Assignment of clients to the hosts of a target. A host is identified by its index, called place.
pub(super) struct Spread {
    /// Indexes of the hosts that clients use, in the order in which the URL names them or they were
    /// added.
    used: Vec<usize>,
    /// Index of the assigned host by the number of the client, for clients that have ever
    /// connected.
    homes: BTreeMap<u32, usize>,
    /// Whether a host was added or removed since the target was opened.
    has_changed: bool,
}

impl Spread {
    /// Creates an assignment without clients to the hosts with the indexes 0 to `n_places` - 1.
    pub(super) fn over(n_places: usize) -> Spread {
        assert!(n_places > 0, "a target has a place");
        Spread { used: (0..n_places).collect(), homes: BTreeMap::new(), has_changed: false }
    }

    pub(super) fn used(&self) -> &[usize] {
        &self.used
    }

    /// Returns the index of the host of a client. A new client is assigned round-robin or, after
    /// hosts were added or removed, to the host with the fewest clients.
    pub(super) fn home(&mut self, client: u32) -> usize {
        if let Some(home) = self.homes.get(&client) {
            return *home;
        }
        let home = match self.has_changed {
            false => self.used[client as usize % self.used.len()],
            true => self.used[least(&self.counts())],
        };
        self.homes.insert(client, home);
        home
    }

    /// Returns the index of the host that a client tries next if the host at `place` does not
    /// respond. Half of the clients try the next host and half the previous one, so that the
    /// clients of a lost host are spread.
    pub(super) fn after(&self, place: usize, client: u32) -> usize {
        let n_used = self.used.len();
        let at = self.used.iter().position(|used| *used == place);
        let is_forward = (client as usize / n_used).is_multiple_of(2);
        match at {
            Some(at) if is_forward => self.used[(at + 1) % n_used],
            Some(at) => self.used[(at + n_used - 1) % n_used],
            None => self.used[client as usize % n_used],
        }
    }

    /// Adds the host with the index `place`, and moves clients to it from the hosts with the most,
    /// until it has an equal share. Returns the number of moved clients.
    pub(super) fn add(&mut self, place: usize) -> usize {
        self.has_changed = true;
        self.used.push(place);
        let mut counts = self.counts();
        let new = counts.len() - 1;
        let mut n_moved = 0;
        loop {
            let most = *counts.iter().max().expect("one at least is in use");
            if most <= counts[new] + 1 {
                return n_moved;
            }
            let from = counts.iter().position(|count| *count == most).expect("one has most");
            let crowded = self.used[from];
            let last = self.homes.iter_mut().rev().find(|(_, home)| **home == crowded);
            *last.expect("it has clients").1 = place;
            counts[from] -= 1;
            counts[new] += 1;
            n_moved += 1;
        }
    }

    /// Removes the host with the index `place`, and moves its clients to the hosts with the fewest.
    /// Returns the number of moved clients; `None` if it is the last host, which is not removed.
    pub(super) fn remove(&mut self, place: usize) -> Option<usize> {
        if self.used.len() < 2 {
            return None;
        }
        self.has_changed = true;
        self.used.retain(|used| *used != place);
        let mut counts = self.counts();
        let mut n_moved = 0;
        for home in self.homes.values_mut().filter(|home| **home == place) {
            let to = least(&counts);
            *home = self.used[to];
            counts[to] += 1;
            n_moved += 1;
        }
        Some(n_moved)
    }

    /// Returns the number of clients assigned to each host in use, in the order of `used`.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.used.len()];
        for home in self.homes.values() {
            if let Some(at) = self.used.iter().position(|used| used == home) {
                counts[at] += 1;
            }
        }
        counts
    }

    /// Returns the number of clients assigned to the host with the index `place`.
    pub(super) fn count(&self, place: usize) -> usize {
        self.homes.values().filter(|home| **home == place).count()
    }
}

/// Returns the index of the smallest of `counts`, the first if there are several.
fn least(counts: &[usize]) -> usize {
    let fewest = counts.iter().min().expect("one at least is in use");
    counts.iter().position(|count| count == fewest).expect("it was found there")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(spread: &Spread) -> Vec<usize> {
        spread.used().iter().map(|place| spread.count(*place)).collect()
    }

    #[test]
    fn a_place_that_is_added_gets_its_share_and_no_other_client_moves() {
        let mut spread = Spread::over(2);
        let before: Vec<usize> = (0..12).map(|client| spread.home(client)).collect();
        assert_eq!(before, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!((spread.add(2), counts(&spread)), (4, vec![4, 4, 4]));
        let moved = (0..12).filter(|client| spread.home(*client) != before[*client as usize]);
        assert_eq!(moved.count(), 4);
        // A new client goes to the host with the fewest.
        assert_eq!(spread.home(12), 0);
    }

    #[test]
    fn clients_of_a_place_that_is_taken_away_go_to_all_the_others() {
        let mut spread = Spread::over(3);
        assert_eq!((0..9).map(|client| spread.home(client)).sum::<usize>(), 9);
        assert_eq!((spread.remove(1), counts(&spread)), (Some(3), vec![5, 4]));
        assert_eq!(spread.used(), [0, 2]);
        assert_eq!((spread.after(0, 0), spread.after(2, 0), spread.after(1, 1)), (2, 0, 2));
        assert_eq!(spread.remove(0), Some(5));
        assert_eq!(spread.remove(2), None);
    }

    #[test]
    fn clients_of_a_lost_place_try_all_others_and_do_not_all_go_to_the_same() {
        let spread = Spread::over(3);
        let round = |client| {
            let next = |place: &usize| Some(spread.after(*place, client));
            std::iter::successors(Some(1), next).take(4).collect::<Vec<_>>()
        };
        assert_eq!((round(1), round(4)), (vec![1, 2, 0, 1], vec![1, 0, 2, 1]));
    }
}
