//! The five transactions of TPC-C as procedures in SQL/PSM, for MySQL and MariaDB.
//!
//! Each procedure begins and ends its own transaction. An error rolls back and is raised again
//! unchanged, so that the caller recognizes a conflict. Contended rows are locked before the first
//! plain read, and rows that are locked anyway are read by locking reads: a plain read takes the
//! snapshot that a server may compare with later locks. Arguments and results are those of the
//! PL/pgSQL functions. Not here: the calls.

use model::Routine;

/// Arguments and body of an SQL/PSM procedure, without the first and last lines that all have in
/// common. The last SELECT determines the result columns.
struct Body {
    takes: &'static str,
    writes: bool,
    text: &'static str,
}

/// SQL after the declarations of each procedure: handlers that set `v_missing` if a row is missing,
/// and that after an error roll back and raise the error again; then the start of the transaction.
const BEGIN: &str = "    DECLARE v_missing INT DEFAULT 0;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_missing = 1;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK;
        RESIGNAL;
    END;
    START TRANSACTION{access};";

/// SQL clause for character set and collation of text, as in the tables.
const BIN: &str = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";

/// SQL/PSM statements that find the customer's number: the given one or, if that is 0, the number
/// of the middle customer with the last name.
const CUSTOMER: &str = "    SET v_c_id = p_c_id;
    IF p_c_id = 0 THEN
        SELECT COUNT(*) INTO v_before FROM customer
        WHERE c_w_id = {w} AND c_d_id = {d} AND c_last = p_c_last;
        SET v_before = GREATEST((v_before + 1) DIV 2 - 1, 0);
        SELECT c_id INTO v_c_id FROM customer
        WHERE c_w_id = {w} AND c_d_id = {d} AND c_last = p_c_last
        ORDER BY c_first LIMIT v_before, 1;
    END IF;";

/// Returns the SQL/PSM procedures, in the order of the transaction types.
pub(super) fn routines(names: [&'static str; 5]) -> Vec<Routine> {
    let bodies = [&NEW_ORDER, &PAYMENT, &ORDER_STATUS, &DELIVERY, &STOCK_LEVEL];
    names.into_iter().zip(bodies).map(|(name, body)| routine(name, body)).collect()
}

fn routine(name: &'static str, body: &Body) -> Routine {
    let (data, access) = if body.writes { ("MODIFIES", "") } else { ("READS", " READ ONLY") };
    let customer = |w, d| CUSTOMER.replace("{w}", w).replace("{d}", d);
    let text = body
        .text
        .replace("{begin}", &BEGIN.replace("{access}", access))
        .replace("{customer of p_w_id, p_d_id}", &customer("p_w_id", "p_d_id"))
        .replace("{customer of p_c_w_id, p_c_d_id}", &customer("p_c_w_id", "p_c_d_id"));
    let takes = body.takes.replace("{bin}", BIN);
    let text = format!("{data} SQL DATA\nwhole: BEGIN\n{}\nEND", text.replace("{bin}", BIN));
    let mark = Routine::mark_of(&[&takes, &*text].join("\n"));
    // MariaDB can replace a routine. MySQL cannot, and takes the words for a comment.
    let create =
        format!("CREATE /*M! OR REPLACE */ PROCEDURE {name}({takes})\nCOMMENT '{mark}' {text}");
    Routine { name, mark, create, drop: format!("DROP PROCEDURE IF EXISTS {name}") }
}

/// SQL/PSM procedure for New-Order (clause 2.4.2.2). An order line is encoded as 2 digits for its
/// number, 6 for the item, 6 for the supplying warehouse and 2 for the quantity. Stocks are updated
/// one by one, since two lines may have the same stock. One statement inserts all lines, and takes
/// their indexes from the items 1, 2, .... This INSERT also keeps the output of each line in
/// session variables, which saves reading the lines back. If an item or stock is missing, fewer
/// lines than requested are inserted. `p_lines` has a one-byte character set, so that the position
/// of a line is known; otherwise each access would search for it.
static NEW_ORDER: Body = Body {
    takes: "p_w_id INT, p_d_id INT, p_c_id INT, p_date DATETIME(6), p_all_local INT, \
            p_lines VARCHAR(240) CHARACTER SET ascii",
    writes: true,
    text: "    DECLARE v_o_id, v_item, v_supply, v_ordered, v_n_lines INT;
    DECLARE v_at INT DEFAULT 0;
    DECLARE v_d_tax, v_w_tax, v_discount DECIMAL(4,4);
    DECLARE v_c_last VARCHAR(16){bin};
    DECLARE v_c_credit CHAR(2){bin};
{begin}
    UPDATE district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1
    WHERE d_w_id = p_w_id AND d_id = p_d_id;
    SET v_missing = ROW_COUNT() <> 1, v_o_id = LAST_INSERT_ID(), @dbdyno_sum = 0.00,
        @dbdyno_brand = 0, @dbdyno_lines = CONVERT('' USING utf8mb4) COLLATE utf8mb4_bin;
    INSERT INTO orders
        (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (v_o_id, p_d_id, p_w_id, p_c_id, p_date, NULL, LENGTH(p_lines) DIV 16, p_all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o_id, p_d_id, p_w_id);
    WHILE v_at < LENGTH(p_lines) DO
        SET v_item = SUBSTRING(p_lines, v_at + 3, 6),
            v_supply = SUBSTRING(p_lines, v_at + 9, 6),
            v_ordered = SUBSTRING(p_lines, v_at + 15, 2);
        UPDATE stock SET
            s_quantity = s_quantity - v_ordered + IF(s_quantity - v_ordered < 10, 91, 0),
            s_ytd = s_ytd + v_ordered, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (v_supply <> p_w_id)
        WHERE s_w_id = v_supply AND s_i_id = v_item;
        SET v_at = v_at + 16;
    END WHILE;
    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
        ol_quantity, ol_amount, ol_dist_info)
    SELECT v_o_id, p_d_id, p_w_id, SUBSTRING(p_lines, n.i_id * 16 - 15, 2), i.i_id, s_w_id, NULL,
        SUBSTRING(p_lines, n.i_id * 16 - 1, 2),
        CAST(SUBSTRING(p_lines, n.i_id * 16 - 1, 2) AS SIGNED) * i.i_price,
        IF((@dbdyno_sum := @dbdyno_sum
                + CAST(SUBSTRING(p_lines, n.i_id * 16 - 1, 2) AS SIGNED) * i.i_price)
            + (@dbdyno_brand := @dbdyno_brand
                + (i.i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%'))
            + LENGTH(@dbdyno_lines := CONCAT(@dbdyno_lines, CONCAT_WS('|',
                SUBSTRING(p_lines, n.i_id * 16 - 15, 2) + 0, s_w_id, i.i_id, i.i_name,
                SUBSTRING(p_lines, n.i_id * 16 - 1, 2) + 0, s_quantity,
                IF(i.i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%', 'B', 'G'), i.i_price,
                CAST(SUBSTRING(p_lines, n.i_id * 16 - 1, 2) AS SIGNED) * i.i_price), ';')),
            ELT(p_d_id, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06,
                s_dist_07, s_dist_08, s_dist_09, s_dist_10),
            NULL)
    FROM item n STRAIGHT_JOIN item i STRAIGHT_JOIN stock
    WHERE n.i_id <= LENGTH(p_lines) DIV 16
        AND i.i_id = CAST(SUBSTRING(p_lines, n.i_id * 16 - 13, 6) AS SIGNED)
        AND s_i_id = CAST(SUBSTRING(p_lines, n.i_id * 16 - 13, 6) AS SIGNED)
        AND s_w_id = CAST(SUBSTRING(p_lines, n.i_id * 16 - 7, 6) AS SIGNED);
    SET v_n_lines = ROW_COUNT();
    SELECT c_discount, c_last, c_credit, w_tax, d_tax
    INTO v_discount, v_c_last, v_c_credit, v_w_tax, v_d_tax
    FROM customer JOIN warehouse ON w_id = c_w_id JOIN district ON d_w_id = w_id
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id AND d_id = p_d_id;
    IF v_missing THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a warehouse, district or customer is missing';
    END IF;
    IF v_n_lines < LENGTH(p_lines) DIV 16 THEN
        ROLLBACK;
        SELECT 0, v_o_id, v_d_tax, v_w_tax, v_discount, v_c_last, v_c_credit,
            CAST(0 AS DECIMAL(12,2)), 0, 'item number is not valid';
        LEAVE whole;
    END IF;
    COMMIT;
    SELECT 1, v_o_id, v_d_tax, v_w_tax, v_discount, v_c_last, v_c_credit,
        CAST(@dbdyno_sum * (1 - v_discount) * (1 + v_w_tax + v_d_tax) AS DECIMAL(12,2)),
        @dbdyno_brand, @dbdyno_lines;",
};

/// SQL/PSM procedure for Payment (clause 2.5.2.2). If `p_c_id` is 0, the customer is the middle one
/// with the last name. The SELECT of the output also keeps H_DATA in a session variable.
static PAYMENT: Body = Body {
    takes: "p_w_id INT, p_d_id INT, p_c_w_id INT, p_c_d_id INT, p_c_id INT, \
            p_c_last VARCHAR(16){bin}, p_amount DECIMAL(6,2), p_date DATETIME(6)",
    writes: true,
    text: "    DECLARE v_c_id, v_before INT;
{begin}
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
{customer of p_c_w_id, p_c_d_id}
    UPDATE customer SET c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1,
        c_data = IF(c_credit = 'BC', LEFT(CONCAT(CONCAT_WS(' ', c_id, p_c_d_id, p_c_w_id, p_d_id,
            p_w_id, p_amount), '|', c_data), 500), c_data)
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id;
    SET @dbdyno_names = NULL;
    SELECT c_id, LEFT(@dbdyno_names := CONCAT(w_name, '    ', d_name), CHAR_LENGTH(w_name)),
        w_street_1, w_street_2, w_city, w_state, w_zip, d_name, d_street_1, d_street_2, d_city,
        d_state, d_zip, c_first, c_middle, c_last, c_street_1, c_street_2,
        c_city, c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
        IF(c_credit = 'BC', LEFT(c_data, 200), '')
    FROM warehouse JOIN district ON d_w_id = w_id
    JOIN customer ON c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = v_c_id
    WHERE w_id = p_w_id AND d_id = p_d_id;
    IF v_missing OR @dbdyno_names IS NULL THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a warehouse, district or customer is missing';
    END IF;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (v_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_date, p_amount, @dbdyno_names);
    COMMIT;",
};

/// SQL/PSM procedure for Order-Status (clause 2.6.2.2). Returns a row per order line, each with the
/// customer and the order.
static ORDER_STATUS: Body = Body {
    takes: "p_w_id INT, p_d_id INT, p_c_id INT, \
            p_c_last VARCHAR(16){bin}",
    writes: false,
    text: "    DECLARE v_c_id, v_before, v_o_id, v_o_carrier_id INT;
    DECLARE v_c_balance DECIMAL(12,2);
    DECLARE v_c_first, v_c_last VARCHAR(16){bin};
    DECLARE v_c_middle CHAR(2){bin};
    DECLARE v_o_entry_d DATETIME(6);
{begin}
{customer of p_w_id, p_d_id}
    SELECT c_balance, c_first, c_middle, c_last
    INTO v_c_balance, v_c_first, v_c_middle, v_c_last
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = v_c_id;
    SELECT o_id, o_entry_d, o_carrier_id INTO v_o_id, v_o_entry_d, v_o_carrier_id
    FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = v_c_id
    ORDER BY o_id DESC LIMIT 1;
    IF v_missing THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a customer or its order is missing';
    END IF;
    SELECT v_c_id, v_c_balance, v_c_first, v_c_middle, v_c_last, v_o_id, v_o_entry_d,
        v_o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    FROM order_line WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = v_o_id;
    COMMIT;",
};

/// SQL/PSM procedure for Delivery (clause 2.7.4.2), for all ten districts in order. The UPDATEs
/// keep the customer of an order and the sum of its lines in variables.
static DELIVERY: Body = Body {
    takes: "p_w_id INT, p_carrier_id INT, p_date DATETIME(6)",
    writes: true,
    text: "    DECLARE v_o_id, v_c_id INT;
    DECLARE v_district INT DEFAULT 1;
    DECLARE v_n_delivered INT DEFAULT 0;
    DECLARE v_orders VARCHAR(200){bin} DEFAULT '';
{begin}
    WHILE v_district <= 10 DO
        SET v_missing = 0;
        SELECT no_o_id INTO v_o_id FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = v_district ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF NOT v_missing THEN
            DELETE FROM new_order
            WHERE no_w_id = p_w_id AND no_d_id = v_district AND no_o_id = v_o_id;
            UPDATE orders SET o_carrier_id = p_carrier_id, o_c_id = LAST_INSERT_ID(o_c_id)
            WHERE o_w_id = p_w_id AND o_d_id = v_district AND o_id = v_o_id;
            SET v_missing = ROW_COUNT() <> 1, v_c_id = LAST_INSERT_ID(), @dbdyno_sum = 0.00;
            UPDATE order_line SET ol_delivery_d = p_date,
                ol_amount = ol_amount + 0 * (@dbdyno_sum := @dbdyno_sum + ol_amount)
            WHERE ol_w_id = p_w_id AND ol_d_id = v_district AND ol_o_id = v_o_id;
            UPDATE customer SET c_balance = c_balance + @dbdyno_sum,
                c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = p_w_id AND c_d_id = v_district AND c_id = v_c_id;
            IF v_missing THEN
                SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'an order is missing';
            END IF;
            SET v_n_delivered = v_n_delivered + 1,
                v_orders = CONCAT(v_orders, v_district, ':', v_o_id, ' ');
        END IF;
        SET v_district = v_district + 1;
    END WHILE;
    COMMIT;
    SELECT v_n_delivered, 10 - v_n_delivered, v_orders;",
};

/// SQL/PSM procedure for Stock-Level (clause 2.8.2.2). Returns the number of items below the
/// threshold.
static STOCK_LEVEL: Body = Body {
    takes: "p_w_id INT, p_d_id INT, p_threshold INT",
    writes: false,
    text: "    DECLARE v_next INT;
{begin}
    SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
    IF v_missing THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a district is missing';
    END IF;
    SELECT COUNT(DISTINCT s_i_id) FROM order_line
    JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id < v_next
        AND ol_o_id >= v_next - 20 AND s_quantity < p_threshold;
    COMMIT;",
};
