import type { Target } from "./target.ts";

/** A target that is loaded only in the process that runs it. */
interface Entry {
  /** How many inputs CI tries: together 20 seconds on two processors. */
  readonly inputs: number;
  readonly load: () => Promise<{ readonly default: Target }>;
}

/** Every target by name. */
export const TARGETS: Readonly<Record<string, Entry>> = {
  "canonical-json": { inputs: 4000, load: () => import("./targets/canonical_json.ts") },
  "dag-manifest": { inputs: 1000, load: () => import("./targets/dag_manifest.ts") },
  "run-manifest": { inputs: 1000, load: () => import("./targets/run_manifest.ts") },
  "run-folder": { inputs: 1000, load: () => import("./targets/run_folder.ts") },
  "oci-layout": { inputs: 1000, load: () => import("./targets/oci_layout.ts") },
  "trace-lines": { inputs: 300, load: () => import("./targets/trace_lines.ts") },
  "trace-counts": { inputs: 600, load: () => import("./targets/trace_counts.ts") },
  "text-lines": { inputs: 600, load: () => import("./targets/text_lines.ts") },
  "task-lines": { inputs: 400, load: () => import("./targets/task_lines.ts") },
  "yaml-config": { inputs: 300, load: () => import("./targets/yaml_config.ts") },
  "onnx": { inputs: 400, load: () => import("./targets/onnx.ts") },
  "checkpoint": { inputs: 600, load: () => import("./targets/checkpoint.ts") },
  "tar": { inputs: 1200, load: () => import("./targets/tar.ts") },
  "bundle": { inputs: 400, load: () => import("./targets/bundle.ts") },
  "envelope": { inputs: 1000, load: () => import("./targets/envelope.ts") },
  "statement": { inputs: 1000, load: () => import("./targets/statement.ts") },
  "key": { inputs: 800, load: () => import("./targets/key.ts") },
  "records": { inputs: 500, load: () => import("./targets/records.ts") },
};

const broken = (name: keyof typeof import("./broken.ts"), inputs = 400): Entry => ({
  inputs,
  load: async () => ({ default: (await import("./broken.ts"))[name] }),
});

/** Targets with something wrong in them: what the fuzzer must find, or it can find nothing. */
export const BROKEN: Readonly<Record<string, Entry>> = {
  "broken-exception": broken("exception"),
  "broken-code": broken("code"),
  "broken-property": broken("property"),
  "broken-loop": broken("loop"),
  "broken-memory": broken("memory", 30),
  "broken-exit": broken("exit"),
  "broken-promise": broken("promise"),
  "broken-write": broken("permission"),
};

/** The entry of a target of either list. */
export function targetEntry(name: string): Entry {
  const entry = TARGETS[name] ?? BROKEN[name];
  if (entry !== undefined) return entry;
  throw new Error(`no such target: ${name}; there are ${Object.keys(TARGETS).join(", ")}`);
}

/** Loads a target of either list. */
export async function loadTarget(name: string): Promise<Target> {
  return (await targetEntry(name).load()).default;
}
