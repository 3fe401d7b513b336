import type { Target } from "./target.ts";

type Load = () => Promise<{ readonly default: Target }>;

/** Every target by name; each is loaded only in the process that runs it. */
export const TARGETS: Readonly<Record<string, Load>> = {
  "canonical-json": () => import("./targets/canonical_json.ts"),
  "dag-manifest": () => import("./targets/dag_manifest.ts"),
  "run-manifest": () => import("./targets/run_manifest.ts"),
  "run-folder": () => import("./targets/run_folder.ts"),
  "oci-layout": () => import("./targets/oci_layout.ts"),
  "trace-lines": () => import("./targets/trace_lines.ts"),
  "trace-counts": () => import("./targets/trace_counts.ts"),
  "text-lines": () => import("./targets/text_lines.ts"),
  "task-lines": () => import("./targets/task_lines.ts"),
  "yaml-config": () => import("./targets/yaml_config.ts"),
  "onnx": () => import("./targets/onnx.ts"),
  "checkpoint": () => import("./targets/checkpoint.ts"),
  "tar": () => import("./targets/tar.ts"),
  "bundle": () => import("./targets/bundle.ts"),
  "envelope": () => import("./targets/envelope.ts"),
  "statement": () => import("./targets/statement.ts"),
  "key": () => import("./targets/key.ts"),
  "records": () => import("./targets/records.ts"),
};

/** Targets with something wrong in them: what the fuzzer must find, or it can find nothing. */
export const BROKEN: Readonly<Record<string, Load>> = {
  "broken-exception": async () => ({ default: (await import("./broken.ts")).exception }),
  "broken-code": async () => ({ default: (await import("./broken.ts")).code }),
  "broken-property": async () => ({ default: (await import("./broken.ts")).property }),
  "broken-loop": async () => ({ default: (await import("./broken.ts")).loop }),
  "broken-memory": async () => ({ default: (await import("./broken.ts")).memory }),
  "broken-exit": async () => ({ default: (await import("./broken.ts")).exit }),
  "broken-promise": async () => ({ default: (await import("./broken.ts")).promise }),
  "broken-write": async () => ({ default: (await import("./broken.ts")).permission }),
};

/** Loads a target of either list. */
export async function loadTarget(name: string): Promise<Target> {
  const load = TARGETS[name] ?? BROKEN[name];
  if (load === undefined) {
    throw new Error(`no such target: ${name}; there are ${Object.keys(TARGETS).join(", ")}`);
  }
  return (await load()).default;
}
