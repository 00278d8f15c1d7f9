import { type Client, isTask, keyVariable, takesFiles } from "./client.ts";
import { objectLiteral } from "./literals.ts";

/** No SDK has tasks: they are plain HTTP. */
export const taskProgram: Client = {
  id: "typescript",
  name: "TypeScript",
  setUp(connection) {
    const { model, baseUrl } = connection;
    if (!isTask(model)) return null;
    const { path, body } = model.example;
    return {
      snippets: [{
        language: "ts",
        note: "",
        text: `const headers = {
  authorization: \`Bearer \${process.env.${keyVariable(connection)}}\`,
  "content-type": "application/json",
};

const submitted = await fetch(${JSON.stringify(baseUrl + path)}, {
  method: "POST",
  headers,
  body: JSON.stringify(${objectLiteral(body, "  ")}),
});
if (!submitted.ok) throw new Error(await submitted.text());

let task = await submitted.json();
while (["queued", "running"].includes(task.status)) {
  await new Promise((resume) => setTimeout(resume, 2000));
  task = await (await fetch(\`${baseUrl}/tasks/\${task.id}\`, { headers })).json();
}
console.log(task.status, task.output);`,
      }],
      ...takesFiles(model) ? { hint: "In place of file_… stand the ids of your uploads." } : {},
    };
  },
};
