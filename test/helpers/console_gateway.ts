import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { setOperator, verifyAddress } from "../../src/domain/accounts/people.ts";
import { openGateway, type TestGateway, type TestGatewayOptions } from "./open_gateway.ts";

/** A gateway with a person signed in to its console. */
export interface ConsoleGateway extends TestGateway {
  readonly person: SignedInPerson;
  register(email: string): Promise<SignedInPerson>;
  credit(account: string, amount: string): Promise<void>;
  /** Checks the books; fails with what is wrong. */
  verify(): Promise<void>;
}

/** A signed-in person's requests, as a browser sends them. */
export interface SignedInPerson {
  readonly account: string;
  readonly email: string;
  /** A page's text. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  read(path: string): Promise<string>;
  /** Sends a form as the console's pages would. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<
    Response
  >;
  /** Lets a real browser go on as this person. */
  takeOver(page: Page): Promise<void>;
  makeOperator(): Promise<void>;
}

const PASSWORD = "a long sentence that is hard to guess";
const SHIPPED = new URL("../../gateway.yaml", import.meta.url);

/** The shipped configuration, and something more; without a gift, so that a test's money is its own. */
export async function shippedWith(more = ""): Promise<string> {
  const shipped = await Deno.readTextFile(SHIPPED);
  return `${shipped.replace(/^ *welcome_credit:.*\n/m, "")}\n${more}`;
}

export async function openConsole(
  options: TestGatewayOptions & {
    cash?: string;
    /** YAML that is added to the shipped configuration. */
    added?: string;
  } = {},
): Promise<ConsoleGateway> {
  const gateway = await openGateway({
    ...options,
    config: options.config ?? await shippedWith(options.added),
  });
  try {
    let credits = 0;
    const opened: Omit<ConsoleGateway, "person"> = {
      ...gateway,
      register: (email) => register(gateway, email),
      async credit(account, amount) {
        const body = { kind: "cash", amount, reference: `c${credits++}` };
        const res = await gateway.admin("POST", `/accounts/${account}/credits`, body);
        assert.equal(res.status, 201, await res.text());
      },
      async verify() {
        const { ok, checks } = await (await gateway.admin("GET", "/ledger/verify")).json();
        assert.ok(ok, JSON.stringify(checks));
      },
    };
    const person = await register(gateway, "ann@example.org");
    if (options.cash !== "0") await opened.credit(person.account, options.cash ?? "25");
    return { ...opened, person };
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
}

async function register(gateway: TestGateway, email: string): Promise<SignedInPerson> {
  const res = await gateway.fetch("/register", {
    method: "POST",
    redirect: "manual",
    headers: { origin: gateway.address, "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams({ email, name: "Ann Example", password: PASSWORD })),
  });
  assert.equal(res.status, 303, await res.text());
  const [name, value] = res.headers.getSetCookie()[0]!.split(";")[0]!.split("=");
  const cookie = `${name}=${value}`;
  const { sql } = gateway.gateway.database;
  const [row] = await sql`select id, account_id from person where email = ${email}`;
  const get = (path: string, headers: Record<string, string> = {}) =>
    gateway.fetch(path, {
      redirect: "manual",
      headers: { cookie, accept: "text/html", ...headers },
    });
  const read = async (path: string) => {
    const res = await get(path);
    const text = await res.text();
    assert.equal(res.status, 200, `${path} answered ${res.status}: ${text}`);
    return text;
  };
  return {
    account: row!.account_id,
    email,
    get,
    read,
    async post(path, fields, headers = {}) {
      const csrf = /name="csrf" value="([^"]+)"/.exec(await read("/console/keys"))![1]!;
      return await gateway.fetch(path, {
        method: "POST",
        redirect: "manual",
        headers: {
          cookie,
          origin: gateway.address,
          accept: "text/html",
          "content-type": "application/x-www-form-urlencoded",
          ...headers,
        },
        body: String(new URLSearchParams({ csrf, ...fields })),
      });
    },
    async takeOver(page) {
      const { hostname } = new URL(gateway.address);
      await page.context().addCookies([
        { name: name!, value: value!, domain: hostname, path: "/", httpOnly: true },
      ]);
    },
    async makeOperator() {
      // As if a provider had vouched for the address: the session goes on.
      await verifyAddress(sql, row!.id, email);
      await setOperator(sql, email, true);
    },
  };
}
