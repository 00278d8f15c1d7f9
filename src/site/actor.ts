import type { Person } from "../domain/accounts/people.ts";
import type { Actor } from "../domain/audit/audit.ts";
import { personOf, type SiteContext } from "./context.ts";

/** The signed-in person, about their own account: for the audit log. */
export function memberOf(c: SiteContext): Actor {
  return personActor(c, personOf(c), "member");
}

/** The signed-in operator, about any account. */
export function operatorOf(c: SiteContext): Actor {
  return personActor(c, personOf(c), "operator");
}

/** A person who is about to be signed in. */
export function newMemberOf(c: SiteContext, person: Person): Actor {
  return personActor(c, person, "member");
}

function personActor(c: SiteContext, { id }: Person, kind: "member" | "operator"): Actor {
  return { kind, id, name: null, via: "console", requestId: c.env.requestId };
}
