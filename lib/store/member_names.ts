import { bundleError } from "./bundle_error.ts";

/** Most segments in the name of a member; what a run needs is four. */
export const MAX_SEGMENTS = 16;

const SEGMENT = /^[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*$|^\.[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*$/;
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/**
 * Passes the name of an archive member on, or refuses it: relative, `/` between segments of printable ASCII without
 * anything that a file system could read as more than a name. Absolute names, `..`, `.`, empty segments, backslashes,
 * drives, control characters, trailing dots and device names of Windows are all outside of that.
 *
 * @throws TracewrightError "archive_name"
 */
export function parseMemberName(name: string): string {
  const segments = name.split("/");
  const good = name.length <= 256 && segments.length <= MAX_SEGMENTS &&
    segments.every((segment) => SEGMENT.test(segment) && !segment.endsWith(".") && !DEVICE.test(segment));
  if (good) return name;
  throw bundleError("archive_name", {
    message: "a member has a name that may lead out of the folder it is written to, or mean different files",
    expected:
      `at most ${MAX_SEGMENTS} segments of A-Z a-z 0-9 . _ @ + - with / between them, none of them . or ..`,
    actual: name,
  });
}

/**
 * The names of an archive, one after the other: each allowed, none twice, none the same as another on a file system that
 * does not tell upper case from lower, and none both a file and a folder. Memory grows with the number of names only.
 */
export class MemberNames {
  /** Lower-cased path to its one spelling. */
  readonly #files = new Map<string, string>();
  readonly #folders = new Map<string, string>();
  #last = "";

  /** How many there are. */
  get count(): number {
    return this.#files.size;
  }

  /** @throws TracewrightError "archive_name", "archive_duplicate", "archive_order" */
  add(name: string): void {
    parseMemberName(name);
    const low = name.toLowerCase();
    const known = this.#files.get(low) ?? this.#folders.get(low);
    if (known !== undefined) twin(name, known);
    for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
      const folder = name.slice(0, at);
      const lowFolder = low.slice(0, at);
      const file = this.#files.get(lowFolder);
      if (file !== undefined) twin(name, file);
      const spelt = this.#folders.get(lowFolder);
      if (spelt !== undefined && spelt !== folder) twin(name, spelt);
      this.#folders.set(lowFolder, folder);
    }
    // ASCII only, so that code units stand in the order of bytes, as LC_ALL=C sorts.
    if (this.#files.size > 0 && !(this.#last < name)) {
      throw bundleError("archive_order", {
        message: "members are not sorted by the bytes of their names",
        expected: `a name after ${this.#last}`,
        actual: name,
      });
    }
    this.#files.set(low, name);
    this.#last = name;
  }
}

function twin(name: string, known: string): never {
  throw bundleError("archive_duplicate", {
    message: "two members would be one file, or a file and a folder, on some system",
    expected: "a name that no other member has, whatever the case of its letters",
    actual: name,
    earlier: known,
  });
}
