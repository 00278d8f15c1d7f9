import * as oauth from "oauth4webapi";
import type { SignInProvider } from "../../platform/config/config.ts";
import { GitHub } from "./github.ts";
import type { Identity } from "./identities.ts";
import { readEmail } from "./people.ts";

/** What the browser stores during the sign-in at a provider; used once. */
export interface PendingSignIn {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
  /** The token by which a session asked to connect this identity; null to sign in with it. */
  readonly link: string | null;
}

/** The callback brought no identity: the person declined, or the response is not valid. */
export class SignInFailure extends Error {
  override readonly name = "SignInFailure";
}

const TIMEOUT_MS = 10_000;
const KNOWN_MS = 60 * 60_000;
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** Signs people in at configured providers, with PKCE, state and nonce. */
export class OAuth {
  /** Metadata of providers, by issuer. */
  readonly #known = new Map<string, { server: oauth.AuthorizationServer; until: number }>();

  /** The URL to redirect to, and what to store until the callback. */
  async begin(
    provider: SignInProvider,
    callback: string,
    { returnTo, link }: Pick<PendingSignIn, "returnTo" | "link">,
  ): Promise<{ address: string; pending: PendingSignIn }> {
    const server = await this.#serverOf(provider);
    const pending: PendingSignIn = {
      provider: provider.id,
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      returnTo,
      link,
    };
    const address = new URL(server.authorization_endpoint!);
    const isOpenId = provider.kind !== "github";
    for (
      const [name, value] of Object.entries({
        client_id: provider.clientId,
        redirect_uri: callback,
        response_type: "code",
        scope: isOpenId ? "openid email profile" : GitHub.scope,
        state: pending.state,
        code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
        ...(isOpenId ? { nonce: pending.nonce } : {}),
      })
    ) address.searchParams.set(name, value);
    return { address: address.href, pending };
  }

  /** The identity of a callback. */
  async complete(
    provider: SignInProvider,
    callback: string,
    came: URL,
    pending: PendingSignIn,
  ): Promise<Identity> {
    try {
      const server = await this.#serverOf(provider);
      const client: oauth.Client = { client_id: provider.clientId };
      const parameters = oauth.validateAuthResponse(server, client, came, pending.state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authenticationOf(server, provider.clientSecret),
        parameters,
        callback,
        pending.verifier,
        requestOptions(server.issuer),
      );
      if (provider.kind === "github") {
        const { access_token } = await oauth.processAuthorizationCodeResponse(
          server,
          client,
          response,
        );
        return await GitHub.identityOf(provider, access_token);
      }
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: pending.nonce,
        requireIdToken: true,
      });
      const claims = oauth.getValidatedIdTokenClaims(tokens)!;
      const person = claims.email === undefined && server.userinfo_endpoint !== undefined
        ? await this.#askMore(server, client, tokens.access_token, claims.sub)
        : claims;
      return {
        provider: provider.id,
        subject: claims.sub,
        email: person.email_verified === true ? readEmail(String(person.email ?? "")) : null,
        name: typeof person.name === "string" ? person.name : null,
      };
    } catch (error) {
      if (error instanceof SignInFailure) throw error;
      throw new SignInFailure("the provider's response is not valid", { cause: error });
    }
  }

  /** Some providers keep the e-mail address out of the token. */
  async #askMore(
    server: oauth.AuthorizationServer,
    client: oauth.Client,
    token: string,
    subject: string,
  ): Promise<oauth.UserInfoResponse> {
    const response = await oauth.userInfoRequest(
      server,
      client,
      token,
      requestOptions(server.issuer),
    );
    return await oauth.processUserInfoResponse(server, client, subject, response);
  }

  async #serverOf(provider: SignInProvider): Promise<oauth.AuthorizationServer> {
    if (provider.kind === "github") return GitHub.serverOf(provider);
    const known = this.#known.get(provider.issuer!);
    if (known !== undefined && known.until > Date.now()) return known.server;
    try {
      const issuer = new URL(provider.issuer!);
      const response = await oauth.discoveryRequest(issuer, requestOptions(issuer.href));
      const server = await oauth.processDiscoveryResponse(issuer, response);
      this.#known.set(provider.issuer!, { server, until: Date.now() + KNOWN_MS });
      return server;
    } catch (error) {
      throw new SignInFailure("the provider cannot be reached", { cause: error });
    }
  }
}

/** Plain http is for a provider on this very machine. */
function requestOptions(issuer: string) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    [oauth.allowInsecureRequests]: LOOPBACK.test(issuer),
  };
}

function authenticationOf(server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth {
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? oauth.ClientSecretBasic(secret)
    : oauth.ClientSecretPost(secret);
}
