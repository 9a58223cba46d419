"""Texts that try to be more than text: each would leave a mark in ``window.ran``, open a dialog or ask another server."""

from typing import Final

RUN: Final = "window.ran=1;alert(1)"
ELSEWHERE: Final = "//elsewhere.example/x"

MARKUP: Final = (
    f"<script>{RUN}</script>",
    f"</textarea></title></style></script><script>{RUN}</script>",
    f"<script src={ELSEWHERE}.js></script>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror="{RUN}">',
    f"' onmouseover='{RUN}' x='",
    f'" autofocus onfocus="{RUN}" x="',
    f"<svg onload={RUN}>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f'<svg><use href="data:image/svg+xml,<svg id=x onload={RUN}>#x"/></svg>',
    f'<math><mi//xlink:href="data:x,<script>{RUN}</script>">',
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f"<iframe src=javascript:{RUN}></iframe>",
    f"<object data=javascript:{RUN}>",
    f"<embed src={ELSEWHERE}>",
    f"<link rel=stylesheet href={ELSEWHERE}.css>",
    f"<style>@import '{ELSEWHERE}.css';</style>",
    f"<base href={ELSEWHERE}/>",
    f'<meta http-equiv=refresh content="0;url={ELSEWHERE}">',
    f"<form action={ELSEWHERE}><button>Save</button></form>",
    f'<a href="javascript:{RUN}">click</a>',
    f"[click](javascript:{RUN})",
    f"![x](http:{ELSEWHERE}.png)",
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"<template><script>{RUN}</script></template>",
    f"<!--><script>{RUN}</script-->",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"\\x3cscript\\x3e{RUN}\\x3c/script\\x3e",
    "\ufeff<script\u00a0>window.ran=1</script\u2028>",
)
TEMPLATES: Final = (
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"<%= {RUN} %>",
    "`${window.ran=1}`",
    '{"__proto__": {"ran": 1}, "dangerouslySetInnerHTML": {"__html": "<b>x</b>"}}',
    "__proto__",
    "constructor",
)
LOOKS: Final = (
    "a\u202egnp.exe\u202c b",  # bidi override
    "\u2066isolated\u2069 \u200f\u200eمرحبا بالعالم، هذا نص طويل قليلا",
    "שלום עולם",
    "\x01\x02\x1b[31mred\x1b[0m\x7f\x85",  # control characters
    "zero\u200bwidth\u00ad\u2060",
    "👩‍👩‍👧‍👦🏳️‍🌈🇨🇳" * 20,
    "Z̷̧͉͓̎͌a̴͚̓l̶̰͒g̵̝̈́o̸" * 20,
    "𠮷𠮷 𝕳𝖊𝖑𝖑𝖔",
    "﷽" * 40,
    "w" * 400,
    "ﾊﾟ" * 200,
    "%2e%2e%2f %00 %s %n ../../etc/passwd",
    "#/settings?x=1&y=2#z",
)

HOSTILE: Final = (*MARKUP, *TEMPLATES, *LOOKS)
