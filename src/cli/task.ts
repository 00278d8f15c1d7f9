import type { OperatorTask } from "../workflows/tasks/operate_tasks.ts";
import { callAdminApi } from "./client.ts";
import { type Command, table, text, word } from "./command.ts";

interface TaskList {
  data: OperatorTask[];
  has_more: boolean;
}

export const taskList: Command = {
  usage:
    "task list [--account <id>] [--status <status>] [--type <type>] [--ailment <ailment>] [--parent <task>]",
  summary: "List tasks; --ailment dead, failing or late finds those that are stuck",
  options: {
    account: { type: "string", summary: "Only of this account" },
    status: {
      type: "string",
      summary: "queued, running, succeeded, failed, cancelled or expired",
    },
    type: { type: "string", summary: "image, video, avatar, drama or speech" },
    ailment: {
      type: "string",
      summary: "dead (waits for you), failing (is tried again) or late (nobody came)",
    },
    parent: { type: "string", summary: "The parts of this drama; they are left out otherwise" },
    after: { type: "string", summary: "The last id of the page before" },
  },
  async run(terminal, _words, options) {
    const query = new URLSearchParams({ limit: "100" });
    for (const name of ["account", "status", "type", "ailment", "parent", "after"]) {
      const value = text(options, name);
      if (value !== undefined) query.set(name, value);
    }
    const list = await callAdminApi<TaskList>(terminal, "GET", `/tasks?${query}`);
    const rows = list.data.map((task) => [
      task.id,
      task.type,
      task.model,
      `${task.status} ${task.progress} %`,
      task.parent === null ? "" : `${task.subtask} of ${task.parent}`,
      task.dead_at !== null ? "dead" : task.failures > 0 ? `failed ${task.failures} times` : "",
      String(task.created_at),
    ]);
    const more = list.has_more ? `\n\nMore: --after ${list.data.at(-1)?.id}` : "";
    terminal.print(list, rows.length === 0 ? "There are none." : table(rows) + more);
    return 0;
  },
};

export const taskShow: Command = {
  usage: "task show <task>",
  summary: "Show a task: where it is, who has it, what went wrong",
  async run(terminal, words) {
    const id = encodeURIComponent(word(words, 0, "task"));
    terminal.print(...shown(await callAdminApi<OperatorTask>(terminal, "GET", `/tasks/${id}`)));
    return 0;
  },
};

export const taskReplay: Command = {
  usage: "task replay <task>",
  summary: "Look at a stuck task now, as if nothing had gone wrong",
  async run(terminal, words) {
    const id = encodeURIComponent(word(words, 0, "task"));
    terminal.print(
      ...shown(await callAdminApi<OperatorTask>(terminal, "POST", `/tasks/${id}/replay`)),
    );
    return 0;
  },
};

function shown(task: OperatorTask): [OperatorTask, string] {
  const rows = Object.entries(task).filter(([, value]) => value !== null).map((
    [name, value],
  ) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]);
  return [task, table(rows)];
}
