import type { ActorCritic } from "../learn/actor_critic.ts";
import { readCheckpoint, writeCheckpoint } from "../learn/checkpoint.ts";
import type { ProgressEstimator } from "../learn/estimator.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";

/** The float32 parameters of an actor-critic behind an encoder, as bytes. */
export function actorCriticCheckpoint(network: ActorCritic, encoder: FeatureEncoder): Uint8Array {
  return writeCheckpoint({
    kind: "actor_critic",
    ...network.shape,
    encoderFingerprint: encoder.fingerprint,
    parameters: network.parameters.get(),
  });
}

/** The float32 parameters of an estimator behind an encoder, as bytes. */
export function estimatorCheckpoint(estimator: ProgressEstimator, encoder: FeatureEncoder): Uint8Array {
  return writeCheckpoint({
    kind: "estimator",
    stateWidth: estimator.stateWidth,
    actionWidth: 0,
    hidden: ESTIMATOR_HIDDEN,
    encoderFingerprint: encoder.fingerprint,
    parameters: estimator.parameters.get(),
  });
}

/**
 * Puts the parameters of a checkpoint into a network of the same shape and encoder.
 *
 * @throws TracewrightError "bad_checkpoint" or "checkpoint_mismatch"
 */
export function restoreActorCritic(network: ActorCritic, bytes: Uint8Array, encoder: FeatureEncoder): void {
  const { parameters } = readCheckpoint(bytes, {
    kind: "actor_critic",
    ...network.shape,
    encoderFingerprint: encoder.fingerprint,
  });
  network.parameters.set(parameters);
}
