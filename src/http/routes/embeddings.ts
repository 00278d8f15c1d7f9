import { EMBEDDINGS_REQUEST } from "../endpoints/charged_requests.ts";
import { embeddings } from "../endpoints/embeddings.ts";
import { ANSWERED } from "./parameters.ts";
import { json, operationRoute, type RouteArea } from "./route.ts";

export const embeddingRoutes: RouteArea = {
  title: "Embeddings",
  routes: [
    operationRoute({
      operation: "embeddings",
      serves: "embedding",
      method: "POST",
      path: "/embeddings",
      auth: "api_key",
      isCharged: true,
      summary: "Create embeddings",
      description:
        "OpenAI's Embeddings: a vector for each text, which texts of like meaning share.",
      request: EMBEDDINGS_REQUEST,
      parameters: ANSWERED,
      responses: { 200: json("EmbeddingList", "The vectors, in the order of the texts.") },
      example: {
        body: {
          model: "sim-embedding",
          input: ["The gate is open.", "The gate is shut."],
          dimensions: 8,
        },
      },
      handler: embeddings,
    }),
  ],
};
