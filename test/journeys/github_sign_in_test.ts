import assert from "node:assert/strict";
import { type GitHubUser, openGitHub, signInWith } from "../helpers/github.ts";
import { openGateway } from "../helpers/open_gateway.ts";
import { configWithSite } from "../helpers/site_config.ts";
import { Visitor } from "../helpers/visitor.ts";

const configFor = (github: string) => configWithSite(signInWith(github));
const ann = (emails: GitHubUser["emails"]): GitHubUser => ({
  id: 17,
  login: "ann",
  name: "Ann Archer",
  emails,
});
const environment = { GITHUB_SECRET: "s3cret" };

Deno.test({
  name: "signing in with GitHub takes the verified primary address and the number that stays",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using github = openGitHub(ann([
      { email: "old@example.com", primary: false, verified: true },
      { email: "ann@example.com", primary: true, verified: true },
    ]));
    await using gateway = await openGateway({
      config: await configFor(github.address),
      environment,
    });
    const browser = new Visitor(gateway.address);
    const away = await browser.get("/sign-in/github?return_to=/account");
    const address = new URL(away.headers.get("location")!);
    assert.equal(address.origin + address.pathname, `${github.address}/login/oauth/authorize`);
    assert.equal(
      address.searchParams.get("redirect_uri"),
      `${gateway.address}/sign-in/github/callback`,
    );
    const state = address.searchParams.get("state")!;

    const back = await browser.get(`/sign-in/github/callback?code=good&state=${state}`);
    assert.equal(back.headers.get("location"), "/account");
    const [person] = await gateway.gateway.database.sql`
      select p.email, p.name, i.provider, i.subject
        from person p join person_identity i on i.person_id = p.id`;
    assert.deepEqual({ ...person }, {
      email: "ann@example.com",
      name: "Ann Archer",
      provider: "github",
      subject: "17",
    });
    const { form } = github.asked.find(({ path }) => path === "/login/oauth/access_token")!;
    assert.equal(form.get("client_secret"), "s3cret");
    assert.ok(form.get("code_verifier")!.length >= 43);
    // A return is good once.
    const again = await browser.get(`/sign-in/github/callback?code=good&state=${state}`);
    assert.equal(again.headers.get("location"), "/sign-in");
  },
});

Deno.test({
  name: "a code that GitHub does not know, and an address it has not verified, sign no person in",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using github = openGitHub(
      ann([{ email: "ann@example.com", primary: true, verified: false }]),
    );
    await using gateway = await openGateway({
      config: await configFor(github.address),
      environment,
    });
    for (const code of ["good", "bad"]) {
      const visitor = new Visitor(gateway.address);
      const away = await visitor.get("/sign-in/github");
      const state = new URL(away.headers.get("location")!).searchParams.get("state");
      const back = await visitor.get(`/sign-in/github/callback?code=${code}&state=${state}`);
      assert.equal(back.headers.get("location"), "/sign-in");
      assert.equal(visitor.cookies.has("tollgate_session"), false);
    }
    assert.equal((await gateway.gateway.database.sql`select from person`).length, 0);
    assert.ok(!gateway.logged().includes("s3cret"));
  },
});
