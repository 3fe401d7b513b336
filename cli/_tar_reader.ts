import { TracewrightError } from "../lib/core/error.ts";

/** What can be wrong with an archive. */
export type ArchiveCode = "archive_damaged" | "archive_cut_short";

/** Takes the content of one file of an archive. */
export interface MemberSink {
  write(bytes: Uint8Array): void;
  end(): void;
}

const BLOCK = 512;
const decoder = new TextDecoder();

function text(block: Uint8Array, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

function damaged(field: string, expected: string, actual: unknown): never {
  throw new TracewrightError<"cli", ArchiveCode>("archive_damaged", {
    message: "this is not a tar archive, or a damaged one",
    field,
    expected,
    actual,
  });
}

/** Octal digits, as tar writes numbers. */
function octal(block: Uint8Array, { from, length, field }: { from: number; length: number; field: string }) {
  const digits = text(block, from, length).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : damaged(field, "octal digits", digits);
}

/** The sum of all bytes of a header, its checksum field counted as blanks. */
function checksum(block: Uint8Array): number {
  return block.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 0x20 : byte), 0);
}

/**
 * Reads a tar archive (POSIX ustar or GNU) of other people, unlike the reader of the store, which takes only what this project
 * writes. The archive comes in pieces, and the content of chosen files is passed on. Nothing is kept,
 * and nothing is written anywhere, so links and paths cannot do harm; extended headers are skipped, and with them names of
 * more than 100 characters.
 */
export class TarReader {
  readonly #open: (name: string) => MemberSink | undefined;
  readonly #header = new Uint8Array(BLOCK);
  #filled = 0;
  /** Bytes of the present member that are still to come, and how many fill its last block up. */
  #left = 0;
  #padding = 0;
  #sink: MemberSink | undefined;
  #ended = false;

  /** @param open says what takes a file's content, by its path in the archive; undefined for a file to pass over */
  constructor(open: (name: string) => MemberSink | undefined) {
    this.#open = open;
  }

  /** Takes the next bytes. @throws TracewrightError "archive_damaged", and whatever a sink throws */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#ended;) {
      if (this.#left > 0) {
        const piece = bytes.subarray(at, at + this.#left);
        this.#sink?.write(piece);
        at += piece.length;
        this.#left -= piece.length;
        if (this.#left === 0) this.#finishMember();
      } else if (this.#padding > 0) {
        const skipped = Math.min(this.#padding, bytes.length - at);
        at += skipped;
        this.#padding -= skipped;
      } else {
        const piece = bytes.subarray(at, at + BLOCK - this.#filled);
        this.#header.set(piece, this.#filled);
        at += piece.length;
        this.#filled += piece.length;
        if (this.#filled === BLOCK) this.#takeHeader();
      }
    }
  }

  /** Says that no more bytes come. @throws TracewrightError "archive_cut_short" where the closing block is missing */
  end(): void {
    if (this.#ended) return;
    throw new TracewrightError<"cli", ArchiveCode>("archive_cut_short", {
      message: "the archive ends before its closing block",
      hint: "get the archive again",
    });
  }

  #takeHeader(): void {
    this.#filled = 0;
    const block = this.#header;
    if (block.every((byte) => byte === 0)) {
      this.#ended = true;
      return;
    }
    const sum = octal(block, { from: 148, length: 8, field: "checksum" });
    if (sum !== checksum(block)) damaged("checksum", String(checksum(block)), sum);
    this.#left = octal(block, { from: 124, length: 12, field: "size" });
    this.#padding = (BLOCK - this.#left % BLOCK) % BLOCK;
    const type = String.fromCharCode(block[156]!);
    const prefix = text(block, 257, 6) === "ustar" ? text(block, 345, 155) : "";
    const name = (prefix === "" ? "" : `${prefix}/`) + text(block, 0, 100);
    this.#sink = type === "0" || type === "\0" ? this.#open(name) : undefined;
    if (this.#left === 0) this.#finishMember();
  }

  #finishMember(): void {
    this.#sink?.end();
    this.#sink = undefined;
  }
}
