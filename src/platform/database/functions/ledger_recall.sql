-- Asks the nodes to return what they have reserved of an account and no request has drawn: by a notification, and with
-- their next renewal, in case that is lost.
-- The caller has locked the account's wallet.
create or replace function ledger_recall(for_account text, at timestamptz) returns void
language plpgsql as $$
begin
  update reserve set recalled_at = at where account_id = for_account and recalled_at is null;
  if found then
    perform pg_notify('tollgate_announcement', 'recall:' || for_account);
  end if;
end $$;
