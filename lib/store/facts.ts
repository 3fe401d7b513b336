import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { runFolderName } from "./run_manifest.ts";
import { Temporaries } from "./_temporaries.ts";

/** What is true of one execution and of no digest: times, machine, versions. */
export interface RunFacts {
  readonly schema: "tracewright.facts.v1";
  readonly run_id: Digest;
  readonly result_id: Digest;
  readonly [fact: string]: Json;
}

/** The machine as far as it can be named without any permission. */
export function hostFacts(): { readonly [fact: string]: Json } {
  return {
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    os: Deno.build.os,
    arch: Deno.build.arch,
    cores: navigator.hardwareConcurrency,
  };
}

/** Where the facts of a run lie: beside its folder, since the folder holds nothing that no digest leads to. */
export function factsPath(directory: string, runId: Digest): string {
  return `${directory}/${runFolderName(runId)}.facts.json`;
}

/** Writes the facts of the latest execution beside the run folder, replacing those of an earlier one. */
export function writeFacts(
  facts: RunFacts,
  { directory, layer = diskLayer }: { directory: string; layer?: FileLayer },
): string {
  const path = factsPath(directory, facts.run_id);
  using temporaries = new Temporaries(layer, `${directory}/.tmp`);
  const temporary = temporaries.next();
  try {
    {
      using file = layer.create(temporary);
      file.write(new TextEncoder().encode(JSON.stringify(facts, null, 2) + "\n"));
      file.sync();
    }
    layer.rename(temporary, path);
  } finally {
    temporaries.discard(temporary);
  }
  return path;
}
