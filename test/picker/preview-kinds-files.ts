/** One file of each kind of preview, and a repository with a history. */
import { join } from "node:path";
import { pdf } from "../../src/backends/documents/test-documents.ts";
import { testRepository } from "../../src/sources/git/test-repository.ts";

const readme = `<p align="center">
  <a href="https://example.org"><img src="logo.svg" alt="Orchard logo"></a>
  <br>
  <b>Orchard</b> keeps the shop running.
</p>

<!-- a hidden remark -->

Press <kbd>Ctrl</kbd> + <kbd>K</kbd>, H<sub>2</sub>O, and set <your-token>.

## Tasks

- [x] Ship **retries**
- [ ] Write the [guide](guide.md)
  - [x] Outline

<details>
<summary>Settings</summary>

| Name | Default |
| ---- | ------: |
| \`max\` | 3 |

</details>

<table>
  <tr><th>Region</th><th>Orders</th></tr>
  <tr><td>関東</td><td align="right">1,204</td></tr>
</table>

<script>window.ran = true</script>
<div onclick="window.ran = true" style="position: fixed" id="preview-face">A box</div>
`;

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const dataFrame =
  '<div>\n<style scoped>.dataframe td { top: 0 }</style>\n<table border="1" class="dataframe"><thead><tr><th></th><th>region</th><th>orders</th></tr></thead><tbody><tr><th>0</th><td>関東</td><td>1204</td></tr></tbody></table>\n</div>';
const notebook = {
  nbformat: 4,
  metadata: { language_info: { name: "python" } },
  cells: [
    { cell_type: "markdown", source: ["# Sales\n", "\n", "Per **region**."] },
    {
      cell_type: "code",
      execution_count: 1,
      source: "import pandas as pd\nframe = pd.read_csv('sales.csv')\nframe",
      outputs: [
        { output_type: "stream", name: "stdout", text: ["\u001b[32mread\u001b[0m 1 row\n"] },
        { output_type: "execute_result", data: { "text/html": dataFrame, "text/plain": "region orders" } },
      ],
    },
    {
      cell_type: "code",
      execution_count: 2,
      source: "frame.plot()",
      outputs: [{ output_type: "display_data", data: { "image/png": dot, "text/plain": "<Figure size 640x480>" } }],
    },
    {
      cell_type: "code",
      execution_count: null,
      source: "1 / 0",
      outputs: [{ output_type: "error", ename: "ZeroDivisionError", evalue: "division by zero", traceback: [] }],
    },
  ],
};

const diff = `diff --git a/src/retry.ts b/src/retry.ts
index 123..456 100644
--- a/src/retry.ts
+++ b/src/retry.ts
@@ -10,4 +10,5 @@ export function retry() {
   const first = 1;
-  const max = 2;
+  const max = 3;
+  const waitMs = 250;
   return first;
`;

export const kindFiles: Readonly<Record<string, string | Uint8Array>> = {
  "README.md": readme,
  "people.csv": "name,score,city\n田中,9,Tokyo\nabe,10,Osaka\n,,\n伊藤,10,Kyoto\nAbe 2,1.5,Nara\n",
  "sales.ipynb": JSON.stringify(notebook),
  "paper.pdf": pdf([["見積書", "合計 ¥1,200"], [""], ["Terms", "Payment within 30 days"]]),
  "change.diff": diff,
};

export const kindConfig =
  "mounts:\n  shelf: { source: file, root: . }\n  project: { source: git, root: ../project, search: false }\n";

/** Beside the served folder. */
export function makeHistory(root: string): void {
  const { commit } = testRepository([], join(root, "../project"));
  for (const number of [1, 2, 3]) commit(`Change ${number} <b>boldly</b>`, { "a.txt": `${number}\n` });
}
