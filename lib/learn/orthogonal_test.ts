import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { orthogonal } from "./orthogonal.ts";

for (const [rows, cols] of [[12, 5], [5, 12], [8, 8], [9, 1], [1, 9]] as const) {
  Deno.test(`orthogonal() of ${rows} x ${cols} has orthogonal vectors of length gain on its shorter side`, () => {
    const matrix = orthogonal({ rows, cols, gain: 2, stream: new RandomStream(1) });
    const at = (vector: number, i: number) =>
      rows >= cols ? matrix[i * cols + vector]! : matrix[vector * cols + i]!;
    for (let a = 0; a < Math.min(rows, cols); a++) {
      for (let b = 0; b <= a; b++) {
        let dot = 0;
        for (let i = 0; i < Math.max(rows, cols); i++) dot += at(a, i) * at(b, i);
        assert.ok(Math.abs(dot - (a === b ? 4 : 0)) < 1e-5, `${a} ${b}: ${dot}`);
      }
    }
  });
}

Deno.test("orthogonal() depends on its stream alone", () => {
  const draw = (seed: number) => orthogonal({ rows: 4, cols: 4, gain: 1, stream: new RandomStream(seed) });
  assert.deepEqual(draw(1), draw(1));
  assert.notDeepEqual(draw(1), draw(2));
});
