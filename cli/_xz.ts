import { TracewrightError } from "../lib/core/error.ts";

type Decompressor = new (compressed: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];

/** Whether content starts as an xz stream does. */
export function isXz(start: Uint8Array): boolean {
  return MAGIC.every((byte, i) => start[i] === byte);
}

/**
 * Decompresses an xz stream, piece by piece, in WebAssembly.
 *
 * @throws TracewrightError "archive_damaged"
 */
export async function* unxz(compressed: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  // The package's types tell of a named export; what Deno sees of its CommonJS file is the default one.
  const { default: xz } = await import("xz-decompress") as unknown as {
    readonly default: { readonly XzReadableStream: Decompressor };
  };
  try {
    yield* new xz.XzReadableStream(compressed);
  } catch (cause) {
    if (cause instanceof TracewrightError) throw cause;
    throw new TracewrightError<"cli", "archive_damaged">("archive_damaged", {
      message: "the archive does not decompress",
      hint: "get the archive again",
      cause,
    });
  }
}
