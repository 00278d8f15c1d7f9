import assert from "node:assert/strict";
import fc from "fast-check";
import { inputTokens, outputTokens } from "../../src/model_types/chat.ts";
import type { ReportedUsage } from "../../src/upstream/adapter.ts";
import { usageOf as anthropicUsage } from "../anthropic/reply.ts";
import { usageOf as geminiUsage } from "../gemini/reply.ts";
import { openAdapters } from "../registry.ts";
import { usageReader } from "./usage.ts";

const count = fc.nat(1_000_000);
/** A total and parts of it that may, together, be larger: providers make mistakes. */
const sides = fc.record({ total: count, a: count, b: count, c: count });

function checkTotals(usage: ReportedUsage | null, input: number, output: number): void {
  assert.ok(usage !== null);
  assert.deepEqual([inputTokens(usage), outputTokens(usage)], [input, output]);
  const { serviceTier: _, ...counts } = usage;
  for (const [name, value] of Object.entries(counts)) {
    assert.ok(Number.isSafeInteger(value) && value >= 0, `${name} ${value}`);
  }
}

Deno.test("in OpenAI's format the buckets add up to the totals, whatever the parts say", () => {
  const read = usageReader();
  fc.assert(fc.property(sides, sides, (input, output) => {
    const body = {
      usage: {
        prompt_tokens: input.total,
        completion_tokens: output.total,
        prompt_tokens_details: {
          ...{ cached_tokens: input.a, cache_write_tokens: input.b, audio_tokens: input.c },
        },
        completion_tokens_details: { reasoning_tokens: output.a, audio_tokens: output.b },
      },
    };
    checkTotals(read(body), input.total, output.total);
  }));
});

Deno.test("Anthropic's counts do not overlap, and add up to what it bills", () => {
  fc.assert(fc.property(sides, sides, (input, output) => {
    const usage = {
      input_tokens: input.total,
      cache_read_input_tokens: input.a,
      cache_creation_input_tokens: input.b,
      cache_creation: { ephemeral_1h_input_tokens: input.c },
      output_tokens: output.total,
      output_tokens_details: { thinking_tokens: output.a },
    };
    checkTotals(anthropicUsage(usage), input.total + input.a + input.b, output.total);
  }));
});

Deno.test("Gemini's counts of cached, audio and thinking tokens add up to its total", () => {
  fc.assert(fc.property(sides, sides, (input, output) => {
    const audio = (tokenCount: number) => [{ modality: "AUDIO", tokenCount }];
    const usageMetadata = {
      promptTokenCount: input.total,
      cachedContentTokenCount: input.a,
      promptTokensDetails: audio(input.b),
      cacheTokensDetails: audio(input.c),
      candidatesTokenCount: output.total,
      candidatesTokensDetails: audio(output.a),
      thoughtsTokenCount: output.b,
    };
    checkTotals(geminiUsage({ usageMetadata }), input.total, output.total + output.b);
  }));
});

Deno.test("every recorded answer that states its total is counted to it", async () => {
  let checked = 0;
  for (const [provider, { chat }] of openAdapters()) {
    for (const body of await recordedAnswers(provider)) {
      const usage = body.usage ?? body.usageMetadata;
      const total = usage?.total_tokens ?? usage?.totalTokenCount;
      if (chat === undefined || typeof total !== "number") continue;
      let read: ReportedUsage | null;
      try {
        read = chat.read({ body }).usage;
      } catch {
        continue; // a recorded answer that cannot be read
      }
      if (read === null) continue;
      assert.equal(inputTokens(read) + outputTokens(read), total, `${provider} ${body.id}`);
      checked++;
    }
  }
  assert.ok(checked > 50, `${checked}`);
});

interface RecordedBody {
  readonly id?: string;
  readonly usage?: { readonly total_tokens?: unknown; readonly totalTokenCount?: unknown };
  readonly usageMetadata?: { readonly total_tokens?: unknown; readonly totalTokenCount?: unknown };
}

async function recordedAnswers(provider: string): Promise<RecordedBody[]> {
  const folder = new URL(`../${provider}/recorded/`, import.meta.url);
  const bodies: RecordedBody[] = [];
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      const { cases } = JSON.parse(await Deno.readTextFile(new URL(name, folder)));
      for (const { reply } of cases) {
        if (typeof reply?.body === "object" && reply.body !== null) bodies.push(reply.body);
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // without recordings
  }
  return bodies;
}
