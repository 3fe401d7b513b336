import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../core/canonical_json.ts";
import { isJsonRequest, requestSha256 } from "./_request.ts";

function callWith(value: unknown) {
  return { tool_name: "t", arguments: { value } as never, call_id: "c" };
}

function nested(levels: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

Deno.test("isJsonRequest() accepts exactly what can be hashed", () => {
  fc.assert(fc.property(fc.anything({ withNullPrototype: true, withSet: true, withMap: true }), (value) => {
    let hashable = true;
    try {
      canonicalJson({ arguments: { value }, schema: "", tool_name: "t" });
    } catch {
      hashable = false;
    }
    assert.equal(isJsonRequest(callWith(value)), hashable);
  }));
  // arguments lie at depth 1 of the request, so 62 lists fit under the limit of 64 and 63 do not
  for (const levels of [61, 62, 63, 64]) {
    assert.equal(isJsonRequest(callWith(nested(levels))), levels <= 62, `${levels}`);
    if (levels <= 62) requestSha256(callWith(nested(levels)));
    else assert.throws(() => requestSha256(callWith(nested(levels))));
  }
});

Deno.test("requestSha256() covers tool and arguments, not the call id or the order of arguments", () => {
  const one = { tool_name: "t", arguments: { a: 1, b: [true] }, call_id: "x" };
  assert.equal(requestSha256(one), requestSha256({ ...one, arguments: { b: [true], a: 1 }, call_id: "y" }));
  assert.match(requestSha256(one), /^[0-9a-f]{64}$/);
  for (
    const other of [
      { ...one, tool_name: "u" },
      { ...one, arguments: { a: 1, b: [1] } },
      { ...one, arguments: { a: true, b: [true] } },
      { ...one, arguments: { a: "1", b: [true] } },
    ]
  ) assert.notEqual(requestSha256(one), requestSha256(other));
});
