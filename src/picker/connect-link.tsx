/** The link to the page Connect, and the page itself while the address names it. The page is loaded when it is first opened. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { connectHash } from "./connect-hash.ts";
import type { ConnectPageProps } from "./connect-page.tsx";

interface ConnectLinkProps extends Shared {
  /** The connected server, once there is one. */
  pressmark(): Resources | undefined;
}

const names = { en: "Connect", ja: "接続" };
const hints = { en: "Connect a host", ja: "ホストを接続" };

/** The same link where there is nothing else to do yet. */
export function ConnectHint({ language }: Pick<Shared, "language">) {
  return <a href={connectHash}>{hints[language.code]}</a>;
}

export function ConnectLink({ picker, language, pressmark }: ConnectLinkProps) {
  const [isOpen, setIsOpen] = useState(location.hash === connectHash);
  const [page, setPage] = useState<{ readonly Page: ComponentType<ConnectPageProps> }>();
  const [server, setServer] = useState<Resources>();

  useEffect(() => {
    const ended = new AbortController();
    const look = (): void => setServer(picker.state.connection === "ready" ? pressmark() : undefined);
    picker.onChange(look, ended.signal);
    look();
    addEventListener("hashchange", () => setIsOpen(location.hash === connectHash), { signal: ended.signal });
    return () => ended.abort();
  }, [picker]);

  useEffect(() => {
    if (isOpen && !page) void import("./connect-page.tsx").then(({ ConnectPage }) => setPage({ Page: ConnectPage }));
  }, [isOpen, page]);

  return (
    <>
      <a class="button" href={connectHash}>
        {names[language.code]}
      </a>
      {isOpen && page && server && <page.Page {...{ picker, language }} pressmark={server} />}
    </>
  );
}
