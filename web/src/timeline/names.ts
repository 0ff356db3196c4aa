// Names of spans as numbers, the same in all ranks.

export class Names {
  readonly words: string[] = [];
  private readonly ids = new Map<string, number>();

  id(name: string): number {
    const known = this.ids.get(name);
    if (known !== undefined) return known;
    this.ids.set(name, this.words.length);
    this.words.push(name);
    return this.words.length - 1;
  }

  find(name: string): number {
    return this.ids.get(name) ?? -1;
  }
}
