import type { ChatTiming } from "./chat/complete_chat.ts";

/** How long a gateway waits for what. Tests run with shorter times than the usual ones. */
export interface GatewayTiming {
  chat?: Partial<ChatTiming>;
}
