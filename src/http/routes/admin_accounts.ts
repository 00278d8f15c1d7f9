import { REQUESTS } from "../../../schemas/requests.ts";
import {
  createAccountEndpoint,
  listAccountsEndpoint,
  previewAccountEndpoint,
  retrieveAccount,
  updateAccountEndpoint,
} from "../admin/accounts.ts";
import {
  createKeyEndpoint,
  listKeysEndpoint,
  revokeKeyEndpoint,
  updateKeyEndpoint,
} from "../admin/keys.ts";
import { resetPassword, retrievePerson, updatePerson } from "../admin/people.ts";
import { requestBody, withoutRequired } from "../request_body.ts";
import { inPath, PAGE, query } from "./parameters.ts";
import { fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

export const ACCOUNT_ID = inPath("id", "Id of the account.");
const EMAIL = inPath("email", "Email address of the person.");
const AT_ACCOUNT = { path: { id: SAMPLE.account } };
const AT_PERSON = { path: { email: SAMPLE.email } };

export const adminAccountRoutes: RouteArea = {
  title: "Accounts, keys and people",
  routes: [
    fixedRoute({
      method: "POST",
      path: "/admin/v1/accounts",
      auth: "admin_token",
      scope: "support",
      summary: "Create an account",
      description: "`plan` and `price_book` also need the scope `money`.",
      request: requestBody(REQUESTS.admin_accounts),
      responses: { 201: json("Account", "The account.") },
      example: { body: { name: "Analytical Engines Ltd", email: "ada@engines.example" } },
      handler: createAccountEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/accounts",
      auth: "admin_token",
      scope: "read",
      summary: "List accounts",
      parameters: [
        ...PAGE,
        query(
          "search",
          "Only accounts whose id, name or email contains this, with an API key that ends with these four " +
            "characters, or that made the request with this id.",
        ),
      ],
      responses: { 200: json("AccountList", "The accounts, newest first.") },
      example: { query: { limit: 50 } },
      handler: listAccountsEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/accounts/{id}",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve an account with its balance",
      parameters: [ACCOUNT_ID],
      responses: { 200: json("Account", "The account.") },
      example: AT_ACCOUNT,
      handler: retrieveAccount,
    }),
    fixedRoute({
      method: "PATCH",
      path: "/admin/v1/accounts/{id}",
      auth: "admin_token",
      scope: "support",
      summary: "Change the name, plan or status of an account",
      description:
        "Responds when every node acts on the change. `plan` and `price_book` also need the scope `money`. A suspended " +
        "account is refused with 403 `account_suspended`, and its streams end. Closing is final; the balance in the " +
        "response and `GET /admin/v1/accounts/{id}/statement` are its last statement.",
      parameters: [ACCOUNT_ID],
      request: requestBody(REQUESTS.admin_account_change),
      responses: { 200: json("Account", "The account, with its balance.") },
      example: { ...AT_ACCOUNT, body: { status: "suspended", reason: "chargeback of invoice 17" } },
      handler: updateAccountEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/accounts/{id}/preview",
      auth: "admin_token",
      scope: "read",
      summary: "Preview another plan or price book of an account",
      description: "Nothing is changed.",
      parameters: [
        ACCOUNT_ID,
        query("plan", "Name of a plan."),
        query("price_book", "Name of a price book; empty: none of its own."),
      ],
      responses: { 200: json("AccountPreview", "Limits, quotas and prices, now and then.") },
      example: { ...AT_ACCOUNT, query: { plan: "free" } },
      handler: previewAccountEndpoint,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/accounts/{id}/keys",
      auth: "admin_token",
      scope: "support",
      summary: "Create an API key",
      parameters: [ACCOUNT_ID],
      request: requestBody(REQUESTS.admin_keys),
      responses: { 201: json("ApiKey", "The API key. Only this response has the key itself.") },
      example: { ...AT_ACCOUNT, body: { name: "production" } },
      handler: createKeyEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/accounts/{id}/keys",
      auth: "admin_token",
      scope: "read",
      summary: "List the API keys of an account",
      parameters: [ACCOUNT_ID],
      responses: { 200: json("ApiKeyList", "All API keys of the account.") },
      example: AT_ACCOUNT,
      handler: listKeysEndpoint,
    }),
    fixedRoute({
      method: "PATCH",
      path: "/admin/v1/keys/{id}",
      auth: "admin_token",
      scope: "support",
      summary: "Change the name or the restrictions of an API key",
      description: "Responds when every node acts on the change. Fields that are left out stay.",
      parameters: [inPath("id", "Id of the API key.")],
      request: requestBody(withoutRequired(REQUESTS.admin_keys, "KeyChange")),
      responses: { 200: json("ApiKey", "The changed API key.") },
      example: {
        path: { id: SAMPLE.key },
        body: { models: ["sim-*"], limits: { requests_per_minute: 60 } },
      },
      handler: updateKeyEndpoint,
    }),
    fixedRoute({
      method: "DELETE",
      path: "/admin/v1/keys/{id}",
      auth: "admin_token",
      scope: "support",
      summary: "Revoke an API key",
      description: "Responds when no node accepts the key any more.",
      parameters: [inPath("id", "Id of the API key.")],
      responses: { 200: json("ApiKey", "The revoked API key.") },
      example: { path: { id: SAMPLE.key } },
      handler: revokeKeyEndpoint,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/people/{email}",
      auth: "admin_token",
      scope: "read",
      summary: "Retrieve a registered person",
      parameters: [EMAIL],
      responses: { 200: json("Person", "The person.") },
      example: AT_PERSON,
      handler: retrievePerson,
    }),
    fixedRoute({
      method: "PUT",
      path: "/admin/v1/people/{email}",
      auth: "admin_token",
      scope: "root",
      summary: "Grant or revoke the operator role",
      description: "The email address of the person must be verified.",
      parameters: [EMAIL],
      request: requestBody(REQUESTS.admin_people),
      responses: { 200: json("Person", "The changed person.") },
      example: { ...AT_PERSON, body: { operator: true } },
      handler: updatePerson,
    }),
    fixedRoute({
      method: "POST",
      path: "/admin/v1/people/{email}/password",
      auth: "admin_token",
      scope: "support",
      summary: "Set a new password for a person",
      description:
        "Ends all sessions of the person and verifies the email address. Only the root token sets the password of an " +
        "operator.",
      parameters: [EMAIL],
      responses: { 200: json("Person", "The person. Only this response has the password.") },
      example: AT_PERSON,
      handler: resetPassword,
    }),
  ],
};
