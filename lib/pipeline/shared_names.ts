/**
 * Names that are read again and again, each held once. Every run of an experiment names the same cases, and a text that was
 * parsed anew for each of them would be most of what a stage holds.
 */
export class SharedNames {
  readonly #names = new Map<string, string>();

  /** The name as it was first met: the same text. */
  of(name: string): string {
    const known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, name);
    return known ?? name;
  }
}
