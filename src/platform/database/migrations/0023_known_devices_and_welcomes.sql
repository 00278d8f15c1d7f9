-- Signs the cookie by which a browser shows that it has signed in as this person before: wrong passwords from
-- elsewhere do not slow it down. A new secret makes every browser a stranger again.
alter table person add column device_secret bytea not null default
  decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');

-- Keys the hashes below, so that a copy of that table alone does not tell who had an account.
create table welcome_secret (
  is_only boolean primary key default true check (is_only),
  secret  bytea not null default
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

insert into welcome_secret default values;

-- Addresses whose owner was given the welcome credit, as keyed hashes: they outlive the account, which is what
-- they are for. One row per address is what makes the credit a single one.
create table welcome (
  address_hash bytea primary key check (octet_length(address_hash) = 32),
  given_at     timestamptz not null default now()
);

-- How many were given to one network on one day (UTC); days that are over are deleted.
create table welcome_network (
  network_hash bytea not null check (octet_length(network_hash) = 32),
  day          date not null,
  given        integer not null check (given > 0),
  primary key (network_hash, day)
);

-- Whoever is here already has had it, if there was one.
insert into welcome (address_hash)
select sha256(secret || convert_to(email, 'UTF8')) from person, welcome_secret;
