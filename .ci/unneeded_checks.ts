/** Checks that may stay although no attack is answered otherwise without them: a reviewed list. */
export const UNNEEDED_CHECKS: readonly { readonly sites: RegExp; readonly reason: string }[] = [
  {
    sites: /^lib\/core\/canonical_json\.ts (write not_json [34]|inOrder NO_ORDER [245])$/,
    reason: "for who writes a record: reading JSON gives nothing of the kind",
  },
  {
    sites:
      /^lib\/core\/canonical_json\.ts (write (not_json [12]|too_deep)|inOrder NO_ORDER [137]|itemsInOrder NO_ORDER)$/,
    reason:
      "for who writes a record: in what is read, the comparison of the two texts refuses the same with the same code",
  },
  {
    sites: /^lib\/core\/canonical_json\.ts (isOutOfPlace holds\.b|inOrder NO_ORDER 8)$/,
    reason:
      "for who writes a record: in what is read, a key that is lost on the way makes the two texts differ all the same",
  },
  {
    sites:
      /^lib\/policy\/exact_network\.ts (checkWidth \w+\.a|checkLayer bad_network_shape|checkNetwork bad_network_shape [12])$/,
    reason:
      "for who makes a network by hand: what is read from a file has whole widths, every layer, and the shape of each",
  },
  {
    sites: /^lib\/policy\/interval_proof\.ts /,
    reason:
      "second line behind the bounds of parameters and the exported bytes: whatever those let through can be proven " +
      "(lib/policy/interval_proof_test.ts attacks the proof itself; proof_constant answers where off_grid is off)",
  },
  {
    sites:
      /^lib\/policy\/admission\.ts (Parameters\.columns|networkOf) graph_not_ours$|^lib\/policy\/admission\.ts inputWidth undefined$/,
    reason:
      "tells the compiler of a number: a width that is none is refused by the shape of the first parameter, with the same code",
  },
  {
    sites: /^lib\/policy\/admission\.ts admit graph_not_canonical 1$/,
    reason:
      "says of two files of different length only that; the comparison byte by byte refuses them with the same code",
  },
  {
    sites: /^lib\/policy\/onnx_reader\.ts (elementType onnx_bad_type|readPort\.dimension onnx_bad_type\.a)$/,
    reason: "names what is wrong more closely: the next check refuses the same with the same code",
  },
  {
    sites: /^lib\/policy\/onnx_reader\.ts readOnnx onnx_too_large$/,
    reason:
      "second line behind the limit on the blob (blob_too_large), which is read before; for other callers it is the first",
  },
  {
    sites: /^lib\/store\/blob_reader\.ts BlobReader\.(constructor missing_blob 2|passing missing_blob)$/,
    reason: "a file that goes away between two calls of the system: no run that lies still comes there",
  },
  {
    sites: /^lib\/store\/lines\.ts linesOf line_too_long$/,
    reason: "bounds the memory: the same refusal, before the line has ended",
  },
  {
    sites: /^lib\/store\/read_run\.ts readRun too_large$/,
    reason: "bounds the memory: the same refusal, before the blob is read",
  },
  {
    sites: /^lib\/store\/manifest\.ts parseStrictJson too_large$/,
    reason:
      "second line behind the sizes of the files and of layer 0, which are looked at before anything is read",
  },
  {
    sites: /^lib\/store\/manifest\.ts dagManifestBytes calls parseDagManifest$/,
    reason: "for who writes a run: a verifier does not come there",
  },
  {
    sites: /^lib\/store\/action_record\.ts actionRecordSchema/,
    reason: "of the store's own records of actions: a run holds none, a verifier makes them itself",
  },
  {
    sites: /^lib\/store\/read_run\.ts findRun /,
    reason: "about the reference that a user gives, not about a run (lib/store/run_folder_test.ts)",
  },
  {
    sites: /^lib\/verify\/replay_environment\.ts replay trace_environment_mismatch 2\.b$/,
    reason:
      "tells the compiler that there is a call: an index without one is not selectable either, and refused with the same code",
  },
  {
    sites: /^lib\/verify\/replay_policy\.ts replayPolicy trace_policy_mismatch (1\.a|2)$/,
    reason:
      "second line behind the count of lines in the environment step (trace_case_mismatch), and answers where that is off",
  },
  {
    sites: /^lib\/verify\/(verify_run\.ts verifyRun calls admitAll|replay_run\.ts admitAll calls graphsOf)$/,
    reason:
      "second line behind checkTrainings, which has admitted every graph that is not the export of its checkpoint",
  },
  {
    sites: /^lib\/verify\/run_blobs\.ts digestOfOutput TypeError$/,
    reason: "an assertion: the structure step has compared every name with the plan",
  },
  {
    sites: /^lib\/verify\/verify_run\.ts verifyRun calls judgeMetrics$/,
    reason:
      "needs FFI, which attacks are carried out without; second line behind checkMetrics (lib/evaluate/sql_judge_slow_test.ts)",
  },
];
