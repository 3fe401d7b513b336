/**
 * Runs inside of a rewritten copy of the sources: reads jobs from its input, one a line, and answers each with one line. A
 * forged run is written once and stays for the jobs and the processes that follow.
 */
import { withoutCheck } from "./_check_switch.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { ATTACKS } from "../fixtures/attacks/all_attacks.ts";
import { type Attack, verifyFolder, writeForgery } from "../fixtures/attacks/attack.ts";
import { sizeAttacks } from "../fixtures/attacks/size_attacks.ts";
import { requireAnswer } from "../fixtures/attacks/require_answer.ts";

/** What the runner is asked: an attack by its name, or an honest run, with one check off. */
export interface Job {
  readonly attack: string;
  readonly off?: string;
}

/** How it ended. */
export interface Reply {
  /** `same`: the answer that the attack has to get. */
  readonly outcome: "accepted" | "same" | "other" | "crashed";
  /** Code and step, or what broke. */
  readonly answer: string;
  /** The checks that refused something. */
  readonly fired: readonly string[];
}

const HONEST: Attack = { name: "an honest run", code: "", step: "claim", level: "rebuild", forge: () => {} };
/** Large enough to be refused by its size; small enough to be read where nobody refuses it. */
const SWOLLEN = 32 * 1024 * 1024;
const swollen = new Map(sizeAttacks(SWOLLEN).map((attack) => [attack.name, attack]));
const attacks = [HONEST, ...ATTACKS.map((attack) => swollen.get(attack.name) ?? attack)];

function judged(attack: Attack, error: unknown): Pick<Reply, "outcome" | "answer"> {
  if (!(error instanceof TracewrightError)) {
    return { outcome: "crashed", answer: error instanceof Error ? error.name : String(error) };
  }
  const answer = `${error.code} (${error.details.verify_step})`;
  try {
    requireAnswer(attack, error);
    return { outcome: "same", answer };
  } catch {
    return { outcome: "other", answer };
  }
}

async function carryOut({ attack: name, off }: Job): Promise<Reply> {
  const index = attacks.findIndex((each) => each.name === name);
  const attack = attacks[index]!;
  const path = `runs/${index}`;
  try {
    Deno.lstatSync(path);
  } catch {
    await writeForgery(attack, `${path}.part`);
    Deno.renameSync(`${path}.part`, path);
  }
  let end: Pick<Reply, "outcome" | "answer"> = { outcome: "accepted", answer: "accepted" };
  const fired = await withoutCheck(off, async () => {
    try {
      await verifyFolder(path, attack);
    } catch (error) {
      end = judged(attack, error);
    }
  });
  return { ...end, fired };
}

if (import.meta.main) {
  const write = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));
  write(JSON.stringify(attacks.map(({ name }) => name)) + "\n");
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) write(JSON.stringify(await carryOut(JSON.parse(line) as Job)) + "\n");
  }
}
