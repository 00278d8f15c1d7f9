/** What the gateway of an earlier tree left in its database, and what clients had seen of it. */
export interface EarlierRows {
  /** Which tree it was. */
  commit: string;
  seen: {
    account: string;
    key: string;
    /** The balance while nothing was held. */
    available: string;
    /** Ids of requests and what was taken for them. */
    charged: [requestId: string, amount: string][];
    /** A task that has succeeded, and one that was running when the process ended. */
    task: string;
    running: string;
    endpoint: string;
    secret: string;
  };
  /** Rows by table, as Postgres writes them. */
  rows: Record<string, string[]>;
}
