/** A picture as an image element, which runs no scripts and fetches nothing. */
import { useEffect, useState } from "preact/hooks";

interface PictureProps {
  readonly body: string | Uint8Array;
  readonly type: string;
  readonly name: string;
}

export function Picture({ body, type, name }: PictureProps) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const blob = new Blob([typeof body === "string" ? body : new Uint8Array(body)], { type });
    if (takesData()) return readAddress(blob, setAddress);
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [body, type]);
  return address === undefined ? null : <img class="shown-picture" src={address} alt={name} />;
}

/** Inside a host, images may come from `data:` addresses only. */
function takesData(): boolean {
  return document.documentElement.dataset["pictures"] === "data";
}

/** Returns a function that cancels it. */
function readAddress(blob: Blob, done: (address: string) => void): () => void {
  const reader = new FileReader();
  reader.addEventListener("load", () => done(String(reader.result)));
  reader.readAsDataURL(blob);
  return () => reader.abort();
}
