//! The stylesheet of the page.

use crate::svg::theme::{Ground, page_rules, properties};

/// Everything between `<style>` and `</style>`: colours for light paper and dark screens, the layout
/// from phone to desk, and paper.
pub(super) fn stylesheet() -> String {
    let light = properties(Ground::Light);
    let dark = properties(Ground::Dark);
    format!(
        ":root{{color-scheme:light dark;--link:#00558a;{light}}}\
         @media screen and (prefers-color-scheme:dark){{:root{{--link:#8ec7f0;{dark}}}}}\
         {PAGE}{}{PRINT}",
        page_rules()
    )
}

const PAGE: &str = "\
*{box-sizing:border-box}\
html{background:var(--paper);-webkit-text-size-adjust:100%;text-size-adjust:100%}\
body{margin:0 auto;max-width:1136px;padding:28px 16px 48px;background:var(--paper);color:var(--ink);\
font:16px/1.5 Charter,\"Bitstream Charter\",\"Sitka Text\",Cambria,Georgia,serif;overflow-wrap:break-word}\
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem;font-weight:600}\
h2{font-size:1.32rem;line-height:1.25;margin:2.6rem 0 .6rem;padding-top:.5rem;border-top:1px solid var(--rule);font-weight:600}\
h2 .no{color:var(--muted);font-weight:400;margin-right:.45em}\
h3{font-size:1.05rem;margin:1.6rem 0 .4rem;font-weight:600}\
p,figcaption,.notes{max-width:44rem}\
p{margin:.5rem 0}\
a{color:var(--link);text-underline-offset:2px}\
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--c0);outline-offset:2px}\
.skip{position:absolute;left:-999px}.skip:focus{left:16px;top:8px;background:var(--paper);padding:4px 8px}\
.lead{color:var(--muted);margin-bottom:1.2rem}\
nav ol{columns:3 15rem;column-gap:2rem;margin:.3rem 0;padding-left:1.6rem;font-size:.95rem}\
nav li{break-inside:avoid;padding:1px 0}\
nav h2{border:0;padding:0;margin:1.2rem 0 .2rem;font-size:1.05rem}\
figure{margin:1rem 0 1.8rem;display:flex;flex-wrap:wrap;gap:.7rem 24px;align-items:flex-start}\
.panels{max-width:100%}figcaption{flex:1 1 19rem}\
.panels{display:flex;flex-wrap:wrap;gap:20px 24px;align-items:flex-start}\
.panels svg.pv{display:block;max-width:100%;height:auto;overflow:visible}\
.panels .scroll svg.pv{max-width:none;overflow:hidden}\
figcaption{font-size:.93rem;line-height:1.45}\
figcaption b{font-weight:600}\
.scroll{overflow-x:auto;max-width:100%;-webkit-overflow-scrolling:touch}\
table{border-collapse:collapse;margin:.4rem 0 .9rem;line-height:1.35;\
font-family:\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",sans-serif;font-size:.845rem}\
caption{text-align:left;font-family:Charter,\"Bitstream Charter\",\"Sitka Text\",Cambria,Georgia,serif;\
font-size:.93rem;padding:.2rem 0 .35rem;caption-side:top}\
caption span{display:block;max-width:min(44rem,calc(100vw - 32px))}\
th,td{padding:4px 14px 4px 0;text-align:left;vertical-align:top;unicode-bidi:isolate;max-width:26rem}\
thead th{border-top:1.5px solid var(--ink);border-bottom:1px solid var(--ink);font-weight:600}\
tbody tr:last-child>*{border-bottom:1.5px solid var(--ink)}\
tbody th{font-weight:400}\
table.plain tbody th{color:var(--muted);white-space:nowrap}\
table.plain tbody tr:first-child>*{border-top:1.5px solid var(--ink)}\
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
td.Warning,td.Notice{font-weight:600}td.Warning{color:var(--c1)}td.Info{color:var(--muted)}\
td.Warning::before{content:\"\\25B2 \"}td.Notice::before{content:\"\\25C6 \"}\
thead th.n{white-space:normal;max-width:9rem}\
.beside{display:flex;flex-wrap:wrap;gap:0 3.5rem;align-items:flex-start}.beside>div{min-width:0}\
.def{color:var(--muted)}\
details{margin:.7rem 0}summary{cursor:pointer;padding:2px 0}\
pre{font:.8rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--wash);padding:10px 12px;\
overflow-x:auto;max-width:100%}\
.note{color:var(--muted);font-size:.9rem}\
footer{margin-top:3rem;border-top:1px solid var(--rule);padding-top:.8rem;font-size:.93rem}\
@media (max-width:600px){body{padding:18px 16px 36px;font-size:15.5px}h1{font-size:1.5rem}h2{margin-top:2rem}\
th,td{padding-right:10px}.panels{gap:22px}table.plain th,table.plain td{max-width:none}\
table.plain tbody th{white-space:normal}}";

const PRINT: &str = "\
@page{margin:16mm 15mm}\
@media print{:root{color-scheme:light}html,body{background:#fff}body{font-size:10pt;padding:0;max-width:none}\
.skip{display:none}a{color:inherit;text-decoration:none}\
h1{font-size:17pt}h2{font-size:13pt;margin-top:7mm}h3{font-size:11pt}\
h2,h3,caption{break-after:avoid}\
figure{display:block;margin:3mm 0 6mm}figcaption{margin-top:2.5mm;max-width:none}\
#raw:not(:has(details[open])){display:none}.panels{gap:4mm 5mm}.panels svg.pv,.panels .scroll svg.pv{max-width:min(100%,86mm);overflow:visible}\
.panels .wide svg.pv{max-width:100%}\
.panels svg.pv,tr,figcaption,summary{break-inside:avoid}figcaption{break-before:avoid;font-size:9pt}\
p{orphans:3;widows:3}\
thead{display:table-header-group}\
.scroll,pre{overflow:visible}pre{white-space:pre-wrap}table{font-size:8.5pt}\
.new-page{break-before:page}.new-page>h2{margin-top:0;border-top:0}\
details:not([open]){display:none}svg.pv,td,th{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";
