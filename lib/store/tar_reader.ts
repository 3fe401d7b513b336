import { DigestWriter } from "../core/digest.ts";
import { bundleError } from "./bundle_error.ts";
import { MemberNames } from "./member_names.ts";
import { parseTarHeader, TAR_BLOCK, type TarMember } from "./tar_header.ts";
import type { TarSummary } from "./tar_writer.ts";

/** Takes the content of one member. */
export interface MemberSink {
  write(bytes: Uint8Array): void;
  /** Called once, after the last byte. */
  end(): void;
}

/** How much an archive may hold. */
export interface TarLimits {
  /** Bytes of the whole archive, uncompressed. */
  readonly size: number;
  readonly members: number;
}

/** The limits of a bundle (evaluation-and-evidence.md, section 14). */
export const BUNDLE_LIMITS: TarLimits = { size: 8 * 1024 ** 3, members: 10_000 };

/**
 * Reads an archive that comes in pieces of any size, and refuses everything but the one form that `TarWriter` gives it:
 * no links, devices or folders, no name that leads elsewhere or twice to one place, no other spelling of a header, nothing
 * after the end. Holds one header and the names; content goes to sinks as it comes.
 */
export class TarReader {
  readonly #begin: (member: TarMember) => MemberSink;
  readonly #limits: TarLimits;
  readonly #names = new MemberNames();
  readonly #hash = new DigestWriter();
  readonly #header = new Uint8Array(TAR_BLOCK);
  #filled = 0;
  /** Bytes taken so far. */
  #position = 0;
  #state: "header" | "content" | "padding" | "last" | "ended" = "header";
  /** Bytes of content or padding still to come. */
  #left = 0;
  #member: TarMember | undefined;
  #sink: MemberSink | undefined;

  /** @param begin opens a sink for a member whose name has been checked */
  constructor(begin: (member: TarMember) => MemberSink, limits: TarLimits = BUNDLE_LIMITS) {
    this.#begin = begin;
    this.#limits = limits;
  }

  /**
   * Takes the next piece.
   *
   * @throws TracewrightError with one of the codes `archive_*`, and whatever the sinks throw
   */
  push(bytes: Uint8Array): void {
    if (this.#hash.size + bytes.length > this.#limits.size) {
      throw bundleError("archive_too_large", {
        expected: `at most ${this.#limits.size} bytes`,
        actual: this.#hash.size + bytes.length,
      });
    }
    this.#hash.write(bytes);
    for (let at = 0; at < bytes.length;) {
      const taken = this.#take(bytes.subarray(at));
      at += taken;
      this.#position += taken;
    }
  }

  /**
   * Ends the archive.
   *
   * @throws TracewrightError "archive_truncated"
   */
  finish(): TarSummary {
    if (this.#state !== "ended") {
      throw bundleError("archive_truncated", {
        message: "the archive ends too early",
        ...(this.#member === undefined ? {} : { member: this.#member.name }),
        expected: "two blocks of zeros at the end",
        actual: `${this.#hash.size} bytes, ending in a ${this.#state}`,
      });
    }
    return { digest: this.#hash.finish(), size: this.#hash.size, members: this.#names.count };
  }

  /** Takes some of the bytes; returns how many. */
  #take(bytes: Uint8Array): number {
    switch (this.#state) {
      case "ended":
        throw bundleError("archive_trailing_data", { message: "something follows the end of the archive" });
      case "content": {
        const part = bytes.subarray(0, this.#left);
        this.#sink?.write(part);
        this.#left -= part.length;
        if (this.#left === 0) this.#endMember();
        return part.length;
      }
      case "padding": {
        const part = bytes.subarray(0, this.#left);
        if (part.some((byte) => byte !== 0)) {
          throw bundleError("archive_padding", {
            message: "the room between two members is not empty",
            member: this.#member?.name,
          });
        }
        this.#left -= part.length;
        if (this.#left === 0) this.#state = "header";
        return part.length;
      }
      default: {
        const part = bytes.subarray(0, TAR_BLOCK - this.#filled);
        this.#header.set(part, this.#filled);
        this.#filled += part.length;
        if (this.#filled === TAR_BLOCK) this.#takeBlock();
        return part.length;
      }
    }
  }

  #takeBlock(): void {
    this.#filled = 0;
    const empty = this.#header.every((byte) => byte === 0);
    if (this.#state === "last") {
      if (!empty) {
        throw bundleError("archive_header", { message: "one block of zeros does not end an archive" });
      }
      this.#state = "ended";
    } else if (empty) {
      this.#state = "last";
    } else {
      this.#beginMember(parseTarHeader(this.#header));
    }
  }

  #beginMember(member: TarMember): void {
    if (this.#names.count >= this.#limits.members) {
      throw bundleError("archive_too_many_members", {
        expected: `at most ${this.#limits.members} members`,
        actual: "more",
      });
    }
    if (this.#position + TAR_BLOCK + member.size > this.#limits.size) {
      throw bundleError("archive_too_large", {
        member: member.name,
        expected: `at most ${this.#limits.size} bytes in all`,
        actual: member.size,
      });
    }
    this.#names.add(member.name);
    this.#member = member;
    this.#sink = this.#begin(member);
    this.#left = member.size;
    this.#state = "content";
    if (member.size === 0) this.#endMember();
  }

  #endMember(): void {
    this.#sink?.end();
    this.#sink = undefined;
    const over = (this.#member?.size ?? 0) % TAR_BLOCK;
    this.#left = over === 0 ? 0 : TAR_BLOCK - over;
    this.#state = this.#left === 0 ? "header" : "padding";
  }
}
