import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** What the file system itself refused. A command that meets one of these could not complete: exit code 3. */
export const IO_CODES = ["disk_full", "read_only", "not_readable", "no_such_file", "io_error"] as const;
/** See {@link IO_CODES}. */
export type IoCode = (typeof IO_CODES)[number];

/** Everything the room `store` can throw. All but {@link IoCode} mean: looked at, and wrong. */
export type StoreCode =
  | IoCode
  | "bad_name"
  | "missing_blob"
  | "blob_damaged"
  | "line_too_long"
  | "not_text"
  | "bad_action"
  | "impure_stage"
  | "bad_ref"
  | "bad_manifest"
  | "not_canonical"
  | "too_large"
  | "path_not_allowed"
  | "symlink_not_allowed"
  | "unexpected_file"
  | "missing_file"
  | "view_mismatch"
  | "run_not_found"
  | "ambiguous_run";

/** The error of this room. */
export function storeError(code: StoreCode, details: ErrorDetails): TracewrightError<"store", StoreCode> {
  return new TracewrightError<"store", StoreCode>(code, details);
}

/** True for a failure of the disk rather than of the content. */
export function isIoError(error: unknown): error is TracewrightError<"store", IoCode> {
  return error instanceof TracewrightError && (IO_CODES as readonly string[]).includes(error.code);
}
