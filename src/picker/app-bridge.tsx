/** Where the picker begins inside a host: an MCP App that asks the server through the host, and hands back what was chosen. */
import "./no-eval.ts";
import { App as HostApp, applyDocumentTheme, type McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import { render } from "preact";
import { useState } from "preact/hooks";
import { connectBy } from "../client/connect.ts";
import type { Resource } from "../resources.ts";
import { App } from "./app.tsx";
import { createBridgeTransport } from "./app-bridge-transport.ts";
import { createPicker } from "./create-picker.ts";
import { languageFor } from "./texts.ts";

const identity = { name: "pressmark-picker", version: "0.1.0" };
/** What every Pressmark offers unless it is told otherwise: for hosts that do not say what the tool answered. */
const usualTools = ["search_resources", "list_resources", "read_resource", "gather_context"];
const patienceMs = 2000;
const height = 640;
const words = {
  en: { again: "Look again", handed: "Handed over", notHanded: "The host did not take them" },
  ja: { again: "再読み込み", handed: "渡しました", notHanded: "ホストが受け取りませんでした" },
};

const host = new HostApp(identity, {}, { autoResize: false });
const told = new Promise<readonly string[]>((resolve) => {
  host.addEventListener("toolresult", ({ structuredContent }) => {
    const { tools } = (structuredContent ?? {}) as { readonly tools?: unknown };
    if (Array.isArray(tools)) resolve(tools.filter((name) => typeof name === "string"));
  });
});
host.addEventListener("hostcontextchanged", dress);

const transport = createBridgeTransport({
  app: host,
  tools: () => Promise.race([told, new Promise<readonly string[]>((give) => setTimeout(give, patienceMs, usualTools))]),
});
const picker = createPicker(async () => {
  await begun;
  return connectBy(() => transport, { client: identity, era: "legacy" });
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
      <button type="button" onClick={transport.lookAgain}>
        {again}
      </button>
      <span class="said" role="status">
        {said}
      </span>
    </>
  );
  const use = (chosen: readonly Resource[]): void =>
    void handOver(chosen).then(
      () => setSaid(handed),
      () => setSaid(notHanded),
    );
  return <App {...{ picker, language, extra, use }} />;
}

/** Into what the model is told next; where the host has no such thing, as a message of the person. */
async function handOver(chosen: readonly Resource[]): Promise<void> {
  const { updateModelContext, message } = host.getHostCapabilities() ?? {};
  const takes = updateModelContext ?? message;
  if (!takes) throw new Error("the host takes nothing");
  const list = chosen.map(({ uri, name, title }) => `- ${title ?? name}: ${uri}`).join("\n");
  const content = [
    { type: "text" as const, text: `The person picked these resources:\n${list}` },
    ...(takes.resourceLink ? chosen.map(toLink) : []),
  ];
  if (updateModelContext) {
    const structuredContent = { resources: chosen.map(({ uri, name }) => ({ uri, name })) };
    await host.updateModelContext({ content, ...(updateModelContext.structuredContent && { structuredContent }) });
    return;
  }
  const { isError } = await host.sendMessage({ role: "user", content });
  if (isError) throw new Error("the host refused the message");
}

function toLink({ uri, name, title, mimeType, size }: Resource) {
  return {
    type: "resource_link" as const,
    uri,
    name,
    ...(title !== undefined && { title }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}
