/** One cell type of the experiment matrix: how the policy is trained and what it may choose from. */
export interface VariantDefinition {
  readonly name: string;
  readonly algorithm: "bc" | "action_ppo" | "sequence_ppo";
  /** Whether the shaped progress component is part of the reward. */
  readonly progress_reward: boolean;
  /** Whether the public action mask limits the choice, or every candidate may be chosen. */
  readonly action_mask: boolean;
}

/**
 * The frozen matrix (protocol, policy and training, section 11). A config repeats the definitions it uses so that a
 * reader sees them, and may not change them: a name means one thing in every published run.
 */
export const VARIANTS = [
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
] as const satisfies readonly VariantDefinition[];

/** The full name of a variant, as evidence records write it. */
export type VariantName = (typeof VARIANTS)[number]["name"];

/** The letter that stands for a variant in stage labels and on the command line: `E` for `E-PPO-Progress-Mask`. */
export type VariantLetter = "A" | "B" | "C" | "D" | "E" | "F";

/** The letter of a variant's name. */
export function variantLetter(name: VariantName): VariantLetter {
  return name.slice(0, 1) as VariantLetter;
}

/**
 * Looks a variant up as a person writes it: by letter or by full name, in either case.
 *
 * @returns nothing where no variant is called that
 */
export function findVariant(text: string): (typeof VARIANTS)[number] | undefined {
  const wanted = text.toLowerCase();
  return VARIANTS.find(({ name }) =>
    name.toLowerCase() === wanted || variantLetter(name).toLowerCase() === wanted
  );
}
