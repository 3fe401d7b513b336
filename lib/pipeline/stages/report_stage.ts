import { z } from "zod";
import { type Digest, isDigest } from "../../core/digest.ts";
import { runReport } from "../../report/run_report.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { MEDIA } from "../media_types.ts";

/** Writes the report from the run's records. */
export const reportStage = defineStage({
  name: "report",
  version: 1,
  params: z.strictObject({
    /** Digest of the pre-registration that the config realises; null where it has none. */
    registration: z.custom<Digest>(isDigest).nullable(),
  }),
  inputs: {
    config: { media_type: MEDIA.config },
    benchmark: { media_type: MEDIA.benchmark },
    metrics: { media_type: MEDIA.metrics },
    "training/*": { media_type: MEDIA.training },
    "calibration/*": { media_type: MEDIA.calibration, optional: true },
    "claim/*": { media_type: MEDIA.claim, optional: true },
    "statistics/*": { media_type: MEDIA.statistics, optional: true },
    "mask/*": { media_type: MEDIA.maskMetrics, optional: true },
    "rules/*": { media_type: MEDIA.metrics, optional: true },
  },
  outputs: { "report.md": { media_type: MEDIA.report } },
  run({ params: { registration }, input, inputNames, output }) {
    output("report.md").write(runReport({
      config: input("config").bytes(),
      benchmark: input("benchmark").bytes(),
      metrics: input("metrics").bytes(),
      records: inputNames().filter((name) => name.includes("/")).map((name) => ({
        name,
        bytes: input(name).bytes(),
      })),
      registration,
    }));
  },
});
