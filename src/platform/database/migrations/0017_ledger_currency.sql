-- The one currency that every amount of this ledger is in. Amounts do not carry it, so it is written down
-- here: a declaration that names another would only relabel what accounts have.
create table ledger_currency (
  is_only boolean primary key default true check (is_only),
  code    text not null
);

-- What each node says amounts are in.
alter table node add column currency text;

/*
 * Takes the currency that a node declares, or says what is in its way: `amounts` that are there already, or
 * other living `nodes` that would go on in the old one. The first node to ask decides.
 */
create function ledger_declare_currency(declared text, this_node text, dead_seconds int)
returns table (code text, hindrance text) language plpgsql as $$
declare
  kept text;
begin
  insert into ledger_currency as c (code) values (declared) on conflict do nothing;
  select c.code into kept from ledger_currency c for update;
  if kept <> declared then
    if exists (select from transfer where unit = 'money') or exists (select from hold) then
      return query select kept, 'amounts';
      return;
    end if;
    if exists (
      select from node n
       where n.id <> this_node and n.currency is distinct from declared
         and n.seen_at > now() - make_interval(secs => dead_seconds))
    then
      return query select kept, 'nodes';
      return;
    end if;
    update ledger_currency c set code = declared;
  end if;
  update node n set currency = declared where n.id = this_node;
  return query select declared, null::text;
end $$;
