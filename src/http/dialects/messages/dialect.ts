import type { ChatReply, ReportedUsage } from "../../../upstream/adapter.ts";
import type { ChatDialect, Heading } from "../../../workflows/chat/dialect.ts";
import { answerBlocks, messagesUsage, stopOf } from "./answer_blocks.ts";
import { MessageEvents } from "./event_writer.ts";
import { messageHead } from "./message_head.ts";

/** Anthropic's Messages API. Reasoning is shown to clients that ask for it. */
export function messagesDialect(isThinkingShown: boolean): ChatDialect {
  return {
    renderAnswer: (heading, reply, usage) => renderMessage(heading, reply, usage, isThinkingShown),
    openStream: (heading) => new MessageEvents(heading, isThinkingShown),
  };
}

function renderMessage(
  heading: Heading,
  { choices: [choice] }: ChatReply,
  usage: ReportedUsage,
  isThinkingShown: boolean,
): string {
  const { message, finish_reason, stopSequence } = choice!;
  return JSON.stringify({
    ...messageHead(heading),
    content: answerBlocks(message, isThinkingShown),
    ...stopOf(finish_reason, stopSequence),
    usage: messagesUsage(usage),
  });
}
