/** What the types of a schema are called for people who write YAML. */
export const YAML_TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a block of keys",
  array: "a list",
};
