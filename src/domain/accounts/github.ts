import { z } from "zod";
import type { AuthorizationServer } from "oauth4webapi";
import type { SignInProvider } from "../../platform/config/config.ts";
import type { Identity } from "./identities.ts";
import { readEmail } from "./people.ts";

const TIMEOUT_MS = 10_000;
const User = z.object({ id: z.number().int(), login: z.string(), name: z.string().nullish() });
const Emails = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
);

/** GitHub supports OAuth but not OpenID Connect: the identity is read from its API. */
export const GitHub = {
  scope: "read:user user:email",

  serverOf({ issuer }: SignInProvider): AuthorizationServer {
    const site = issuer ?? "https://github.com";
    return {
      issuer: site,
      authorization_endpoint: `${site}/login/oauth/authorize`,
      token_endpoint: `${site}/login/oauth/access_token`,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    };
  },

  async identityOf({ id, issuer }: SignInProvider, token: string): Promise<Identity> {
    // An enterprise server has its API below its own address.
    const api = issuer === null ? "https://api.github.com" : `${issuer}/api/v3`;
    const ask = async (path: string): Promise<unknown> => {
      const response = await fetch(api + path, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/vnd.github+json",
          "user-agent": "tollgate",
        },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const body = await response.json();
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return body;
    };
    const user = User.parse(await ask("/user"));
    const emails = Emails.parse(await ask("/user/emails"));
    const primary = emails.find(({ primary, verified }) => primary && verified);
    return {
      provider: id,
      // The number is permanent; a login can be released and taken by another user.
      subject: String(user.id),
      email: readEmail(primary?.email ?? ""),
      name: user.name ?? user.login,
    };
  },
};
