/** Entry point of the page: connects to the endpoint of its own origin, as any host would. */
import "./no-eval.ts";
import { render } from "preact";
import { connect, type RemoteServer } from "../client/connect.ts";
import { App } from "./app.tsx";
import { createPicker } from "./create-picker.ts";
import { StateButton } from "./state-page-button.tsx";
import { languageFor } from "./texts.ts";

const language = languageFor(navigator.languages);
document.documentElement.lang = language.code;
let pressmark: RemoteServer | undefined;
const picker = createPicker(async () => {
  pressmark = await connect(new URL("/mcp", location.origin), {
    client: { name: "pressmark-picker", version: "0.1.0" },
  });
  return pressmark;
});
const place = document.getElementById("picker");
const shared = { picker, language };
if (place) render(<App {...shared} extra={<StateButton {...shared} pressmark={() => pressmark} />} />, place);
void picker.start();
