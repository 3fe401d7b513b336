import { fixtureStages } from "./_fixture_stages.ts";
import { serveStages } from "./worker_entry.ts";

serveStages(fixtureStages);
