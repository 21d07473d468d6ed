/** Entry point inside a host: an MCP App that reaches the server through the host, and passes back what was chosen. */
import "./no-eval.ts";
import { App as HostApp, applyDocumentTheme, type McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import { render } from "preact";
import { useState } from "preact/hooks";
import { connectBy, type RemoteServer } from "../client/connect.ts";
import type { Resource } from "../resources.ts";
import { App } from "./app.tsx";
import { completer, createBridgeTransport } from "./app-bridge-transport.ts";
import type { Expansion } from "./create-folder-choice.ts";
import { createPicker } from "./create-picker.ts";
import { OwnerButtons } from "./owner-buttons.tsx";
import { languageFor } from "./texts.ts";
import { shortTitle } from "../lib/own-title.ts";

const identity = { name: "pressmark-picker", version: "0.1.0" };
/** Default tools of a Pressmark server: for hosts that do not pass on the tool's result. */
const usualTools = ["search_resources", "list_resources", "read_resource", "gather_context", completer];
const patienceMs = 2000;
const height = 640;
const words = {
  en: { again: "Refresh", handed: "Passed to the host", notHanded: "The host did not accept them" },
  ja: { again: "再読み込み", handed: "渡しました", notHanded: "ホストが受け取りませんでした" },
};

const host = new HostApp(identity, {}, { autoResize: false });
const toolNames = new Promise<readonly string[]>((resolve) => {
  host.addEventListener("toolresult", ({ structuredContent }) => {
    const { tools } = (structuredContent ?? {}) as { readonly tools?: unknown };
    if (Array.isArray(tools)) resolve(tools.filter((name) => typeof name === "string"));
  });
});
host.addEventListener("hostcontextchanged", dress);

const transport = createBridgeTransport({
  app: host,
  tools: () =>
    Promise.race([toolNames, new Promise<readonly string[]>((give) => setTimeout(give, patienceMs, usualTools))]),
});
let pressmark: RemoteServer | undefined;
const picker = createPicker(async () => {
  await begun;
  pressmark = await connectBy(() => transport, { client: identity, era: "legacy" });
  return pressmark;
});
const begun = host.connect().then(() => {
  dress(host.getHostContext() ?? {});
  void host.sendSizeChanged({ height });
});
begun.then(show, show);

function dress({ theme, locale }: McpUiHostContext): void {
  if (theme) applyDocumentTheme(theme);
  if (locale !== undefined) document.documentElement.lang = languageFor([locale]).code;
}

function show(): void {
  const { locale } = host.getHostContext() ?? {};
  const language = languageFor(locale === undefined ? navigator.languages : [locale]);
  document.documentElement.lang = language.code;
  const place = document.getElementById("picker");
  if (place) render(<Shown language={language} />, place);
  void picker.start();
}

function Shown({ language }: { readonly language: ReturnType<typeof languageFor> }) {
  const [said, setSaid] = useState("");
  const { again, handed, notHanded } = words[language.code];
  const extra = (
    <>
      <button type="button" onClick={transport.reportAll}>
        {again}
      </button>
      <OwnerButtons {...{ picker, language }} pressmark={() => pressmark} />
      <span class="said" role="status">
        {said}
      </span>
    </>
  );
  const use = (chosen: Expansion): void =>
    void passToHost(chosen).then(
      () => setSaid(handed),
      () => setSaid(notHanded),
    );
  return <App {...{ picker, language, extra, use }} />;
}

/** Adds the chosen resources to the model's context, or sends a message as the person if the host supports only that. */
async function passToHost({ resources: chosen, failed }: Expansion): Promise<void> {
  const { updateModelContext, message } = host.getHostCapabilities() ?? {};
  const takes = updateModelContext ?? message;
  if (!takes) throw new Error("the host accepts neither context nor messages");
  const list = chosen.map((resource) => `- ${shortTitle(resource)}: ${resource.uri}`).join("\n");
  const missing = failed > 0 ? `\nMore may be missing: folders that could not be listed: ${failed}` : "";
  const content = [
    { type: "text" as const, text: `The person picked these resources:\n${list}${missing}` },
    ...(takes.resourceLink ? chosen.map(toLink) : []),
  ];
  if (updateModelContext) {
    const structuredContent = { resources: chosen.map(({ uri, name }) => ({ uri, name })) };
    await host.updateModelContext({ content, ...(updateModelContext.structuredContent && { structuredContent }) });
    return;
  }
  const { isError } = await host.sendMessage({ role: "user", content });
  if (isError) throw new Error("the host rejected the message");
}

function toLink({ uri, name, title, mimeType, size }: Resource) {
  return { type: "resource_link" as const, uri, name, title, mimeType, size };
}
