-- When it was shown that a person owns their address: a provider vouched for it, or the operator gave its
-- owner a new password. Null: only typed in. Nothing in the account of such a person is known to be the
-- owner's, and they get no rights over others.
alter table person add column email_verified_at timestamptz;
-- Sessions carry the number that was in force when they began. A higher one ends them all, wherever they
-- are kept, in the transaction that raises it.
alter table person add column session_epoch integer not null default 0;
alter table session add column epoch integer not null default 0;

-- Made from an identity, in one transaction with it: the provider had verified the address.
update person p set email_verified_at = created_at
 where exists (select from person_identity i
                where i.person_id = p.id and i.created_at = p.created_at);
