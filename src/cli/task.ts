import type { OperatorTask } from "../workflows/tasks/operate_tasks.ts";
import { callAdminApi } from "./client.ts";
import { argument, type Command, optionText, table, tableOf } from "./command.ts";

interface TaskList {
  data: OperatorTask[];
  has_more: boolean;
}

const COLUMNS = ["ID", "TYPE", "MODEL", "STATUS", "SUBTASK", "PROBLEM", "CREATED"];

export const taskList: Command = {
  usage:
    "task list [--account <id>] [--status <status>] [--type <type>] [--problem <problem>] [--parent <task>]",
  summary: "List tasks; --problem finds stuck tasks",
  endpoints: ["GET /admin/v1/tasks"],
  options: {
    account: { type: "string", summary: "Only tasks of this account" },
    status: {
      type: "string",
      summary: "queued, running, succeeded, failed, cancelled or expired",
    },
    type: { type: "string", summary: "image, video, avatar, drama or speech" },
    problem: {
      type: "string",
      summary: "dead (needs an operator), failing (will be retried) or late (no worker took it)",
    },
    parent: { type: "string", summary: "Subtasks of this drama; not listed otherwise" },
    after: { type: "string", summary: "Show the page after this task id" },
  },
  async run(terminal, _args, options) {
    const query = new URLSearchParams({ limit: "100" });
    for (const name of ["account", "status", "type", "problem", "parent", "after"]) {
      const value = optionText(options, name);
      if (value !== undefined) query.set(name, value);
    }
    const list = await callAdminApi<TaskList>(terminal, "GET", `/tasks?${query}`);
    const rows = list.data.map((task) => [
      task.id,
      task.type,
      task.model,
      `${task.status} ${task.progress} %`,
      task.parent === null ? "" : `${task.subtask} of ${task.parent}`,
      task.dead_at !== null ? "dead" : task.failures > 0 ? `${task.failures} failures` : "",
      String(task.created_at),
    ]);
    const more = list.has_more ? `\n\nMore tasks: add --after ${list.data.at(-1)?.id}` : "";
    terminal.print(list, rows.length === 0 ? "No tasks." : table([COLUMNS, ...rows]) + more);
    return 0;
  },
};

export const taskShow: Command = {
  usage: "task show <task>",
  summary: "Show a task: its status, its upstream and its last error",
  endpoints: ["GET /admin/v1/tasks/{id}"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "task"));
    terminal.print(
      ...describeTask(await callAdminApi<OperatorTask>(terminal, "GET", `/tasks/${id}`)),
    );
    return 0;
  },
};

export const taskReplay: Command = {
  usage: "task replay <task>",
  summary: "Retry a stuck task now and reset its failure count",
  endpoints: ["POST /admin/v1/tasks/{id}/replay"],
  async run(terminal, args) {
    const id = encodeURIComponent(argument(args, 0, "task"));
    terminal.print(
      ...describeTask(await callAdminApi<OperatorTask>(terminal, "POST", `/tasks/${id}/replay`)),
    );
    return 0;
  },
};

function describeTask(task: OperatorTask): [OperatorTask, string] {
  return [task, tableOf(task)];
}
