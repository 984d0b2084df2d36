//! Bars of block characters, for tables on a terminal.

/// Draws a share from 0 to 1 as a bar of whole and partial blocks, `width` columns for the share 1;
/// a share above 0 has at least the smallest block.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_absent() {
        assert_eq!(bar(1.0, 14), "█".repeat(14));
        assert_eq!(bar(0.5, 14), "█".repeat(7));
        assert_eq!(bar(1e-6, 14), "▏");
        assert_eq!(bar(0.0, 14), "");
        assert_eq!(bar(f64::NAN, 14), "");
    }
}
