import type { NewKey } from "../../../schemas/requests.ts";
import { type ApiKey, checkKeyName } from "../../domain/accounts/api_keys.ts";
import {
  BUDGET_PERIODS,
  type KeyRestrictions,
  requireKnownModels,
} from "../../domain/accounts/key_restrictions.ts";
import type { Config } from "../../platform/config/config.ts";
import { type FieldLabels, type FormError, messageAt } from "../form_error.ts";
import type { MoneyFormat } from "../format.ts";
import { Money } from "../money.tsx";
import { Badge, Field, Notice, Select } from "../parts.tsx";
import { readableName } from "../readable_name.ts";
import { keyForm } from "../request_forms.ts";
import { Time } from "../time.tsx";
import { NameField } from "./name_field.tsx";

export type KeyFields = Readonly<Record<string, string>>;

/** Labels of the key form by the API's field names. */
export const KEY_LABELS: FieldLabels = {
  name: "Name",
  expires_at: "Expires on",
  models: "Models",
  allowed_ips: "IP addresses",
  "limits.requests_per_minute": "Requests per minute",
  "limits.tokens_per_minute": "Tokens per minute",
  "budget.amount": "Budget",
};

/** Reads the key form. An empty field is no restriction. */
export function readKeyForm(
  fields: KeyFields,
  { models: known }: Pick<Config, "models">,
): Required<NewKey> {
  const text = (name: string) => fields[name]?.trim() ?? "";
  const list = (name: string) => text(name).split(/[\s,]+/).filter((each) => each !== "");
  const rate = (name: string) => text(name) === "" ? null : Number(text(name));
  const [day, amount] = [text("expires_on"), text("budget_amount")];
  const restrictions: KeyRestrictions = {
    expires_at: day === "" ? null : `${day}T00:00:00.000Z`,
    models: orNull(list("models")),
    limits: orNoRates({
      requests_per_minute: rate("requests_per_minute"),
      tokens_per_minute: rate("tokens_per_minute"),
    }),
    allowed_ips: orNull(list("allowed_ips")),
    log_bodies: fields.no_bodies === undefined,
    budget: amount === "" ? null : {
      amount,
      period: BUDGET_PERIODS.find((each) => each === text("budget_period")) ?? "total",
    },
  };
  const key = { ...keyForm.read({ name: text("name") }, restrictions), ...restrictions };
  checkKeyName(key.name);
  requireKnownModels(known, key.models);
  return key;
}

const orNull = (list: string[]) => list.length === 0 ? null : list;

function orNoRates(limits: KeyRestrictions["limits"]): KeyRestrictions["limits"] {
  return Object.values(limits ?? {}).every((rate) => rate === null) ? null : limits;
}

/** A key as its form has it. */
export function toKeyFields(key: ApiKey): KeyFields {
  return {
    name: key.name,
    expires_on: key.expires_at?.slice(0, 10) ?? "",
    models: key.models?.join(", ") ?? "",
    requests_per_minute: String(key.limits?.requests_per_minute ?? ""),
    tokens_per_minute: String(key.limits?.tokens_per_minute ?? ""),
    allowed_ips: key.allowed_ips?.join(", ") ?? "",
    budget_amount: key.budget?.amount ?? "",
    budget_period: key.budget?.period ?? "month",
    ...(key.log_bodies ? {} : { no_bodies: "on" }),
  };
}

export function KeyNameField(
  { fields, error }: { fields: KeyFields; error: FormError | undefined },
) {
  return <NameField form={keyForm} value={fields.name} example="production" error={error} />;
}

/** What the key may do. */
export function KeyRestrictionFields(
  { fields, error }: { fields: KeyFields; error: FormError | undefined },
) {
  const describe = (field: string) => ({
    label: KEY_LABELS[field]!,
    error: messageAt(error, field),
  });
  const isElsewhere = error !== undefined && !Object.hasOwn(KEY_LABELS, error.field ?? "");
  return (
    <>
      {isElsewhere && <Notice kind="bad" role="alert">{error.message}</Notice>}
      <div class="grid field-grid">
        <Field
          name="expires_on"
          type="date"
          hint="At the beginning of the day, UTC. Empty: never."
          value={fields.expires_on}
          {...describe("expires_at")}
        />
        <Field
          name="models"
          hint="Separated by commas; * is any text. Empty: all models."
          value={fields.models}
          {...describe("models")}
        />
        {(["requests_per_minute", "tokens_per_minute"] as const).map((name) => (
          <Field
            name={name}
            type="number"
            min={1}
            hint="Your plan's limit applies too."
            value={fields[name]}
            {...describe(`limits.${name}`)}
          />
        ))}
        <Field
          name="allowed_ips"
          hint="Addresses and networks, such as 203.0.113.7 or 10.0.0.0/8. Empty: any."
          value={fields.allowed_ips}
          {...describe("allowed_ips")}
        />
        <Field
          name="budget_amount"
          inputmode="decimal"
          placeholder="25.00"
          value={fields.budget_amount}
          {...describe("budget.amount")}
        />
        <Select
          name="budget_period"
          label="Budget period"
          options={BUDGET_PERIODS.map((period) => [period, readableName(period)] as const)}
          value={fields.budget_period ?? "month"}
        />
      </div>
      <label class="check">
        <input type="checkbox" name="no_bodies" checked={fields.no_bodies !== undefined} />
        <span>Never keep the bodies of its requests</span>
      </label>
    </>
  );
}

/** What restricts a key, as marks in a table. */
export function KeyMarks({ restrictions }: { restrictions: KeyRestrictions }) {
  const { expires_at, models, limits, allowed_ips, budget } = restrictions;
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now();
  return (
    <span class="row-tight">
      {expires_at !== null && (
        <Badge kind={isExpired ? "bad" : "info"}>
          {isExpired ? "Expired " : "Until "}
          <Time at={Date.parse(expires_at) / 1000} as="date" />
        </Badge>
      )}
      {models !== null && <Badge>{models.join(", ")}</Badge>}
      {limits !== null && <Badge>Own rates</Badge>}
      {allowed_ips !== null && <Badge>IP list</Badge>}
      {budget !== null && <Badge>Budget {budget.amount} ({budget.period})</Badge>}
    </span>
  );
}

/** What a key has spent in the period of its budget, and of how much; without a budget, ever. */
export function KeySpent({ apiKey, currency }: { apiKey: ApiKey; currency: MoneyFormat }) {
  const { spend, budget } = apiKey;
  return (
    <>
      <Money amount={spend.amount} currency={currency} /> {budget !== null && (
        <span class="faint">
          of <Money amount={budget.amount} currency={currency} />
        </span>
      )}
    </>
  );
}
