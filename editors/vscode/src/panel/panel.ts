/** The script of the panel's page. */
import { connectBy } from "../../../../dist/client/index.js";
import { type ChooseDetail, definePicker } from "../../../../dist/element/index.js";
import type { FromPage, ToPage } from "../panel-messages.ts";
import { createPageTransports } from "./page-transport.ts";

/** Inserted by the build. */
declare const extensionVersion: string;
declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const extension = acquireVsCodeApi();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- VS Code's function, which takes no origin
const post = (message: FromPage): void => extension.postMessage(message);
const open = createPageTransports({
  post,
  listen(heard) {
    const listener = ({ data }: MessageEvent<ToPage>): void => heard(data);
    window.addEventListener("message", listener);
    return () => window.removeEventListener("message", listener);
  },
});
const picker = document.querySelector("pressmark-picker")!;
const problem = document.querySelector<HTMLElement>("#problem")!;

async function show(): Promise<void> {
  problem.hidden = true;
  picker.hidden = false;
  try {
    picker.resources = await connectBy(open, {
      client: { name: "pressmark-vscode", version: extensionVersion },
      // As the server's own page: offers the tools that serve a person.
      clientOptions: { capabilities: { extensions: { "pressmark/picker": {} } } },
    });
  } catch {
    problem.hidden = false;
    picker.hidden = true;
  }
}

definePicker();
picker.addEventListener("choose", (event) => {
  const { resources } = (event as CustomEvent<ChooseDetail>).detail;
  post({ kind: "choose", uris: resources.map(({ uri }) => uri) });
});
problem.querySelector("button")!.addEventListener("click", () => void show());
void show();
