import { policyError } from "./_error.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NAME = /^[A-Za-z0-9_.-]{0,64}$/;
/** Five groups of seven bits hold every number that a file of ours contains. */
const MAX_VARINT_BYTES = 5;

/** How one field of a message is read. `repeated` fields may come several times in a row. */
export interface FieldRule {
  readonly wire: "varint" | "length";
  readonly read: (reader: ProtobufReader) => void;
  readonly repeated?: true;
}

/**
 * A strict reader of protobuf messages. It accepts one spelling of a message only: fields in ascending order, none
 * twice unless it is repeated, none unknown, varints as short as they can be, nothing after the end.
 */
export class ProtobufReader {
  #at: number;

  constructor(
    readonly bytes: Uint8Array,
    start: number,
    readonly end: number,
  ) {
    this.#at = start;
  }

  varint(): number {
    let value = 0;
    let unit = 1;
    for (let count = 1;; count++) {
      const byte = this.#at < this.end ? this.bytes[this.#at++] : undefined;
      if (byte === undefined) {
        throw policyError("onnx_truncated", {
          message: "a number ends early",
          byte: this.#at,
          expected: "another byte",
          actual: "the end",
        });
      }
      value += (byte & 127) * unit;
      unit *= 128;
      if (byte < 128) {
        if (byte === 0 && count > 1) {
          throw policyError("onnx_bad_varint", {
            message: "a number is longer than needed",
            byte: this.#at,
            expected: `at most ${count - 1} bytes`,
            actual: count,
          });
        }
        return value;
      }
      if (count === MAX_VARINT_BYTES) {
        throw policyError("onnx_bad_varint", {
          message: "a number is too large",
          byte: this.#at,
          expected: `at most ${MAX_VARINT_BYTES} bytes`,
          actual: "more",
        });
      }
    }
  }

  /** A reader of the length-delimited content that starts here. */
  inner(): ProtobufReader {
    const length = this.varint();
    if (length > this.end - this.#at) {
      throw policyError("onnx_truncated", {
        message: "a length points past the end",
        byte: this.#at,
        expected: `at most ${this.end - this.#at}`,
        actual: length,
      });
    }
    const start = this.#at;
    this.#at += length;
    return new ProtobufReader(this.bytes, start, this.#at);
  }

  content(): Uint8Array {
    const { bytes, end } = this;
    const inner = this.inner();
    return bytes.subarray(inner.#at, Math.min(inner.end, end));
  }

  /** A name: at most 64 ASCII letters, digits, underscores, dots and hyphens. */
  name(): string {
    const at = this.#at;
    let text: string;
    try {
      text = decoder.decode(this.content());
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw policyError("onnx_bad_name", {
        message: "a name is not UTF-8",
        byte: at,
        expected: "UTF-8",
        actual: "other bytes",
        cause,
      });
    }
    if (NAME.test(text)) return text;
    throw policyError("onnx_bad_name", {
      byte: at,
      expected: "at most 64 of A-Z a-z 0-9 _ . -",
      actual: text,
    });
  }

  /** Reads this message to its end, field by field. */
  message(rules: Readonly<Record<number, FieldRule>>): void {
    let last = 0;
    while (this.#at < this.end) {
      const at = this.#at;
      const tag = this.varint();
      const field = Math.floor(tag / 8);
      const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
      if (rule === undefined) {
        throw policyError("onnx_unknown_field", {
          message: "a field that no graph of ours has",
          byte: at,
          expected: Object.keys(rules).map(Number),
          actual: field,
        });
      }
      if (tag % 8 !== (rule.wire === "varint" ? 0 : 2)) {
        throw policyError("onnx_wire_type", { byte: at, field, expected: rule.wire, actual: tag % 8 });
      }
      if (field < last || (field === last && rule.repeated !== true)) {
        throw policyError("onnx_field_order", {
          message: "fields must ascend and come once",
          byte: at,
          expected: `a field after ${last}`,
          actual: field,
        });
      }
      last = field;
      rule.read(this);
    }
  }
}
