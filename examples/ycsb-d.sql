-- YCSB's core workload D: read latest, 95 % reads of the newest records and 5 % inserts. Written
-- from the description in B. F. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC
-- 2010. Runs on every database of dbdyno:
--   dbdyno run examples/ycsb-d.sql --target managed:postgres
--
-- A record is the more likely to be read, the newer it is (distribution "latest"). The newest
-- records of a client are those that it has inserted itself, since clients do not know of each
-- other. YCSB's exponent is 0.99; the lowest one of random_zipfian, 1.001, is the nearest. Each
-- client inserts in a range of keys of its own, above those that were loaded, in ascending order;
-- YCSB scatters new keys. A further run goes on behind the keys that are there.

-- dbdyno: parameter records 1000 Records that are loaded
-- dbdyno: parameter zipfian 1.001 Exponent of the distribution of requests
-- dbdyno: parameter newest 0 State of a client: key of its newest record, 0 before its first one

-- dbdyno: build
CREATE TABLE ycsb (
    id BIGINT NOT NULL PRIMARY KEY,
    field0 VARCHAR(100) NOT NULL, field1 VARCHAR(100) NOT NULL,
    field2 VARCHAR(100) NOT NULL, field3 VARCHAR(100) NOT NULL,
    field4 VARCHAR(100) NOT NULL, field5 VARCHAR(100) NOT NULL,
    field6 VARCHAR(100) NOT NULL, field7 VARCHAR(100) NOT NULL,
    field8 VARCHAR(100) NOT NULL, field9 VARCHAR(100) NOT NULL
);
CREATE TABLE ycsb_letters (letters VARCHAR(300) NOT NULL);
INSERT INTO ycsb_letters
SELECT CONCAT(part, part, part)
  FROM (SELECT
'qTzR4wYbN8kXe2LmVj7PsHc0GdFu9ArK5nQyW3iZoB6tSxCp1gJvMhUaDlEfIOqkWmTzYbRnXeLwVjPsHcGdFuArKyNiZoBtSxC0'
    AS part) AS parts;

-- dbdyno: build times :records
\set id permute(:row - 1, :records) + 1
\set at random(1, 100)
INSERT INTO ycsb
SELECT :id, SUBSTR(letters, :at + 0, 100), SUBSTR(letters, :at + 10, 100),
       SUBSTR(letters, :at + 20, 100), SUBSTR(letters, :at + 30, 100),
       SUBSTR(letters, :at + 40, 100), SUBSTR(letters, :at + 50, 100),
       SUBSTR(letters, :at + 60, 100), SUBSTR(letters, :at + 70, 100),
       SUBSTR(letters, :at + 80, 100), SUBSTR(letters, :at + 90, 100)
  FROM ycsb_letters;

-- dbdyno: transaction read_latest weight 95
\set first (:client_id + 1) * 1000000000000
\if :newest = 0
SELECT COALESCE(MAX(id), :first) AS newest
  FROM ycsb WHERE id > :first AND id < :first + 1000000000000 \gset
\endif
\set own :newest - :first
\set back random_zipfian(1, :own + :records, :zipfian) - 1
\if :back < :own
\set id :newest - :back
\else
\set id permute(:records - 1 - (:back - :own), :records) + 1
\endif
SELECT field0, field1, field2, field3, field4,
       field5, field6, field7, field8, field9
  FROM ycsb WHERE id = :id;

-- dbdyno: transaction insert weight 5
\set first (:client_id + 1) * 1000000000000
\if :newest = 0
SELECT COALESCE(MAX(id), :first) AS newest
  FROM ycsb WHERE id > :first AND id < :first + 1000000000000 \gset
\endif
\set newest :newest + 1
\set id :newest
\set at random(1, 100)
INSERT INTO ycsb
SELECT :id, SUBSTR(letters, :at + 0, 100), SUBSTR(letters, :at + 10, 100),
       SUBSTR(letters, :at + 20, 100), SUBSTR(letters, :at + 30, 100),
       SUBSTR(letters, :at + 40, 100), SUBSTR(letters, :at + 50, 100),
       SUBSTR(letters, :at + 60, 100), SUBSTR(letters, :at + 70, 100),
       SUBSTR(letters, :at + 80, 100), SUBSTR(letters, :at + 90, 100)
  FROM ycsb_letters;

-- dbdyno: check every loaded record is there
SELECT COUNT(*) FROM ycsb WHERE id <= :records HAVING COUNT(*) <> :records;

-- dbdyno: check every field has 100 bytes
SELECT id FROM ycsb
 WHERE LENGTH(field0) <> 100 OR LENGTH(field1) <> 100 OR LENGTH(field2) <> 100
    OR LENGTH(field3) <> 100 OR LENGTH(field4) <> 100 OR LENGTH(field5) <> 100
    OR LENGTH(field6) <> 100 OR LENGTH(field7) <> 100 OR LENGTH(field8) <> 100
    OR LENGTH(field9) <> 100;

-- dbdyno: drop
DROP TABLE IF EXISTS ycsb;
DROP TABLE IF EXISTS ycsb_letters;
