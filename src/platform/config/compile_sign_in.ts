import type { Config, SignInProvider } from "./config.ts";
import type { GatewayFile } from "./gateway_file.ts";
import type { SettingsOf } from "./settings.ts";

const DEFAULT_NAMES = { github: "GitHub", google: "Google", oidc: "single sign-on" };
const GOOGLE = "https://accounts.google.com";

/** The enabled sign-in providers: those with a client id and a client secret. */
export function compileSignIn(
  providers: SettingsOf<GatewayFile["site"]["sign_in"]>,
): Config["site"]["signIn"] {
  return new Map(
    providers.filter(({ clientId, clientSecret }) => clientId !== "" && clientSecret !== "")
      .map((provider): [string, SignInProvider] => [provider.id, {
        ...provider,
        name: provider.name ?? DEFAULT_NAMES[provider.kind],
        issuer: provider.kind === "google" ? GOOGLE : provider.issuer,
      }]),
  );
}
