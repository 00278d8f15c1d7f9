import { checkBooks } from "./check_books.ts";
import { checkPipelines } from "./check_pipelines.ts";
import { checkCoverage } from "./check_coverage.ts";
import { checkModels } from "./check_models.ts";
import { checkPrices } from "./check_prices.ts";
import { checkRoutes } from "./check_routes.ts";
import { checkSite } from "./check_site.ts";
import { blockOf, type BuildCapabilities, Checker } from "./checker.ts";
import type { Declaration } from "./gateway_file.ts";
import type { ConfigFault } from "./faults.ts";
import type { LoadedYaml } from "./load.ts";

/**
 * Everything the schema cannot say: that references resolve, that every model has a price wherever
 * it can be seen, that units, capabilities and limits fit. Runs on broken documents too, so that an
 * operator sees all faults at once: nothing here may assume that the shape is right, and nothing is
 * concluded from what is broken.
 */
export function crossCheck(
  loaded: LoadedYaml,
  known: BuildCapabilities,
  before: readonly ConfigFault[],
  now: number,
): ConfigFault[] {
  const checker = new Checker(loaded, known, before);
  const declared = blockOf(loaded.value) as Partial<Declaration>;
  checkPlans(checker, declared);
  checkModels(checker, declared);
  checkPipelines(checker, declared);
  checkBooks(checker, blockOf(declared.prices));
  checkPrices(checker, declared, now);
  checkCoverage(checker, declared, now);
  checkRoutes(checker, declared);
  checkStorage(checker, declared);
  checkSite(checker, declared);
  if (blockOf(declared.outbound).allow_private === true) {
    checker.report(["outbound", "allow_private"], {
      severity: "warning",
      message: "clients may name private addresses: for development only",
    });
  }
  return checker.faults;
}

function checkPlans(checker: Checker, declared: Partial<Declaration>): void {
  const books = checker.names(["prices"], declared.prices);
  for (const [name, plan] of Object.entries(blockOf(declared.plans))) {
    const book = blockOf(plan).price_book;
    if (typeof book === "string") {
      checker.reference(["plans", name, "price_book"], book, "price book", books);
    }
  }
}

/** Files that are to be kept in a bucket need one, and the keys to it. */
function checkStorage(checker: Checker, declared: Partial<Declaration>): void {
  const { files, s3 } = blockOf(declared.storage);
  if (files !== "s3") return;
  if (s3 === undefined) {
    checker.report(["storage", "files"], {
      message: "there is no bucket to keep files in",
      suggestion: "Declare it under storage.s3.",
    });
    return;
  }
  for (const key of ["access_key_id", "secret_access_key"]) {
    if (blockOf(s3)[key] === "") checker.report(["storage", "s3", key], { message: "is empty" });
  }
}
