-- SmallBank: customers with a savings and a checking account, and short transactions that conflict.
-- Written from the description in M. Alomari, M. Cahill, A. Fekete and U. Röhm, The Cost of
-- Serializability on Platforms That Use Snapshot Isolation, ICDE 2008; the sixth transaction, send
-- payment, and the mix 15/15/15/25/15/15 are those that H-Store and OLTP-Bench added.
--   dbdyno run examples/smallbank.sql --target managed:postgres
--
-- Of the customers, :hot_customers are in the hotspot, and :hot_percent of the choices fall there.
-- Amounts are whole cents. A transaction that would take more than the savings have rolls back.

-- dbdyno: parameter customers 18000 Customers
-- dbdyno: parameter hot_customers 1000 Customers in the hotspot
-- dbdyno: parameter hot_percent 90 Share of the choices that fall into the hotspot, in percent

-- dbdyno: build
CREATE TABLE smallbank_account (name VARCHAR(13) NOT NULL PRIMARY KEY, id BIGINT NOT NULL);
CREATE TABLE smallbank_savings (id BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL);
CREATE TABLE smallbank_checking (id BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL);

-- dbdyno: build times :customers
\set savings random(10000, 50000)
\set checking random(10000, 50000)
INSERT INTO smallbank_account VALUES (CONCAT('c', CAST(:row AS DECIMAL(12))), :row);
INSERT INTO smallbank_savings VALUES (:row, :savings);
INSERT INTO smallbank_checking VALUES (:row, :checking);

-- dbdyno: transaction amalgamate weight 15
-- Moves all that the first customer has to the checking account of the second one.
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\set other (:one - 1 + random(1, :hot_customers - 1)) % :hot_customers + 1
\else
\set one random(:hot_customers + 1, :customers)
\set other random(:hot_customers + 1, :customers)
\endif
\if :one = :other
\set other :one % :customers + 1
\endif
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
SELECT id AS other FROM smallbank_account WHERE name = CONCAT('c', CAST(:other AS DECIMAL(12))) \gset
SELECT balance AS savings FROM smallbank_savings WHERE id = :one \gset
SELECT balance AS checking FROM smallbank_checking WHERE id = :one \gset
UPDATE smallbank_savings SET balance = balance - :savings WHERE id = :one;
-- Another client may have taken money in between.
SELECT balance AS savings_left FROM smallbank_savings WHERE id = :one \gset
\if :savings_left < 0
ROLLBACK;
\else
UPDATE smallbank_checking SET balance = balance - :checking WHERE id = :one;
\set total :savings + :checking
UPDATE smallbank_checking SET balance = balance + :total WHERE id = :other;
COMMIT;
\endif

-- dbdyno: transaction balance weight 15
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\else
\set one random(:hot_customers + 1, :customers)
\endif
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
SELECT balance AS savings FROM smallbank_savings WHERE id = :one \gset
SELECT balance AS checking FROM smallbank_checking WHERE id = :one \gset
COMMIT;

-- dbdyno: transaction deposit_checking weight 15
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\else
\set one random(:hot_customers + 1, :customers)
\endif
\set amount random(1, 1000)
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
UPDATE smallbank_checking SET balance = balance + :amount WHERE id = :one;
COMMIT;

-- dbdyno: transaction send_payment weight 25
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\set other (:one - 1 + random(1, :hot_customers - 1)) % :hot_customers + 1
\else
\set one random(:hot_customers + 1, :customers)
\set other random(:hot_customers + 1, :customers)
\endif
\if :one = :other
\set other :one % :customers + 1
\endif
\set amount random(1, 1000)
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
SELECT id AS other FROM smallbank_account WHERE name = CONCAT('c', CAST(:other AS DECIMAL(12))) \gset
SELECT balance AS checking FROM smallbank_checking WHERE id = :one \gset
\if :checking < :amount
ROLLBACK;
\else
UPDATE smallbank_checking SET balance = balance - :amount WHERE id = :one;
UPDATE smallbank_checking SET balance = balance + :amount WHERE id = :other;
COMMIT;
\endif

-- dbdyno: transaction transact_savings weight 15
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\else
\set one random(:hot_customers + 1, :customers)
\endif
\set amount random(-1000, 1000)
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
UPDATE smallbank_savings SET balance = balance + :amount WHERE id = :one;
SELECT balance AS savings FROM smallbank_savings WHERE id = :one \gset
\if :savings < 0
ROLLBACK;
\else
COMMIT;
\endif

-- dbdyno: transaction write_check weight 15
-- A check that the two accounts do not cover costs a cent more.
\if random(1, 100) <= :hot_percent
\set one random(1, :hot_customers)
\else
\set one random(:hot_customers + 1, :customers)
\endif
\set amount random(1, 1000)
BEGIN;
SELECT id AS one FROM smallbank_account WHERE name = CONCAT('c', CAST(:one AS DECIMAL(12))) \gset
SELECT balance AS savings FROM smallbank_savings WHERE id = :one \gset
SELECT balance AS checking FROM smallbank_checking WHERE id = :one \gset
\if :savings + :checking < :amount
\set amount :amount + 1
\endif
UPDATE smallbank_checking SET balance = balance - :amount WHERE id = :one;
COMMIT;

-- dbdyno: check every customer has both accounts
SELECT a.id
  FROM smallbank_account a
  LEFT JOIN smallbank_savings s ON s.id = a.id
  LEFT JOIN smallbank_checking c ON c.id = a.id
 WHERE s.id IS NULL OR c.id IS NULL;

-- dbdyno: check all customers are there
SELECT COUNT(*) FROM smallbank_account HAVING COUNT(*) <> :customers;

-- dbdyno: check no savings are negative
SELECT id, balance FROM smallbank_savings WHERE balance < 0;

-- dbdyno: drop
DROP TABLE IF EXISTS smallbank_account;
DROP TABLE IF EXISTS smallbank_savings;
DROP TABLE IF EXISTS smallbank_checking;
