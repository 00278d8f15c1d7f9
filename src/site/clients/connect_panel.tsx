import { codeTitle } from "../code_title.ts";
import { CodeBox } from "../parts.tsx";
import { clientsFor, exportCommand } from "./clients.ts";
import { keyVariable, type ModelConnection } from "./client.ts";

/**
 * Clients to choose from, and what sets up the chosen one. The choice is a group of radio buttons and needs no
 * script; inside of a form it is its field `client`.
 */
export function ConnectPanel(
  { connection, chosen }: { connection: ModelConnection; chosen?: string },
) {
  const clients = clientsFor(connection);
  const shown = clients.find(({ id }) => id === chosen) ?? clients[0];
  return (
    <fieldset class="clients">
      <legend class="sr-only">Client</legend>
      {clients.map(({ id, name, snippets, hint }) => (
        <>
          <input
            type="radio"
            name="client"
            value={id}
            id={`client-${id}`}
            checked={id === shown?.id}
            autocomplete="off"
          />
          <label for={`client-${id}`}>{name}</label>
          <div class="client-setup">
            {snippets.map(({ language, note, text }, index) => (
              <CodeBox
                id={`setup-${id}-${index + 1}`}
                title={codeTitle(language, note)}
                text={text}
              />
            ))}
            {hint !== undefined && <p class="soft small">{hint}</p>}
          </div>
        </>
      ))}
    </fieldset>
  );
}

/** The command that puts the key where the snippets read it: the new key, or a placeholder. */
export function KeyCommand({ connection }: { connection: ModelConnection }) {
  const variable = keyVariable(connection);
  return (
    <CodeBox
      id="key-command"
      title={codeTitle("sh", "")}
      text={exportCommand(variable, connection.key ?? "sk-…")}
    />
  );
}
