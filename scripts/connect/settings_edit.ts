/** A change of one settings file of a client. Texts in, texts out; an empty text is a file that is not there. */
export interface SettingsEdit {
  readonly path: string;
  /** Whether the text has our settings already. */
  isApplied(text: string): boolean;
  /** The text with our settings. Throws where it cannot be read. */
  apply(text: string): string;
  /** The text without our settings; values that they replaced come from the text of before. */
  remove(text: string, before: string): string;
}

/** A settings file that cannot be changed, and why. The message is for the person at the terminal. */
export class SettingsError extends Error {
  override name = "SettingsError";
}
