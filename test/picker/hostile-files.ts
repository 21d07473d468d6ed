/** Content and names that want to run, to tell someone that they were looked at, or to bring the page to a halt. */

/** Nothing answers there; a request would be seen all the same. */
export const elsewhere = "http://127.0.0.1:9";
const script = `window.ran = true; fetch("${elsewhere}/ran")`;
const markup = `</code></pre></td></text></svg><script>${script}</script><img src=x onerror='${script}'>`;
const quoted = markup.replaceAll('"', '""');

const markdown: Readonly<Record<string, string>> = {
  "script.md": `# Hi\n\n<script>${script}</script>\n\n<img src=x onerror='${script}'>\n\n<svg onload='${script}'>`,
  "links.md": `[a](javascript:window.ran=true) [b](JaVaScRiPt:window.ran=true) [c](data:text/html,<script>window.ran=true</script>) [d](vbscript:x) [e]( javascript:window.ran=true) [f](java\tscript:x) [g](file:///etc/passwd) [h](blob:x)\n\n<javascript:window.ran=true>`,
  "images.md": `![a](${elsewhere}/pixel.png) ![b](//127.0.0.1:9/pixel.png) [![c](${elsewhere}/badge.svg)](javascript:window.ran=true)\n\n![d](data:image/svg+xml,<svg onload=alert(1)>)`,
  "attributes.md": `[x](http://127.0.0.1:9/"onmouseover="window.ran=true) <a href="javascript:window.ran=true">y</a> <iframe src="${elsewhere}"></iframe> <style>@import "${elsewhere}/x.css"</style> <base href="${elsewhere}"> <meta http-equiv=refresh content="0;url=${elsewhere}"> <link rel=prefetch href="${elsewhere}">`,
  "code.md": `\`\`\`html"><script>${script}</script>\n${markup}\n\`\`\`\n\n\`<script>${script}</script>\`\n\n\`\`\`html\n${markup}\n\`\`\`\n\n\`\`\`constructor\nx\n\`\`\`\n\n\`\`\`__proto__\nx\n\`\`\``,
  "deep.md": `${">".repeat(5000)} x\n\n${"[".repeat(20_000)}\n\n${"*a ".repeat(20_000)}\n\n${"- ".repeat(2000)}x\n\n${"`".repeat(20_000)}\n\n# ${" ".repeat(50_000)}x`,
  "diagram.md": `\`\`\`mermaid\nerDiagram\n  "${markup.replaceAll('"', "'")}" ||--o{ B : "${markup.replaceAll('"', "'")}"\n  B["<img src=x onerror=window.ran=true>"] {\n    string __proto__ PK "<script>window.ran=true</script>"\n    string constructor FK\n  }\n  click B href "javascript:window.ran=true"\n  style B fill:url(${elsewhere}/f.svg)\n\`\`\`\n\n\`\`\`mermaid\n%%{init: {"securityLevel": "loose", "themeCSS": "@import '${elsewhere}/x.css'"}}%%\ngraph TD\n  A["<img src=x onerror='${script}'>"] --> B\n  click A call alert()\n\`\`\``,
  "html.md": `<p align="center" style="background:url(${elsewhere}/p.png)" onclick='${script}'>a</p>\n\n<details ontoggle='${script}'><summary onclick='${script}' id="preview-face">s</summary>\n\n**b** <a href="javascript:window.ran=true">c</a> <a href=" jAvAsCrIpT&colon;window.ran=true">d</a> <a href="java&#x73;cript:window.ran=true">e</a> <a href="data:text/html,<script>window.ran=true</script>">f</a> <img src="${elsewhere}/i.png" alt="</span><script>${script}</script>" onerror='${script}'>\n\n</details>\n\n<table background="${elsewhere}/t.png"><tr><td background=x onmouseover='${script}' colspan=99999999>g<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.ran=true&gt;"></table>\n\n<svg><style><img src=x onerror='${script}'></style></svg> <noscript><p title="</noscript><img src=x onerror='${script}'>"> <form action="${elsewhere}"><input autofocus onfocus='${script}'><button formaction="javascript:window.ran=true">h</button></form> <object data="${elsewhere}"> <embed src="${elsewhere}"> <video src="${elsewhere}/v" autoplay> <picture><source srcset="${elsewhere}/s.png"></picture> <iframe srcdoc="<script>parent.ran=true</script>"></iframe> <x-a onclick=y> <__proto__> <constructor> <a name=constructor id=__proto__ href="https://a.example/&quot; onclick=&quot;window.ran=true">i</a>\n\n- [x] <input onfocus=x autofocus> j\n`,
  "deep-html.md": `${"<div>".repeat(5000)}\n\n${"<b><i>".repeat(5000)}\n\n${"<ul><li>".repeat(5000)}\n\n${"<a b='<a c=\"".repeat(2000)}\n\n${"<!-- ".repeat(5000)}\n\n${"</div>".repeat(5000)}\n`,
  "many-diagrams.md": `\`\`\`mermaid\nerDiagram\n${Array.from({ length: 250 }, (_, index) => `  E${index} ||--o{ E${(index * 7) % 250} : x`).join("\n")}\n\`\`\`\n`,
};

const tables: Readonly<Record<string, string>> = {
  "formulas.csv": `=HYPERLINK("${elsewhere}","x"),<img src=x onerror='window.ran=true'>,@SUM(1),+cmd|' /C calc'!A0\n=WEBSERVICE("${elsewhere}"),=IMPORTDATA("${elsewhere}"),-1,"=1+1"\n`,
  "markup.csv": `"${quoted}",__proto__,constructor\n"${quoted}",1,2\n`,
  "series.csv": `time,"${quoted}"\n2026-11-15,1\n2026-11-16,1e308\n2026-11-17,-1e308\n2026-11-18,Infinity\n`,
  "digits.csv": `time,n\n${`${"1".repeat(200_000)}x,${"1,".repeat(100)}\n`.repeat(5)}`,
  "wide.csv": `${"a,".repeat(20_000)}\n${"1,".repeat(20_000)}\n`,
  "unclosed.csv": `a,b\n"${"x,\n".repeat(50_000)}`,
  "ragged.tsv": `a\tb\n${Array.from({ length: 500 }, (_, index) => "x\t".repeat(index % 90)).join("\n")}\n`,
};

const hostileTable = {
  database: markup,
  table: "javascript:window.ran=true",
  kind: markup,
  comment: markup,
  columns: [{ name: markup, type: markup, nullable: "no", default: markup }, "none", { name: "__proto__" }],
  primaryKey: ["__proto__", 1],
  constraints: [{ name: markup, kind: "unique", columns: "x", definition: markup }],
  foreignKeys: [
    { columns: ["a"], references: { table: "../../../etc/passwd", columns: [1] } },
    { columns: ["b"], references: { table: "x", columns: [] } },
    { columns: 3 },
  ],
  referencedBy: [{ table: markup, columns: ["a"], to: [] }, null],
  indexes: [{ name: markup, unique: 1, columns: [markup] }],
  definition: markup,
};
const hostileMatrix = {
  data: {
    resultType: "matrix",
    result: [
      {
        metric: { __name__: markup, [markup]: markup },
        values: [[1, "1"], [2, "x"], [3, {}], ["4", "4"], null, [1e300, "1e308"]],
      },
      { metric: null, values: "none" },
      { values: [[-1e18, "-1e308"]] },
      7,
    ],
  },
};

const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'><script>${script}</script><image href="${elsewhere}/n.png"/></svg>`;
const output = (forms: object) => ({ output_type: "display_data", data: forms });
const hostileNotebook = {
  metadata: { language_info: { name: `python"><script>${script}</script>` }, kernelspec: 7 },
  cells: [
    {
      cell_type: "markdown",
      source: `${markup}\n\n<a href="javascript:window.ran=true">a</a>\n\n![b](${elsewhere}/m.png)`,
    },
    {
      cell_type: "code",
      execution_count: markup,
      source: [markup, 7],
      outputs: [
        output({
          "text/html": `${markup}<iframe srcdoc="<script>parent.ran=true</script>"></iframe><table onclick='${script}'><td>`,
        }),
        output({ "image/svg+xml": svg }),
        output({ "image/png": "javascript:window.ran=true", "text/plain": markup }),
        output({ "text/markdown": `<img src=x onerror='${script}'>` }),
        output({ "application/javascript": script, [markup]: markup }),
        output({ "application/vnd.jupyter.widget-view+json": { model_id: markup } }),
        { output_type: "stream", text: "\u001b[31m".repeat(10_000) + "\u001b]8;;".repeat(10_000) },
        { output_type: "error", traceback: [markup, {}], ename: {}, evalue: 1 },
        { output_type: "__proto__", data: { __proto__: { "text/html": markup } } },
        null,
      ],
    },
    { cell_type: markup, source: { length: 1e9 } },
    ...Array.from({ length: 3000 }, () => ({ cell_type: "code", source: "x", outputs: [] })),
  ],
};
const hostileLog = {
  from: markup,
  next: `after=javascript:window.ran=true`,
  notes: [markup],
  renamed: { from: markup },
  commits: [{ hash: "a".repeat(40), author: { name: markup, date: markup }, subject: markup, parents: "x" }],
};

const data: Readonly<Record<string, string>> = {
  "keys.json": `{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}, ${JSON.stringify(markup)}: ${JSON.stringify(markup)}, "large": 1e400, "long": ${"9".repeat(5000)}}`,
  "digits.json": `["${"1.".repeat(300_000)}", ${"9".repeat(100_000)}]`,
  "deep.json": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  "deeper.json": `${'{"a":'.repeat(50_000)}12345678901234567890${"}".repeat(50_000)}`,
  "records.json": `[{"__proto__": 1, "toString": 2, ${JSON.stringify(markup)}: 3}, {"__proto__": {"polluted": true}}]`,
  "schema.json": JSON.stringify(hostileTable),
  "matrix.json": JSON.stringify(hostileMatrix),
  "cells.ipynb": JSON.stringify(hostileNotebook),
  "log.json": JSON.stringify(hostileLog),
  "commit.json": JSON.stringify({
    ...hostileLog.commits[0],
    message: `${markup}\n${markup}`,
    files: [{ path: markup }],
  }),
  "lines.jsonl": `{"__proto__": {"polluted": true}}\n${JSON.stringify({ [markup]: markup })}\n${"[".repeat(50_000)}\n`,
};

const others: Readonly<Record<string, string>> = {
  "run.svg": `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="20" onload='${script}'><script>${script}</script><image href="${elsewhere}/pixel.png" width="9" height="9"/><use xlink:href="${elsewhere}/u.svg#a"/><a xlink:href="javascript:window.ran=true"><rect width="20" height="20"><animate attributeName="href" values="javascript:window.ran=true" begin="0s"/><set attributeName="onmouseover" to="window.ran=true"/></rect></a><style>@import url("${elsewhere}/x.css"); rect { fill: url("${elsewhere}/f.svg#a") }</style><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${elsewhere}"/></foreignObject></svg>`,
  "entities.svg": `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM "${elsewhere}/x">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;&x;</text></svg>`,
  "page.html": `<script>${script}</script><img src="${elsewhere}/pixel.png"><a href="javascript:window.ran=true">x</a><a href="${elsewhere}">y</a><iframe srcdoc="<script>parent.ran=true</script>"></iframe><form action="${elsewhere}"><input autofocus onfocus="window.ran=true"></form><meta http-equiv="refresh" content="0;url=${elsewhere}">`,
  "names.diff": `diff --git a/${markup} b/${markup}\n--- a/javascript:window.ran=true\n+++ b/<img src=x onerror=window.ran=true>\n@@ -1,999999999 +1,999999999 @@ ${markup}\n-${markup}\n+${markup}\n${"@@ -1 +1 @@\n-a\n+b\n".repeat(3000)}`,
  "code.ts": `// ${markup}\nconst a = \`\${${markup}}\`;\n${"/*".repeat(2000)}\n${"(".repeat(4000)}`,
  "code.php": `<?php ${markup} ?><script>${script}</script>`,
  "code.yaml": `a: &a [${markup}]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b]\n`,
  "code.xml": `<!DOCTYPE a [<!ENTITY x SYSTEM "${elsewhere}/x">]><a onload="window.ran=true">&x;${markup}</a>`,
  "pages.txt": Array.from({ length: 2000 }, (_, index) => `[page ${index + 1}]\n${markup}\n`).join("\n"),
  "control.txt": "\u0000\u0007\u001b]8;;http://127.0.0.1:9\u0007x\u001b]8;;\u0007\u202Eabc\u2066\uFFFE\n",
};

const names: Readonly<Record<string, string>> = {
  "<img src=x onerror=window.ran=true>.md": "# named\n",
  "javascript:window.ran=true": "x\n",
  "\u202Etxt.exe\u2066.md": "# turned\n",
  '"><script>window.ran=true<': "x\n",
  __proto__: "x\n",
  "constructor.json": "{}",
  "a' onmouseover='window.ran=true.csv": "a,b\n1,2\n",
  "%3Cscript%3E.ts": "const a = 1;\n",
};

export const hostileFiles: Readonly<Record<string, string>> = { ...markdown, ...tables, ...data, ...others, ...names };
