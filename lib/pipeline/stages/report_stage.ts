import { z } from "zod";
import { runReport } from "../../report/run_report.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { MEDIA } from "../media_types.ts";

/** Writes the report from the run's records. */
export const reportStage = defineStage({
  name: "report",
  version: 1,
  params: z.strictObject({}),
  inputs: {
    config: { media_type: MEDIA.config },
    benchmark: { media_type: MEDIA.benchmark },
    metrics: { media_type: MEDIA.metrics },
    "training/*": { media_type: MEDIA.training },
    "calibration/*": { media_type: MEDIA.calibration, optional: true },
  },
  outputs: { "report.md": { media_type: MEDIA.report } },
  run({ input, inputNames, output }) {
    output("report.md").write(runReport({
      config: input("config").bytes(),
      benchmark: input("benchmark").bytes(),
      metrics: input("metrics").bytes(),
      records: inputNames().filter((name) => /^(training|calibration)\//.test(name)).map((name) => ({
        name,
        bytes: input(name).bytes(),
      })),
    }));
  },
});
