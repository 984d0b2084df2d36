-- TATP: telecom applications read and change the records of subscribers in seven short
-- transactions. Written from the Telecommunication Application Transaction Processing (TATP)
-- Benchmark Description, version 1.0, IBM Software Group, 2009.
--   dbdyno run examples/tatp.sql --target managed:postgres
--
-- Subscribers are chosen with the non-uniform distribution of the description; :skew is its
-- constant A: 65535 up to 1,000,000 subscribers, 1048575 up to 10,000,000, and 2097151 above. A
-- transaction that changes no row, because it finds none or finds the one that it would insert, is
-- one that fails by design: it rolls back, as do about 38 % of update_subscriber_data and 69 % of
-- the two last ones. A single SELECT that finds nothing counts as committed; the description counts
-- it as failed too. The number of a subscriber has 15 digits and begins with 1 instead of 0.

-- dbdyno: parameter subscribers 1000 Subscribers
-- dbdyno: parameter skew 65535 Constant A of the distribution of subscribers

-- dbdyno: build
CREATE TABLE tatp_subscriber (
    s_id BIGINT NOT NULL PRIMARY KEY, sub_nbr VARCHAR(15) NOT NULL UNIQUE,
    bit_1 SMALLINT NOT NULL, bit_2 SMALLINT NOT NULL, bit_3 SMALLINT NOT NULL,
    bit_4 SMALLINT NOT NULL, bit_5 SMALLINT NOT NULL, bit_6 SMALLINT NOT NULL,
    bit_7 SMALLINT NOT NULL, bit_8 SMALLINT NOT NULL, bit_9 SMALLINT NOT NULL,
    bit_10 SMALLINT NOT NULL,
    hex_1 SMALLINT NOT NULL, hex_2 SMALLINT NOT NULL, hex_3 SMALLINT NOT NULL,
    hex_4 SMALLINT NOT NULL, hex_5 SMALLINT NOT NULL, hex_6 SMALLINT NOT NULL,
    hex_7 SMALLINT NOT NULL, hex_8 SMALLINT NOT NULL, hex_9 SMALLINT NOT NULL,
    hex_10 SMALLINT NOT NULL,
    byte2_1 SMALLINT NOT NULL, byte2_2 SMALLINT NOT NULL, byte2_3 SMALLINT NOT NULL,
    byte2_4 SMALLINT NOT NULL, byte2_5 SMALLINT NOT NULL, byte2_6 SMALLINT NOT NULL,
    byte2_7 SMALLINT NOT NULL, byte2_8 SMALLINT NOT NULL, byte2_9 SMALLINT NOT NULL,
    byte2_10 SMALLINT NOT NULL,
    msc_location BIGINT NOT NULL, vlr_location BIGINT NOT NULL
);
CREATE TABLE tatp_access_info (
    s_id BIGINT NOT NULL, ai_type SMALLINT NOT NULL, data1 SMALLINT NOT NULL,
    data2 SMALLINT NOT NULL, data3 CHAR(3) NOT NULL, data4 CHAR(5) NOT NULL,
    PRIMARY KEY (s_id, ai_type),
    FOREIGN KEY (s_id) REFERENCES tatp_subscriber (s_id)
);
CREATE TABLE tatp_special_facility (
    s_id BIGINT NOT NULL, sf_type SMALLINT NOT NULL, is_active SMALLINT NOT NULL,
    error_cntrl SMALLINT NOT NULL, data_a SMALLINT NOT NULL, data_b CHAR(5) NOT NULL,
    PRIMARY KEY (s_id, sf_type),
    FOREIGN KEY (s_id) REFERENCES tatp_subscriber (s_id)
);
CREATE TABLE tatp_call_forwarding (
    s_id BIGINT NOT NULL, sf_type SMALLINT NOT NULL, start_time SMALLINT NOT NULL,
    end_time SMALLINT NOT NULL, numberx VARCHAR(15) NOT NULL,
    PRIMARY KEY (s_id, sf_type, start_time),
    FOREIGN KEY (s_id, sf_type) REFERENCES tatp_special_facility (s_id, sf_type)
);

-- dbdyno: build times :subscribers
\set sub_nbr 100000000000000 + :row
\set bit_1 random(0, 1)
\set bit_2 random(0, 1)
\set bit_3 random(0, 1)
\set bit_4 random(0, 1)
\set bit_5 random(0, 1)
\set bit_6 random(0, 1)
\set bit_7 random(0, 1)
\set bit_8 random(0, 1)
\set bit_9 random(0, 1)
\set bit_10 random(0, 1)
\set hex_1 random(0, 15)
\set hex_2 random(0, 15)
\set hex_3 random(0, 15)
\set hex_4 random(0, 15)
\set hex_5 random(0, 15)
\set hex_6 random(0, 15)
\set hex_7 random(0, 15)
\set hex_8 random(0, 15)
\set hex_9 random(0, 15)
\set hex_10 random(0, 15)
\set byte2_1 random(0, 255)
\set byte2_2 random(0, 255)
\set byte2_3 random(0, 255)
\set byte2_4 random(0, 255)
\set byte2_5 random(0, 255)
\set byte2_6 random(0, 255)
\set byte2_7 random(0, 255)
\set byte2_8 random(0, 255)
\set byte2_9 random(0, 255)
\set byte2_10 random(0, 255)
\set msc_location random(1, 4294967295)
\set vlr_location random(1, 4294967295)
INSERT INTO tatp_subscriber
VALUES (:row, CONCAT('', CAST(:sub_nbr AS DECIMAL(15))),
        :bit_1, :bit_2, :bit_3, :bit_4, :bit_5, :bit_6, :bit_7, :bit_8, :bit_9, :bit_10,
        :hex_1, :hex_2, :hex_3, :hex_4, :hex_5, :hex_6, :hex_7, :hex_8, :hex_9, :hex_10,
        :byte2_1, :byte2_2, :byte2_3, :byte2_4, :byte2_5, :byte2_6, :byte2_7, :byte2_8, :byte2_9, :byte2_10,
        :msc_location, :vlr_location);

-- Each subscriber has one to four records of access information. Which ones follows from a hash of
-- the subscriber, so that every repetition decides alike.
-- dbdyno: build times :subscribers * 4
\set s_id (:row - 1) / 4 + 1
\set nth (:row - 1) % 4
\set drawn abs(hash(:s_id, 1) % 16)
\if :nth <= :drawn % 4
\set ai_type (:nth + :drawn / 4) % 4 + 1
\set data1 random(0, 255)
\set data2 random(0, 255)
\set at3 random(1, 26)
\set at4 random(1, 26)
INSERT INTO tatp_access_info
VALUES (:s_id, :ai_type, :data1, :data2, SUBSTR('KQZTWBXMAHFGJPNDRCVSLEUYIOKQZT', :at3, 3),
        SUBSTR('KQZTWBXMAHFGJPNDRCVSLEUYIOKQZT', :at4, 5));
\endif

-- Each subscriber has one to four special facilities, 85 % of them active.
-- dbdyno: build times :subscribers * 4
\set s_id (:row - 1) / 4 + 1
\set nth (:row - 1) % 4
\set drawn abs(hash(:s_id, 2) % 16)
\if :nth <= :drawn % 4
\set sf_type (:nth + :drawn / 4) % 4 + 1
\set is_active case when random(1, 100) <= 85 then 1 else 0 end
\set error_cntrl random(0, 255)
\set data_a random(0, 255)
\set at random(1, 26)
INSERT INTO tatp_special_facility
VALUES (:s_id, :sf_type, :is_active, :error_cntrl, :data_a,
        SUBSTR('KQZTWBXMAHFGJPNDRCVSLEUYIOKQZT', :at, 5));
\endif

-- Each special facility has none to three records of call forwarding, which start at 0, 8 and 16 h.
-- dbdyno: build times :subscribers * 12
\set s_id (:row - 1) / 12 + 1
\set nth (:row - 1) / 3 % 4
\set drawn abs(hash(:s_id, 2) % 16)
\if :nth <= :drawn % 4
\set sf_type (:nth + :drawn / 4) % 4 + 1
\set times abs(hash(:s_id * 4 + :sf_type, 3) % 12)
\if (:row - 1) % 3 < :times % 4
\set start_time ((:row - 1) % 3 + :times / 4) % 3 * 8
\set end_time :start_time + random(1, 8)
\set numberx random(100000000000000, 999999999999999)
INSERT INTO tatp_call_forwarding
VALUES (:s_id, :sf_type, :start_time, :end_time, CONCAT('', CAST(:numberx AS DECIMAL(15))));
\endif
\endif

-- dbdyno: transaction get_subscriber_data weight 35
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
SELECT s_id, sub_nbr, bit_1, bit_2, bit_3, bit_4, bit_5, bit_6, bit_7, bit_8, bit_9, bit_10,
       hex_1, hex_2, hex_3, hex_4, hex_5, hex_6, hex_7, hex_8, hex_9, hex_10,
       byte2_1, byte2_2, byte2_3, byte2_4, byte2_5, byte2_6, byte2_7, byte2_8, byte2_9, byte2_10,
       msc_location, vlr_location
  FROM tatp_subscriber
 WHERE s_id = :s_id;

-- dbdyno: transaction get_new_destination weight 10
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
\set end_time random(1, 24)
SELECT cf.numberx
  FROM tatp_special_facility sf
  JOIN tatp_call_forwarding cf ON cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
 WHERE sf.s_id = :s_id AND sf.sf_type = :sf_type AND sf.is_active = 1
   AND cf.start_time <= :start_time AND cf.end_time > :end_time;

-- dbdyno: transaction get_access_data weight 35
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set ai_type random(1, 4)
SELECT data1, data2, data3, data4 FROM tatp_access_info WHERE s_id = :s_id AND ai_type = :ai_type;

-- dbdyno: transaction update_subscriber_data weight 2
-- The new value differs from the old one, because MySQL counts only rows that an UPDATE changes.
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set sf_type random(1, 4)
\set bit_1 random(0, 1)
\set added random(1, 255)
BEGIN;
UPDATE tatp_subscriber SET bit_1 = :bit_1 WHERE s_id = :s_id;
UPDATE tatp_special_facility SET data_a = (data_a + :added) % 256
 WHERE s_id = :s_id AND sf_type = :sf_type;
\if :ROW_COUNT = 0
ROLLBACK;
\else
COMMIT;
\endif

-- dbdyno: transaction update_location weight 14
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set sub_nbr 100000000000000 + :s_id
\set vlr_location random(1, 4294967295)
UPDATE tatp_subscriber SET vlr_location = :vlr_location
 WHERE sub_nbr = CONCAT('', CAST(:sub_nbr AS DECIMAL(15)));

-- dbdyno: transaction insert_call_forwarding weight 2
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set sub_nbr 100000000000000 + :s_id
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
\set end_time :start_time + random(1, 8)
\set numberx random(100000000000000, 999999999999999)
BEGIN;
SELECT s_id FROM tatp_subscriber WHERE sub_nbr = CONCAT('', CAST(:sub_nbr AS DECIMAL(15))) \gset
SELECT sf_type AS facility FROM tatp_special_facility WHERE s_id = :s_id;
INSERT INTO tatp_call_forwarding
SELECT sf.s_id, sf.sf_type, :start_time, :end_time, CONCAT('', CAST(:numberx AS DECIMAL(15)))
  FROM tatp_special_facility sf
 WHERE sf.s_id = :s_id AND sf.sf_type = :sf_type
   AND NOT EXISTS (SELECT 1 FROM tatp_call_forwarding cf
                    WHERE cf.s_id = :s_id AND cf.sf_type = :sf_type AND cf.start_time = :start_time);
\if :ROW_COUNT = 0
ROLLBACK;
\else
COMMIT;
\endif

-- dbdyno: transaction delete_call_forwarding weight 2
\set s_id (random(0, :skew) | random(1, :subscribers)) % :subscribers + 1
\set sub_nbr 100000000000000 + :s_id
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
BEGIN;
SELECT s_id FROM tatp_subscriber WHERE sub_nbr = CONCAT('', CAST(:sub_nbr AS DECIMAL(15))) \gset
DELETE FROM tatp_call_forwarding
 WHERE s_id = :s_id AND sf_type = :sf_type AND start_time = :start_time;
\if :ROW_COUNT = 0
ROLLBACK;
\else
COMMIT;
\endif

-- dbdyno: check all subscribers are there
SELECT COUNT(*) FROM tatp_subscriber HAVING COUNT(*) <> :subscribers;

-- dbdyno: check every subscriber has one to four records of access information
SELECT s.s_id, COUNT(a.ai_type)
  FROM tatp_subscriber s LEFT JOIN tatp_access_info a ON a.s_id = s.s_id
 GROUP BY s.s_id HAVING COUNT(a.ai_type) NOT BETWEEN 1 AND 4;

-- dbdyno: check every subscriber has one to four special facilities
SELECT s.s_id, COUNT(f.sf_type)
  FROM tatp_subscriber s LEFT JOIN tatp_special_facility f ON f.s_id = s.s_id
 GROUP BY s.s_id HAVING COUNT(f.sf_type) NOT BETWEEN 1 AND 4;

-- dbdyno: check call forwarding starts at 0, 8 or 16 h, belongs to a facility, and ends within 8 h
SELECT cf.s_id
  FROM tatp_call_forwarding cf
  LEFT JOIN tatp_special_facility sf ON sf.s_id = cf.s_id AND sf.sf_type = cf.sf_type
 WHERE sf.s_id IS NULL OR cf.start_time NOT IN (0, 8, 16)
    OR cf.end_time NOT BETWEEN cf.start_time + 1 AND cf.start_time + 8;

-- dbdyno: drop
DROP TABLE IF EXISTS tatp_call_forwarding;
DROP TABLE IF EXISTS tatp_special_facility;
DROP TABLE IF EXISTS tatp_access_info;
DROP TABLE IF EXISTS tatp_subscriber;
