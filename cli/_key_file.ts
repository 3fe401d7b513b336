import { diskLayer } from "../lib/store/file_layer.ts";
import {
  readSigningKey,
  readVerifyingKey,
  type SigningKey,
  type VerifyingKey,
} from "../lib/store/signing_key.ts";
import { storeError } from "../lib/store/store_error.ts";

/** No key is longer. */
const MAX_KEY_FILE = 16 * 1024;

function textOf(path: string): string {
  const size = diskLayer.facts(path)?.size ?? 0;
  const bytes = size > MAX_KEY_FILE ? new Uint8Array() : diskLayer.read(path);
  if (bytes !== undefined) return new TextDecoder().decode(bytes);
  throw storeError("no_such_file", {
    message: "there is no such key file",
    path,
    hint: "keygen makes a pair",
  });
}

/** @throws TracewrightError "no_such_file", "bad_key" */
export function loadSigningKey(path: string): Promise<SigningKey> {
  return readSigningKey(textOf(path));
}

/** @throws TracewrightError "no_such_file", "bad_key" */
export function loadVerifyingKey(path: string): Promise<VerifyingKey> {
  return readVerifyingKey(textOf(path));
}
