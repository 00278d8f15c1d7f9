/** The status of a response whose body does not matter. */
export async function statusOf(asked: Response | Promise<Response>): Promise<number> {
  const { status, body } = await asked;
  await body?.cancel();
  return status;
}
