import type { Balance } from "../../domain/ledger/balance.ts";
import type { Config } from "../../platform/config/config.ts";
import { formatCount, formatCountShort } from "../format.ts";
import { Money } from "../money.tsx";
import { Time } from "../time.tsx";

/** The balance of an account: what is available, and what it consists of. */
export function BalanceCard({ balance, config }: { balance: Balance; config: Config }) {
  const { quotas, plan } = balance;
  const currency = config.service;
  const parts: [name: string, amount: string, note: string][] = [
    ["Cash", balance.cash_balance, "Includes funds on hold"],
    ["Credit", balance.gift_balance, "Used before cash"],
    ["On hold", balance.frozen_balance, "Reserved for running requests"],
  ];
  const limited = config.plans.get(plan.name)?.quotaModels;
  const kinds: [string, number, string, ReadonlySet<string> | undefined][] = [
    ["Text", quotas.text, "tokens left", limited?.text],
    ["Image", quotas.image, "images left", limited?.image],
    ["Video", quotas.video, "seconds left", limited?.video],
  ];
  return (
    <section class="card balance" aria-label="Balance">
      <div class="figure balance-main">
        <div class="figure-name">Available</div>
        <div class="balance-sum">
          <Money amount={balance.available_balance} currency={currency} />
        </div>
        <div class="figure-note">
          Plan: {config.plans.get(plan.name)?.name ?? plan.name}
          {plan.expires_at !== null && (
            <>
              , until <Time at={plan.expires_at} as="date" />
            </>
          )}
        </div>
      </div>
      <dl class="balance-parts">
        {parts.map(([name, amount, note]) => (
          <div class="figure">
            <dt>{name}</dt>
            <dd>
              <Money amount={amount} currency={currency} />
            </dd>
            <dd class="figure-note">{note}</dd>
          </div>
        ))}
        {kinds.filter(([, left]) => left > 0).map(([name, left, unit, models]) => (
          <div class="figure">
            <dt>{name} quota</dt>
            <dd title={formatCount(left)}>{formatCountShort(left)}</dd>
            <dd class="figure-note">
              {unit}
              {models !== undefined && `, for ${[...models].join(", ")}`}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
