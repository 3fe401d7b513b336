import type { Digest } from "../core/digest.ts";
import type { Run } from "../store/read_run.ts";
import type { OutputName } from "./verify_subject.ts";

/** The recorded digest of an output. The structure step has made sure that it is there. */
export function digestOfOutput(run: Run, { node, output }: OutputName): Digest {
  const found = run.dag.nodes.find(({ id }) => id === node)?.outputs[output];
  if (found === undefined) throw new TypeError(`the plan names ${node}/${output}, which the run lacks`);
  return found.digest;
}

/** The bytes of an output, hashed again. */
export function bytesOf(run: Run, name: OutputName): Uint8Array<ArrayBuffer> {
  return run.open(digestOfOutput(run, name)).bytes();
}

/** The lines of an output, hashed again; not all in memory. */
export function linesOf(run: Run, name: OutputName): Iterable<string> {
  return run.open(digestOfOutput(run, name)).lines();
}
