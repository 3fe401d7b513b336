/** A worker for the tests: measures the lines that it is sent, and reports what went wrong. */
import { sqlJudge } from "./sql_judge.ts";
import type { SqlMetrics } from "./sql_metrics.ts";

/** What comes back. */
export type SqlReply = { readonly metrics: SqlMetrics } | { readonly error: string };

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<readonly string[]>) => void) | null;
  postMessage(reply: SqlReply): void;
};

async function answer(lines: readonly string[]): Promise<SqlReply> {
  try {
    const runs = [{ variant: "V", seed: 1, lines }];
    return { metrics: await sqlJudge({ runs, comparisons: [], timeoutMs: 30_000 }) };
  } catch (error) {
    return { error: String(error) };
  }
}

scope.onmessage = async ({ data }) => scope.postMessage(await answer(data));
