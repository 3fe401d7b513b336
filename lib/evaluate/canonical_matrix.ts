/** What defines a variant: how it is trained and what it may choose from. */
export interface MatrixVariant {
  readonly name: string;
  readonly algorithm: string;
  readonly progress_reward: boolean;
  readonly action_mask: boolean;
}

/**
 * What a run must be to carry the published claim. A copy of its own, held against the run's config by the claim: a config
 * cannot vouch for itself. Source: protocol/evaluation-and-evidence.md section 5; policy-and-training.md section 11.
 */
export const CANONICAL_MATRIX = {
  seeds: 5,
  test_cases: 1000,
  action_rows: 20_000,
  action_rows_per_class: 10_000,
  smallest_samples: 2,
  confidence: 0.95,
  variants: [
    { name: "A-BC-Unmasked", algorithm: "bc", progress_reward: false, action_mask: false },
    { name: "B-BC-Mask", algorithm: "bc", progress_reward: false, action_mask: true },
    { name: "C-PPO-Sparse-Unmasked", algorithm: "action_ppo", progress_reward: false, action_mask: false },
    { name: "D-PPO-Sparse-Mask", algorithm: "action_ppo", progress_reward: false, action_mask: true },
    { name: "E-PPO-Progress-Mask", algorithm: "action_ppo", progress_reward: true, action_mask: true },
    {
      name: "F-Sequence-PPO-Progress-Mask",
      algorithm: "sequence_ppo",
      progress_reward: true,
      action_mask: true,
    },
  ],
  treatment: "E-PPO-Progress-Mask",
  matched_baseline: "B-BC-Mask",
  total_system_baseline: "A-BC-Unmasked",
  hypothesis: "paired_tsr_difference_ci_lower_gt_zero",
} as const satisfies {
  readonly variants: readonly MatrixVariant[];
  readonly [name: string]: unknown;
};

/** The name of a variant of the matrix. */
export type MatrixVariantName = (typeof CANONICAL_MATRIX.variants)[number]["name"];
