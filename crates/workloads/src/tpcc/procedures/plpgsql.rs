//! The five transactions of TPC-C as functions in PL/pgSQL. The SQL/PSM procedures have the same
//! arguments and results.
//!
//! A call outside of a transaction is a transaction of its own. The rollback that the specification
//! intends is an exception with an SQLSTATE that only dbdyno uses. Not here: the calls.

use model::Routine;

use super::ROLLED_BACK;

/// Arguments, result columns and body of a PL/pgSQL function.
struct Body {
    takes: &'static str,
    returns: &'static str,
    text: &'static str,
}

/// PL/pgSQL statements that find the customer's number: the given one or, if that is 0, the number
/// of the middle customer with the last name.
const CUSTOMER: &str = "    r_c_id := p_c_id;
    IF p_c_id = 0 THEN
        SELECT count(*) INTO v_count FROM customer
        WHERE c_w_id = {w} AND c_d_id = {d} AND c_last = p_c_last;
        SELECT c_id INTO STRICT r_c_id FROM customer
        WHERE c_w_id = {w} AND c_d_id = {d} AND c_last = p_c_last
        ORDER BY c_first OFFSET greatest((v_count + 1) / 2 - 1, 0) LIMIT 1;
    END IF;";

/// Returns the PL/pgSQL functions, in the order of the transaction types.
pub(super) fn routines(names: [&'static str; 5]) -> Vec<Routine> {
    let bodies = [&NEW_ORDER, &PAYMENT, &ORDER_STATUS, &DELIVERY, &STOCK_LEVEL];
    names.into_iter().zip(bodies).map(|(name, body)| routine(name, body)).collect()
}

fn routine(name: &'static str, body: &Body) -> Routine {
    let customer = |w, d| CUSTOMER.replace("{w}", w).replace("{d}", d);
    let text = body
        .text
        .replace("{rolled back}", ROLLED_BACK)
        .replace("{customer of p_w_id, p_d_id}", &customer("p_w_id", "p_d_id"))
        .replace("{customer of p_c_w_id, p_c_d_id}", &customer("p_c_w_id", "p_c_d_id"));
    let Body { takes, returns, .. } = body;
    let mark = Routine::mark_of(&[takes, returns, &*text].join("\n"));
    let drop = format!("DROP FUNCTION IF EXISTS {name}");
    // OR REPLACE would add an overload if the argument types differ.
    let create = format!(
        "{drop};\nCREATE FUNCTION {name}({takes}) RETURNS TABLE ({returns}) LANGUAGE plpgsql AS \
         $routine$\n-- {mark}\n#variable_conflict error\n{text}\n$routine$"
    );
    Routine { name, mark, create, drop }
}

/// PL/pgSQL function for New-Order (clause 2.4.2.2). An order line is encoded as 2 digits for its
/// number, 6 for the item, 6 for the supplying warehouse and 2 for the quantity.
static NEW_ORDER: Body = Body {
    takes: "p_w_id integer, p_d_id integer, p_c_id integer, p_date timestamptz, \
            p_all_local integer, p_lines text",
    returns: "r_committed integer, r_o_id integer, r_d_tax numeric, r_w_tax numeric, \
              r_discount numeric, r_c_last text, r_c_credit text, r_total numeric, \
              r_n_brand integer, r_lines text",
    text: "DECLARE
    v_line integer; v_number integer; v_item integer; v_supply integer; v_ordered integer;
    v_left integer; v_info text; v_brand boolean; v_price numeric; v_name text; v_data text;
    v_stock_data text; v_amount numeric(6,2); v_sum numeric := 0;
BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_next_o_id - 1, d_tax INTO STRICT r_o_id, r_d_tax;
    SELECT c_discount, c_last, c_credit INTO STRICT r_discount, r_c_last, r_c_credit
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;
    SELECT w_tax INTO STRICT r_w_tax FROM warehouse WHERE w_id = p_w_id;
    INSERT INTO orders
        (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (r_o_id, p_d_id, p_w_id, p_c_id, p_date, NULL, length(p_lines) / 16, p_all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (r_o_id, p_d_id, p_w_id);
    r_committed := 1;
    r_n_brand := 0;
    r_lines := '';
    FOR v_line IN 0 .. length(p_lines) / 16 - 1 LOOP
        v_number := substr(p_lines, v_line * 16 + 1, 2)::integer;
        v_item := substr(p_lines, v_line * 16 + 3, 6)::integer;
        v_supply := substr(p_lines, v_line * 16 + 9, 6)::integer;
        v_ordered := substr(p_lines, v_line * 16 + 15, 2)::integer;
        SELECT i_price, i_name, i_data INTO v_price, v_name, v_data
        FROM item WHERE i_id = v_item;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'order %, customer % of credit %: item number is not valid',
                r_o_id, r_c_last, r_c_credit USING ERRCODE = '{rolled back}';
        END IF;
        UPDATE stock SET
            s_quantity = CASE WHEN s_quantity - v_ordered >= 10 THEN s_quantity - v_ordered
                ELSE s_quantity - v_ordered + 91 END,
            s_ytd = s_ytd + v_ordered,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN v_supply = p_w_id THEN 0 ELSE 1 END
        WHERE s_w_id = v_supply AND s_i_id = v_item
        RETURNING s_quantity, s_data, CASE p_d_id
            WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
            WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
            WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
            ELSE s_dist_10 END
        INTO STRICT v_left, v_stock_data, v_info;
        v_brand := position('ORIGINAL' IN v_data) > 0 AND position('ORIGINAL' IN v_stock_data) > 0;
        v_amount := v_ordered * v_price;
        v_sum := v_sum + v_amount;
        r_n_brand := r_n_brand + v_brand::integer;
        INSERT INTO order_line
            (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
            ol_quantity, ol_amount, ol_dist_info)
        VALUES (r_o_id, p_d_id, p_w_id, v_number, v_item, v_supply, NULL, v_ordered, v_amount,
            v_info);
        r_lines := r_lines || concat_ws('|', v_number, v_supply, v_item, v_name, v_ordered, v_left,
            CASE WHEN v_brand THEN 'B' ELSE 'G' END, v_price, v_amount) || ';';
    END LOOP;
    r_total := round(v_sum * (1 - r_discount) * (1 + r_w_tax + r_d_tax), 2);
    RETURN NEXT;
END",
};

/// PL/pgSQL function for Payment (clause 2.5.2.2). If `p_c_id` is 0, the customer is the middle one
/// with the last name.
static PAYMENT: Body = Body {
    takes: "p_w_id integer, p_d_id integer, p_c_w_id integer, p_c_d_id integer, p_c_id integer, \
            p_c_last text, p_amount numeric, p_date timestamptz",
    returns: "r_c_id integer, r_w_name text, r_w_street_1 text, r_w_street_2 text, \
              r_w_city text, r_w_state text, r_w_zip text, r_d_name text, r_d_street_1 text, \
              r_d_street_2 text, r_d_city text, r_d_state text, r_d_zip text, r_c_first text, \
              r_c_middle text, r_c_last text, r_c_street_1 text, r_c_street_2 text, \
              r_c_city text, r_c_state text, r_c_zip text, r_c_phone text, \
              r_c_since timestamptz, r_c_credit text, r_c_credit_lim numeric, \
              r_c_discount numeric, r_c_balance numeric, r_c_data text",
    text: "DECLARE
    v_count integer;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO STRICT r_w_name, r_w_street_1, r_w_street_2, r_w_city, r_w_state, r_w_zip;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO STRICT r_d_name, r_d_street_1, r_d_street_2, r_d_city, r_d_state, r_d_zip;
{customer of p_c_w_id, p_c_d_id}
    UPDATE customer SET
        c_balance = c_balance - p_amount,
        c_ytd_payment = c_ytd_payment + p_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC' THEN left(concat(concat_ws(' ', r_c_id, p_c_d_id,
            p_c_w_id, p_d_id, p_w_id, p_amount::numeric(6,2)), '|', c_data), 500)
            ELSE c_data END
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = r_c_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
        c_since, c_credit, c_credit_lim, c_discount, c_balance,
        CASE WHEN c_credit = 'BC' THEN left(c_data, 200) ELSE '' END
    INTO STRICT r_c_first, r_c_middle, r_c_last, r_c_street_1, r_c_street_2, r_c_city, r_c_state,
        r_c_zip, r_c_phone, r_c_since, r_c_credit, r_c_credit_lim, r_c_discount, r_c_balance,
        r_c_data;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (r_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_date, p_amount,
        concat(r_w_name, '    ', r_d_name));
    RETURN NEXT;
END",
};

/// PL/pgSQL function for Order-Status (clause 2.6.2.2). Returns a row per order line, each with the
/// customer and the order.
static ORDER_STATUS: Body = Body {
    takes: "p_w_id integer, p_d_id integer, p_c_id integer, p_c_last text",
    returns: "r_c_id integer, r_c_balance numeric, r_c_first text, r_c_middle text, \
              r_c_last text, r_o_id integer, r_o_entry_d timestamptz, r_o_carrier_id smallint, \
              r_i_id integer, r_supply_w_id integer, r_quantity smallint, r_amount numeric, \
              r_delivery_d timestamptz",
    text: "DECLARE
    v_count integer;
BEGIN
{customer of p_w_id, p_d_id}
    SELECT c_balance, c_first, c_middle, c_last
    INTO STRICT r_c_balance, r_c_first, r_c_middle, r_c_last
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = r_c_id;
    SELECT o_id, o_entry_d, o_carrier_id INTO STRICT r_o_id, r_o_entry_d, r_o_carrier_id
    FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = r_c_id
    ORDER BY o_id DESC LIMIT 1;
    FOR r_i_id, r_supply_w_id, r_quantity, r_amount, r_delivery_d IN
        SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
        WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = r_o_id
    LOOP
        RETURN NEXT;
    END LOOP;
END",
};

/// PL/pgSQL function for Delivery (clause 2.7.4.2), for all ten districts in order.
static DELIVERY: Body = Body {
    takes: "p_w_id integer, p_carrier_id integer, p_date timestamptz",
    returns: "r_n_delivered integer, r_n_skipped integer, r_orders text",
    text: "DECLARE
    v_district integer; v_o_id integer; v_c_id integer; v_amount numeric;
BEGIN
    r_n_delivered := 0;
    r_n_skipped := 0;
    r_orders := '';
    FOR v_district IN 1 .. 10 LOOP
        SELECT no_o_id INTO v_o_id FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = v_district
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF NOT FOUND THEN
            r_n_skipped := r_n_skipped + 1;
            CONTINUE;
        END IF;
        DELETE FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = v_district AND no_o_id = v_o_id;
        UPDATE orders SET o_carrier_id = p_carrier_id
        WHERE o_w_id = p_w_id AND o_d_id = v_district AND o_id = v_o_id
        RETURNING o_c_id INTO STRICT v_c_id;
        UPDATE order_line SET ol_delivery_d = p_date
        WHERE ol_w_id = p_w_id AND ol_d_id = v_district AND ol_o_id = v_o_id;
        SELECT sum(ol_amount) INTO STRICT v_amount FROM order_line
        WHERE ol_w_id = p_w_id AND ol_d_id = v_district AND ol_o_id = v_o_id;
        UPDATE customer SET c_balance = c_balance + v_amount, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w_id AND c_d_id = v_district AND c_id = v_c_id;
        r_n_delivered := r_n_delivered + 1;
        r_orders := concat(r_orders, v_district, ':', v_o_id, ' ');
    END LOOP;
    RETURN NEXT;
END",
};

/// PL/pgSQL function for Stock-Level (clause 2.8.2.2). Returns the number of items below the
/// threshold.
static STOCK_LEVEL: Body = Body {
    takes: "p_w_id integer, p_d_id integer, p_threshold integer",
    returns: "r_low_stock bigint",
    text: "DECLARE
    v_next integer;
BEGIN
    SELECT d_next_o_id INTO STRICT v_next FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
    SELECT count(DISTINCT s_i_id) INTO STRICT r_low_stock
    FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id < v_next
        AND ol_o_id >= v_next - 20 AND s_quantity < p_threshold;
    RETURN NEXT;
END",
};
