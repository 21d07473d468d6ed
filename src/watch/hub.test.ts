import { beforeEach, describe, expect, it } from "vitest";
import { createHub } from "./hub.ts";
import type { Hub } from "./hub.ts";

const interestIn = (paths: readonly string[], lists: readonly string[] = [], mount = "m") => ({
  paths: paths.map((path) => ({ mount, path })),
  lists,
});

describe("the hub", () => {
  let touches: string[];
  let hub: Hub<string>;
  const told = () => touches.splice(0).sort();
  beforeEach(() => {
    touches = [];
    hub = createHub((reader, touched) =>
      touches.push(
        touched.kind === "list" ? `${reader} list ${touched.mount}` : `${reader} ${touched.mount}/${touched.path}`,
      ),
    );
  });

  it("notifies only readers that are interested in the change", () => {
    hub.register("one", interestIn(["a", "b"]));
    hub.register("two", interestIn(["b"]));
    hub.register("other", interestIn(["b"], ["n"], "n"));
    hub.register("lister", interestIn([], ["m"]));
    hub.publish("m", { kind: "changed", path: "b" });
    expect(told()).toEqual(["one m/b", "two m/b"]);
    hub.publish("m", { kind: "changed", path: "c" });
    hub.publish("unknown", { kind: "changed", path: "a" });
    expect(told()).toEqual([]);
  });

  it.each(["appeared", "gone"] as const)("notifies the path, its directory and the list of something %s", (kind) => {
    hub.register("path", interestIn(["d/e/a"]));
    hub.register("directory", interestIn(["d/e"]));
    hub.register("above", interestIn(["d"]));
    hub.register("lister", interestIn([], ["m"]));
    hub.publish("m", { kind, path: "d/e/a" });
    expect(told()).toEqual(["directory m/d/e", "lister list m", "path m/d/e/a"]);
  });

  it("notifies the mount itself of changes of its direct children", () => {
    hub.register("root", interestIn([""]));
    hub.publish("m", { kind: "appeared", path: "a" });
    expect(told()).toEqual(["root m/"]);
    hub.publish("m", { kind: "appeared", path: "a/b" });
    expect(told()).toEqual([]);
  });

  it("notifies every directory above, where directories exist only through what is below them", () => {
    hub.register("above", interestIn(["", "d", "d/e", "other"]));
    hub.publish("m", { kind: "appeared", path: "d/e/a" }, { impliesDirectories: true });
    expect(told()).toEqual(["above m/", "above m/d", "above m/d/e"]);
    hub.publish("m", { kind: "changed", path: "d/e/a" }, { impliesDirectories: true });
    expect(told()).toEqual([]);
  });

  it("notifies paths below a directory that goes or appears, and nothing beside it", () => {
    hub.register("inside", interestIn(["d/a", "d/e/b"]));
    hub.register("beside", interestIn(["d.txt", "da", "e/d/a"]));
    hub.publish("m", { kind: "gone", path: "d" });
    expect(told()).toEqual(["inside m/d/a", "inside m/d/e/b"]);
    hub.publish("m", { kind: "gone", path: "" });
    expect(told()).toHaveLength(5);
  });

  it("does not notify paths below a directory if each gets its own change", () => {
    hub.register("inside", interestIn(["d/a", "d/e/b"]));
    hub.register("directory", interestIn(["d", ""], ["m"]));
    hub.publish("m", { kind: "gone", path: "d", eachBelow: true });
    expect(told()).toEqual(["directory list m", "directory m/", "directory m/d"]);
    hub.publish("m", { kind: "gone", path: "d/a" });
    expect(told()).toEqual(["directory list m", "directory m/d", "inside m/d/a"]);
  });

  it("notifies everyone with an interest in a mount that changes were lost", () => {
    hub.register("one", interestIn(["a", "b"]));
    hub.register("lister", interestIn([], ["m", "n"]));
    hub.register("other", interestIn(["a"], [], "n"));
    hub.publish("m", { kind: "lost" });
    expect(told()).toEqual(["lister list m", "one m/a", "one m/b"]);
  });

  it("removes a reader that leaves, and only that one", () => {
    const interest = interestIn(["d/a", "d/b", "d/a"], ["m"]);
    hub.register("leaving", interest);
    hub.register("staying", interestIn(["d/a"], ["m"]));
    hub.leave("leaving", interest);
    hub.leave("never here", interestIn(["d/a"], ["m"]));
    hub.publish("m", { kind: "lost" });
    expect(told()).toEqual(["staying list m", "staying m/d/a"]);
    hub.publish("m", { kind: "gone", path: "d" });
    expect(told()).toEqual(["staying list m", "staying m/d/a"]);
  });
});
