/**
 * The laws of this code that are about its text, as rules of `deno lint`, so that an editor shows a breach while it is
 * written. What each law protects is said in its message.
 */
import { importFault, isHostFile, isTestFile, roomOf } from "./rooms.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

/** A file's path from the root, with `/` on every platform. */
function pathOf(filename: string): string {
  const path = filename.replaceAll("\\", "/").replace(/^file:\/\//, "");
  const windows = ROOT.slice(1);
  return path.startsWith(ROOT)
    ? path.slice(ROOT.length)
    : path.startsWith(windows)
    ? path.slice(windows.length)
    : path;
}

/** Where a relative import leads, as a path from the root. */
function targetOf(from: string, specifier: string): string {
  return decodeURIComponent(new URL(specifier, `file:///${from}`).pathname.slice(1));
}

/** What IEEE 754 and the language fix to the last bit. Every other function of `Math` differs between machines. */
const EXACT_MATH = new Set([
  "abs",
  "ceil",
  "clz32",
  "floor",
  "fround",
  "imul",
  "max",
  "min",
  "round",
  "sign",
  "sqrt",
  "trunc",
]);
/** Constants are numbers that the language specifies. */
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
const CLOCKS = new Set(["Date", "performance", "Temporal"]);
const CHANCE = new Set(["randomUUID", "getRandomValues"]);
const LOCALE = /^(localeCompare|toLocale[A-Z]\w*)$/;

type Context = Deno.lint.RuleContext;
type Visitor = Deno.lint.LintVisitor;

/** Applies to the code of `lib` that is part of a computation, not to its tests. */
function inLib(visitor: (context: Context, path: string) => Visitor): Deno.lint.Rule {
  return {
    create(context) {
      const path = pathOf(context.filename);
      return roomOf(path) === undefined || isTestFile(path) ? {} : visitor(context, path);
    },
  };
}

function nameOf(node: Deno.lint.Node | null | undefined): string | undefined {
  if (node?.type === "Identifier") return node.name;
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

function isWhole(node: Deno.lint.Node): boolean {
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    return isWhole(node.argument);
  }
  if (node.type !== "Literal") return false;
  return typeof node.value === "bigint" || (typeof node.value === "number" && Number.isInteger(node.value));
}

const exactMathematics = inLib((context) => ({
  MemberExpression(node) {
    if (nameOf(node.object) !== "Math") return;
    const name = nameOf(node.property);
    if (name !== undefined && (EXACT_MATH.has(name) || CONSTANT.test(name))) return;
    context.report({
      node,
      message: `Math.${name ?? "[...]"} differs between machines; use lib/core/numerics.ts`,
    });
  },
  VariableDeclarator(node) {
    if (nameOf(node.init) === "Math") context.report({ node, message: "take functions from Math by name" });
  },
  BinaryExpression(node) {
    if (node.operator !== "**" || isWhole(node.right)) return;
    // Powers of two are exact for every whole exponent, and only such are taken.
    if (node.left.type === "Literal" && (node.left.value === 2 || node.left.value === 2n)) return;
    context.report({
      node,
      message: "** with an exponent that is no whole literal differs between machines",
    });
  },
  AssignmentExpression(node) {
    if (node.operator === "**=") context.report({ node, message: "write the product out" });
  },
}));

const noClockOrChance = inLib((context, path) => ({
  MemberExpression(node) {
    const [object, property] = [nameOf(node.object), nameOf(node.property)];
    if (object !== undefined && CLOCKS.has(object)) {
      context.report({ node, message: `${object} is a clock; a stage is a pure function` });
    }
    // Names of temporary files are chance, and reach no hashed byte.
    if (property !== undefined && CHANCE.has(property) && !isHostFile(path)) {
      context.report({ node, message: `${property} is chance; draw from lib/core/random_stream.ts` });
    }
  },
  NewExpression(node) {
    if (nameOf(node.callee) === "Date") {
      context.report({ node, message: "Date is a clock; a stage is a pure function" });
    }
  },
  CallExpression(node) {
    if (nameOf(node.callee) === "Date") {
      context.report({ node, message: "Date is a clock; a stage is a pure function" });
    }
  },
}));

const noLocale = inLib((context) => ({
  MemberExpression(node) {
    const name = nameOf(node.property);
    if (nameOf(node.object) === "Intl" || (name !== undefined && LOCALE.test(name))) {
      context.report({ node, message: "the result depends on the machine's language" });
    }
  },
}));

const hostFree = inLib((context, path) =>
  isHostFile(path) ? {} : {
    MemberExpression(node) {
      if (nameOf(node.object) === "Deno") {
        context.report({ node, message: "this file must also run in a browser; Deno has no place in it" });
      }
    },
    ImportDeclaration(node) {
      if (node.source.value.startsWith("node:")) {
        context.report({ node, message: "this file must also run in a browser; node: has no place in it" });
      }
    },
  }
);

const layers: Deno.lint.Rule = {
  create(context) {
    const from = pathOf(context.filename);
    const check = (node: Deno.lint.Node, specifier: unknown) => {
      if (typeof specifier !== "string") {
        if (roomOf(from) !== undefined && !isTestFile(from) && !isHostFile(from)) {
          context.report({ node, message: "an import must name its file, or its layer cannot be checked" });
        }
        return;
      }
      if (!specifier.startsWith(".")) return;
      const fault = importFault({ from, to: targetOf(from, specifier) });
      if (fault !== undefined) context.report({ node, message: fault });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source.value),
      ExportAllDeclaration: (node) => check(node, node.source.value),
      ExportNamedDeclaration: (node) => {
        if (node.source !== null) check(node, node.source.value);
      },
      ImportExpression: (node) => check(node, node.source.type === "Literal" ? node.source.value : undefined),
      TSImportType: (node) => {
        const { argument } = node;
        const literal = argument.type === "TSLiteralType" ? argument.literal : argument;
        check(node, (literal as { value?: unknown }).value);
      },
    };
  },
};

const noBarrels: Deno.lint.Rule = {
  create(context) {
    const path = pathOf(context.filename);
    if (path === "mod.ts") return {};
    const message = "only the root mod.ts passes on what others export; import the file itself";
    return {
      ExportAllDeclaration: (node) => context.report({ node, message }),
      ExportNamedDeclaration: (node) => {
        if (node.source !== null) context.report({ node, message });
      },
    };
  },
};

const documentedExports = inLib((context) => ({
  ExportNamedDeclaration(node) {
    if (node.declaration === null) return;
    const last = context.sourceCode.getCommentsBefore(node).at(-1);
    if (last?.type === "Block" && last.value.startsWith("*")) return;
    context.report({ node, message: "an export says what it is for in a /** comment */" });
  },
}));

const plugin: Deno.lint.Plugin = {
  name: "tracewright",
  rules: {
    "exact-mathematics": exactMathematics,
    "no-clock-or-chance": noClockOrChance,
    "no-locale": noLocale,
    "host-free": hostFree,
    layers,
    "no-barrels": noBarrels,
    "documented-exports": documentedExports,
  },
};
export default plugin;
