import { TracewrightError } from "../../lib/core/error.ts";
import type { Target } from "./target.ts";

/** What a target made of one input: accepted it, refused it with a code, or did what it should not. */
export type Judgement =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "finding"; readonly what: string; readonly signature: string };

/** The longest message of a refusal, in characters: a person has to read it. */
const MAX_MESSAGE = 8192;

function finding(what: string, error: unknown): Judgement {
  const stack = error instanceof Error ? error.stack ?? String(error) : String(error);
  const frame = stack.split("\n").find((line) => /^ +at .*\/(lib|cli|\.ci)\//.test(line)) ?? "";
  const name = error instanceof Error ? error.name : typeof error;
  return {
    kind: "finding",
    what: `${what}: ${stack.slice(0, 2000)}`,
    signature: `${what} ${name} ${frame.trim()}`,
  };
}

/** Has a target read one input and holds it to what it promises. */
export async function judge(target: Target, input: Uint8Array<ArrayBuffer>): Promise<Judgement> {
  const before = input.slice();
  let value: unknown;
  let code: string | undefined;
  try {
    value = await target.read(input);
  } catch (error) {
    if (!(error instanceof TracewrightError)) return finding("exception", error);
    if (!target.codes.includes(error.code)) return finding(`unexpected code ${error.code}`, error);
    if (error.message.length > MAX_MESSAGE) {
      return finding(`message of ${error.message.length} characters`, error);
    }
    code = error.code;
  }
  try {
    if (code === undefined) await target.hold(value, input);
    else await target.refused?.(input);
  } catch (error) {
    return finding(code === undefined ? "accepted, but" : `refused as ${code}, but`, error);
  }
  const changed = before.findIndex((byte, i) => input[i] !== byte);
  if (changed >= 0) return finding("the reader changed its input", new Error(`byte ${changed}`));
  return code === undefined ? { kind: "accepted" } : { kind: "refused", code };
}
