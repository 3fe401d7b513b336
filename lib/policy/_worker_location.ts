/**
 * onnxruntime-web builds a URL from `location.origin` while it loads. In a Deno worker that origin is the text "null",
 * and loading fails. Imported before the package, this gives workers an origin; the main thread has no `location`
 * and needs none.
 */
const current: unknown = (globalThis as { location?: unknown }).location;
if (current !== undefined && (current as { origin?: unknown }).origin === "null") {
  const href = String((current as { href?: unknown }).href);
  Object.defineProperty(globalThis, "location", {
    value: { href, origin: "file://", toString: () => href },
    configurable: true,
    enumerable: true,
  });
}

export {};
