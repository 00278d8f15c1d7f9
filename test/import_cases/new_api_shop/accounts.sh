#!/bin/sh
# Creates accounts, balances and API keys for users of new-api. Load the imported configuration first: it has
# their plans and models. This may be stopped and run again: accounts.created says what has been done.
set -eu
created=${CREATED:-accounts.created}
touch "$created"
gateway() { deno task --quiet gateway "$@"; }

# account <user of new-api> <arguments of `account create`>; sets $id
account() {
  user=$1
  shift
  id=$(sed -n "s/^user $user //p" "$created")
  if [ -z "$id" ]; then
    made=$(gateway account create "$@" --json) || { echo "user $user: $made" >&2; exit 1; }
    id=$(printf '%s\n' "$made" | sed -n 's/^  "id": "\([^"]*\)".*/\1/p')
    echo "user $user $id" >> "$created"
  fi
}

# key <token of new-api> <arguments of `key create`>: prints the new key, for its user
key() {
  token=$1
  shift
  if ! grep -qx "token $token" "$created"; then
    gateway key create "$id" "$@"
    echo "token $token" >> "$created"
  fi
}

# was an administrator
account 1 'Root User' --plan 'free'
gateway account credit "$id" 200.00 --reference 'new-api user 1'

# token 12 was for another group; here the plan of the account applies
account 2 'Ann O'\''Neill' --email 'ann@example.com' --plan 'vip'
gateway account credit "$id" 12.500002 --reference 'new-api user 2'
key 11 --name 'laptop'
key 12 --name 'ci; rm -rf '\''/'\''' --models 'gpt-4o,house-llama' --expires-at '2028-01-01T00:00:00.000Z' --allowed-ips '10.0.0.1,10.1.0.0/16' --budget '2.50/total'

# owes 0.005
# token 13 (old) is disabled
account 3 'bob' --email 'bob@example.com' --plan 'free'

# its email address is invalid or taken
account 4 'Carol' --plan 'free'
