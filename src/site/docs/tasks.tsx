import { baseUrlOf } from "../base_url.ts";
import type { SiteContext } from "../context.ts";
import { CodeBox } from "../parts.tsx";
import { exampleModel } from "./quick_start.tsx";
import { sendDocs } from "./shell.tsx";

/** GET /docs/tasks: work that takes longer than a request should. */
export function tasksGuide(c: SiteContext): Response {
  const base = baseUrlOf(c);
  return sendDocs(
    c,
    { title: "Long work: tasks" },
    <>
      <section>
        <h1>Long work: tasks</h1>
        <p class="soft">
          Pictures, video, avatars and dramas answer 202 at once with a task. It is queued, runs,
          and ends as succeeded, failed, cancelled or expired; what has ended does not change again.
        </p>
      </section>
      <section aria-labelledby="submit">
        <h2 id="submit">Submit, safely</h2>
        <p>
          Choose an <code>Idempotency-Key</code>{" "}
          before the first attempt and use it for every retry. However often the network fails you,
          there is one task and one charge.
        </p>
        <CodeBox
          id="task-submit"
          title="curl"
          text={`curl ${base}/images/generations \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: order-4711" \\
  -d '{"model": "${exampleModel(c, "image")}", "prompt": "a lighthouse at dusk"}'`}
        />
      </section>
      <section aria-labelledby="follow">
        <h2 id="follow">Follow it</h2>
        <p>
          Ask with growing pauses, or let the answer wait: with <code>Prefer: wait=30</code>{" "}
          the submission itself answers when the task has ended or 30 seconds have passed. As a
          stream, <code>GET /v1/tasks/{"{task_id}"}/events</code> sends every change.
        </p>
        <CodeBox
          id="task-follow"
          title="TypeScript"
          text={`const headers = { authorization: \`Bearer \${process.env.TOLLGATE_API_KEY}\` };

async function finished(id: string) {
  for (let pause = 1000;; pause = Math.min(pause * 1.5, 15_000)) {
    const res = await fetch(\`${base}/tasks/\${id}\`, { headers });
    const task = await res.json();
    if (!["queued", "running"].includes(task.status)) return task;
    await new Promise((resume) => setTimeout(resume, pause));
  }
}`}
        />
      </section>
      <section aria-labelledby="results">
        <h2 id="results">Take the results</h2>
        <p>
          Each entry of <code>output</code> has a <code>url</code>{" "}
          that works without a key until its{" "}
          <code>expires_at</code>; asking for the task again gives a fresh one. Fetch the files you
          want to keep: they are deleted after a while.
        </p>
        <p>
          Files that go in are uploaded first with <code>POST /v1/files</code> and named by their
          {" "}
          <code>file_id</code>, or given as public https addresses.
        </p>
      </section>
      <section aria-labelledby="charge">
        <h2 id="charge">What it costs</h2>
        <p>
          The most it can cost is set aside when it is accepted; if the balance does not cover that,
          the answer is 402 and nothing is stored. A task that fails or expires costs nothing; of
          several pictures, those that came are paid. <code>POST /v1/quotes</code> tells beforehand.
        </p>
      </section>
    </>,
  );
}
