/** Does something while an address is asked from another thread; answers with the slowest, in milliseconds. */
export async function slowestAnswer(
  address: string,
  during: () => Promise<void>,
): Promise<number> {
  const thread = new Worker(new URL("./probe_thread.ts", import.meta.url), { type: "module" });
  try {
    thread.postMessage(address);
    await during();
    return await new Promise<number>((resolve, reject) => {
      thread.onmessage = ({ data }) => resolve(data);
      thread.onerror = (event) => (event.preventDefault(), reject(new Error(event.message)));
      thread.postMessage("end");
    });
  } finally {
    thread.terminate();
  }
}
