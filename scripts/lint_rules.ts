/**
 * The project's own lint rules: imports point down through the layers, files and functions stay short, and
 * the words are the field's, and pages of the site repeat no limits. Loaded by `deno lint` through deno.json. What one file cannot show (names that
 * are exported twice, words in SQL and Markdown) is checked by scripts/check_tree.ts.
 */
import { findBannedWords } from "./banned_words.ts";
import { LONG_FUNCTIONS, MANY_PARAMETERS } from "./lint_exceptions.ts";

/**
 * Folders of src/ by layer. A file may import from lower layers and from its own folder; the folders of
 * one layer do not know each other.
 */
const LAYERS: Readonly<Record<string, number>> = {
  lib: 0,
  model_types: 1,
  "platform/config": 2,
  "platform/database": 2,
  "platform/outbound": 2,
  "platform/telemetry": 2,
  "platform/tracing": 2,
  "platform/cluster": 3,
  "platform/queue": 3,
  "platform/secrets": 3,
  "domain/accounts": 4,
  "domain/audit": 4,
  "domain/catalogue": 4,
  "domain/files": 4,
  "domain/idempotency": 4,
  "domain/ledger": 4,
  "domain/limits": 4,
  "domain/pricing": 4,
  "domain/requests": 4,
  "domain/responses": 4,
  "domain/webhooks": 4,
  upstream: 4,
  "workflows/accounts": 5,
  "workflows/chat": 5,
  "workflows/dramas": 5,
  "workflows/embeddings": 5,
  "workflows/quote": 5,
  "workflows/responses": 5,
  "workflows/retention": 5,
  "workflows/speech": 5,
  "workflows/tasks": 5,
  http: 6,
  site: 6,
  app: 7,
  cli: 7,
  "": 8, // main.ts and deploy.ts
};

/** Layers that are made of folders. */
const GROUPS = new Set(["platform", "domain", "workflows"]);

/** Neighbours of one layer that may be imported all the same, with the reason. */
const ALLOWED_SIDEWAYS = new Set([
  "platform/config -> platform/telemetry", // every part may log
  "platform/database -> platform/telemetry",
  "domain/ledger -> domain/pricing", // a charge is what a price says
  "workflows/accounts -> workflows/tasks", // an account that is closed has no running tasks
  "workflows/dramas -> workflows/tasks", // a drama is a task made of tasks
  "workflows/speech -> workflows/tasks", // speech is a task that its request waits for
  "workflows/dramas -> workflows/chat", // its texts are metered as chat is
  "workflows/embeddings -> workflows/chat", // chats and embeddings share one rate of tokens
  "workflows/quote -> workflows/chat", // a quote is what the request itself would hold
  "workflows/quote -> workflows/dramas",
  "workflows/quote -> workflows/embeddings",
  "workflows/quote -> workflows/speech",
  "workflows/quote -> workflows/tasks",
  "workflows/responses -> workflows/chat", // a response in the background is a chat
  "workflows/responses -> workflows/tasks", // that a task makes
  "workflows/retention -> workflows/tasks", // old tasks are removed by what knows them
  "site -> http", // pages answer errors with the statuses of the API
  "cli -> app", // the command line reads the same environment as the gateway
]);

/** What provider adapters may see of src/: the contract they fulfil, and the library below it. */
const PROVIDERS_SEE = ["src/upstream/adapter.ts", "src/upstream/media_adapter.ts", "src/lib/"];

/** A limit with its unit. Pages take limits from the request schemas, the configuration or the record shown. */
const STATED_LIMIT =
  /\b(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety)[ -](?:seconds?|minutes?|hours?|days?|weeks?|months?|characters?|bytes|[kMG]i?B|tries|attempts)\b/i;
/** Attributes of inputs that repeat a limit of a request. */
const LIMIT_ATTRIBUTES = new Set(["maxlength", "minlength", "pattern"]);

const LINES_MAX = 300;
const FUNCTION_LINES_MAX = 70;
const PARAMETERS_MAX = 4;

/** The folder may itself be called like one of ours. */
const ROOT = new URL("../", import.meta.url).pathname;

interface Place {
  /** Path from the project's root. */
  path: string;
  /** Folder of src/, `""` for its top; null outside src/. */
  folder: string | null;
}

function placeOf(path: string): Place | null {
  const inProject = /(?:^|\/)((?:src|providers|schemas|test|scripts)\/.*)$/.exec(
    path.replaceAll("\\", "/").replace(ROOT, "/"),
  )?.[1];
  if (inProject === undefined) return null;
  const parts = inProject.split("/");
  return {
    path: inProject,
    folder: parts[0] === "src" ? folderOf(parts.slice(1, -1)) : null,
  };
}

function folderOf(folders: string[]): string {
  return folders.slice(0, GROUPS.has(folders[0] ?? "") ? 2 : 1).join("/");
}

/** Why a file may not import another; null when it may. */
function objection(from: Place, to: Place): string | null {
  if (from.path.startsWith("providers/") && to.path.startsWith("src/")) {
    return PROVIDERS_SEE.some((seen) => to.path.startsWith(seen))
      ? null
      : `providers see only ${PROVIDERS_SEE.join(" and ")}`;
  }
  if (from.folder === null) return null;
  if (/^(test|scripts)\//.test(to.path)) return "code does not import tests or scripts";
  if (to.path.startsWith("providers/")) {
    return from.folder === "app" ? null : "only the composition root names providers";
  }
  if (to.folder === null || from.folder === to.folder) return null;
  const [above, below] = [LAYERS[from.folder], LAYERS[to.folder]];
  if (above === undefined) {
    return `src/${from.folder} has no layer: give it one in scripts/lint_rules.ts`;
  }
  if (below === undefined) {
    return `src/${to.folder} has no layer: give it one in scripts/lint_rules.ts`;
  }
  if (below < above || ALLOWED_SIDEWAYS.has(`${from.folder} -> ${to.folder}`)) return null;
  const direction = below === above ? "sideways" : "up";
  return `the import points ${direction}: src/${from.folder || "."} is layer ${above}, src/${
    to.folder || "."
  } is layer ${below}`;
}

function resolve(importer: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  return new URL(specifier, `file:///${importer}`).pathname.slice(1);
}

const isTest = (path: string) => /_test\.tsx?$/.test(path) || path.startsWith("test/");

type FunctionNode =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** What a function is called: its own name, or that of the variable, member or property that holds it. */
function nameOf(node: FunctionNode): string {
  if (node.type !== "ArrowFunctionExpression" && node.id) return node.id.name;
  const parent = node.parent as unknown as Record<string, Deno.lint.Node | undefined>;
  const named = parent.id ?? parent.key;
  return named?.type === "Identifier" || named?.type === "PrivateIdentifier"
    ? named.name
    : "(anonymous)";
}

function onEveryFunction(check: (node: FunctionNode) => void) {
  return {
    FunctionDeclaration: check,
    FunctionExpression: check,
    ArrowFunctionExpression: check,
  };
}

function isConstant(value: Deno.lint.JSXAttribute["value"]): boolean {
  return value?.type === "Literal" ||
    value?.type === "JSXExpressionContainer" && value.expression.type === "Literal";
}

const plugin: Deno.lint.Plugin = {
  name: "tollgate",
  rules: {
    layers: {
      create(context) {
        const from = placeOf(context.filename);
        // Tests look at anything.
        if (from === null || isTest(from.path)) return {};
        const check = (node: Deno.lint.Node, specifier: unknown) => {
          const target = typeof specifier === "string" ? resolve(from.path, specifier) : null;
          const to = target === null ? null : placeOf(target);
          const reason = to === null ? null : objection(from, to);
          if (reason !== null) {
            context.report({ node, message: `Cannot import ${specifier}: ${reason}` });
          }
        };
        return {
          ImportDeclaration: (node) => check(node, node.source.value),
          ExportNamedDeclaration: (node) => check(node, node.source?.value),
          ExportAllDeclaration: (node) => check(node, node.source.value),
          ImportExpression: (node) => check(node, (node.source as Deno.lint.StringLiteral).value),
        };
      },
    },
    "file-length": {
      create(context) {
        const place = placeOf(context.filename);
        if (place === null || isTest(place.path)) return {};
        return {
          Program(node) {
            const lines = context.sourceCode.text.trimEnd().split("\n").length;
            if (lines > LINES_MAX) {
              context.report({
                node,
                message: `${lines} lines: split by meaning what is over ${LINES_MAX}`,
              });
            }
          },
        };
      },
    },
    "function-length": {
      create(context) {
        const place = placeOf(context.filename);
        if (place === null || isTest(place.path)) return {};
        return onEveryFunction((node) => {
          const lines = context.sourceCode.getText(node).split("\n").length;
          const name = nameOf(node);
          if (lines <= FUNCTION_LINES_MAX) return;
          if (LONG_FUNCTIONS[`${place.path}#${name}`] !== undefined) return;
          context.report({
            node,
            message:
              `${name} has ${lines} lines: name the parts of what is over ${FUNCTION_LINES_MAX}`,
          });
        });
      },
    },
    "parameter-count": {
      create(context) {
        const place = placeOf(context.filename);
        if (place === null) return {};
        return onEveryFunction((node) => {
          const name = nameOf(node);
          if (node.params.length <= PARAMETERS_MAX) return;
          if (MANY_PARAMETERS[`${place.path}#${name}`] !== undefined) return;
          context.report({
            node,
            message:
              `${name} has ${node.params.length} parameters: pass an object for more than ${PARAMETERS_MAX}`,
          });
        });
      },
    },
    "stated-limits": {
      create(context) {
        const place = placeOf(context.filename);
        if (place?.folder !== "site" || isTest(place.path)) return {};
        const check = (node: Deno.lint.Node, text: unknown) => {
          const found = typeof text === "string" ? STATED_LIMIT.exec(text)?.[0] : undefined;
          if (found === undefined) return;
          context.report({
            node,
            message:
              `A page states "${found}": take it from the request schema, the configuration or the record shown`,
          });
        };
        return {
          Literal: (node) => check(node, node.value),
          TemplateElement: (node) => check(node, node.cooked),
          JSXText: (node) => check(node, node.value),
          JSXAttribute(node) {
            const name = node.name.type === "JSXIdentifier" ? node.name.name : "";
            if (!LIMIT_ATTRIBUTES.has(name) || !isConstant(node.value)) return;
            context.report({
              node,
              message: `A page limits an input itself: spread the limits of its request schema`,
            });
          },
        };
      },
    },
    "banned-words": {
      create(context) {
        const place = placeOf(context.filename);
        if (place === null) return {};
        return {
          Program() {
            for (const found of findBannedWords(place.path, context.sourceCode.text)) {
              context.report({
                range: [found.start, found.end],
                message: `"${found.word}" is not a word of this project: use ${found.use}`,
              });
            }
          },
        };
      },
    },
  },
};

export default plugin;
