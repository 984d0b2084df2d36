//! A measurement of a transaction, as the application makes it and as it is encoded in a buffer.

/// Status of the measured transaction, with the numbers of ARM 4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Good = 0,
    Aborted = 1,
    Failed = 2,
}

impl Status {
    const ALL: [Status; 3] = [Status::Good, Status::Aborted, Status::Failed];
}

/// Fields of fixed size in every measurement, such as its number, class and start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Number of the measurement within the run, from 1.
    pub(super) number: u64,
    pub(super) class: u16,
    pub(super) status: Status,
    /// Start of the measured transaction, in nanoseconds of the run's clock.
    pub(super) start_ns: u64,
    pub(super) stop_ns: u64,
    /// Number of the parent transaction's measurement; 0 if there is none.
    pub(super) parent: u64,
    pub(super) has_correlator: bool,
    pub(super) n_metrics: u8,
    pub(super) n_contexts: u8,
    pub(super) diagnostic_bytes: u8,
}

/// Size of an encoded [`Head`], in bytes.
const HEAD_BYTES: usize = 8 * 4 + 2 + 6;

/// Measurements that an application thread passes to the agent at once. Metrics and texts, whose
/// number varies, are stored one after the other in the order of the measurements.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) heads: Vec<Head>,
    pub(super) metrics: Vec<i64>,
    /// Texts of all measurements in the chunk; for each its context values, then its diagnostic
    /// detail.
    pub(super) text: Vec<u8>,
    /// Number of metrics for which room is reserved in the pool of metrics.
    pub(super) n_metrics_reserved: u64,
}

impl Chunk {
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.metrics.clear();
        self.text.clear();
    }
}

/// Returns the encoded size in bytes of a measurement with `n_metrics` metrics, `n_contexts`
/// context values of `context` bytes each, and a diagnostic detail of `detail` bytes.
pub(super) fn encoded_bytes(n_metrics: u64, n_contexts: u64, context: u64, detail: u64) -> u64 {
    HEAD_BYTES as u64 + 8 * n_metrics + n_contexts * context + detail
}

/// A buffer of encoded measurements, which one transaction writes into the database.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) bytes: Vec<u8>,
    pub(super) n: u64,
}

impl Buffer {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.n = 0;
    }

    pub(super) fn put(&mut self, head: &Head, metrics: &[i64], text: &[u8]) {
        let out = &mut self.bytes;
        for number in [head.number, head.start_ns, head.stop_ns, head.parent] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&head.class.to_le_bytes());
        out.extend_from_slice(&[
            head.status as u8,
            u8::from(head.has_correlator),
            head.n_metrics,
            head.n_contexts,
            head.diagnostic_bytes,
            0,
        ]);
        for metric in metrics {
            out.extend_from_slice(&metric.to_le_bytes());
        }
        out.extend_from_slice(text);
        self.n += 1;
    }

    /// Returns an iterator over the measurements in the buffer, whose context values have
    /// `context_bytes` bytes each.
    pub(super) fn read(&self, context_bytes: usize) -> Reader<'_> {
        Reader { rest: &self.bytes, context_bytes }
    }
}

/// A measurement, with values borrowed from the buffer in which it is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement<'a> {
    pub(super) head: Head,
    metrics: &'a [u8],
    contexts: &'a [u8],
    diagnostic: &'a [u8],
    context_bytes: usize,
}

impl<'a> Measurement<'a> {
    pub(super) fn metrics(&self) -> impl Iterator<Item = i64> + use<'a> {
        self.metrics.chunks_exact(8).map(|bytes| number(bytes) as i64)
    }

    pub(super) fn contexts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.contexts.chunks_exact(self.context_bytes).map(letters)
    }

    pub(super) fn diagnostic(&self) -> Option<&'a str> {
        (!self.diagnostic.is_empty()).then(|| letters(self.diagnostic))
    }
}

/// Converts the bytes of a context value or diagnostic detail to text. All are ASCII characters, so
/// this cannot fail.
fn letters(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("letters are ASCII")
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Iterator over the measurements of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    context_bytes: usize,
}

impl<'a> Iterator for Reader<'a> {
    type Item = Measurement<'a>;

    fn next(&mut self) -> Option<Measurement<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (fixed, rest) = self.rest.split_at(HEAD_BYTES);
        let field = |place: usize| number(&fixed[8 * place..8 * place + 8]);
        let [class_low, class_high, status, correlator, n_metrics, n_contexts, detail, _] =
            fixed[32..HEAD_BYTES].try_into().expect("the end of a head");
        let head = Head {
            number: field(0),
            start_ns: field(1),
            stop_ns: field(2),
            parent: field(3),
            class: u16::from_le_bytes([class_low, class_high]),
            status: Status::ALL[usize::from(status)],
            has_correlator: correlator == 1,
            n_metrics,
            n_contexts,
            diagnostic_bytes: detail,
        };
        let (metrics, rest) = rest.split_at(8 * usize::from(n_metrics));
        let (contexts, rest) = rest.split_at(self.context_bytes * usize::from(n_contexts));
        let (diagnostic, rest) = rest.split_at(usize::from(detail));
        self.rest = rest;
        let context_bytes = self.context_bytes;
        Some(Measurement { head, metrics, contexts, diagnostic, context_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_a_buffer_is_read_from_it() {
        let head = |number, n_metrics, n_contexts, diagnostic_bytes| Head {
            number,
            class: 300,
            status: Status::ALL[usize::from(n_contexts) % 3],
            start_ns: 5,
            stop_ns: 1 << 40,
            parent: number - 1,
            has_correlator: n_metrics > 0,
            n_metrics,
            n_contexts,
            diagnostic_bytes,
        };
        let heads = [head(1, 0, 0, 0), head(2, 2, 3, 4), head(3, 0, 1, 0)];
        let mut buffer = Buffer::default();
        buffer.put(&heads[0], &[], b"");
        buffer.put(&heads[1], &[-7, i64::MAX], b"aabbccwhy!");
        buffer.put(&heads[2], &[], b"zz");
        let read: Vec<_> = buffer.read(2).collect();
        assert_eq!(read.iter().map(|it| it.head).collect::<Vec<_>>(), heads);
        assert_eq!(read[1].metrics().collect::<Vec<_>>(), [-7, i64::MAX]);
        assert_eq!(read[1].contexts().collect::<Vec<_>>(), ["aa", "bb", "cc"]);
        assert_eq!((read[1].diagnostic(), read[2].diagnostic()), (Some("why!"), None));
        assert_eq!(buffer.n, 3);
        let sizes = [(0, 0, 0), (2, 3, 4), (0, 1, 0)];
        let bytes: u64 = sizes.iter().map(|&(m, c, d)| encoded_bytes(m, c, 2, d)).sum();
        assert_eq!(buffer.bytes.len() as u64, bytes);
    }
}
