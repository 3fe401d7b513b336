/** What the second judge of metrics said, as a line for a person. */
export function sqlLine(said: "confirmed" | "skipped"): string {
  return `metrics_sql: ${said}${said === "skipped" ? " (needs --allow-ffi)" : ""}`;
}
