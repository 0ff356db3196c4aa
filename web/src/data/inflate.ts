// base64 and gzip, by what browsers have.

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const decode = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  try {
    if (decode !== undefined) return decode.call(Uint8Array, text);
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error("a data block of this report is damaged");
  }
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot read compressed data; open the page with a newer one");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error("a data block is cut off or damaged");
  }
}

// Of the data block of that id; null if there is none.
export async function readBlock(id: string): Promise<Uint8Array | null> {
  const element = document.getElementById(id);
  return element === null ? null : gunzip(fromBase64(element.textContent.trim()));
}
