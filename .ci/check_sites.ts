/**
 * Finds the checks of the verifier in its source: every statement that refuses something, with the condition that guards it,
 * and every statement that does nothing but call a function which may refuse. Needs `Deno.lint.runPlugin`, which exists
 * under `deno test` only.
 */
import {
  ancestors,
  fieldOf,
  inside,
  type Node,
  parentOf,
  type Parsed,
  placeOf,
  type Source,
  visit,
} from "./_parsed_source.ts";

/** Text to put into a source, so that one check can be switched off while the program runs. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** One check. */
export interface CheckSite {
  /** File, function, code or callee, and which of several: it does not change where lines move. */
  readonly name: string;
  /** The condition as the source writes it, or the call; what a verdict is about. */
  readonly check: string;
  /** `call` for a statement that calls a function with checks of its own. */
  readonly kind: "refusal" | "call";
  readonly insertions: readonly Insertion[];
}

/** How the switches are called in a rewritten source; see `_check_switch.ts`. */
const FIRES = "globalThis.checkFires";
const CALLS = "globalThis.checkCalls";
const FIELD = "globalThis.checkField";
const STRICT = "globalThis.checkStrict";

function calleeOf(call: Deno.lint.CallExpression): string | undefined {
  return call.callee.type === "Identifier" ? call.callee.name : undefined;
}

/** The first code that a helper makes an error with. */
const CODE = /(?:Error(?:<[^>]*>)?\(\s*|Error\([^"]*\? )"([a-z_]+)"/;
/** The code that a refusal itself names. */
const OWN_CODE = /^(?:throw |return )?(?:new )?\w*Error(?:<[^>]*>)?\(\s*(?:[^,{]*\? )?"([a-z_]+)"/;

/** What a refusal is called: the code it names, or that of the helper it calls; else that it passes an error on. */
function codeOf(text: string, helpers: Helpers): string {
  const own = OWN_CODE.exec(text)?.[1];
  if (own !== undefined) return own;
  const callee = /^(?:throw |return )?(\w+)\(/.exec(text)?.[1];
  if (/^throw new TypeError\(/.test(text)) return "TypeError";
  return callee === undefined
    ? "passed on"
    : helpers.get(callee) ?? (/Error$/.test(callee) ? "any code" : "passed on");
}

/** The code of each function that makes or throws an error for others. */
type Helpers = ReadonlyMap<string, string>;

function helpersIn({ source, functions }: Parsed): [string, string][] {
  return functions.flatMap(({ name, node }) => {
    const code = CODE.exec(source.text.slice(...node.range))?.[1];
    return code === undefined ? [] : [[name, code] as [string, string]];
  });
}

/** Splits `a || b` or `a && b` into its parts. */
function partsOf(node: Node, operator: "||" | "&&"): Node[] {
  if (node.type === "LogicalExpression" && node.operator === operator) {
    return [...partsOf(node.left, operator), ...partsOf(node.right, operator)];
  }
  return [node];
}

type Guard =
  /** `if (a || b) refuse` */
  | { readonly form: "refuses"; readonly parts: readonly Node[] }
  /** `if (a && b) return; refuse` */
  | { readonly form: "passes"; readonly parts: readonly Node[] }
  /** Nothing that could be made true or false. */
  | { readonly form: "bare" };

function leaves(statement: Node): boolean {
  const last = statement.type === "BlockStatement" ? statement.body.at(-1) : statement;
  return last?.type === "ReturnStatement" || last?.type === "ContinueStatement";
}

function guardOf(statement: Node): Guard {
  const parent = parentOf(statement)!;
  if (parent.type === "IfStatement" && inside(statement, parent.consequent)) {
    return { form: "refuses", parts: partsOf(parent.test, "||") };
  }
  if (parent.type !== "BlockStatement") return { form: "bare" };
  const before = parent.body.filter((each) => each.range[1] <= statement.range[0]).reverse();
  for (const each of before) {
    if (each.type === "VariableDeclaration") continue;
    if (each.type !== "IfStatement" || each.alternate || !leaves(each.consequent)) break;
    return { form: "passes", parts: partsOf(each.test, "&&") };
  }
  const holder = parentOf(parent)!;
  if (holder.type === "IfStatement" && inside(parent, holder.consequent)) {
    return { form: "refuses", parts: partsOf(holder.test, "||") };
  }
  return { form: "bare" };
}

/** A check, or several that one `if` makes. */
interface Draft {
  readonly kind: CheckSite["kind"];
  /** The name without its number. */
  readonly stem: string;
  readonly at: number;
  readonly checks: readonly string[];
  readonly parts: readonly ((id: string) => Insertion[])[];
}

const around = (node: Node, before: string, after: string): Insertion[] => [
  { at: node.range[0], text: before },
  { at: node.range[1], text: after },
];

/** `((part) && fires)`, or for what passes `((part) || !fires)`. */
const switched = (part: Node, form: "refuses" | "passes") => (id: string) =>
  around(part, "((", form === "refuses" ? `) && ${FIRES}(${id}))` : `) || !${FIRES}(${id}))`);

function refusal(statement: Node, stem: string, text: (node: Node) => string): Draft {
  const guard = guardOf(statement);
  const base = { kind: "refusal", stem, at: statement.range[0] } as const;
  if (guard.form === "bare") {
    const wrap = (id: string) => around(statement, `{ if (${FIRES}(${id})) `, " }");
    const check = [...ancestors(statement)][1]?.type === "CatchClause"
      ? "whatever fails inside"
      : "whatever comes here";
    return { ...base, checks: [check], parts: [wrap] };
  }
  const parts = guard.parts.map((part) => switched(part, guard.form));
  const checks = guard.parts.map((part) => guard.form === "refuses" ? text(part) : `not: ${text(part)}`);
  return { ...base, checks, parts };
}

/** A call as it is shown: without the functions and records that are handed over. */
function shownCall(call: Deno.lint.CallExpression, text: (node: Node) => string): string {
  const shown = call.arguments.map((each) =>
    each.type === "ArrowFunctionExpression" || text(each).length > 40 ? "…" : text(each)
  );
  return `${text(call.callee)}(${shown.join(", ")})`;
}

/** Refusals, calls that may refuse, and conditions of a file that let through. */
function drafts(parsed: Parsed, { checkers, helpers: everywhere }: Names): Draft[] {
  const { source, functions } = parsed;
  const raw = (node: Node) => source.text.slice(...node.range);
  const text = (node: Node) => raw(node).replace(/\s+/g, " ");
  const helpers = new Map([...everywhere, ...helpersIn(parsed)]);
  const stemAt = (node: Node, code: string) => `${source.path} ${placeOf(node)} ${code}`;
  const nevers = functions.filter(({ never }) => never);
  const inNever = (node: Node) =>
    [...ancestors(node)].some((each) => nevers.some((fn) => fn.node.range[0] === each.range[0]));
  const found: Draft[] = [];
  for (const node of parsed.throws) {
    if (!inNever(node)) found.push(refusal(node, stemAt(node, codeOf(raw(node), helpers)), text));
  }
  for (const call of parsed.calls) {
    const callee = calleeOf(call);
    if (callee === undefined || inNever(call)) continue;
    const parent = parentOf(call)!;
    if (nevers.some(({ name }) => name === callee)) {
      const stem = stemAt(call, codeOf(raw(call), helpers));
      if (parent.type === "ExpressionStatement" || parent.type === "ReturnStatement") {
        found.push(refusal(parent, stem, text));
      } else if (parent.type === "LogicalExpression") {
        const insert = (id: string) => around(call, `(${FIRES}(${id}) ? `, " : undefined)");
        const checks = [`not: ${text(parent.left)}`];
        found.push({ kind: "refusal", stem, at: call.range[0], checks, parts: [insert] });
      } else throw new TypeError(`${source.path}: a refusal in a place that is not known: ${raw(call)}`);
      continue;
    }
    const statement = parent.type === "AwaitExpression" ? parentOf(parent)! : parent;
    if (statement.type !== "ExpressionStatement" || !checkers.has(callee)) continue;
    const insert = (id: string) => around(call, `${CALLS}(${id}, () => `, ")");
    const stem = stemAt(call, `calls ${callee}`);
    found.push({ kind: "call", stem, at: call.range[0], checks: [shownCall(call, text)], parts: [insert] });
  }
  for (const denial of parsed.denials) {
    found.push(refusal(denial, stemAt(denial, text(denial.argument!)), text));
  }
  for (const chain of parsed.chains) {
    const all = chain.operator === "&&";
    const parts = partsOf(chain, all ? "&&" : "||");
    found.push({
      kind: "refusal",
      stem: stemAt(chain, "holds"),
      at: chain.range[0],
      checks: parts.map((part) => all ? `not: ${text(part)}` : text(part)),
      parts: parts.map((part) => switched(part, all ? "passes" : "refuses")),
    });
  }
  for (const choice of parsed.choices) {
    found.push({
      kind: "refusal",
      stem: stemAt(choice, text(choice.alternate)),
      at: choice.range[0],
      checks: [`not: ${text(choice.test)}`],
      parts: [switched(choice.test, "passes")],
    });
  }
  return [...found, ...schemaDrafts(parsed)].sort((a, b) => a.at - b.at);
}

/** The fields that a record from outside must have, and that it may have no other. */
function schemaDrafts({ source, schemas }: Parsed): Draft[] {
  const text = (node: Node) => source.text.slice(...node.range).replace(/\s+/g, " ");
  const draft = (node: Node, what: string, check: string, how: string): Draft => ({
    kind: "refusal",
    stem: `${source.path} ${what}`,
    at: node.range[0],
    checks: [check],
    parts: [(id) => around(node, `${how}(${id}, `, ")")],
  });
  return schemas.flatMap((schema) => {
    const [shape] = schema.arguments;
    const fields = shape?.type === "ObjectExpression" ? shape.properties : [];
    return [
      draft(schema, `${fieldOf(schema)} no other field`, "another field", STRICT),
      ...fields.flatMap((field) => {
        if (field.type !== "Property") return [];
        const shown = text(field.value).replace(/z\.strictObject\(.*/, "z.strictObject(…");
        return [draft(field.value, `${fieldOf(field.value)} form`, `not: ${shown}`, FIELD)];
      }),
    ];
  });
}

function numbered(found: readonly Draft[]): CheckSite[] {
  const total = Map.groupBy(found, ({ stem }) => stem);
  return found.flatMap(({ stem, kind, parts, checks, at }) => {
    const same = total.get(stem)!;
    const nth = same.length === 1 ? "" : ` ${same.findIndex((other) => other.at === at) + 1}`;
    return parts.map((insert, i): CheckSite => {
      const name = `${stem}${nth}${parts.length === 1 ? "" : `.${String.fromCharCode(97 + i)}`}`;
      return { name, kind, check: checks[i]!, insertions: insert(JSON.stringify(name)) };
    });
  });
}

/** What has to be known of all sources before one is looked at. */
interface Names {
  /** Functions that refuse, or call one that does. */
  readonly checkers: ReadonlySet<string>;
  readonly helpers: Helpers;
}

function namesOf(sources: readonly Source[]): Names {
  const helpers = new Map<string, string>();
  const seen = sources.flatMap((source) =>
    visit(source, (parsed) => {
      for (const [name, code] of helpersIn(parsed)) helpers.set(name, code);
      return parsed.functions.map(({ name, node, never }) => ({
        name,
        never,
        throws: parsed.throws.some((each) => inside(each, node)),
        calls: parsed.calls.filter((each) => inside(each, node)).flatMap((each) => calleeOf(each) ?? []),
      }));
    })
  );
  const checkers = new Set(seen.filter((fn) => fn.throws).map(({ name }) => name));
  for (let before = -1; before < checkers.size;) {
    before = checkers.size;
    for (const fn of seen) if (fn.calls.some((name) => checkers.has(name))) checkers.add(fn.name);
  }
  for (const fn of seen) if (fn.never) checkers.delete(fn.name);
  return { checkers, helpers };
}

/** Every check of these sources, file by file, in the order in which they stand. */
export function checkSites(
  sources: readonly Source[],
): { readonly path: string; readonly sites: CheckSite[] }[] {
  const names = namesOf(sources);
  return sources.map((source) => ({
    path: source.path,
    sites: visit(source, (parsed) => numbered(drafts(parsed, names))),
  }));
}
