import { type Digest, DigestWriter } from "../core/digest.ts";
import { bundleError } from "./bundle_error.ts";
import { MemberNames } from "./member_names.ts";
import { TAR_BLOCK, tarHeader, type TarMember } from "./tar_header.ts";

/** What an archive is, after its last byte. */
export interface TarSummary {
  /** Of all bytes of the archive, uncompressed: its identity. */
  readonly digest: Digest;
  /** Bytes, uncompressed. */
  readonly size: number;
  readonly members: number;
}

const ZEROS = new Uint8Array(2 * TAR_BLOCK);

/**
 * Writes an archive whose every byte is specified: members sorted by the bytes of their names, one `ustar` header of the
 * one allowed form each, content padded with zeros to 512 bytes, and two blocks of zeros at the end.
 */
export class TarWriter {
  readonly #write: (bytes: Uint8Array) => void;
  readonly #names = new MemberNames();
  readonly #hash = new DigestWriter();

  /** @param write takes the bytes of the archive, in order */
  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  /**
   * Adds a member, whose content must have the size it states.
   *
   * @throws TracewrightError "archive_name", "archive_duplicate", "archive_order", "archive_too_large",
   * "archive_truncated" where the content is shorter or longer than stated
   */
  add(member: TarMember, content: Iterable<Uint8Array>): void {
    const header = tarHeader(member);
    this.#names.add(member.name);
    this.#put(header);
    let size = 0;
    for (const chunk of content) {
      size += chunk.length;
      this.#put(chunk);
    }
    if (size !== member.size) {
      throw bundleError("archive_truncated", {
        message: "the content of a member is not as long as was said",
        member: member.name,
        expected: member.size,
        actual: size,
      });
    }
    const over = size % TAR_BLOCK;
    if (over > 0) this.#put(ZEROS.subarray(0, TAR_BLOCK - over));
  }

  /** Ends the archive. */
  finish(): TarSummary {
    this.#put(ZEROS);
    return { digest: this.#hash.finish(), size: this.#hash.size, members: this.#names.count };
  }

  #put(bytes: Uint8Array): void {
    this.#hash.write(bytes);
    this.#write(bytes);
  }
}
