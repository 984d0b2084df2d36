//! The records of a table that a reader has seen, from which it finds new, repeated and missed
//! records in a read. Not here: the reads themselves (reader).

/// The fields of a record that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: i64,
    /// Sequence number that the writer gave to the record. Numbers in a table have no gaps.
    pub(super) sequence: i64,
    /// Time stamp of the record, in nanoseconds since 1970.
    pub(super) stamped_ns: i64,
}

/// Result of one read: the records that are new to the reader, and counts of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// Highest sequence number that the reader had seen before this read.
    pub(super) after: i64,
    pub(super) last: i64,
    /// Records that the reader has read for the first time, in the order of the rows.
    pub(super) new: Vec<Record>,
    /// Number of records that the reader had read before.
    pub(super) duplicates: u64,
    /// Number of records, between the last read and this one, that the reader has not read and will
    /// never read.
    pub(super) missed: u64,
    /// Whether this is the reader's first read, in which no record counts as new.
    pub(super) is_first: bool,
}

/// How far a reader has read in its table: sequence number and key of the last record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Highest sequence number that the reader has seen; `None` before its first read.
    pub(super) last: Option<i64>,
    /// Key (`recordID`) of the record with the highest sequence number that the reader has seen.
    pub(super) last_id: i64,
}

/// State of a read whose rows are being added one by one.
pub(super) struct Looking {
    before: Seen,
    now: Seen,
    new: Vec<Record>,
    duplicates: u64,
}

impl Seen {
    pub(super) fn look(self) -> Looking {
        Looking { before: self, now: self, new: Vec::new(), duplicates: 0 }
    }
}

impl Looking {
    /// Adds a record that the read has returned. The order of records does not matter.
    pub(super) fn at(&mut self, record: Record) {
        match self.before.last {
            Some(last) if record.sequence > last => self.new.push(record),
            Some(_) => self.duplicates += 1,
            None => {}
        }
        if self.now.last.is_none_or(|last| record.sequence > last) {
            self.now = Seen { last: Some(record.sequence), last_id: record.id };
        }
    }

    /// Ends the read. Returns its result, and how far the reader has now read.
    pub(super) fn end(self) -> (Read, Seen) {
        let Looking { before, now, new, duplicates } = self;
        // If the table is empty, all records are still to come.
        let last = now.last.unwrap_or(0);
        let after = before.last.unwrap_or(last);
        let missed = (last - after) as u64 - new.len() as u64;
        let is_first = before.last.is_none();
        let now = Seen { last: Some(last), ..now };
        (Read { after, last, new, duplicates, missed, is_first }, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(seen: &mut Seen, numbers: impl IntoIterator<Item = i64>) -> Read {
        let mut looking = seen.look();
        for sequence in numbers {
            looking.at(Record { id: 10 * sequence, sequence, stamped_ns: 0 });
        }
        let (read, now) = looking.end();
        *seen = now;
        read
    }

    #[test]
    fn each_record_is_new_once_and_what_a_window_lacks_is_missed() {
        let mut seen = Seen::default();
        let mut check = |numbers: &[i64], new: &[i64], duplicates, missed| {
            let read = read(&mut seen, numbers.iter().copied());
            let found: Vec<i64> = read.new.iter().map(|record| record.sequence).collect();
            assert_eq!((&found[..], read.duplicates, read.missed), (new, duplicates, missed));
            assert_eq!(read.last - read.after, (new.len() as u64 + missed) as i64);
        };
        // Records from before the first read are ignored.
        check(&[12, 11, 10], &[], 0, 0);
        check(&[12, 11, 10], &[], 3, 0);
        check(&[14, 13, 12], &[14, 13], 1, 0);
        check(&[14, 15, 13], &[15], 2, 0);
        check(&[20, 19, 18], &[20, 19, 18], 0, 2);
        check(&[], &[], 0, 0);
        check(&[21, 20], &[21], 1, 0);
        assert_eq!((seen.last, seen.last_id), (Some(21), 210));
    }

    #[test]
    fn of_a_table_that_is_empty_at_first_every_record_counts() {
        let mut seen = Seen::default();
        assert!(read(&mut seen, []).is_first);
        let found = read(&mut seen, 3..=4);
        assert_eq!((found.new.len(), found.missed, found.is_first), (2, 2, false));
    }
}
