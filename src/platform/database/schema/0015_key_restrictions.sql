-- What an API key may do: until when, with which models, how fast, from where, for how much.

alter table api_key
  add column expires_at timestamptz,
  add column models text[] check (cardinality(models) > 0),
  add column requests_per_minute int check (requests_per_minute > 0),
  add column tokens_per_minute int check (tokens_per_minute > 0),
  add column allowed_ips text[] check (cardinality(allowed_ips) > 0),
  add column budget_amount numeric(32, 12) check (budget_amount > 0),
  add column budget_period text check (budget_period in ('total', 'day', 'week', 'month')),
  add constraint api_key_budget check ((budget_amount is null) = (budget_period is null));

comment on column api_key.expires_at is 'From then on the key is refused. Null: never.';
comment on column api_key.models is 'Ids of models, and patterns with `*`, that it may use. Null: all that the account may use.';
comment on column api_key.requests_per_minute is 'A lower rate than that of the plan. Null: that of the plan.';
comment on column api_key.tokens_per_minute is 'A lower rate than that of the plan. Null: that of the plan.';
comment on column api_key.allowed_ips is 'Networks (CIDR) that its requests may come from. Null: any.';
comment on column api_key.budget_amount is 'What the key may spend in each period. Null: no budget.';
comment on column api_key.budget_period is 'total: once. day, week, month: by UTC; a week begins on Monday.';
