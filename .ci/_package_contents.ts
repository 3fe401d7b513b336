/** What may lie in the package: by name, by size and by what is written in it. */

/** Largest file, and largest package, in bytes (evaluation-and-evidence.md, section 15). */
export const MAX_FILE = 64 * 1024 * 1024;
export const MAX_PACKAGE = 256 * 1024 * 1024;

/** The files of a package by path, without the folder that npm asks for. */
export type PackageFiles = ReadonlyMap<string, Uint8Array>;

const SEGMENT = /^[A-Za-z0-9@+_-][A-Za-z0-9._@+-]*$/;
const FORBIDDEN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)\.env(\.(?!example$)[^/]*)?$/, "settings that may hold secrets"],
  [/\.(pem|key|p12|pfx|jks|keystore|asc|gpg)$|(^|\/)(id_(rsa|dsa|ecdsa|ed25519)|\.npmrc|\.netrc)$/, "a key"],
  [/(^|\/)(\.coverage[^/]*|coverage|\.nyc_output|lcov\.info)(\/|$)|\.(gcda|gcno|profraw)$/, "coverage data"],
  [/_(test|bench)\.(ts|js)$/, "a test"],
  [/\.map$/, "a source map, which holds the paths of a machine"],
];
const FORBIDDEN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN (RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY-----/, "a private key"],
  [
    /(^|[^A-Za-z0-9_./~])\/(home|root|Users|tmp|work|farm|private|var\/folders)\/[A-Za-z0-9_]/m,
    "the path of a machine",
  ],
  [/(^|[^A-Za-z])[A-Za-z]:\\\\?Users\\/m, "the path of a machine"],
  [/sourceMappingURL=/, "a source map"],
];
const BINARY = /\.(wasm|png)$/;

/** Everything that may not be in a package, one line each: the file, and what it is. */
export function contentFaults(files: PackageFiles): string[] {
  const faults: string[] = [];
  const lower = new Map<string, string>();
  let total = 0;
  for (const [path, bytes] of files) {
    const fault = (what: string) => faults.push(`${path}: ${what}`);
    if (!path.split("/").every((segment) => SEGMENT.test(segment) && !segment.endsWith("."))) {
      fault("a name that is not the same on every system");
    }
    const twin = lower.get(path.toLowerCase());
    if (twin !== undefined) fault(`the same file as ${twin} where case does not count`);
    lower.set(path.toLowerCase(), path);
    for (const [pattern, what] of FORBIDDEN_NAMES) if (pattern.test(path)) fault(what);
    if (bytes.length > MAX_FILE) fault(`larger than ${MAX_FILE} bytes`);
    total += bytes.length;
    if (BINARY.test(path)) continue;
    const text = new TextDecoder().decode(bytes);
    for (const [pattern, what] of FORBIDDEN_TEXT) if (pattern.test(text)) fault(what);
  }
  if (total > MAX_PACKAGE) faults.push(`the package has ${total} bytes, more than ${MAX_PACKAGE}`);
  return faults;
}
