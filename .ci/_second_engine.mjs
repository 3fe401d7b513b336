/**
 * Runs an experiment in Node, from a bundle of `_pipeline_in_memory.ts`, and prints what it found as a line of JSON.
 *
 *     node _second_engine.mjs BUNDLE CONFIG
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

// The one thing of today's library that the pipeline uses and the V8 of Node 20 lacks.
Array.fromAsync ??= async (items) => {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
};

const [bundle, config] = process.argv.slice(2);
const { pipelineInMemory } = await import(pathToFileURL(bundle).href);
const ids = await pipelineInMemory(JSON.parse(readFileSync(config, "utf8")));
console.log(JSON.stringify({ engine: `Node ${process.versions.node}, V8 ${process.versions.v8}`, ...ids }));
