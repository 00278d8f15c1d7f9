import { ApiError } from "../../lib/api_error.ts";
import type { Config } from "../../platform/config/config.ts";
import type { NewAccount } from "./accounts.ts";

/** An account can only use plans and price books of the configuration. */
export function requireConfigured(
  config: Config,
  { plan: name, price_book: book }: Pick<NewAccount, "plan" | "price_book">,
): void {
  if (name !== undefined && !config.plans.has(name)) {
    const known = [...config.plans.keys()].join(", ");
    throw new ApiError("invalid_value", `Unknown plan "${name}". Configured plans: ${known}.`, {
      param: "plan",
    });
  }
  if (book !== undefined && !config.books.has(book)) {
    const known = [...config.books.keys()].join(", ");
    throw new ApiError(
      "invalid_value",
      `Unknown price book "${book}". Configured price books: ${known}.`,
      {
        param: "price_book",
      },
    );
  }
}
