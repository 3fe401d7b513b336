import { storeError } from "./store_error.ts";

/** The longest name, in characters. */
export const MAX_NAME = 200;

const SEGMENT = /^[a-z0-9][a-z0-9._-]*$/;
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/;

/**
 * True for a name that means the same on every file system: relative, `/` between segments of `[a-z0-9._-]` that
 * start with a letter or a digit and do not end with a dot, no device name of Windows, at most {@link MAX_NAME} characters.
 */
export function isRunName(name: string): boolean {
  return name.length <= MAX_NAME &&
    name.split("/").every((segment) =>
      SEGMENT.test(segment) && !segment.endsWith(".") && !DEVICE.test(segment)
    );
}

/**
 * Passes a name of a node, an output, a view or a reference on, or refuses it.
 *
 * @throws TracewrightError "path_not_allowed"
 */
export function parseRunName(name: string, place: { readonly [where: string]: unknown } = {}): string {
  if (isRunName(name)) return name;
  throw storeError("path_not_allowed", {
    message: "a name is not a relative path that is the same on every system",
    ...place,
    expected:
      "segments of a-z 0-9 . _ - with / between them, starting with a-z or 0-9, not ending with a dot, no device name",
    actual: name,
  });
}
