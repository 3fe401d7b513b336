import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { TracewrightError } from "../core/error.ts";
import { bundleError } from "./bundle_error.ts";
import type { FileLayer, WriteHandle } from "./file_layer.ts";
import { storeError } from "./store_error.ts";

const CHUNK = 256 * 1024;
/** First bytes of a zstd frame (RFC 8878, section 3.1.1). */
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd] as const;
/** Largest window, 8 MiB: what every decoder supports (RFC 8878, section 3.1.1.1.2), and so the most memory one takes. */
const WINDOW_LOG = 23;

function* chunksOf(path: string, layer: FileLayer): Generator<Uint8Array<ArrayBuffer>> {
  using handle = layer.open(path);
  if (handle === undefined) {
    throw storeError("no_such_file", { message: "there is no such file", path, hint: "check the path" });
  }
  for (;;) {
    const chunk = new Uint8Array(CHUNK);
    const count = handle.read(chunk);
    if (count === 0) return;
    yield chunk.subarray(0, count);
  }
}

/** Compresses a file with zstd. Other versions of zstd give other bytes: nothing may depend on them. */
export async function compressFile(path: string, out: WriteHandle, layer: FileLayer): Promise<void> {
  const stream = createZstdCompress({
    params: {
      [constants.ZSTD_c_compressionLevel]: 12,
      [constants.ZSTD_c_windowLog]: WINDOW_LOG,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  await pipeline(Readable.from(chunksOf(path, layer)), stream, async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) out.write(chunk);
  });
}

/**
 * Gives out what a file holds, decompressed where it is zstd, piece by piece: what it swells to is up to `take` to stop.
 *
 * @throws TracewrightError "archive_compression", "archive_trailing_data", "no_such_file" and I/O codes, and whatever `take` throws
 */
export async function decompressFile(
  path: string,
  take: (bytes: Uint8Array) => void,
  layer: FileLayer,
): Promise<void> {
  const chunks = chunksOf(path, layer);
  try {
    const first = chunks.next();
    if (first.done) return;
    const whole = function* () {
      yield first.value;
      yield* chunks;
    };
    if (MAGIC.every((byte, i) => first.value[i] === byte)) await decompress(whole(), take, path);
    else for (const chunk of whole()) take(chunk);
  } finally {
    chunks.return(undefined);
  }
}

/**
 * Gives a stream what its decoder throws. Deno hands over an error of the first output of a piece of input; one that comes
 * later is thrown where nobody is left to catch it, and would end the process.
 */
function caughtInto(stream: { destroy(error: Error): unknown }): Disposable {
  const listener = (event: ErrorEvent) => {
    const { error } = event;
    if (!(error instanceof Error) || !error.message.startsWith("Zstd decompress error")) return;
    event.preventDefault();
    stream.destroy(error);
  };
  globalThis.addEventListener("error", listener);
  return { [Symbol.dispose]: () => globalThis.removeEventListener("error", listener) };
}

async function decompress(
  chunks: Iterable<Uint8Array>,
  take: (bytes: Uint8Array) => void,
  path: string,
): Promise<void> {
  const stream = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG } });
  let given = 0;
  const counted = function* () {
    for (const chunk of chunks) {
      given += chunk.length;
      yield chunk;
    }
  };
  using _loose = caughtInto(stream);
  // The pipeline reports that it was taken down, not always by whom.
  let refusal: unknown;
  try {
    await pipeline(Readable.from(counted()), stream, async (source: AsyncIterable<Uint8Array>) => {
      try {
        for await (const chunk of source) take(chunk);
      } catch (error) {
        if (error instanceof TracewrightError) refusal = error;
        throw error;
      }
    });
  } catch (cause) {
    if (refusal === undefined && cause instanceof TracewrightError) throw cause; // the disk, not what was on it
    throw refusal ?? bundleError("archive_compression", {
      message: cause instanceof Error ? cause.message : String(cause),
      path,
      cause,
    });
  }
  // The decoder stops after one frame and says nothing of what follows.
  if (stream.bytesWritten !== given) {
    throw bundleError("archive_trailing_data", {
      message: "something follows the compressed archive",
      path,
      expected: stream.bytesWritten,
      actual: given,
      hint: "compress the archive as one zstd frame, or hand on the plain archive",
    });
  }
}
