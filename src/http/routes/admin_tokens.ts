import { REQUESTS } from "../../../schemas/requests.ts";
import { createToken, listTokens, revokeToken } from "../admin/tokens.ts";
import { requestBody } from "../request_body.ts";
import { inPath } from "./parameters.ts";
import { fixedRoute, json, type RouteArea } from "./route.ts";
import { SAMPLE } from "./sample_ids.ts";

export const adminTokenRoutes: RouteArea = {
  title: "Admin tokens",
  routes: [
    fixedRoute({
      method: "POST",
      path: "/admin/v1/tokens",
      auth: "admin_token",
      scope: "root",
      summary: "Create an admin token with scopes",
      request: requestBody(REQUESTS.admin_tokens),
      responses: { 201: json("AdminToken", "The token. Only this response has the token itself.") },
      example: { body: { name: "help desk", scopes: ["read", "support"] } },
      handler: createToken,
    }),
    fixedRoute({
      method: "GET",
      path: "/admin/v1/tokens",
      auth: "admin_token",
      scope: "read",
      summary: "List admin tokens",
      responses: { 200: json("AdminTokenList", "All admin tokens, newest first.") },
      example: {},
      handler: listTokens,
    }),
    fixedRoute({
      method: "DELETE",
      path: "/admin/v1/tokens/{id}",
      auth: "admin_token",
      scope: "root",
      summary: "Revoke an admin token",
      description: "No node accepts the token any more.",
      parameters: [inPath("id", "Id of the admin token.")],
      responses: { 200: json("AdminToken", "The revoked token.") },
      example: { path: { id: SAMPLE.adminToken } },
      handler: revokeToken,
    }),
  ],
};
