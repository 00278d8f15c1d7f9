export interface GitHubUser {
  id: number;
  login: string;
  name: string;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

/** As much of GitHub (Enterprise) as signing in needs, over real HTTP. `user` is who signs in there. */
export function openGitHub(user: GitHubUser) {
  const asked: { path: string; form: URLSearchParams; headers: Headers }[] = [];
  const github = { user };
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
      case "/api/v3/user": {
        const { emails: _, ...shown } = github.user;
        return Response.json(shown);
      }
      case "/api/v3/user/emails":
        return Response.json(github.user.emails);
    }
    return new Response("not here", { status: 404 });
  });
  return Object.assign(github, {
    address: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}

/** The `site` block that configures it; `GITHUB_SECRET` must be in the environment. */
export function signInWith(address: string): string {
  return `sign_in:\n  - { id: github, kind: github, issuer: "${address}", client_id: Iv1.abc, client_secret: "\${GITHUB_SECRET}" }`;
}
