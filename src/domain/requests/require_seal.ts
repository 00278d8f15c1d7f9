import type { ConfigGuard } from "../../platform/config/config_store.ts";
import type { BodySeal } from "./body_seal.ts";

/** Rejects a configuration that keeps bodies which cannot be sealed. */
export function requireSeal({ hasKey }: Pick<BodySeal, "hasKey">): ConfigGuard {
  return function checkSeal({ logs: { bodies } }) {
    if (bodies === "off" || hasKey) return Promise.resolve(null);
    return Promise.resolve({
      path: ["logs", "bodies"],
      message: "bodies are stored sealed, and there is no key to seal them with",
      suggestion: "Set SECRETS_KEY in the environment and restart, or set logs.bodies to off.",
    });
  };
}
