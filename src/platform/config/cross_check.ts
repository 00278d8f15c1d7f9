import { checkBooks } from "./check_books.ts";
import { checkCosts } from "./check_costs.ts";
import { checkPipelines } from "./check_pipelines.ts";
import { checkCoverage } from "./check_coverage.ts";
import { checkModels } from "./check_models.ts";
import { checkPlans } from "./check_plans.ts";
import { checkPrices } from "./check_prices.ts";
import { checkRoutes } from "./check_routes.ts";
import { checkSite } from "./check_site.ts";
import { blockOf, type BuildCapabilities, Checker } from "./checker.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { ConfigIssue } from "./issues.ts";
import type { LoadedYaml } from "../../lib/yaml/load_yaml.ts";

/**
 * Checks what the schema cannot express: references resolve, every visible model has a price, and units,
 * capabilities and limits belong to the model type. Also runs on files that do not match the schema, so
 * that the operator sees all issues at once: the checks must not assume a shape, and must not draw
 * conclusions from invalid values.
 */
export function crossCheck(
  loaded: LoadedYaml,
  capabilities: BuildCapabilities,
  before: readonly ConfigIssue[],
  now: number,
): ConfigIssue[] {
  const checker = new Checker(loaded, capabilities, before);
  const file = blockOf(loaded.value) as Partial<GatewayFile>;
  checkPlans(checker, file);
  checkModels(checker, file, now);
  checkPipelines(checker, file);
  checkBooks(checker, blockOf(file.prices));
  checkCosts(checker, file);
  checkPrices(checker, file, now);
  checkCoverage(checker, file, now);
  checkRoutes(checker, file);
  checkStorage(checker, file);
  checkSite(checker, file);
  if (blockOf(file.outbound).allow_private === true) {
    checker.report(["outbound", "allow_private"], {
      severity: "warning",
      message: "clients may use private network addresses: for development only",
    });
  }
  return checker.issues;
}

/** Files in S3 need a bucket and its keys. */
function checkStorage(checker: Checker, file: Partial<GatewayFile>): void {
  const { files, s3 } = blockOf(file.storage);
  if (files !== "s3") return;
  if (s3 === undefined) {
    checker.report(["storage", "files"], {
      message: "needs a bucket",
      suggestion: "Configure it under storage.s3.",
    });
    return;
  }
  for (const key of ["access_key_id", "secret_access_key"]) {
    if (blockOf(s3)[key] === "") checker.report(["storage", "s3", key], { message: "is empty" });
  }
}
