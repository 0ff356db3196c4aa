// Files for whoever looks at the page.
import { bytesOf, request } from "../data/server_source.ts";
import { sentenceOf } from "../data/use.ts";
import { lastFailure } from "../failures.tsx";

// What a server answers, in one of the forms that it has.
export async function saveAnswer(name: string, path: string, type: string): Promise<void> {
  try {
    save(name, new Blob([await bytesOf(await request(path, { headers: { Accept: type } }))]), type);
  } catch (error) {
    lastFailure.value = sentenceOf(error);
  }
}

export function save(name: string, bytes: string | Blob, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes instanceof Blob ? bytes : new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
