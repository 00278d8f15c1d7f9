import type { RequestOrigin } from "../../domain/ledger/request_origin.ts";

/** Rows of a list of facts: `user` and `metadata` of a request, where it had them. */
export function OriginFacts({ origin }: { origin: Omit<RequestOrigin, "key"> }) {
  const { user, metadata } = origin;
  return (
    <>
      {user !== null && (
        <>
          <dt>User</dt>
          <dd class="break">{user}</dd>
        </>
      )}
      {metadata !== null && (
        <>
          <dt>Metadata</dt>
          <dd>
            {Object.entries(metadata).map(([name, value]) => (
              <span class="block break">{name}: {String(value)}</span>
            ))}
          </dd>
        </>
      )}
    </>
  );
}
