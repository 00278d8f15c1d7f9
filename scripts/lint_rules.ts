/**
 * The project's own lint rules: imports point down through the layers, and a file that outgrows its
 * purpose is split. Loaded by `deno lint` through deno.json.
 */

/** Folders of src/ by layer. A file may import from lower layers and from its own folder. */
const LAYERS: Readonly<Record<string, number>> = {
  base: 0,
  config: 1,
  store: 1,
  outbound: 1,
  telemetry: 1,
  accounts: 2,
  pricing: 2,
  ledger: 2,
  limits: 2,
  idempotency: 2,
  files: 2,
  upstream: 2,
  webhooks: 2,
  queue: 2,
  chat: 3,
  speech: 3,
  tasks: 3,
  dramas: 3,
  http: 4,
  site: 4,
  cli: 5,
  "": 5, // main.ts, gateway.ts and what only they use
};

/** Neighbours of one layer that may be imported all the same, with the reason. */
const ALLOWED_SIDEWAYS = new Set([
  "ledger -> pricing", // what is booked is what a price says
  "dramas -> tasks", // a drama is a task made of tasks
  "dramas -> chat", // its texts are metered as chat is
]);

/** What provider adapters may see of src/: the contract they fulfil, and the ground it stands on. */
const PROVIDERS_SEE = ["src/upstream/adapter.ts", "src/upstream/media_adapter.ts", "src/base/"];

const LINES_MAX = 300;
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
    folder: parts[0] === "src" ? (parts.length > 2 ? parts[1]! : "") : null,
  };
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
    return from.folder === "" ? null : "only the composition root names providers";
  }
  if (to.folder === null || from.folder === to.folder) return null;
  const [above, below] = [LAYERS[from.folder], LAYERS[to.folder]];
  if (above === undefined) {
    return `src/${from.folder} has no layer: give it one in scripts/lint_rules.ts`;
  }
  if (below === undefined) {
    return `src/${to.folder} has no layer: give it one in scripts/lint_rules.ts`;
  }
  if (from.folder === "cli" && to.folder === "") return null;
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
  },
};

export default plugin;
