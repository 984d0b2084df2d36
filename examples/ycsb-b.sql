-- YCSB's core workload B: read mostly, 95 % reads and 5 % updates. Written from the description in
-- B. F. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010. Runs on every
-- database of dbdyno:
--   dbdyno run examples/ycsb-b.sql --target managed:postgres
--
-- A few records are requested far more often than others, by Zipf's law, and lie scattered among
-- the keys. YCSB's exponent is 0.99; the lowest one of random_zipfian, 1.001, is the nearest. An
-- update replaces one of ten fields of 100 bytes. The server computes the new value, by a rotation
-- of the old one, so the client sends a number where YCSB sends 100 bytes.

-- dbdyno: parameter records 1000 Records that are loaded
-- dbdyno: parameter zipfian 1.001 Exponent of the distribution of requests

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

-- dbdyno: transaction read weight 95
\set rank random_zipfian(1, :records, :zipfian)
\set id permute(:rank - 1, :records) + 1
SELECT field0, field1, field2, field3, field4,
       field5, field6, field7, field8, field9
  FROM ycsb WHERE id = :id;

-- dbdyno: transaction update weight 5
\set rank random_zipfian(1, :records, :zipfian)
\set id permute(:rank - 1, :records) + 1
\set field random(0, 9)
\set shift random(1, 99)
\if :field = 0
UPDATE ycsb SET field0 = CONCAT(SUBSTR(field0, :shift + 1), SUBSTR(field0, 1, :shift))
 WHERE id = :id;
\elif :field = 1
UPDATE ycsb SET field1 = CONCAT(SUBSTR(field1, :shift + 1), SUBSTR(field1, 1, :shift))
 WHERE id = :id;
\elif :field = 2
UPDATE ycsb SET field2 = CONCAT(SUBSTR(field2, :shift + 1), SUBSTR(field2, 1, :shift))
 WHERE id = :id;
\elif :field = 3
UPDATE ycsb SET field3 = CONCAT(SUBSTR(field3, :shift + 1), SUBSTR(field3, 1, :shift))
 WHERE id = :id;
\elif :field = 4
UPDATE ycsb SET field4 = CONCAT(SUBSTR(field4, :shift + 1), SUBSTR(field4, 1, :shift))
 WHERE id = :id;
\elif :field = 5
UPDATE ycsb SET field5 = CONCAT(SUBSTR(field5, :shift + 1), SUBSTR(field5, 1, :shift))
 WHERE id = :id;
\elif :field = 6
UPDATE ycsb SET field6 = CONCAT(SUBSTR(field6, :shift + 1), SUBSTR(field6, 1, :shift))
 WHERE id = :id;
\elif :field = 7
UPDATE ycsb SET field7 = CONCAT(SUBSTR(field7, :shift + 1), SUBSTR(field7, 1, :shift))
 WHERE id = :id;
\elif :field = 8
UPDATE ycsb SET field8 = CONCAT(SUBSTR(field8, :shift + 1), SUBSTR(field8, 1, :shift))
 WHERE id = :id;
\elif :field = 9
UPDATE ycsb SET field9 = CONCAT(SUBSTR(field9, :shift + 1), SUBSTR(field9, 1, :shift))
 WHERE id = :id;
\endif

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
