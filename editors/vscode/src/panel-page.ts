/** The page of a panel: the picker as an element, from files of the extension alone. */

interface PanelPageOptions {
  /** The webview's name for files of the extension in a policy. */
  readonly source: string;
  readonly script: string;
  readonly style: string;
  readonly language: string;
}

export function panelPage({ source, script, style, language }: PanelPageOptions): string {
  // No connections, no frames, no inline script. Pictures are made from what was read.
  const policy = [
    "default-src 'none'",
    `script-src ${source}`,
    `style-src ${source}`,
    "img-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
    <link rel="stylesheet" href="${escapeHtml(style)}">
    <title>Pressmark</title>
  </head>
  <body>
    <pressmark-picker></pressmark-picker>
    <div id="problem" role="alert" hidden>
      <p>Pressmark could not be started. VS Code's message and the output "Pressmark" give the reason.</p>
      <button type="button">Try again</button>
    </div>
    <script type="module" src="${escapeHtml(script)}"></script>
  </body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
