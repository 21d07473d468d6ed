/** Where the page begins: the endpoint of its own origin, asked as any host would ask it. */
import "./no-eval.ts";
import { render } from "preact";
import { connect } from "../client/connect.ts";
import { App } from "./app.tsx";
import { createPicker } from "./create-picker.ts";
import { languageFor } from "./texts.ts";

const language = languageFor(navigator.languages);
document.documentElement.lang = language.code;
const picker = createPicker(() => connect(new URL("/mcp", location.origin)));
const place = document.getElementById("picker");
if (place) render(<App picker={picker} language={language} />, place);
void picker.start();
