//! Tests of `dbdyno translate`: a file of another program, its plan, and a run of the plan.
//!
//! Not here: what each word becomes (plan).

use crate::home::{Home, number};

/// Script with a loop over users.
const SCRIPT: &str = "puts \"two sizes\"\ndbset db maria\ndbset bm TPC-C\ndiset tpcc \
                      maria_count_ware 1\ndiset tpcc maria_pass giveaway\nforeach z {1 2} {\n  \
                      vuset vu $z\n  vucreate\n  vurun\n}\n";

#[test]
fn a_translated_script_runs() {
    let home = Home::new();
    let script = home.write("sweep.tcl", SCRIPT);
    let ran = home.call(&["translate", &script]).code(0);
    assert!(ran.out.contains("clients = [1, 2]"), "{}", ran.out);
    assert!(!ran.out.contains("giveaway"), "{}", ran.out);
    let plan = home.write("plan.toml", &ran.out);
    let short = ["--duration=1s", "--ramp-up=0s", "--mode=prepared", "--shrink=100", "--quiet"];
    let target = format!("--target=sqlite:{}", home.path("shop.db").display());
    let shown = home.json(&[&["run", plan.as_str(), target.as_str()][..], &short].concat());
    assert_eq!(number(&shown, "trials_done"), 2.0, "{shown:#}");
}

#[test]
fn a_script_in_place_of_a_plan_is_named_with_its_translation() {
    let home = Home::new();
    for name in ["sweep.tcl", "sweep", "sweep.toml"] {
        let script = home.write(name, SCRIPT);
        let said = format!("is a script of HammerDB: write dbdyno translate {script} > plan.toml");
        home.call(&["run", &script]).code(2).warns(&[&said]);
    }
    let other = home.write("other", "nothing that anybody knows\n");
    home.call(&["translate", &other]).code(2).warns(&["is neither a script of HammerDB's"]);
    home.call(&["translate", "/nowhere"]).code(2).warns(&["/nowhere cannot be read"]);
    let json = home.json(&["translate", &home.write("a.tcl", SCRIPT)]);
    assert_eq!(number(&json, "left_out"), 0.0, "{json:#}");
}
