import assert from "node:assert/strict";

export const PASSWORD = "correct horse battery staple";

/** A browser without eyes: keeps cookies, follows nothing by itself, sends forms as our pages do. */
export class Visitor {
  readonly cookies = new Map<string, string>();

  constructor(readonly address: string) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return await this.#send(path, { headers: { accept: "text/html", ...headers } });
  }

  /** Sends a form as if from one of our pages; the token is read off a page that has one. */
  async post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const token = this.cookies.size === 0 ? {} : await this.#token();
    return await this.#send(path, {
      method: "POST",
      headers: { accept: "text/html", origin: this.address, ...headers },
      body: new URLSearchParams({ ...token, ...fields }),
    });
  }

  async register(email: string, fields: Record<string, string> = {}): Promise<void> {
    const res = await this.post("/register", { email, password: PASSWORD, name: "Ann", ...fields });
    assert.equal(res.status, 303, await res.text());
  }

  async #token(): Promise<{ csrf?: string }> {
    const res = await this.get("/account");
    const csrf = /name="csrf" value="([^"]+)"/.exec(await res.text())?.[1];
    return csrf === undefined ? {} : { csrf };
  }

  async #send(path: string, init: RequestInit & { headers: Record<string, string> }) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(new URL(path, this.address), {
      ...init,
      redirect: "manual",
      headers: { ...init.headers, ...(cookie === "" ? {} : { cookie }) },
    });
    for (const text of response.headers.getSetCookie()) {
      const [, name, value, age] = /^([^=]+)=([^;]*);.*Max-Age=(\d+)/.exec(text)!;
      if (age === "0") this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    // Read whole: a test that only looks at the status leaves nothing open.
    return new Response(await response.text() || null, response);
  }
}
