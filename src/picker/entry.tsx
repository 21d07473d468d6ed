/** Entry point of the page: connects to the endpoint of its own origin, as any host would. */
import "./no-eval.ts";
import { render } from "preact";
import { connect, type RemoteServer } from "../client/connect.ts";
import { pickerExtension } from "../client/extensions.ts";
import { App } from "./app.tsx";
import { checkServer } from "./check-server.ts";
import { ConnectLink } from "./connect-link.tsx";
import { createPicker } from "./create-picker.ts";
import { OwnerButtons } from "./owner-buttons.tsx";
import { languageFor } from "./texts.ts";

const language = languageFor(navigator.languages);
document.documentElement.lang = language.code;
let pressmark: RemoteServer | undefined;
const picker = createPicker(async () => {
  pressmark = await connect(new URL("/mcp", location.origin), {
    client: { name: "pressmark-picker", version: "0.1.0" },
    patience: { firstMs: 250, longestMs: 1000 },
    clientOptions: { capabilities: { extensions: { [pickerExtension]: {} } } },
  });
  return pressmark;
});
const place = document.getElementById("picker");
const shared = { picker, language };
const server = (): RemoteServer | undefined => pressmark;
const extra = (
  <>
    <ConnectLink {...shared} pressmark={server} />
    <OwnerButtons {...shared} pressmark={server} />
  </>
);
if (place) render(<App {...shared} extra={extra} hasHistory />, place);
void picker.start();
const probe = (signal: AbortSignal) =>
  fetch(new URL("/picker/icon.svg", location.origin), { cache: "no-store", signal });
void checkServer(picker, probe, new AbortController().signal);
