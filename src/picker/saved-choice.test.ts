/** The slash command of a set is that of the present choice, or none. */
import { expect, it, vi } from "vitest";
import { directoryType, type Resource } from "../resources.ts";
import { createPicker, type PickerResources } from "./create-picker.ts";
import { testServer } from "./test-server.ts";

const folder: Resource = { uri: "x:///d", name: "d", mimeType: directoryType };
const [one, two] = ["1", "2"].map((name): Resource => ({ uri: `x:///d/${name}`, name }));
const set: Resource = { uri: "set://gather", name: "gather", meta: { "pressmark/prompt": "set-gather" } };

async function pickerWith(
  saved: Readonly<Record<string, unknown>>,
  children: PickerResources["children"] = async (uri) => ({ items: uri === folder.uri ? [one!, two!] : [] }),
) {
  const parts: Partial<PickerResources> = {
    children,
    read: async (uri) => ({
      contents: [
        { uri, body: { text: JSON.stringify({ resources: [{ uri: folder.uri, mimeType: directoryType }] }) } },
      ],
      ttlMs: 0,
      scope: "private",
    }),
    useTool: async () => ({ texts: [], links: [], structured: saved }),
  };
  const picker = createPicker(async () => testServer(parts));
  await picker.start();
  return picker;
}

it("is offered for exactly the choice that was saved, exceptions included", async () => {
  const picker = await pickerWith({ prompt: "set-mine" });
  picker.openFolder(folder.uri);
  await vi.waitFor(() => expect(picker.state.tree.folders.get(folder.uri)?.status).toBe("ready"));
  picker.toggle(folder);
  picker.toggle(two!);
  await picker.saveSet("mine", false);
  expect(picker.promptOfChoice()).toBe("set-mine");
  picker.toggle(two!);
  expect(picker.promptOfChoice()).toBeUndefined();
  picker.toggle(two!);
  expect(picker.promptOfChoice()).toBe("set-mine");
  await picker.deleteSet("mine");
  expect(picker.promptOfChoice()).toBeUndefined();
});

it("is not given to a set that would lack files of a folder", async () => {
  const picker = await pickerWith({ prompt: "set-mine" }, () => Promise.reject(new Error("gone")));
  picker.choose([one!, { ...folder, uri: "x:///e" }]);
  await expect(picker.saveSet("mine", false)).rejects.toThrow("a folder could not be listed");
  expect(picker.promptOfChoice()).toBeUndefined();
});

it("is not guessed from the name of the set", async () => {
  const picker = await pickerWith({});
  await picker.openSet(set);
  expect(picker.promptOfChoice()).toBe("set-gather");
  await picker.openSet({ uri: set.uri, name: set.name });
  expect(picker.promptOfChoice()).toBeUndefined();
  await picker.saveSet("mine", false);
  expect(picker.promptOfChoice()).toBeUndefined();
});
