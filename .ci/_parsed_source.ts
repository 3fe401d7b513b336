/** A node of a source, as `deno lint` shows it. */
export type Node = Deno.lint.Node;

/** A source by its path from the root. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A function that has a name. */
export interface Named {
  readonly name: string;
  readonly node: Node;
  /** Only ever throws. */
  readonly never: boolean;
}

/** What of one source matters here. */
export interface Parsed {
  readonly source: Source;
  readonly functions: readonly Named[];
  readonly throws: readonly Deno.lint.ThrowStatement[];
  readonly calls: readonly Deno.lint.CallExpression[];
  /** `a && b` or `a || b` as the whole result of a function that is declared to give a boolean. */
  readonly chains: readonly Deno.lint.LogicalExpression[];
  /** `return a ? b : undefined`, or a symbol that stands for nothing in its place. */
  readonly choices: readonly Deno.lint.ConditionalExpression[];
  /** `return false` from a function that is declared to give a boolean, and `return` of such a symbol. */
  readonly denials: readonly Deno.lint.ReturnStatement[];
  /** `z.strictObject(…)` */
  readonly schemas: readonly Deno.lint.CallExpression[];
}

/** Goes through one source. The nodes live only as long as the visit, so the work is done inside of it. */
export function visit<T>(source: Source, work: (parsed: Parsed) => T): T {
  let result: { readonly value: T } | undefined;
  let failure: { readonly error: unknown } | undefined;
  const functions: Named[] = [];
  const throws: Deno.lint.ThrowStatement[] = [];
  const calls: Deno.lint.CallExpression[] = [];
  const chains: Deno.lint.LogicalExpression[] = [];
  const choices: Deno.lint.ConditionalExpression[] = [];
  const denials: Deno.lint.ReturnStatement[] = [];
  const symbols = new Set(["undefined"]);
  const isNothing = (node: Node) => node.type === "Identifier" && symbols.has(node.name);
  const schemas: Deno.lint.CallExpression[] = [];
  const note = (node: Deno.lint.FunctionDeclaration | Deno.lint.ArrowFunctionExpression) => {
    const name = ownName(node);
    const never = node.returnType?.typeAnnotation.type === "TSNeverKeyword";
    if (name !== undefined) functions.push({ name, node, never });
  };
  const visitor: Deno.lint.LintVisitor = {
    FunctionDeclaration: note,
    ArrowFunctionExpression: note,
    ThrowStatement: (node) => void throws.push(node),
    CallExpression(node) {
      calls.push(node);
      if (source.text.slice(...node.callee.range) === "z.strictObject") schemas.push(node);
    },
    LogicalExpression(node) {
      if (node.operator !== "??" && isResult(node) && inPredicate(node)) chains.push(node);
    },
    ConditionalExpression(node) {
      if (isNothing(node.alternate) && isResult(node)) choices.push(node);
    },
    ReturnStatement(node) {
      const given = node.argument;
      if (given === null || given === undefined) return;
      const denied = given.type === "Literal" && given.value === false && inPredicate(node);
      if (denied || (given.type === "Identifier" && given.name !== "undefined" && isNothing(given))) {
        denials.push(node);
      }
    },
    VariableDeclarator({ id, init }) {
      const symbol = init?.type === "CallExpression" && init.callee.type === "Identifier" &&
        init.callee.name === "Symbol";
      if (symbol && id.type === "Identifier") symbols.add(id.name);
    },
    "Program:exit"() {
      try {
        result = { value: work({ source, functions, throws, calls, chains, choices, denials, schemas }) };
      } catch (error) {
        failure = { error };
      }
    },
  };
  const plugin = { name: "checks", rules: { sites: { create: () => visitor } } };
  Deno.lint.runPlugin(plugin, source.path, source.text);
  if (failure !== undefined) throw failure.error;
  if (result === undefined) throw new TypeError(`${source.path} could not be read`);
  return result.value;
}

function ownName(node: Node): string | undefined {
  switch (node.type) {
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return node.id?.name;
    case "ArrowFunctionExpression":
    case "FunctionExpression": {
      const { parent } = node;
      if (parent.type === "VariableDeclarator" && parent.id.type === "Identifier") return parent.id.name;
      if (parent.type === "Property" && parent.key.type === "Identifier") return parent.key.name;
      return undefined;
    }
    case "MethodDefinition":
      return node.key.type === "Identifier" || node.key.type === "PrivateIdentifier"
        ? node.key.name
        : undefined;
    default:
      return undefined;
  }
}

/** What a node stands in. */
export function parentOf(node: Node): Node | undefined {
  return (node as { readonly parent?: Node }).parent;
}

/** What a node stands in, from the inside, without the file itself. */
export function* ancestors(node: Node): Generator<Node> {
  for (let at = parentOf(node); at !== undefined && at.type !== "Program"; at = parentOf(at)) yield at;
}

/** Names of the functions and classes around a node, from the outside. */
export function placeOf(node: Node): string {
  const names = [...ancestors(node)].flatMap((each) => ownName(each) ?? []);
  return names.reverse().join(".");
}

/** Names of the constant and the fields that a node is part of, from the outside. */
export function fieldOf(node: Node): string {
  const names = [...ancestors(node)].flatMap((each) => {
    const name = each.type === "Property"
      ? each.key
      : each.type === "VariableDeclarator"
      ? each.id
      : undefined;
    return name?.type === "Identifier" ? name.name : [];
  });
  return names.reverse().join(".");
}

/** What a function gives back. */
function isResult(node: Node): boolean {
  const parent = parentOf(node)!;
  return parent.type === "ReturnStatement" || parent.type === "ArrowFunctionExpression";
}

/** Inside of a function that is declared to give a boolean. */
function inPredicate(node: Node): boolean {
  return [...ancestors(node)].some((each) =>
    each.type === "FunctionDeclaration" && each.returnType?.typeAnnotation.type === "TSBooleanKeyword"
  );
}

/** Whether a node is another one or lies in it. */
export function inside(node: Node, outer: Node): boolean {
  return outer.range[0] <= node.range[0] && node.range[1] <= outer.range[1];
}
