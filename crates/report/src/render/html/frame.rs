//! What all pages have in common: style, script, and the policy that allows nothing else.

use super::escaped;
use crate::document::Header;
use crate::image::base64;
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("../../../assets/page.css");
const SCRIPT: &str = include_str!("../../../assets/page.js");

/// Patterns that fill outcomes, so that they differ without colour too.
const PATTERNS: &str = "\
<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>
<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"back\" width=\"6\" height=\"6\"/><rect class=\"front\" width=\"2.5\" height=\"6\"/></pattern>
<pattern id=\"cross\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\"><rect class=\"front\" width=\"7\" height=\"7\"/><path class=\"cut\" d=\"M0 0 L7 7 M7 0 L0 7\"/></pattern>
<pattern id=\"points\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect class=\"back\" width=\"6\" height=\"6\"/><circle class=\"front\" cx=\"3\" cy=\"3\" r=\"1.6\"/></pattern>
<pattern id=\"few\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"thin\" d=\"M0 0 L0 6\"/></pattern>
</defs></svg>";

/// The whole page around its main part. `pictures` are those that drawings in it refer to.
pub(super) fn around(body: &str, header: &Header, pictures: &str) -> String {
    let title = escaped(&header.title);
    let version = env!("CARGO_PKG_VERSION");
    // The script's hash keeps the policy from running any other, whatever a label holds.
    let script_hash = base64(&Sha256::digest(SCRIPT.as_bytes()));
    let source = match header.source {
        "" => String::new(),
        source => format!(" {source}"),
    };
    format!(
        "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\"/>
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
style-src 'unsafe-inline'; script-src 'sha256-{script_hash}'; base-uri 'none'; form-action 'none'\"/>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>
<meta name=\"color-scheme\" content=\"light dark\"/>
<meta name=\"referrer\" content=\"no-referrer\"/>
<meta name=\"generator\" content=\"faultlens {version}\"/>
<title>{title} – Faultlens</title>
<style>{STYLE}</style>
</head>
<body>
<a class=\"skip\" href=\"#main\">Skip to the findings</a>
{PATTERNS}
{pictures}
<header class=\"top\">
<p class=\"brand\"><span class=\"lens\" aria-hidden=\"true\"></span>Faultlens</p>
<button type=\"button\" id=\"theme\" hidden=\"hidden\">Dark</button>
</header>
<main id=\"main\" tabindex=\"-1\">
{body}</main>
<footer><p>Made by Faultlens {version}{source}; the page loads nothing.</p></footer>
<script>{SCRIPT}</script>
</body>
</html>
"
    )
}
