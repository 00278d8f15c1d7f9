import { chat } from "../../../model_types/chat.ts";
import { Field } from "../../parts.tsx";
import { inputLimits } from "../../request_form.ts";
import { Area, ControlRow, limitOf } from "./controls.tsx";
import { messagesOf } from "./conversation.ts";
import type { InputsProps, ModelTypeForm } from "./model_type_form.ts";
import { numberField } from "./fields.ts";

const labels = {
  messages: "Message",
  system: "System message",
  temperature: "Temperature",
  max_completion_tokens: "Max output tokens",
};

export const chatForm: ModelTypeForm = {
  title: "Chat",
  icon: "M4 5.5h16v10H11l-4.5 4v-4H4z",
  result: "message",
  labels,
  Inputs: ChatInputs,
  body: (fields) => ({
    messages: messagesOf(fields),
    temperature: numberField(fields.temperature),
    max_completion_tokens: numberField(fields.max_completion_tokens),
  }),
  example: () => ({ prompt: "A lighthouse in the rain" }),
};

function ChatInputs({ details, fields }: InputsProps) {
  const { schema } = chat.request;
  return (
    <>
      <div class="field">
        <label for="field-prompt">Your message</label>
        <textarea class="input" id="field-prompt" name="prompt" rows={3} required>
          {fields.prompt}
        </textarea>
        <div class="hint only-scripted">Enter to send, Shift+Enter for a new line</div>
      </div>
      <details class="disclosure">
        <summary>Settings</summary>
        <div class="stack">
          <Area name="system" label={labels.system} rows={2} value={fields.system} />
          <ControlRow>
            <Field
              name="temperature"
              label={labels.temperature}
              type="number"
              {...inputLimits(schema, "temperature")}
              step="0.1"
              placeholder="Default"
              value={fields.temperature}
            />
            <Field
              name="max_completion_tokens"
              label={labels.max_completion_tokens}
              type="number"
              {...inputLimits(schema, "max_completion_tokens")}
              max={limitOf(details, "max_output_tokens")}
              placeholder={limitOf(details, "max_output_tokens")}
              value={fields.max_completion_tokens}
            />
          </ControlRow>
        </div>
      </details>
    </>
  );
}
