import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { labelSplit } from "../episode/progress_labels.ts";
import { encoderFor } from "../policy/encoder.ts";
import type { CalibrationSubject, EvaluationSubject, VerifySubject } from "../verify/verify_subject.ts";
import { calibrate } from "./calibrate.ts";
import { type ExperimentConfig, parseConfig } from "./config.ts";
import { cellIds, comparisons, derivedNodes, planExperiment } from "./experiment.ts";
import { preregistrationDigest, registeredPart } from "./preregistration.ts";
import { encoderSettings, rewardSettings, semanticsOf } from "./semantics.ts";

function evaluations(config: ExperimentConfig): EvaluationSubject[] {
  return config.variants.flatMap((variant) =>
    config.seeds.run_seeds.map((seed): EvaluationSubject => {
      const ids = cellIds(variant, seed);
      return {
        node: ids.evaluate,
        traces: { node: ids.evaluate, output: "traces.jsonl" },
        policy: { node: ids.policy, output: "policy.onnx" },
        ...(variant.progress_reward ? { estimator: { node: ids.progress, output: "estimator.onnx" } } : {}),
        widths: encoderSettings(config),
        reward: rewardSettings(config),
        selection: variant.action_mask ? "public" : "none",
        credit: variant.algorithm === "sequence_ppo" ? "sequence" : "action",
        variant: variant.name,
        seed,
      };
    })
  );
}

function calibrations(config: ExperimentConfig): CalibrationSubject[] {
  if (!config.variants.some((variant) => variant.progress_reward)) return [];
  const encoder = encoderFor(encoderSettings(config));
  const { progress_labels: labels } = semanticsOf(config);
  return config.seeds.run_seeds.map((seed) => ({
    node: `progress/${seed}`,
    record: { node: `progress/${seed}`, output: "calibration.json" },
    estimator: { node: `progress/${seed}`, output: "estimator.onnx" },
    stateWidth: config.policy.state_width,
    async recompute(benchmark, session) {
      const label = (split: "train" | "dev") =>
        labelSplit(benchmark[split], { labels, split, encoder, seed });
      const dev = label("dev");
      const gate = await calibrate(dev, session);
      return {
        labels: { train: label("train").audit, dev: dev.audit } as unknown as Json,
        dev: { ...gate.calibration },
        dev_gate_scope: gate.dev_gate_scope,
        gate: { ...gate.checks },
        quality_status: gate.quality_status,
      };
    },
  }));
}

/**
 * What a config blob says a run must be.
 *
 * @throws TracewrightError with the code of the first thing wrong with the config
 */
export function subjectOf(value: Json, digest: Digest): VerifySubject {
  const config = parseConfig(value);
  const { evaluation, benchmark, seeds } = config;
  return {
    plan: planExperiment(config, digest),
    benchmark: {
      node: "benchmark",
      sizes: { train: benchmark.train_tasks, dev: benchmark.dev_tasks, test: benchmark.test_tasks },
      baseSeed: seeds.benchmark_seed,
    },
    evaluations: evaluations(config),
    calibrations: calibrations(config),
    metrics: {
      node: "metrics",
      output: "metrics.json",
      timeoutMs: Math.floor(evaluation.timeout_s * 1000 + 0.5),
      bootstrap: {
        samples: evaluation.bootstrap_samples,
        confidence: evaluation.confidence,
        seed: seeds.bootstrap_seed,
      },
      comparisons: comparisons(config),
    },
    report: {
      node: "report",
      output: "report.md",
      registration: config.comparison === null ? null : preregistrationDigest(registeredPart(config)),
    },
    derived: derivedNodes(config),
  };
}
