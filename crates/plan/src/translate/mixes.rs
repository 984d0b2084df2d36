//! Benchmarks of BenchBase by their transaction types, with the workloads that have the same.
//!
//! Not here: what the transactions do.

/// A benchmark of BenchBase.
#[derive(Debug)]
pub(super) struct Mix {
    /// Name of the benchmark, as in `-b` of the program.
    pub(super) bench: &'static str,
    /// Workload that is nearest; of several, the first.
    pub(super) workload: &'static str,
    /// Parameter for the size of the data, and how much of it a scale factor of 1 is.
    pub(super) size: &'static str,
    pub(super) rows_per_scale: f64,
    /// Transaction types whose names tell the benchmark, in the order of dbdyno's weights.
    types: &'static [&'static str],
    /// Workloads with their fixed weights, in the order of the types; none if the weights are a
    /// parameter.
    fixed: &'static [(&'static str, &'static [f64])],
}

static MIXES: &[Mix] = &[
    Mix {
        bench: "tpcc",
        workload: "tpcc",
        size: "warehouses",
        rows_per_scale: 1.0,
        types: &["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"],
        fixed: &[],
    },
    Mix {
        bench: "tpch",
        workload: "tpch",
        size: "scale",
        rows_per_scale: 1.0,
        types: &["Q1", "Q2", "Q3"],
        fixed: &[],
    },
    Mix {
        bench: "ycsb",
        workload: "examples/ycsb-a.sql",
        size: "records",
        rows_per_scale: 1000.0,
        types: &[
            "ReadRecord",
            "UpdateRecord",
            "InsertRecord",
            "ScanRecord",
            "ReadModifyWriteRecord",
            "DeleteRecord",
        ],
        fixed: &[
            ("examples/ycsb-a.sql", &[50.0, 50.0, 0.0, 0.0, 0.0, 0.0]),
            ("examples/ycsb-b.sql", &[95.0, 5.0, 0.0, 0.0, 0.0, 0.0]),
            ("examples/ycsb-c.sql", &[100.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            ("examples/ycsb-d.sql", &[95.0, 0.0, 5.0, 0.0, 0.0, 0.0]),
            ("examples/ycsb-e.sql", &[0.0, 0.0, 5.0, 95.0, 0.0, 0.0]),
            ("examples/ycsb-f.sql", &[50.0, 0.0, 0.0, 0.0, 50.0, 0.0]),
        ],
    },
    Mix {
        bench: "smallbank",
        workload: "examples/smallbank.sql",
        size: "customers",
        rows_per_scale: 1_000_000.0,
        types: &[
            "Amalgamate",
            "Balance",
            "DepositChecking",
            "SendPayment",
            "TransactSavings",
            "WriteCheck",
        ],
        fixed: &[("examples/smallbank.sql", &[15.0, 15.0, 15.0, 25.0, 15.0, 15.0])],
    },
    Mix {
        bench: "tatp",
        workload: "examples/tatp.sql",
        size: "subscribers",
        rows_per_scale: 100_000.0,
        types: &[
            "DeleteCallForwarding",
            "GetAccessData",
            "GetNewDestination",
            "GetSubscriberData",
            "InsertCallForwarding",
            "UpdateLocation",
            "UpdateSubscriberData",
        ],
        fixed: &[("examples/tatp.sql", &[2.0, 35.0, 10.0, 35.0, 2.0, 14.0, 2.0])],
    },
];

/// Greatest sum of whole weights that a workload takes.
const SUM_MAX: f64 = 1000.0;

/// Finds the benchmark of a configuration by its transaction types, its own word, or the name of
/// the file. The error describes one that dbdyno does not have.
pub(super) fn mix_of(
    file: &str,
    benchmark: &str,
    types: &[String],
) -> Result<&'static Mix, String> {
    let is_type = |mix: &&Mix| types.iter().any(|name| mix.types.contains(&name.as_str()));
    if let Some(mix) = MIXES.iter().find(is_type) {
        return Ok(mix);
    }
    let word = benchmark.to_ascii_lowercase();
    let file = file.rsplit('/').next().unwrap_or(file).to_ascii_lowercase();
    let is_named =
        |mix: &&Mix| word.contains(mix.bench) || types.is_empty() && file.contains(mix.bench);
    MIXES.iter().find(is_named).ok_or_else(|| match (word.is_empty(), types.first()) {
        (false, _) => super::notes::short(&word),
        (true, Some(first)) => {
            format!("transactions such as {}", super::notes::short(first))
        }
        (true, None) => "an unknown benchmark".to_owned(),
    })
}

impl Mix {
    /// Returns the names of the transaction types, in the order of dbdyno's weights.
    pub(super) fn types(&self) -> &'static [&'static str] {
        self.types
    }

    pub(super) fn is_analytical(&self) -> bool {
        self.size == "scale"
    }

    /// Returns the workload whose mix is nearest to weights by name, the value of its parameter
    /// `weights` if it has one, and what differs.
    pub(super) fn nearest(
        &self,
        weights: &[(String, f64)],
    ) -> (String, Option<String>, Option<String>) {
        let of_type = |name: &&str| -> f64 {
            let of = weights.iter().filter(|(other, _)| other == name);
            // The sum of nothing would be -0.
            of.fold(0.0, |sum, (_, weight)| sum + weight)
        };
        let asked: Vec<f64> = self.types.iter().map(of_type).collect();
        let known: Vec<&str> = self.types.to_vec();
        let other =
            weights.iter().find(|(name, weight)| *weight > 0.0 && !known.contains(&name.as_str()));
        let other =
            other.map(|(name, _)| format!("{} has no counterpart", super::notes::short(name)));
        let sum: f64 = asked.iter().sum();
        if sum <= 0.0 {
            let why = "there are none for its transactions: the workload has its own mix";
            return (self.workload.to_owned(), None, other.or(Some(why.to_owned())));
        }
        if self.fixed.is_empty() {
            let (whole, is_exact) = whole(&asked);
            let rounded = (!is_exact).then(|| format!("rounded to {whole}"));
            return (self.workload.to_owned(), Some(whole), other.or(rounded));
        }
        let distance = |fixed: &[f64]| -> f64 {
            let total: f64 = fixed.iter().sum();
            asked.iter().zip(fixed).map(|(one, two)| (one / sum - two / total).abs()).sum()
        };
        let of = |one: &&(&str, &[f64])| distance(one.1);
        let nearest = self.fixed.iter().min_by(|one, two| of(one).total_cmp(&of(two)));
        let (workload, fixed) = nearest.expect("there is at least one");
        let is_equal = distance(fixed) < 1e-3;
        let differs = (!is_equal).then(|| {
            let pair = |(name, share): (&&str, &f64)| format!("{name} {share}");
            let mix: Vec<String> = self.types.iter().zip(*fixed).map(pair).collect();
            format!("the mix of {workload} is the nearest: {}", mix.join(", "))
        });
        ((*workload).to_owned(), None, other.or(differs))
    }
}

/// Writes weights as whole numbers; also returns whether they are exactly the same shares.
fn whole(weights: &[f64]) -> (String, bool) {
    let sum: f64 = weights.iter().sum();
    let is_whole = |factor: &f64| weights.iter().all(|w| (w * factor).fract().abs() < 1e-9);
    let fits = |factor: &f64| sum * factor <= SUM_MAX;
    let exact = [1.0, 2.0, 4.0, 5.0, 10.0].into_iter().find(|f| is_whole(f) && fits(f));
    let factor = exact.unwrap_or(100.0 / sum);
    let all: Vec<String> = weights.iter().map(|w| format!("{}", (w * factor).round())).collect();
    (all.join("/"), exact.is_some())
}
