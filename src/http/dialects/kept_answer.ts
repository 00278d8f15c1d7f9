import { ANSWER_CHARACTERS_MAX, type AnswerClaim } from "../../domain/idempotency/answers.ts";
import type { AnswerWriter, ChatDialect } from "../../workflows/chat/dialect.ts";

/** The same dialect, whose answer is kept for repeats of the request. */
export function keepingDialect(dialect: ChatDialect, claim: AnswerClaim): ChatDialect {
  return {
    async renderAnswer(heading, reply, usage) {
      const body = await dialect.renderAnswer(heading, reply, usage);
      await claim.keep({ body, isStream: false });
      return body;
    },
    openStream: (heading) => keepingWriter(dialect.openStream(heading), claim),
  };
}

function keepingWriter(writer: AnswerWriter, claim: AnswerClaim): AnswerWriter {
  let whole = "";
  const noted = (text: string) => {
    // A longer one is not kept: its first part is enough to tell.
    if (whole.length <= ANSWER_CHARACTERS_MAX) whole += text;
    return text;
  };
  return {
    heartbeat: writer.heartbeat,
    chunk: (chunk) => noted(writer.chunk(chunk)),
    async end(usage) {
      const last = noted(await writer.end(usage));
      await claim.keep({ body: whole, isStream: true });
      return last;
    },
    fail(apiError) {
      void claim.release();
      return writer.fail(apiError);
    },
  };
}
