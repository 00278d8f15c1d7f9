type Fields = Readonly<Record<string, unknown>>;

/** An object as TypeScript writes it. */
export function objectLiteral(fields: Fields, indent = ""): string {
  const lines = Object.entries(fields).map(([name, value]) =>
    `${indent}  ${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${
      JSON.stringify(value)
    },\n`
  );
  return `{\n${lines.join("")}${indent}}`;
}

/** Fields as named arguments of Python, a line each. Its texts, numbers and lists are written as in JSON. */
export function pythonArguments(fields: Fields): string {
  return Object.entries(fields).map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`)
    .join("");
}
