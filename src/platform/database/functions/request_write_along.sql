-- Writes rows of the request log (see request_write_rows) as part of a statement that matters more: whatever is wrong with
-- them, and when the table is locked, answers false instead of failing or waiting. Then none of them is written.
-- Locks nothing.
create or replace function request_write_along(p_rows text) returns boolean
language plpgsql
set lock_timeout = '10ms'
as $$
begin
  if starts_with(p_rows, '[') then -- from a node of an earlier build
    perform request_write(p_rows::json, false);
  else
    perform request_write_rows(p_rows::request_row[], false);
  end if;
  return true;
exception when others then
  return false;
end $$;
