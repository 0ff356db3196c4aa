// Numbers for pairs of numbers: the same pair has the same one, new pairs count on from 0. Open addressing in typed arrays,
// since a Map of a million large keys takes seconds.
const NO_ONE = -1;

export class Pairs {
  count = 0;
  private firsts = new Int32Array(1024);
  private seconds = new Int32Array(1024);
  private slots = new Int32Array(2048).fill(NO_ONE);

  // Both from -1 to 2^31 - 1.
  id(first: number, second: number): number {
    const mask = this.slots.length - 1;
    let slot = hash(first, second) & mask;
    for (let id; (id = this.slots[slot]!) !== NO_ONE; slot = (slot + 1) & mask)
      if (this.firsts[id] === first && this.seconds[id] === second) return id;
    if (this.count === this.firsts.length) {
      this.grow();
      return this.id(first, second);
    }
    this.slots[slot] = this.count;
    this.firsts[this.count] = first;
    this.seconds[this.count] = second;
    return this.count++;
  }

  // Never more than half full.
  private grow(): void {
    const firsts = new Int32Array(this.count * 2), seconds = new Int32Array(this.count * 2);
    firsts.set(this.firsts);
    seconds.set(this.seconds);
    this.firsts = firsts;
    this.seconds = seconds;
    this.slots = new Int32Array(this.count * 4).fill(NO_ONE);
    const mask = this.slots.length - 1;
    for (let id = 0; id < this.count; ++id) {
      let slot = hash(firsts[id]!, seconds[id]!) & mask;
      while (this.slots[slot] !== NO_ONE) slot = (slot + 1) & mask;
      this.slots[slot] = id;
    }
  }
}

function hash(first: number, second: number): number {
  const mixed = Math.imul(first ^ Math.imul(second, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
