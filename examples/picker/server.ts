/** Serves the page, and the picker's module as the package has it. Any web server or bundler does the same. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const page = new URL("./", import.meta.url);
const picker = new URL("./", import.meta.resolve("pressmark/picker"));

const server = createServer(async ({ url = "/" }, response) => {
  const script = /^\/picker\/((?:chunks\/)?[\w-]+\.js)$/.exec(url)?.[1];
  const file =
    script !== undefined ? new URL(script, picker) : new URL(url === "/page.js" ? "page.js" : "page.html", page);
  response.setHeader("Content-Type", file.href.endsWith(".js") ? "text/javascript" : "text/html");
  response.end(await readFile(file).catch(() => ""));
});
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
