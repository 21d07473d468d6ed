import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "./test-command.ts";

let stand: Stand;
const pressmark: Stand["run"] = (...asked) => stand.run(...asked);

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write("docs/deep/last.txt", "last");
});

afterAll(() => stand.remove());

describe("the command", () => {
  it("prints its version", async () => {
    for (const word of ["--version", "-V"])
      expect(await pressmark([word])).toMatchObject({ code: 0, out: "pressmark 1.2.3\n", err: "" });
  });

  it("prints its help on request; without a command this is invalid usage", async () => {
    expect(await pressmark(["--help"])).toMatchObject({ code: 0, out: expect.stringContaining("Commands:"), err: "" });
    expect(await pressmark(["help"])).toMatchObject({ code: 0, out: expect.stringContaining("Commands:"), err: "" });
    expect(await pressmark([])).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Commands:") });
  });

  it("prints the help of a command", async () => {
    const asked = await pressmark(["help", "serve"]);
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("--port PORT"), err: "" });
    expect((await pressmark(["serve", "--help"])).out).toBe(asked.out);
  });

  it.each([
    [["sevre"], 'there is no command "sevre"; did you mean serve? ("pressmark help" lists all commands)'],
    [["constructor"], 'there is no command "constructor"; "pressmark help" lists all commands'],
    [["help", "raed"], '"raed" is not a valid command for help; did you mean read?'],
    [
      ["serve", "--prot", "1"],
      'serve has no flag "--prot"; did you mean --port? ("pressmark help serve" lists all flags)',
    ],
    [["serve", "--port", "http"], '--port takes a number from 0 to 65535, not "http"'],
    [["serve", "--port", "65536"], '--port takes a number from 0 to 65535, not "65536"'],
    [["serve", "nowhere"], 'no folder "nowhere"; check the path, or create it first'],
    [["stdio", "README.md"], '"README.md" is a file; name its folder'],
    [
      ["ls", "--folder", "docs", "--folder", "docs/deep"],
      '"docs/deep" is inside "docs" and would be served twice; name only one of them',
    ],
    [["read"], 'read needs a where: Resource (URI or path); try "pressmark help read"'],
    [["ls", "--limit", "0"], '--limit takes a whole number of at least 1, not "0"'],
    [["ls", "--color", "red"], '--color takes auto or always or never, not "red"'],
  ])("answers %j with a sentence that says what to do, and exit code 2", async (words, sentence) => {
    expect(await pressmark(words)).toMatchObject({ code: 2, out: "", err: `pressmark: ${sentence}\n` });
  });

  it("distinguishes missing resources from failures by its exit code", async () => {
    expect(await pressmark(["read", "nothing"])).toMatchObject({ code: 3, out: "" });
    expect(await pressmark(["ls", "nothing"])).toMatchObject({ code: 3, out: "" });
    expect(await pressmark(["stat", `${stand.base}nothing`])).toMatchObject({ code: 3, out: "" });
    expect(await pressmark(["ls"], { signal: AbortSignal.abort() })).toMatchObject({ code: 130, out: "", err: "" });
    expect((await pressmark(["--help"])).out).toMatch(/Exit codes:\n {2}0 +done\n {2}1 +failed\n/);
  });

  it("never repeats to a terminal what would steer it", async () => {
    const { err } = await pressmark(["read", "a\u001b[2Jb\u009b\u202ec"]);
    expect(err).toBe(String.raw`pressmark: no resource at "a\u001b[2Jb\x9b\u202ec"` + "\n");
  });

  it("writes an error as JSON if the log is JSON", async () => {
    const asFlag = await pressmark(["serve", "nowhere", "--log-format", "json"]);
    const asVariable = await pressmark(["serve", "nowhere"], { env: { PRESSMARK_LOG_FORMAT: "json" } });
    for (const { code, out, err } of [asFlag, asVariable]) {
      expect([code, out]).toEqual([2, ""]);
      expect(
        err
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([
        {
          time: expect.any(String),
          level: "error",
          message: 'no folder "nowhere"; check the path, or create it first',
        },
      ]);
    }
    const { err } = await pressmark(["serve", "nowhere", "--log-format", "text"], {
      env: { PRESSMARK_LOG_FORMAT: "json" },
    });
    expect(err).toBe('pressmark: no folder "nowhere"; check the path, or create it first\n');
  });

  it("refuses a format of the log that there is not, also in the environment", async () => {
    const env = { PRESSMARK_LOG_FORMAT: "xml" };
    expect(await pressmark(["ls"], { env })).toMatchObject({
      code: 2,
      out: "",
      err: 'pressmark: PRESSMARK_LOG_FORMAT takes text or json, not "xml"\n',
    });
    expect((await pressmark(["ls"], { env: { PRESSMARK_LOG_FORMAT: "" } })).code).toBe(0);
    expect((await pressmark(["serve", "nowhere", "--log-format", "text"], { env })).err).toMatch(/no folder "nowhere"/);
  });

  it("shows a stack only on request", async () => {
    expect((await pressmark(["read", "nothing"])).err).not.toContain("    at ");
    expect((await pressmark(["read", "nothing"], { env: { PRESSMARK_DEBUG: "1" } })).err).toContain("    at ");
  });
});
