import type { ConfigGuard } from "../../platform/config/config_store.ts";
import type { Queries } from "../../platform/database/database.ts";
import { DEAD_SECONDS } from "../../platform/cluster/cluster.ts";

/**
 * Rejects a configuration with another currency than the ledger's. Until something is booked it may be
 * changed, as long as no other node is configured with the old one.
 */
export function currencyGuard(sql: Queries, nodeId: string): ConfigGuard {
  return async function checkCurrency({ service: { currency } }, before) {
    // The currency that this node serves cannot have changed since.
    if (currency === before?.service.currency) return [];
    const path = ["service", "currency"];
    const query = sql<[{ code: string; obstacle: string | null }]>`
      select code, obstacle from ledger_set_currency(${currency}, ${nodeId}, ${DEAD_SECONDS})`;
    const [row] = await query.catch((error) => {
      if (before === null) throw error;
      return [null];
    });
    if (row === null) {
      return [{
        path,
        message: `the ledger could not be asked whether it may be in ${currency}`,
        suggestion: "Reload when the database answers again.",
      }];
    }
    const { code, obstacle } = row;
    if (obstacle === null) return [];
    return obstacle === "nodes"
      ? [{
        path,
        message: `other gateways on this database still serve it in ${code}`,
        suggestion: `Stop them all, then start with ${currency}.`,
      }]
      : [{
        path,
        message:
          `the ledger of this database is in ${code}: balances and receipts would be read as ${currency}`,
        suggestion: `Declare ${code}, or start with an empty database for ${currency}.`,
      }];
  };
}
