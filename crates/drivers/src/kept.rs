//! The statements that a session keeps, by number: as many as are allowed, and of those the ones
//! that it has used last.
//!
//! A session may know far more statements (some for each of 50,000 tables) than a server or this
//! process has memory for. Not here: what it means to close a statement (drivers).

use std::ops::{Index, IndexMut};

/// Number of statements that a session keeps unless the run sets another one: a prepared statement
/// takes about 10 KB in a server or an embedded database.
pub const KEPT_MOST: usize = 8_192;
/// Smallest number of statements that a session keeps, whatever it was told.
const KEPT_LEAST: usize = 16;

/// No statement, in a link of the list.
const NOBODY: u32 = u32::MAX;

/// What a session keeps about its statements, each at its index.
pub(crate) struct Kept<T> {
    slots: Vec<Option<Box<T>>>,
    most: usize,
    n: usize,
    /// Whether a further statement takes the place of another. Before, no order is kept.
    is_full: bool,
    /// For each index the next and the previous one in the list of what is kept, from the most
    /// recently used.
    links: Vec<Link>,
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Copy)]
struct Link {
    newer: u32,
    older: u32,
}

const UNLINKED: Link = Link { newer: NOBODY, older: NOBODY };

impl<T> Kept<T> {
    /// Makes room for statements with the indexes from 0 to `n_known` - 1, of which at most `most`
    /// are kept at a time.
    pub(crate) fn new(n_known: usize, most: usize) -> Kept<T> {
        Kept {
            slots: (0..n_known).map(|_| None).collect(),
            most: most.max(KEPT_LEAST),
            n: 0,
            is_full: false,
            links: Vec::new(),
            newest: NOBODY,
            oldest: NOBODY,
        }
    }

    /// Returns the number of statements that the session knows, kept or not.
    #[inline]
    pub(crate) fn n_known(&self) -> usize {
        self.slots.len()
    }

    /// Makes room for one more statement, whose index is the number of those before.
    pub(crate) fn add(&mut self) {
        self.slots.push(None);
    }

    /// Returns what is kept at `index` and counts it as used; `None` if nothing is.
    #[inline]
    pub(crate) fn used(&mut self, index: usize) -> Option<&mut T> {
        if self.is_full {
            self.touch(index);
        }
        self.slots.get_mut(index)?.as_deref_mut()
    }

    fn touch(&mut self, index: usize) {
        if self.newest as usize != index && self.get(index).is_some() {
            self.unlink(index);
            self.link(index);
        }
    }

    /// Returns what is kept at `index`; `None` if nothing is.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.slots.get(index)?.as_deref()
    }

    /// Keeps `value` at `index`, where nothing is kept yet. If there are too many then, returns the
    /// least recently used one, except those that `is_needed` names by their indexes.
    #[cold]
    pub(crate) fn put(
        &mut self,
        index: usize,
        value: T,
        is_needed: impl Fn(usize) -> bool,
    ) -> Option<Box<T>> {
        assert!(self.slots[index].is_none(), "a statement is kept once");
        let left = if self.is_full { self.take_oldest(is_needed) } else { None };
        self.slots[index] = Some(Box::new(value));
        self.link(index);
        self.n += 1;
        self.is_full = self.n >= self.most;
        left
    }

    fn take_oldest(&mut self, is_needed: impl Fn(usize) -> bool) -> Option<Box<T>> {
        let mut oldest = self.oldest;
        while oldest != NOBODY && is_needed(oldest as usize) {
            oldest = self.links[oldest as usize].newer;
        }
        if oldest == NOBODY {
            return None;
        }
        self.unlink(oldest as usize);
        self.n -= 1;
        self.slots[oldest as usize].take()
    }

    fn unlink(&mut self, index: usize) {
        let Link { newer, older } = self.links[index];
        match self.links.get_mut(newer as usize) {
            Some(link) => link.older = older,
            None => self.newest = older,
        }
        match self.links.get_mut(older as usize) {
            Some(link) => link.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link(&mut self, index: usize) {
        if self.links.len() <= index {
            self.links.resize(self.slots.len(), UNLINKED);
        }
        self.links[index] = Link { newer: NOBODY, older: self.newest };
        match self.links.get_mut(self.newest as usize) {
            Some(link) => link.newer = index as u32,
            None => self.oldest = index as u32,
        }
        self.newest = index as u32;
    }
}

/// Panics if nothing is kept at the index.
impl<T> Index<usize> for Kept<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        self.slots[index].as_deref().expect("a statement in use is kept")
    }
}

/// Panics if nothing is kept at the index.
impl<T> IndexMut<usize> for Kept<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.slots[index].as_deref_mut().expect("a statement in use is kept")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_of(kept: &Kept<usize>) -> Vec<usize> {
        (0..kept.n_known()).filter(|index| kept.get(*index).is_some()).collect()
    }

    #[test]
    fn the_least_recently_used_one_leaves() {
        let most = KEPT_LEAST;
        let mut kept = Kept::new(100, most);
        for index in 0..most {
            assert_eq!(kept.put(index, index, |_| false), None);
        }
        // 0 and 2 are used again, so 1 and 3 are the oldest.
        assert_eq!(kept.used(0), Some(&mut 0));
        assert_eq!(kept.used(2), Some(&mut 2));
        assert_eq!(kept.used(70), None);
        assert_eq!(kept.put(70, 70, |_| false), Some(Box::new(1)));
        assert_eq!(kept.put(71, 71, |_| false), Some(Box::new(3)));
        assert_eq!(kept.put(72, 72, |index| index == 4), Some(Box::new(5)));
        assert_eq!(kept.put(1, 1, |_| false), Some(Box::new(4)));
        let expect = [0, 1, 2].into_iter().chain(6..most).chain(70..73);
        assert_eq!(kept_of(&kept), Vec::from_iter(expect));
        // 100 is known later.
        kept.add();
        assert_eq!(kept.put(100, 100, |_| false), Some(Box::new(6)));
        assert_eq!(kept.n_known(), 101);
    }

    #[test]
    fn what_is_needed_stays_even_if_there_are_too_many() {
        let mut kept = Kept::new(1_000, KEPT_LEAST);
        for index in 0..2 * KEPT_LEAST {
            assert_eq!(kept.put(index, index, |_| true), None);
        }
        assert_eq!(kept_of(&kept).len(), 2 * KEPT_LEAST);
        let mut model: Vec<usize> = kept_of(&kept);
        for step in 0..5_000 {
            let index = step * 7_919 % 97;
            match kept.used(index) {
                Some(_) => model.retain(|other| *other != index),
                None => {
                    assert_eq!(kept.put(index, index, |_| false), Some(Box::new(model.remove(0))))
                }
            }
            model.push(index);
        }
        model.sort_unstable();
        assert_eq!(kept_of(&kept), model);
    }
}
