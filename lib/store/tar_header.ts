import { bundleError } from "./bundle_error.ts";
import { parseMemberName } from "./member_names.ts";

/** Bytes of a header, and what content is padded to. */
export const TAR_BLOCK = 512;

/** One file in an archive; an archive of this project holds nothing but files. */
export interface TarMember {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Field offsets and lengths of POSIX.1-1988 `ustar`. */
const NAME = [0, 100] as const;
const SIZE = [124, 12] as const;
const CHECKSUM = [148, 8] as const;
const TYPE = 156;
const PREFIX = [345, 155] as const;
/** Largest size that eleven octal digits hold. */
const MAX_SIZE = 0o77777777777;

const KINDS: Readonly<Record<string, string>> = {
  "1": "hard link",
  "2": "symbolic link",
  "3": "character device",
  "4": "block device",
  "5": "directory",
  "6": "fifo",
  "7": "contiguous file",
  "g": "global pax header",
  "x": "pax header",
  "K": "GNU long link",
  "L": "GNU long name",
  "S": "GNU sparse file",
};

const encoder = new TextEncoder();

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** Where a name is cut into prefix and rest: 0 where it is short, else the last `/` that leaves both parts short enough. */
function cut(name: string): number {
  if (name.length <= NAME[1]) return 0;
  const at = name.lastIndexOf("/", PREFIX[1]);
  const rest = name.length - at - 1;
  if (at > 0 && rest > 0 && rest <= NAME[1]) return at;
  throw bundleError("archive_name", {
    message: "a name is too long for the archive format",
    expected: `at most ${NAME[1]} characters after a / within the first ${PREFIX[1]}`,
    actual: name,
  });
}

/**
 * The one header a member may have: `ustar`, mode 0644, owner and group 0 without names, time 0, devices 0. The same
 * bytes as `tar --format=ustar --owner=0 --group=0 --numeric-owner --mode=0644 --mtime=@0` of GNU writes.
 *
 * @throws TracewrightError "archive_name", "archive_too_large"
 */
export function tarHeader({ name, size }: TarMember): Uint8Array<ArrayBuffer> {
  parseMemberName(name);
  if (!Number.isSafeInteger(size) || size < 0 || size > MAX_SIZE) {
    throw bundleError("archive_too_large", {
      member: name,
      expected: `at most ${MAX_SIZE} bytes`,
      actual: size,
    });
  }
  const at = cut(name);
  const header = new Uint8Array(TAR_BLOCK);
  const put = (offset: number, text: string) => header.set(encoder.encode(text), offset);
  put(NAME[0], at === 0 ? name : name.slice(at + 1));
  put(100, octal(0o644, 7)); // mode
  put(108, octal(0, 7)); // owner
  put(116, octal(0, 7)); // group
  put(SIZE[0], octal(size, 11));
  put(136, octal(0, 11)); // time of change
  put(CHECKSUM[0], " ".repeat(CHECKSUM[1]));
  put(TYPE, "0");
  put(257, "ustar\0" + "00");
  put(329, octal(0, 7)); // device numbers
  put(337, octal(0, 7));
  if (at > 0) put(PREFIX[0], name.slice(0, at));
  put(CHECKSUM[0], octal(sumOf(header), 6) + "\0 ");
  return header;
}

/**
 * Reads a header strictly: whatever is not exactly what {@link tarHeader} writes for the same name and size is refused.
 *
 * @throws TracewrightError "archive_checksum", "archive_member_kind", "archive_name", "archive_header"
 */
export function parseTarHeader(header: Uint8Array): TarMember {
  checkSum(header);
  const type = String.fromCharCode(header[TYPE]!);
  if (type !== "0" && type !== "\0") {
    throw bundleError("archive_member_kind", {
      message: "an archive may hold plain files only",
      expected: "a file",
      actual: KINDS[type] ?? `type ${JSON.stringify(type)}`,
    });
  }
  const prefix = textField(header, PREFIX);
  const rest = textField(header, NAME);
  const name = parseMemberName(prefix === "" ? rest : `${prefix}/${rest}`);
  const digits = textField(header, SIZE);
  const size = /^[0-7]{11}$/.test(digits) ? parseInt(digits, 8) : NaN;
  const expected = Number.isNaN(size) ? undefined : tarHeader({ name, size });
  const byte = expected?.findIndex((value, i) => value !== header[i]) ?? SIZE[0];
  if (byte === -1) return { name, size };
  throw bundleError("archive_header", {
    message: "a header is not written in the one form it may have",
    member: name,
    byte,
    expected: expected?.[byte] ?? "eleven octal digits",
    actual: expected === undefined ? digits : header[byte],
  });
}

/** The sum over a header with its own sum field taken as spaces. */
function sumOf(header: Uint8Array): number {
  let sum = 0;
  const [start, length] = CHECKSUM;
  for (let i = 0; i < TAR_BLOCK; i++) sum += i >= start && i < start + length ? 32 : header[i]!;
  return sum;
}

function checkSum(header: Uint8Array): void {
  const [start, length] = CHECKSUM;
  const actual = String.fromCharCode(...header.subarray(start, start + length));
  const expected = octal(sumOf(header), 6) + "\0 ";
  if (actual !== expected) throw bundleError("archive_checksum", { expected, actual });
}

/** Text up to the first NUL, after which nothing else may stand. */
function textField(header: Uint8Array, [start, length]: readonly [number, number]): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  const bytes = end < 0 ? field : field.subarray(0, end);
  const text = String.fromCharCode(...bytes);
  if (end < 0 || field.subarray(end).every((byte) => byte === 0)) return text;
  throw bundleError("archive_name", {
    message: "a field of a header goes on after its end",
    expected: text,
    actual: String.fromCharCode(...field),
  });
}
