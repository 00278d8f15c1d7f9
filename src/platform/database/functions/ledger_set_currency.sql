-- Sets the currency that a node is configured with, or says what prevents it: `amounts` that exist already, or other
-- running `nodes` that are configured with the old one. The first node decides.
-- Locks the row of ledger_currency.
create or replace function ledger_set_currency(configured text, this_node text, dead_seconds int)
returns table (code text, obstacle text) language plpgsql as $$
declare
  kept text;
begin
  insert into ledger_currency as c (code) values (configured) on conflict do nothing;
  select c.code into kept from ledger_currency c for update;
  if kept <> configured then
    if exists (select from transfer where unit = 'money') or exists (select from hold)
      or exists (select from receipt) or exists (select from archive_month)
    then
      return query select kept, 'amounts';
      return;
    end if;
    if exists (
      select from node n
       where n.id <> this_node and n.currency is distinct from configured
         and n.seen_at > now() - make_interval(secs => dead_seconds))
    then
      return query select kept, 'nodes';
      return;
    end if;
    update ledger_currency c set code = configured;
  end if;
  update node n set currency = configured where n.id = this_node;
  return query select configured, null::text;
end $$;
