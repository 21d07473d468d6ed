/** The keychain of the system, if there is one. Secrets are passed through a pipe: command lines are visible to all users. */
import { execFile } from "node:child_process";

export interface Keychain {
  /** False if there is none, or it cannot store now. */
  store(account: string, secret: string): Promise<boolean>;
  find(account: string): Promise<string | undefined>;
  remove(account: string): Promise<void>;
}

interface KeychainOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const service = "pressmark-drive";
/** The user may have to unlock it first. */
const timeoutMs = 60_000;

export function createKeychain({ platform, env }: KeychainOptions): Keychain | undefined {
  const run = (program: string, given: readonly string[], input = ""): Promise<string | undefined> =>
    new Promise((resolve) => {
      const child = execFile(program, given, { env, timeout: timeoutMs, encoding: "utf8" }, (failure, out) =>
        resolve(failure ? undefined : out),
      );
      // A missing or ended program cannot receive input.
      child.stdin?.on("error", () => undefined).end(input);
    });

  const ofLinux: Keychain = {
    async store(account, secret) {
      const label = `--label=Pressmark, Google Drive (${account})`;
      return (await run("secret-tool", ["store", label, "service", service, "account", account], secret)) !== undefined;
    },
    find: async (account) => taken(await run("secret-tool", ["lookup", "service", service, "account", account])),
    remove: async (account) => void (await run("secret-tool", ["clear", "service", service, "account", account])),
  };
  const ofMac: Keychain = {
    async store(account, secret) {
      const hex = Buffer.from(secret).toString("hex");
      const stated = await run("security", ["-i"], `add-generic-password -U -a ${account} -s ${service} -X ${hex}\n`);
      return stated !== undefined && (await ofMac.find(account)) === secret;
    },
    find: async (account) =>
      taken(await run("security", ["find-generic-password", "-a", account, "-s", service, "-w"])),
    remove: async (account) => void (await run("security", ["delete-generic-password", "-a", account, "-s", service])),
  };
  if (platform === "darwin") return ofMac;
  return platform === "linux" ? ofLinux : undefined;
}

function taken(stated: string | undefined): string | undefined {
  const secret = stated?.trim();
  return secret === "" ? undefined : secret;
}
