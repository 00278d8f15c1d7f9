/**
 * Asks an address over and over, from a thread of its own so that what a test does meanwhile does not count.
 * The first message is the address; any further one asks for the slowest answer, in milliseconds.
 */
const scope = self as unknown as {
  onmessage: ((event: MessageEvent<string>) => void) | null;
  postMessage(slowest: number): void;
};
let slowest = 0;
let isOver = false;

async function probe(address: string): Promise<void> {
  while (!isOver) {
    const since = performance.now();
    await (await fetch(address)).text();
    slowest = Math.max(slowest, performance.now() - since);
    await new Promise((resume) => setTimeout(resume, 10));
  }
  scope.postMessage(slowest);
}

scope.onmessage = ({ data }) => {
  scope.onmessage = () => isOver = true;
  void probe(data);
};
