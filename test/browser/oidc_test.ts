import assert from "node:assert/strict";
import { OAuth2Server } from "oauth2-mock-server";
import { browserTest } from "../helpers/chromium.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { PASSWORD } from "../helpers/visitor.ts";

/** A real OpenID Connect server that vouches for one person at once. */
async function openProvider(claims: Record<string, unknown>) {
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  const { port } = server.address();
  server.issuer.url = `http://127.0.0.1:${port}`;
  server.service.on("beforeTokenSigning", ({ payload }) => Object.assign(payload, claims));
  const asked: URLSearchParams[] = [];
  server.service.on("beforeAuthorizeRedirect", (_redirect, request) => {
    asked.push(new URL(request.url!, server.issuer.url!).searchParams);
  });
  return {
    server,
    asked,
    issuer: server.issuer.url!,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

async function openSite(issuer: string, more = "") {
  return await openGateway({
    config: await configWithSite(
      `sign_in:\n  - { id: house, name: House ID, kind: oidc, issuer: "${issuer}", client_id: tollgate, client_secret: "\${HOUSE_SECRET}" }${more}`,
    ),
    environment: { HOUSE_SECRET: "s3cret" },
  });
}

const ANN = { sub: "ann-17", email: "Ann@Example.com", email_verified: true, name: "Ann Archer" };

browserTest(
  "signing in elsewhere makes a person once, and finds them by subject after that",
  async (browser) => {
    const claims = { ...ANN };
    await using provider = await openProvider(claims);
    await using gateway = await openSite(provider.issuer);
    const { sql } = gateway.gateway.database;
    for (let time = 0; time < 2; time++) {
      const page = await browser.openPage();
      await page.goto(`${gateway.address}/sign-in?return_to=/account`);
      await page.getByRole("link", { name: "Continue with House ID" }).click();
      await page.waitForURL(`${gateway.address}/account`);
      await page.getByText("ann@example.com").waitFor();
      await page.getByText("Set password").first().waitFor();
      await page.close();
      // The address may change at the provider: the subject is who they are.
      claims.email = "other@example.com";
    }
    const people = await sql`select email, name from person`;
    assert.deepEqual([...people], [{ email: "ann@example.com", name: "Ann Archer" }]);
    const [asked] = provider.asked;
    assert.equal(asked!.get("code_challenge_method"), "S256");
    assert.ok(asked!.get("state")!.length >= 32 && asked!.get("nonce")!.length >= 32);
  },
);

browserTest(
  "an email of an existing account is not linked by itself; on the account page it is",
  async (browser) => {
    await using provider = await openProvider(ANN);
    await using gateway = await openSite(provider.issuer);
    const page = await browser.openPage();
    await page.goto(`${gateway.address}/register?return_to=/account`);
    await page.getByLabel("Email").fill("ann@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();

    await page.goto(`${gateway.address}/sign-in`);
    await page.getByRole("link", { name: "Continue with House ID" }).click();
    await page.getByText("An account with the email ann@example.com already exists.").waitFor();

    await page.getByLabel("Email").fill("ann@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.goto(`${gateway.address}/account`);
    await page.getByRole("link", { name: "Connect" }).click();
    await page.getByText("House ID connected.").waitFor();

    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.goto(`${gateway.address}/sign-in?return_to=/account`);
    await page.getByRole("link", { name: "Continue with House ID" }).click();
    await page.waitForURL(`${gateway.address}/account`);
  },
);

browserTest("an unverified email creates no account", async (browser) => {
  await using provider = await openProvider({ ...ANN, email_verified: false });
  await using gateway = await openSite(provider.issuer);
  const page = await browser.openPage();
  await page.goto(`${gateway.address}/sign-in`);
  await page.getByRole("link", { name: "Continue with House ID" }).click();
  await page.getByText("has no verified email for you").waitFor();
  assert.equal((await gateway.gateway.database.sql`select from person`).length, 0);
});

browserTest("an answer that this browser did not ask for is refused", async (browser) => {
  await using provider = await openProvider(ANN);
  await using gateway = await openSite(provider.issuer);
  const page = await browser.openPage();
  // Nothing pending at all.
  await page.goto(`${gateway.address}/sign-in/house/callback?code=stolen&state=guessed`);
  await page.getByText("Sign-in took too long").waitFor();
  // Pending, but another state.
  provider.server.service.once("beforeAuthorizeRedirect", (redirect) => {
    redirect.url.searchParams.set("state", "forged");
  });
  await page.getByRole("link", { name: "Continue with House ID" }).click();
  await page.getByText("Sign-in with House ID failed").waitFor();
  assert.equal((await gateway.gateway.database.sql`select from person`).length, 0);
});

browserTest("a provider that is away leaves the other ways to sign in", async (browser) => {
  await using gateway = await openSite("http://127.0.0.1:1");
  const page = await browser.openPage();
  await page.goto(`${gateway.address}/sign-in`);
  await page.getByRole("link", { name: "Continue with House ID" }).click();
  await page.getByText("Sign-in with House ID failed").waitFor();
  assert.equal(await page.getByLabel("Password").count(), 1);
});

browserTest(
  "following a link made by another person connects nothing, and the session stays as it was",
  async (browser) => {
    await using provider = await openProvider({ ...ANN, sub: "mallory", email: "m@example.com" });
    await using gateway = await openSite(provider.issuer);
    const page = await browser.openPage();
    await page.goto(`${gateway.address}/register?return_to=/account`);
    await page.getByLabel("Email").fill("ann@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL(/\/account$/);
    await page.goto(`${gateway.address}/sign-in/house?return_to=/account&link=guessed`);
    assert.equal(page.url(), `${gateway.address}/account`);
    await page.getByText("ann@example.com").waitFor();
    assert.equal((await gateway.gateway.database.sql`select from person_identity`).length, 0);
  },
);
