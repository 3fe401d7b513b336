import assert from "node:assert/strict";
import growth from "../fixtures/results/growth.json" with { type: "json" };
import { type Growth, growthSvg } from "./growth_chart.ts";

const SVG = await Deno.readTextFile(new URL("../docs/growth.svg", import.meta.url));

Deno.test("docs/growth.svg shows the recorded measurement", () => {
  assert.equal(growthSvg(growth as Growth), SVG);
});

Deno.test("growthSvg() draws what was measured, so that an edited figure is seen", () => {
  const changed = (peak_mib: number): Growth => ({
    ...growth,
    points: growth.points.map((point, i) => (i === 0 ? { ...point, peak_mib } : point)),
  });
  assert.notEqual(growthSvg(changed(growth.points[0]!.peak_mib * 2)), SVG);
});

Deno.test("growthSvg() puts values where their logarithms are", () => {
  const svg = growthSvg({
    variant: "V",
    seed: 1,
    host: {},
    points: [
      { cases: 100, seconds: 1, cpu_seconds: 2, peak_mib: 100, stages: { one: 0, two: 0.5 } },
      { cases: 1_000, seconds: 10, cpu_seconds: 5, peak_mib: 1_000, stages: { one: 5, two: 0.01 } },
    ],
  });
  // One decade fills a panel: from the lower left corner to the upper right one.
  assert.ok(svg.includes('<path d="M60.0 280.0L310.0 48.0"'));
  assert.ok(svg.includes('<path d="M500.0 280.0L750.0 48.0"'));
  assert.ok(svg.includes(">one</text>"), "a stage is named");
  assert.ok(!svg.includes(">two</text>"), "a stage that takes next to nothing is left out");
  assert.ok(!/NaN|Infinity|undefined/.test(svg));
});
