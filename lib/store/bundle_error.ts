import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/**
 * What can be wrong with an archive, a key, a signature or an attestation. They stand apart from the codes of the
 * store, on which every stage is built, so that a new one leaves the code digests of all stages alone.
 */
export type BundleCode =
  | "archive_name"
  | "archive_duplicate"
  | "archive_order"
  | "archive_member_kind"
  | "archive_checksum"
  | "archive_header"
  | "archive_padding"
  | "archive_truncated"
  | "archive_trailing_data"
  | "archive_too_many_members"
  | "archive_too_large"
  | "archive_compression"
  | "archive_root"
  | "folder_exists"
  | "bad_key"
  | "bad_envelope"
  | "bad_signature"
  | "unknown_signer"
  | "bad_attestation"
  | "store_in_use"
  | "blob_shared"
  | "dangling_ref";

/** The error of bundles and attestations. */
export function bundleError(
  code: BundleCode,
  details: ErrorDetails,
): TracewrightError<"store", BundleCode> {
  return new TracewrightError<"store", BundleCode>(code, details);
}
