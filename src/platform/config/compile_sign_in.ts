import type { SignInProviderEntry } from "./gateway_file.ts";
import type { SignInProvider } from "./config.ts";

const DEFAULT_NAMES = { github: "GitHub", google: "Google", oidc: "single sign-on" };
const GOOGLE = "https://accounts.google.com";

/** The enabled sign-in providers: those with a client id and a client secret. */
export function compileSignIn(
  providers: readonly SignInProviderEntry[],
): ReadonlyMap<string, SignInProvider> {
  return new Map(
    providers.filter((provider) => provider.client_id !== "" && provider.client_secret !== "").map((
      provider,
    ) => [
      provider.id,
      {
        id: provider.id,
        name: provider.name ?? DEFAULT_NAMES[provider.kind],
        kind: provider.kind,
        issuer: provider.kind === "google" ? GOOGLE : provider.issuer ?? null,
        clientId: provider.client_id,
        clientSecret: provider.client_secret,
      },
    ]),
  );
}
