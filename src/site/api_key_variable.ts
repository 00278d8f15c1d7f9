/**
 * The environment variable that samples read an API key from, named after the service: "Acme AI" reads
 * `ACME_AI_API_KEY`.
 */
export function apiKeyVariable(serviceName: string): string {
  return `${variablePrefix(serviceName)}_API_KEY`;
}

/** The service's name as the beginning of an environment variable. */
export function variablePrefix(serviceName: string): string {
  const letters = serviceName.normalize("NFKD").replace(/[^A-Za-z0-9]/g, "_").toUpperCase();
  const name = letters.split("_").filter((part) => part !== "").join("_");
  return /^[A-Z]/.test(name) ? name : "GATEWAY";
}
