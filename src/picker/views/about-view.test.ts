import { expect, it } from "vitest";
import { estimateTokens, estimateTokensOf } from "../../lib/estimate-tokens.ts";
import type { PreviewState } from "../state.ts";
import { contentTokens } from "./about-view.tsx";

it("the tokens of a resource are those of the tree and the tray; only a part is estimated by its text", () => {
  const text = "売上の集計を直します。\n".repeat(20);
  const resource = { uri: "file:///a.md", name: "a.md", mimeType: "text/markdown", size: 700 };
  const preview: PreviewState = {
    resource,
    status: "ready",
    contents: [{ uri: resource.uri, body: { text } }],
    isTaken: false,
    isPartial: false,
    isLoadingMore: false,
    isGone: false,
  };
  const counted = { count: 192, isExact: true };
  const byText = { count: estimateTokens(text), isExact: false };
  expect(contentTokens(preview, counted, text)).toEqual(counted);
  expect(contentTokens(preview, undefined, text)).toEqual({ count: estimateTokensOf(resource), isExact: false });
  expect(contentTokens({ ...preview, isPartial: true }, counted, text)).toEqual(byText);
  expect(contentTokens({ ...preview, resource: { uri: "a:b", name: "b" } }, undefined, text)).toEqual(byText);
});
