import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Why this room refuses something. */
export type PolicyCode =
  // features
  | "bad_width"
  | "bad_decision"
  | "feature_out_of_range"
  // exact networks
  | "bad_network_shape"
  | "off_grid"
  | "weight_out_of_range"
  | "bias_out_of_range"
  // the strict reader
  | "onnx_too_large"
  | "onnx_truncated"
  | "onnx_bad_varint"
  | "onnx_wire_type"
  | "onnx_unknown_field"
  | "onnx_field_order"
  | "onnx_bad_name"
  | "onnx_bad_type"
  | "onnx_bad_tensor"
  | "onnx_bad_operator"
  | "onnx_bad_version"
  | "onnx_too_many"
  | "onnx_bad_graph"
  // interval proof and admission
  | "proof_constant"
  | "proof_operator"
  | "proof_bound"
  | "proof_negative_zero"
  | "graph_not_ours"
  | "graph_not_canonical"
  // running
  | "not_admitted"
  | "bad_batch"
  | "bad_runtime"
  | "runtime_unavailable"
  | "runtime_failed"
  | "session_busy"
  | "session_closed";

/** An error of this room. */
export function policyError(
  code: PolicyCode,
  details: ErrorDetails,
): TracewrightError<"policy", PolicyCode> {
  return new TracewrightError<"policy", PolicyCode>(code, details);
}
