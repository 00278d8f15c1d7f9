-- An account whose person has left. Its row stays for the books; nothing is done for it any more.
alter table account add column closed_at timestamptz;
