/** Headers of proxies, sent over real connections: which of them count, and what hostile ones do. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addressOf,
  createForwardedReader,
  isSecure,
  type ProxyTrust,
  readForwarded,
  readXForwarded,
  requestedHost,
} from "./forwarded.ts";
import { serveFake } from "./test-server.ts";

interface Known {
  readonly address: string;
  readonly secure: boolean;
  readonly host: string;
}

async function serveBehind(trust: ProxyTrust) {
  const server = await serveFake(
    {},
    {
      allowedHosts: ["mcp.example"],
      forwarded: createForwardedReader(trust),
      elsewhere(request, response) {
        const known = { address: addressOf(request), secure: isSecure(request), host: requestedHost(request) };
        response.end(JSON.stringify(known));
        return true;
      },
    },
  );
  return {
    ...server,
    async known(headers: Readonly<Record<string, string>>): Promise<Known> {
      const { text } = await server.ask({ method: "GET", path: "/who", headers });
      return JSON.parse(text) as Known;
    },
  };
}

const proxies = ["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"];

describe("X-Forwarded headers", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:4711", "203.0.113.7"],
    ["2001:DB8:2::1", "2001:db8:2::1"],
    ["[2001:db8:2::1]:4711", "2001:db8:2::1"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    // A client's own words stand before what the proxy appends.
    ["198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["127.0.0.1, 203.0.113.7", "203.0.113.7"],
    ['", unknown, [, 203.0.113.7', "203.0.113.7"],
    // Proxies behind proxies.
    ["198.51.100.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"],
    ["203.0.113.7, 10.1.2.3, 2001:db8:1::9", "203.0.113.7"],
    ["10.9.9.9", "10.9.9.9"],
    ["203.0.113.7,10.1.2.3", "203.0.113.7"],
    [`${"x,".repeat(3000)}203.0.113.7`, "203.0.113.7"],
    // At most ten proxies.
    [`203.0.113.7, ${Array.from({ length: 10 }, (_, at) => `10.0.0.${at}`).join(", ")}`, "10.0.0.0"],
  ])("name the client: %s", async (header, address) => {
    const { known } = await serveBehind({ proxies });
    expect((await known({ "X-Forwarded-For": header })).address).toBe(address);
  });

  it.each(["", ",", "unknown", "_hidden", "localhost", "203.0.113.7,", "203.0.113", "fe80::1%eth0", "[203.0.113.7]"])(
    "do not count if the last entry is %j",
    async (header) => {
      const { known } = await serveBehind({ proxies });
      expect((await known({ "X-Forwarded-For": header })).address).toBe("127.0.0.1");
    },
  );

  it("count up to a proxy that does not know its client", async () => {
    const { known } = await serveBehind({ proxies });
    expect((await known({ "X-Forwarded-For": "203.0.113.7, unknown, 10.1.2.3" })).address).toBe("10.1.2.3");
  });

  it("are one list if they are repeated", async () => {
    const { raw } = await serveBehind({ proxies });
    const lines = ["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.7", "Connection: close"];
    const socket = await raw(`GET /who HTTP/1.1\r\nHost: localhost\r\n${lines.join("\r\n")}\r\n\r\n`);
    expect(Buffer.concat(await socket.toArray()).toString()).toContain('"address":"203.0.113.7"');
  });

  it("name the scheme and the host of the client, each as a single value", async () => {
    const { known } = await serveBehind({ proxies });
    expect(await known({ "X-Forwarded-Proto": "https", "X-Forwarded-Host": "MCP.example" })).toEqual({
      address: "127.0.0.1",
      secure: true,
      host: "mcp.example",
    });
    for (const proto of ["https, http", "https,https", "wss", ""])
      expect((await known({ "X-Forwarded-Proto": proto })).secure).toBe(false);
    for (const host of ["mcp.example, evil.example", ""])
      expect((await known({ Host: "localhost", "X-Forwarded-Host": host })).host).toBe("localhost");
  });

  it("cannot open what the host check closes", async () => {
    const { ask } = await serveBehind({ proxies });
    const statusOf = async (host: string, forwarded: string) =>
      (await ask({ method: "GET", path: "/who", headers: { Host: host, "X-Forwarded-Host": forwarded } })).status;
    expect(await statusOf("localhost", "mcp.example")).toBe(200);
    expect(await statusOf("localhost", "evil.example")).toBe(403);
    expect(await statusOf("localhost", "mcp.example:80@evil.example")).toBe(403);
    // A rebound page can send the header of a proxy, under its own name.
    expect(await statusOf("evil.example", "mcp.example")).toBe(403);
  });

  it("make an unencrypted page of the same name a foreign page", async () => {
    const { ask } = await serveBehind({ proxies });
    const statusOf = async (origin: string, headers: Readonly<Record<string, string>>) =>
      (await ask({ method: "GET", path: "/who", headers: { Host: "mcp.example", Origin: origin, ...headers } })).status;
    expect(await statusOf("https://mcp.example", { "X-Forwarded-Proto": "https" })).toBe(200);
    expect(await statusOf("http://mcp.example", { "X-Forwarded-Proto": "https" })).toBe(403);
    expect(await statusOf("http://mcp.example", {})).toBe(200);
  });

  it("make browsers use HTTPS for this host from now on, except for this machine's own names", async () => {
    const { ask } = await serveBehind({ proxies });
    const headerFor = async (host: string, proto: string) => {
      const headers = { Host: host, "X-Forwarded-Proto": proto };
      return (await ask({ method: "GET", path: "/who", headers })).headers["strict-transport-security"];
    };
    expect(await headerFor("mcp.example", "https")).toBe("max-age=31536000");
    expect(await headerFor("mcp.example", "http")).toBeUndefined();
    expect(await headerFor("localhost:7357", "https")).toBeUndefined();
  });

  it("count from trusted addresses alone", async () => {
    const { known } = await serveBehind({ proxies: ["10.0.0.0/8", "::1"] });
    const headers = { "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "a.example" };
    expect(await known({ ...headers, Host: "localhost" })).toEqual({
      address: "127.0.0.1",
      secure: false,
      host: "localhost",
    });
  });

  it("are the only ones that count: a proxy that sets them passes on a client's Forwarded", async () => {
    const { known } = await serveBehind({ proxies });
    const forwarded = { Forwarded: "for=198.51.100.1;proto=https;host=mcp.example" };
    expect(await known({ Host: "localhost", ...forwarded, "X-Forwarded-For": "203.0.113.7" })).toEqual({
      address: "203.0.113.7",
      secure: false,
      host: "localhost",
    });
  });
});

describe("the Forwarded header", () => {
  const trust = { proxies, header: "forwarded" } as const;

  it.each([
    ["for=203.0.113.7", "203.0.113.7"],
    ['For="203.0.113.7:4711"', "203.0.113.7"],
    ['for="[2001:db8:2::1]:4711";by=10.0.0.1', "2001:db8:2::1"],
    ['for=198.51.100.1, for="[2001:db8:2::1]"', "2001:db8:2::1"],
    ["for=203.0.113.7, for=10.0.0.9;by=10.0.0.1; secret=_x", "203.0.113.7"],
    // An open quote of the client does not swallow what the proxy appends.
    ['for="198.51.100.1, for=203.0.113.7', "203.0.113.7"],
    ['for="\\", for=203.0.113.7', "203.0.113.7"],
    [`${'for="x,'.repeat(1500)}for=203.0.113.7`, "203.0.113.7"],
  ])("names the client: %s", async (header, address) => {
    const { known } = await serveBehind(trust);
    expect((await known({ Forwarded: header })).address).toBe(address);
  });

  it.each([
    "for=unknown",
    "for=_hidden",
    "for=203.0.113.7;for=198.51.100.1",
    "for=[2001:db8::1]",
    'for="203.0.113.7',
    'for=203.0.113.7;host="a,for=198.51.100.1"',
    'for=203.0.113.7;host="a\\"b"',
    "203.0.113.7",
    "for = 203.0.113.7",
    "proto=https",
    "for=203.0.113.7;proto",
    ";for=203.0.113.7",
  ])("does not count as %s", async (header) => {
    const { known } = await serveBehind(trust);
    expect(await known({ Host: "localhost", Forwarded: header })).toEqual({
      address: "127.0.0.1",
      secure: false,
      host: "localhost",
    });
  });

  it("names scheme and host in the element of the outermost proxy, and other headers do not count", async () => {
    const { known } = await serveBehind(trust);
    const header =
      'for=1.1.1.1;proto=http, for=203.0.113.7;proto=HTTPS;host="mcp.example:8443", for=10.0.0.9;proto=http';
    expect(await known({ Forwarded: header, "X-Forwarded-For": "9.9.9.9", "X-Forwarded-Host": "localhost" })).toEqual({
      address: "203.0.113.7",
      secure: true,
      host: "mcp.example:8443",
    });
  });
});

const isTrusted = (address: string) => address === "10.0.0.1";

describe("whatever a client wrote before", () => {
  const words = fc.constantFrom(
    "for=",
    "10.0.0.1",
    "203.0.113.9",
    '"',
    "\\",
    "[::1]",
    ",",
    ";",
    " ",
    "=",
    "proto=http",
    "host=",
    "x",
  );
  const written = fc.oneof(
    fc.array(words, { maxLength: 30 }).map((each) => each.join("")),
    fc.string({ maxLength: 60 }),
  );
  const client = { address: "203.0.113.7", proto: "https", host: "mcp.example" };

  it("is not believed: what the proxies append decides", () => {
    fc.assert(
      fc.property(written, fc.boolean(), (before, isChain) => {
        const list = `${before}, 203.0.113.7${isChain ? ", 10.0.0.1" : ""}`;
        const rest = { "x-forwarded-proto": "https", "x-forwarded-host": "mcp.example" };
        expect(readXForwarded({ "x-forwarded-for": list, ...rest, forwarded: before }, isTrusted)).toEqual(client);
        const more = isChain ? ", for=10.0.0.1;proto=http" : "";
        const forwarded = `${before}, for="203.0.113.7:80";proto=https;host=mcp.example${more}`;
        expect(readForwarded({ forwarded, "x-forwarded-for": before }, isTrusted)).toEqual(client);
      }),
    );
  });
});
