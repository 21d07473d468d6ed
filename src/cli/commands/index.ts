/** All commands by name, each loaded on first use. */
import type { Command } from "../command.ts";

export type CommandLoaders = Readonly<Record<string, () => Promise<{ readonly default: Command }>>>;

export const commands: CommandLoaders = {
  serve: () => import("./serve.ts"),
  stdio: () => import("./stdio.ts"),
  ls: () => import("./ls.ts"),
  tree: () => import("./tree.ts"),
  read: () => import("./read.ts"),
  stat: () => import("./stat.ts"),
  watch: () => import("./watch.ts"),
  search: () => import("./search.ts"),
  gather: () => import("./gather.ts"),
  complete: () => import("./complete.ts"),
  pick: () => import("./pick.ts"),
  set: () => import("./set.ts"),
  index: () => import("./index-status.ts"),
  init: () => import("./init.ts"),
  config: () => import("./config.ts"),
  trust: () => import("./trust.ts"),
  token: () => import("./token.ts"),
  may: () => import("./may.ts"),
  audit: () => import("./audit.ts"),
  migrate: () => import("./migrate.ts"),
  backup: () => import("./backup.ts"),
  restore: () => import("./restore.ts"),
  doctor: () => import("./doctor.ts"),
  top: () => import("./top.ts"),
  report: () => import("./report.ts"),
  login: () => import("./login.ts"),
  drive: () => import("./drive.ts"),
  add: () => import("./add.ts"),
  completions: async () => ({ default: (await import("./completions.ts")).createCompletions(allCommands) }),
  help: async () => ({ default: (await import("./help.ts")).createHelp(commands, allCommands) }),
};

export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(commands, name) ? (await commands[name]!()).default : undefined;
}

export async function allCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all(Object.values(commands).map((load) => load()));
  return loaded.map((module) => module.default);
}
