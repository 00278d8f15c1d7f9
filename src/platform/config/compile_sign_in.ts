import type * as declared from "./gateway_file.ts";
import type { SignInProvider } from "./config.ts";

const USUAL_NAMES = { github: "GitHub", google: "Google", oidc: "single sign-on" };
const GOOGLE = "https://accounts.google.com";

/** The providers of identities that are switched on: those with a client id and its secret. */
export function compileSignIn(
  declared: readonly declared.SignInProvider[],
): ReadonlyMap<string, SignInProvider> {
  return new Map(
    declared.filter((each) => each.client_id !== "" && each.client_secret !== "").map((each) => [
      each.id,
      {
        id: each.id,
        name: each.name ?? USUAL_NAMES[each.kind],
        kind: each.kind,
        issuer: each.kind === "google" ? GOOGLE : each.issuer ?? null,
        clientId: each.client_id,
        clientSecret: each.client_secret,
      },
    ]),
  );
}
