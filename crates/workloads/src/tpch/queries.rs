//! The 22 queries in the wording of the standard (clauses 2.4.1 to 2.4.22), as SQL templates, and
//! the columns of their answers.
//!
//! A substitution parameter is a name in square brackets, as in the standard. What databases word
//! otherwise is in braces, and resolved by the dialect. On every database, two things differ from
//! the standard's text: the columns of Q13's derived table are named inside it, since MariaDB takes
//! a list of columns behind it only from 11.7 on; and Q15 has its view as a common table expression
//! (the approved variant of Appendix B). Not here: values of parameters (substitution).

use model::{CutOff, Dialect, KindIndex};

pub(super) const QUERIES: usize = 22;

/// Content of a column of an answer, by which it is compared (clause 2.1.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerColumn {
    /// A value that every database must return exactly: text, date, number or count.
    Exact,
    /// A decimal number with this many digits after the point: a value of a column, or a sum of
    /// products. Exact too.
    Decimal(u8),
    /// A ratio or average, which databases round in different ways. In a database that stores
    /// decimals as integers, it is 10 to the power of this number times as large.
    Ratio(u8),
}

use AnswerColumn::{Decimal, Exact, Ratio};

/// A query of the standard.
pub(super) struct Query {
    /// Name of the query in messages and reports, such as `q1`.
    pub(super) name: &'static str,
    /// Title of the query in the standard.
    pub(super) title: &'static str,
    template: &'static str,
    /// Columns of the answer, in order.
    pub(super) columns: &'static [AnswerColumn],
    /// Indexes of the columns by which the answer of a query with a limit is sorted; empty for
    /// other queries.
    pub(super) sorted_by: &'static [usize],
}

impl Query {
    /// Returns the query's SQL in a dialect. `parameters` has name and value of each substitution
    /// parameter. Panics if one is missing.
    pub(super) fn sql(&self, parameters: &[(String, String)], dialect: &Dialect) -> String {
        self.filled(self.template, parameters, dialect)
    }

    /// Returns the largest number of rows of the answer, and the query's SQL without this limit, as
    /// [`Query::sql`]; `None` for a query without a limit.
    pub(super) fn without_limit(
        &self,
        parameters: &[(String, String)],
        dialect: &Dialect,
    ) -> Option<CutOff> {
        let (before, rest) = self.template.split_once("{limit ")?;
        let (rows, after) = rest.split_once('}').expect("it is closed");
        let of_all = format!("{before}{after}").replace(&format!("{{top {rows}}}"), "");
        let rows = rows.parse().expect("a number of rows");
        Some(CutOff { rows, sql_of_all: self.filled(&of_all, parameters, dialect) })
    }

    fn filled(&self, template: &str, parameters: &[(String, String)], dialect: &Dialect) -> String {
        let put = |sql: String, (name, value): &(String, String)| {
            sql.replace(&format!("[{name}]"), value)
        };
        let sql = parameters.iter().fold(template.to_owned(), put);
        assert!(!sql.contains('['), "{}: a parameter has no value: {sql}", self.name);
        dialect.sql(&sql)
    }
}

/// Returns the query with this index, which is that of its transaction type.
pub(super) fn query(kind: KindIndex) -> &'static Query {
    &ALL[usize::from(kind)]
}

pub(super) static ALL: [Query; QUERIES] = [
    Query {
        name: "q1",
        title: "pricing summary report",
        template: "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, \
             SUM(l_extendedprice) AS sum_base_price, \
             SUM(l_extendedprice * ({decimal 1} - l_discount)) AS sum_disc_price, \
             SUM(l_extendedprice * ({decimal 1} - l_discount) * ({decimal 1} + l_tax)) \
             AS sum_charge, \
             AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, \
             AVG(l_discount) AS avg_disc, COUNT(*) AS count_order \
             FROM lineitem \
             WHERE l_shipdate <= {add -[DELTA] days to {date 1998-12-01}} \
             GROUP BY l_returnflag, l_linestatus \
             ORDER BY l_returnflag, l_linestatus",
        columns: &[
            Exact,
            Exact,
            Decimal(2),
            Decimal(2),
            Decimal(4),
            Decimal(6),
            Ratio(2),
            Ratio(2),
            Ratio(2),
            Exact,
        ],
        sorted_by: &[],
    },
    Query {
        name: "q2",
        title: "minimum cost supplier",
        template: "SELECT{top 100} s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, \
             s_phone, s_comment \
             FROM part, supplier, partsupp, nation, region \
             WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = [SIZE] \
             AND p_type LIKE '%[TYPE]' AND s_nationkey = n_nationkey \
             AND n_regionkey = r_regionkey AND r_name = '[REGION]' \
             AND ps_supplycost = (SELECT MIN(ps_supplycost) \
             FROM partsupp, supplier, nation, region \
             WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey \
             AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey \
             AND r_name = '[REGION]') \
             ORDER BY s_acctbal DESC, n_name, s_name, p_partkey{limit 100}",
        columns: &[Decimal(2), Exact, Exact, Exact, Exact, Exact, Exact, Exact],
        sorted_by: &[0, 2, 1, 3],
    },
    Query {
        name: "q3",
        title: "shipping priority",
        template: "SELECT{top 10} l_orderkey, \
             SUM(l_extendedprice * ({decimal 1} - l_discount)) AS revenue, \
             o_orderdate, o_shippriority \
             FROM customer, orders, lineitem \
             WHERE c_mktsegment = '[SEGMENT]' AND c_custkey = o_custkey \
             AND l_orderkey = o_orderkey AND o_orderdate < {date [DATE]} \
             AND l_shipdate > {date [DATE]} \
             GROUP BY l_orderkey, o_orderdate, o_shippriority \
             ORDER BY revenue DESC, o_orderdate{limit 10}",
        columns: &[Exact, Decimal(4), Exact, Exact],
        sorted_by: &[1, 2],
    },
    Query {
        name: "q4",
        title: "order priority checking",
        template: "SELECT o_orderpriority, COUNT(*) AS order_count \
             FROM orders \
             WHERE o_orderdate >= {date [DATE]} \
             AND o_orderdate < {add 3 months to {date [DATE]}} \
             AND EXISTS (SELECT * FROM lineitem \
             WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) \
             GROUP BY o_orderpriority \
             ORDER BY o_orderpriority",
        columns: &[Exact, Exact],
        sorted_by: &[],
    },
    Query {
        name: "q5",
        title: "local supplier volume",
        template: "SELECT n_name, SUM(l_extendedprice * ({decimal 1} - l_discount)) AS revenue \
             FROM customer, orders, lineitem, supplier, nation, region \
             WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey \
             AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey \
             AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey \
             AND r_name = '[REGION]' AND o_orderdate >= {date [DATE]} \
             AND o_orderdate < {add 1 year to {date [DATE]}} \
             GROUP BY n_name \
             ORDER BY revenue DESC",
        columns: &[Exact, Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q6",
        title: "forecasting revenue change",
        template: "SELECT SUM(l_extendedprice * l_discount) AS revenue \
             FROM lineitem \
             WHERE l_shipdate >= {date [DATE]} \
             AND l_shipdate < {add 1 year to {date [DATE]}} \
             AND l_discount BETWEEN {decimal [DISCOUNT]} - {decimal 0.01} \
             AND {decimal [DISCOUNT]} + {decimal 0.01} \
             AND l_quantity < {decimal [QUANTITY]}",
        columns: &[Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q7",
        title: "volume shipping",
        template: "SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue \
             FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, \
             {year of l_shipdate} AS l_year, \
             l_extendedprice * ({decimal 1} - l_discount) AS volume \
             FROM supplier, lineitem, orders, customer, nation n1, nation n2 \
             WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey \
             AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey \
             AND c_nationkey = n2.n_nationkey \
             AND ((n1.n_name = '[NATION1]' AND n2.n_name = '[NATION2]') \
             OR (n1.n_name = '[NATION2]' AND n2.n_name = '[NATION1]')) \
             AND l_shipdate BETWEEN {date 1995-01-01} AND {date 1996-12-31}) shipping \
             GROUP BY supp_nation, cust_nation, l_year \
             ORDER BY supp_nation, cust_nation, l_year",
        columns: &[Exact, Exact, Exact, Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q8",
        title: "national market share",
        template: "SELECT o_year, \
             {divide SUM(CASE WHEN nation = '[NATION]' THEN volume ELSE 0 END) by SUM(volume)} \
             AS mkt_share \
             FROM (SELECT {year of o_orderdate} AS o_year, \
             l_extendedprice * ({decimal 1} - l_discount) AS volume, n2.n_name AS nation \
             FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region \
             WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey \
             AND l_orderkey = o_orderkey AND o_custkey = c_custkey \
             AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey \
             AND r_name = '[REGION]' AND s_nationkey = n2.n_nationkey \
             AND o_orderdate BETWEEN {date 1995-01-01} AND {date 1996-12-31} \
             AND p_type = '[TYPE]') all_nations \
             GROUP BY o_year \
             ORDER BY o_year",
        columns: &[Exact, Ratio(0)],
        sorted_by: &[],
    },
    Query {
        name: "q9",
        title: "product type profit measure",
        template: "SELECT nation, o_year, SUM(amount) AS sum_profit \
             FROM (SELECT n_name AS nation, {year of o_orderdate} AS o_year, \
             l_extendedprice * ({decimal 1} - l_discount) - ps_supplycost * l_quantity AS amount \
             FROM part, supplier, lineitem, partsupp, orders, nation \
             WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey \
             AND ps_partkey = l_partkey AND p_partkey = l_partkey \
             AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey \
             AND p_name LIKE '%[COLOR]%') profit \
             GROUP BY nation, o_year \
             ORDER BY nation, o_year DESC",
        columns: &[Exact, Exact, Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q10",
        title: "returned item reporting",
        template: "SELECT{top 20} c_custkey, c_name, \
             SUM(l_extendedprice * ({decimal 1} - l_discount)) AS revenue, \
             c_acctbal, n_name, c_address, c_phone, c_comment \
             FROM customer, orders, lineitem, nation \
             WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey \
             AND o_orderdate >= {date [DATE]} \
             AND o_orderdate < {add 3 months to {date [DATE]}} \
             AND l_returnflag = 'R' AND c_nationkey = n_nationkey \
             GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment \
             ORDER BY revenue DESC{limit 20}",
        columns: &[Exact, Exact, Decimal(4), Decimal(2), Exact, Exact, Exact, Exact],
        sorted_by: &[2],
    },
    Query {
        name: "q11",
        title: "important stock identification",
        template: "SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS stock_value \
             FROM partsupp, supplier, nation \
             WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey \
             AND n_name = '[NATION]' \
             GROUP BY ps_partkey \
             HAVING SUM(ps_supplycost * ps_availqty) > \
             (SELECT SUM(ps_supplycost * ps_availqty) * [FRACTION] \
             FROM partsupp, supplier, nation \
             WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey \
             AND n_name = '[NATION]') \
             ORDER BY stock_value DESC",
        columns: &[Exact, Decimal(2)],
        sorted_by: &[],
    },
    Query {
        name: "q12",
        title: "shipping modes and order priority",
        template: "SELECT l_shipmode, \
             SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' \
             THEN 1 ELSE 0 END) AS high_line_count, \
             SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' \
             THEN 1 ELSE 0 END) AS low_line_count \
             FROM orders, lineitem \
             WHERE o_orderkey = l_orderkey AND l_shipmode IN ('[SHIPMODE1]', '[SHIPMODE2]') \
             AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate \
             AND l_receiptdate >= {date [DATE]} \
             AND l_receiptdate < {add 1 year to {date [DATE]}} \
             GROUP BY l_shipmode \
             ORDER BY l_shipmode",
        columns: &[Exact, Exact, Exact],
        sorted_by: &[],
    },
    Query {
        name: "q13",
        title: "customer distribution",
        template: "SELECT c_count, COUNT(*) AS custdist \
             FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count \
             FROM customer LEFT OUTER JOIN orders ON c_custkey = o_custkey \
             AND o_comment NOT LIKE '%[WORD1]%[WORD2]%' \
             GROUP BY c_custkey) c_orders \
             GROUP BY c_count \
             ORDER BY custdist DESC, c_count DESC",
        columns: &[Exact, Exact],
        sorted_by: &[],
    },
    Query {
        name: "q14",
        title: "promotion effect",
        template: "SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' \
             THEN l_extendedprice * ({decimal 1} - l_discount) ELSE 0 END) \
             / SUM(l_extendedprice * ({decimal 1} - l_discount)) AS promo_revenue \
             FROM lineitem, part \
             WHERE l_partkey = p_partkey AND l_shipdate >= {date [DATE]} \
             AND l_shipdate < {add 1 month to {date [DATE]}}",
        columns: &[Ratio(0)],
        sorted_by: &[],
    },
    Query {
        name: "q15",
        title: "top supplier",
        template: "WITH revenue (supplier_no, total_revenue) AS (\
             SELECT l_suppkey, SUM(l_extendedprice * ({decimal 1} - l_discount)) \
             FROM lineitem \
             WHERE l_shipdate >= {date [DATE]} \
             AND l_shipdate < {add 3 months to {date [DATE]}} \
             GROUP BY l_suppkey) \
             SELECT s_suppkey, s_name, s_address, s_phone, total_revenue \
             FROM supplier, revenue \
             WHERE s_suppkey = supplier_no \
             AND total_revenue = (SELECT MAX(total_revenue) FROM revenue) \
             ORDER BY s_suppkey",
        columns: &[Exact, Exact, Exact, Exact, Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q16",
        title: "parts/supplier relationship",
        template: "SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt \
             FROM partsupp, part \
             WHERE p_partkey = ps_partkey AND p_brand <> '[BRAND]' \
             AND p_type NOT LIKE '[TYPE]%' \
             AND p_size IN ([SIZE1], [SIZE2], [SIZE3], [SIZE4], [SIZE5], [SIZE6], [SIZE7], \
             [SIZE8]) \
             AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier \
             WHERE s_comment LIKE '%Customer%Complaints%') \
             GROUP BY p_brand, p_type, p_size \
             ORDER BY supplier_cnt DESC, p_brand, p_type, p_size",
        columns: &[Exact, Exact, Exact, Exact],
        sorted_by: &[],
    },
    Query {
        name: "q17",
        title: "small-quantity-order revenue",
        template: "SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly \
             FROM lineitem, part \
             WHERE p_partkey = l_partkey AND p_brand = '[BRAND]' \
             AND p_container = '[CONTAINER]' \
             AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM lineitem \
             WHERE l_partkey = p_partkey)",
        columns: &[Ratio(2)],
        sorted_by: &[],
    },
    Query {
        name: "q18",
        title: "large volume customer",
        template: "SELECT{top 100} c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, \
             SUM(l_quantity) AS sum_qty \
             FROM customer, orders, lineitem \
             WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem \
             GROUP BY l_orderkey HAVING SUM(l_quantity) > {decimal [QUANTITY]}) \
             AND c_custkey = o_custkey AND o_orderkey = l_orderkey \
             GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice \
             ORDER BY o_totalprice DESC, o_orderdate{limit 100}",
        columns: &[Exact, Exact, Exact, Exact, Decimal(2), Decimal(2)],
        sorted_by: &[4, 3],
    },
    Query {
        name: "q19",
        title: "discounted revenue",
        template: "SELECT SUM(l_extendedprice * ({decimal 1} - l_discount)) AS revenue \
             FROM lineitem, part \
             WHERE (p_partkey = l_partkey AND p_brand = '[BRAND1]' \
             AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') \
             AND l_quantity >= {decimal [QUANTITY1]} \
             AND l_quantity <= {decimal [QUANTITY1]} + {decimal 10} \
             AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG') \
             AND l_shipinstruct = 'DELIVER IN PERSON') \
             OR (p_partkey = l_partkey AND p_brand = '[BRAND2]' \
             AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') \
             AND l_quantity >= {decimal [QUANTITY2]} \
             AND l_quantity <= {decimal [QUANTITY2]} + {decimal 10} \
             AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG') \
             AND l_shipinstruct = 'DELIVER IN PERSON') \
             OR (p_partkey = l_partkey AND p_brand = '[BRAND3]' \
             AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') \
             AND l_quantity >= {decimal [QUANTITY3]} \
             AND l_quantity <= {decimal [QUANTITY3]} + {decimal 10} \
             AND p_size BETWEEN 1 AND 15 AND l_shipmode IN ('AIR', 'AIR REG') \
             AND l_shipinstruct = 'DELIVER IN PERSON')",
        columns: &[Decimal(4)],
        sorted_by: &[],
    },
    Query {
        name: "q20",
        title: "potential part promotion",
        template: "SELECT s_name, s_address \
             FROM supplier, nation \
             WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp \
             WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '[COLOR]%') \
             AND {decimal ps_availqty} > (SELECT 0.5 * SUM(l_quantity) FROM lineitem \
             WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey \
             AND l_shipdate >= {date [DATE]} \
             AND l_shipdate < {add 1 year to {date [DATE]}})) \
             AND s_nationkey = n_nationkey AND n_name = '[NATION]' \
             ORDER BY s_name",
        columns: &[Exact, Exact],
        sorted_by: &[],
    },
    Query {
        name: "q21",
        title: "suppliers who kept orders waiting",
        template: "SELECT{top 100} s_name, COUNT(*) AS numwait \
             FROM supplier, lineitem l1, orders, nation \
             WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey \
             AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate \
             AND EXISTS (SELECT * FROM lineitem l2 \
             WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey) \
             AND NOT EXISTS (SELECT * FROM lineitem l3 \
             WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey \
             AND l3.l_receiptdate > l3.l_commitdate) \
             AND s_nationkey = n_nationkey AND n_name = '[NATION]' \
             GROUP BY s_name \
             ORDER BY numwait DESC, s_name{limit 100}",
        columns: &[Exact, Exact],
        sorted_by: &[1, 0],
    },
    Query {
        name: "q22",
        title: "global sales opportunity",
        template: "SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal \
             FROM (SELECT {first 2 letters of c_phone} AS cntrycode, c_acctbal \
             FROM customer \
             WHERE {first 2 letters of c_phone} \
             IN ('[I1]', '[I2]', '[I3]', '[I4]', '[I5]', '[I6]', '[I7]') \
             AND c_acctbal > (SELECT AVG(c_acctbal) FROM customer \
             WHERE c_acctbal > {decimal 0.00} AND {first 2 letters of c_phone} \
             IN ('[I1]', '[I2]', '[I3]', '[I4]', '[I5]', '[I6]', '[I7]')) \
             AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) custsale \
             GROUP BY cntrycode \
             ORDER BY cntrycode",
        columns: &[Exact, Exact, Decimal(2)],
        sorted_by: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpch::substitution::validation;

    #[test]
    fn each_query_with_a_limit_has_a_text_without_it_and_columns_of_its_order() {
        let dialect = Dialect::PLAIN;
        let mut limits = Vec::new();
        for (kind, query) in ALL.iter().enumerate() {
            let parameters = validation(kind as KindIndex, 1.0);
            let limit = query.without_limit(&parameters, &dialect);
            assert_eq!(limit.is_some(), !query.sorted_by.is_empty(), "{}", query.name);
            let Some(CutOff { rows, sql_of_all }) = limit else { continue };
            assert!(query.sql(&parameters, &dialect).starts_with(&sql_of_all), "{sql_of_all}");
            assert!(query.sorted_by.iter().all(|column| *column < query.columns.len()));
            let (_, order) = sql_of_all.rsplit_once("ORDER BY ").expect("rows are sorted");
            assert_eq!(order.split(", ").count(), query.sorted_by.len(), "{order}");
            limits.push((query.name, rows));
        }
        assert_eq!(limits, [("q2", 100), ("q3", 10), ("q10", 20), ("q18", 100), ("q21", 100)]);
    }
}
