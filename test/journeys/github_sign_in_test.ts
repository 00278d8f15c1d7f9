import assert from "node:assert/strict";
import { openGateway } from "../helpers/open_gateway.ts";
import { declarationWithSite } from "../helpers/site_declaration.ts";
import { Visitor } from "../helpers/visitor.ts";

/** As much of GitHub (Enterprise) as signing in needs, over real HTTP. */
function openGitHub(emails: unknown[]) {
  const asked: { path: string; form: URLSearchParams; headers: Headers }[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const form = new URLSearchParams(request.method === "POST" ? await request.text() : "");
    asked.push({ path: pathname, form, headers: request.headers });
    switch (pathname) {
      case "/login/oauth/access_token":
        return Response.json(
          form.get("code") === "good"
            ? { access_token: "gho_1", token_type: "bearer", scope: "read:user,user:email" }
            : { error: "bad_verification_code" },
        );
      case "/api/v3/user":
        return Response.json({ id: 17, login: "ann", name: "Ann Archer" });
      case "/api/v3/user/emails":
        return Response.json(emails);
    }
    return new Response("not here", { status: 404 });
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const declare = (github: string) =>
  declarationWithSite(
    `sign_in:\n  - { id: github, kind: github, issuer: "${github}", client_id: Iv1.abc, client_secret: "\${GITHUB_SECRET}" }`,
  );
const environment = { GITHUB_SECRET: "s3cret" };

Deno.test({
  name: "signing in with GitHub takes the verified primary address and the number that stays",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using github = openGitHub([
      { email: "old@example.com", primary: false, verified: true },
      { email: "ann@example.com", primary: true, verified: true },
    ]);
    await using gateway = await openGateway({
      declaration: await declare(github.address),
      environment,
    });
    const ann = new Visitor(gateway.address);
    const away = await ann.get("/sign-in/github?return_to=/account");
    const address = new URL(away.headers.get("location")!);
    assert.equal(address.origin + address.pathname, `${github.address}/login/oauth/authorize`);
    assert.equal(
      address.searchParams.get("redirect_uri"),
      `${gateway.address}/sign-in/github/callback`,
    );
    const state = address.searchParams.get("state")!;

    const back = await ann.get(`/sign-in/github/callback?code=good&state=${state}`);
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
    const again = await ann.get(`/sign-in/github/callback?code=good&state=${state}`);
    assert.equal(again.headers.get("location"), "/sign-in");
  },
});

Deno.test({
  name: "a code that GitHub does not know, and an address it has not verified, let nobody in",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using github = openGitHub([{ email: "ann@example.com", primary: true, verified: false }]);
    await using gateway = await openGateway({
      declaration: await declare(github.address),
      environment,
    });
    for (const code of ["good", "bad"]) {
      const somebody = new Visitor(gateway.address);
      const away = await somebody.get("/sign-in/github");
      const state = new URL(away.headers.get("location")!).searchParams.get("state");
      const back = await somebody.get(`/sign-in/github/callback?code=${code}&state=${state}`);
      assert.equal(back.headers.get("location"), "/sign-in");
      assert.equal(somebody.cookies.has("tollgate_session"), false);
    }
    assert.equal((await gateway.gateway.database.sql`select from person`).length, 0);
    assert.ok(!gateway.logged().includes("s3cret"));
  },
});
