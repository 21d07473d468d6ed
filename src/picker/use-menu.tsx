/** The menu of "Use in…": for each host what works for the choice, the last used first. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type HostUse, usesOf } from "../lib/host-uses.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { choiceKey } from "./choice-key.ts";
import { connectHash } from "./connect-hash.ts";
import { connectTexts } from "./connect-texts.ts";
import { isCancelled, whyNotCopied } from "./copy-button.tsx";
import { copyText } from "./copy-text.ts";
import type { Written } from "./create-choosing.ts";
import { preference, remember, serverName } from "./preferences.ts";
import { parseServerStatus } from "./state-page-status.ts";
import { isFolder } from "./tree.ts";
import { writeChosen } from "./write-chosen.ts";
import { writtenTexts } from "./written-texts.ts";

export interface UseMenuProps extends Shared {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly label: string;
  say(text: string): void;
  close(): void;
}

const words = {
  en: {
    lastUsed: "Last used",
    copied: (next: string) => `Copied. ${next}`,
    saved: (next: string) => `Saved. ${next}`,
    asCommand: "Saved as a set, the choice is also a slash command",
  },
  ja: {
    lastUsed: "前回の使い方",
    copied: (next: string) => `コピーしました。${next}`,
    saved: (next: string) => `保存しました。${next}`,
    asCommand: "セットとして保存すると、スラッシュコマンドでも使えます",
  },
};

export function UseMenu({ picker, language: { code, texts }, button, label, say, close }: UseMenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<readonly Resource[]>();
  const [failed, setFailed] = useState(0);
  const [unlisted, setUnlisted] = useState<ReadonlySet<string>>(new Set());
  /** Undefined if this person may not know it. */
  const [connected, setConnected] = useState<ReadonlySet<string>>();
  const { lastUsed, copied, saved, asCommand } = words[code];
  const { notYet } = connectTexts(code);

  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    async function look(): Promise<void> {
      const found = await picker.expanded(signal);
      if (signal.aborted) return;
      setChosen(found.resources);
      setFailed(found.failed);
      const missing = await picker
        .unlisted(
          found.resources.map(({ uri }) => uri),
          signal,
        )
        .catch(() => new Set<string>());
      if (!signal.aborted) setUnlisted(missing);
    }
    look().catch(() => {
      if (signal.aborted) return;
      say(texts.failed);
      close();
    });
    return () => ended.abort();
    // Not on the tray: it is another one with each file that is counted.
  }, [choiceKey(picker.state.tray)]);

  useEffect(() => {
    picker.readStatus().then(
      (contents) => {
        const { hosts } = parseServerStatus(contents);
        setConnected(new Set(hosts.filter(({ seen }) => seen).map(({ host }) => host)));
      },
      () => {},
    );
  }, []);

  const prompt = picker.promptOfChoice();
  const uses = usesOf({
    chosen: (chosen ?? []).map((resource) => ({
      uri: resource.uri,
      isFolder: isFolder(resource),
      isUnlisted: unlisted.has(resource.uri),
    })),
    server: serverName(),
    prompt,
    language: code,
  });
  const last = uses.find(({ id, problem }) => id === preference("lastUse") && problem === undefined);
  const others = uses.filter((each) => each !== last);
  const groups = Object.entries(Object.groupBy(others, ({ group }) => group)) as [string, HostUse[]][];

  // Above everything else, also where the tray is cut off.
  useLayoutEffect(() => {
    const box = menu.current;
    const { top, right } = button.current!.getBoundingClientRect();
    if (!box || !chosen) return;
    box.style.setProperty("--from-bottom", `${innerHeight - top + 4}px`);
    box.style.setProperty("--from-right", `${Math.max(8, document.documentElement.clientWidth - right)}px`);
    box.showPopover();
    box.querySelector<HTMLElement>("[role=menuitem][aria-disabled=false]")?.focus();
  }, [chosen !== undefined]);

  useEffect(() => {
    const ended = new AbortController();
    // The button itself closes it by its click.
    const point = ({ target }: Event): void => {
      if (target instanceof Node && !menu.current?.contains(target) && !button.current?.contains(target)) close();
    };
    addEventListener("pointerdown", point, { signal: ended.signal });
    return () => ended.abort();
  }, []);

  function leave(): void {
    close();
    button.current?.focus();
  }

  async function use({ id, text, link, form, file, next, problem }: HostUse, event: Event): Promise<void> {
    if (problem !== undefined) return;
    leave();
    remember("lastUse", id);
    const { noFiles, notListed } = texts.inTray;
    if (chosen?.length === 0) {
      event.preventDefault();
      return say(failed > 0 ? notListed(failed) : noFiles);
    }
    // The browser follows the link.
    if (link !== undefined) return say(next);
    const { leftOut, progress } = writtenTexts({ code, texts });
    if (form) say(texts.loading);
    const making: Promise<Written> = form
      ? writeChosen(picker, form, (read, of) => say(progress(read, of)))
      : Promise.resolve({ text: text ?? "", withoutText: 0, unread: 0, failed });
    try {
      if (file === undefined) await copyText(making.then((made) => made.text));
      else download(file, (await making).text);
      say((file === undefined ? copied(next) : saved(next)) + leftOut(await making));
    } catch (cause) {
      say(file === undefined || isCancelled(cause) ? whyNotCopied(cause, texts) : texts.failed);
    }
  }

  function press(event: KeyboardEvent): void {
    const items = itemsIn(menu.current!);
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (event.key === "Escape" || event.key === "Tab") leave();
    // Buttons do this themselves, links do not.
    else if (event.key === " " && items[at] instanceof HTMLAnchorElement) items[at].click();
    else if (to === undefined) return;
    else items[to]?.focus();
    event.preventDefault();
  }

  if (!chosen) return null;
  const isMissing = ({ hosts }: HostUse): boolean =>
    hosts !== undefined && connected !== undefined && !hosts.some((host) => connected.has(host));
  const item = (each: HostUse, name: string) => {
    const Item = each.link === undefined || each.problem !== undefined ? "button" : "a";
    return (
      <Item
        key={each.id}
        {...(Item === "a" ? { href: each.link } : { type: "button" })}
        role="menuitem"
        tabIndex={-1}
        aria-disabled={each.problem !== undefined}
        onClick={(event: Event) => void use(each, event)}
      >
        <span class="use-name">{name}</span>
        <span class="use-next">{each.problem ?? each.next}</span>
      </Item>
    );
  };
  return (
    <div ref={menu} class="use-menu" role="menu" aria-label={label} popover="manual" onKeyDown={press}>
      {last && (
        <div role="group" aria-label={lastUsed}>
          <h3 role="presentation">{lastUsed}</h3>
          {item(last, `${last.group}: ${last.name}`)}
        </div>
      )}
      {groups.map(([group, members]) => (
        <div key={group} role="group" aria-label={group}>
          <h3 role="presentation">
            {group}
            {members.every(isMissing) && (
              <a href={connectHash} role="menuitem" tabIndex={-1} aria-label={`${group}: ${notYet}`} onClick={leave}>
                {notYet}
              </a>
            )}
          </h3>
          {members.map((each) => item(each, each.name))}
        </div>
      ))}
      {prompt === undefined && picker.state.tools.has("save_set") && (
        <p class="quiet" role="presentation">
          {asCommand}
        </p>
      )}
    </div>
  );
}

function itemsIn(menu: HTMLElement): readonly HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role=menuitem]")];
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
