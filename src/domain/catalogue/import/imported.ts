import type { DraftConfig } from "../draft_config.ts";
import type { PriceList } from "./price_list.ts";

export interface ImportOptions {
  /** For models whose price and limits the file does not have. */
  readonly priceList: PriceList | null;
  /** A factor from cost to price. */
  readonly markup: string;
  readonly now: number;
}

/** What became of one thing in the file that is imported. */
export interface ImportNote {
  /** Such as `gpt-4o` or `router_settings.redis_host`. */
  readonly subject: string;
  readonly text: string;
}

/** An environment variable that the new configuration refers to. */
export interface ImportedVariable {
  readonly name: string;
  readonly purpose: string;
  /** Stands in for the value where the configuration is only checked. */
  readonly placeholder: string;
}

/** The configuration that comes of another gateway's, and what is different. */
export interface Imported {
  readonly draft: DraftConfig;
  readonly variables: readonly ImportedVariable[];
  readonly notes: ImportNotes;
}

/** The file cannot be imported. The message says where, and shows no value: it may be a key. */
export class ImportError extends Error {
  override readonly name = "ImportError";
}

export class ImportNotes {
  readonly taken: ImportNote[] = [];
  readonly changed: ImportNote[] = [];
  readonly leftOut: ImportNote[] = [];

  take(subject: string, text: string): void {
    this.taken.push({ subject, text });
  }

  change(subject: string, text: string): void {
    this.changed.push({ subject, text });
  }

  leaveOut(subject: string, text: string): void {
    this.leftOut.push({ subject, text });
  }
}

const REASONS_SHOWN = 50;

/** Every model was left out. */
export function nothingImported(file: string, { leftOut }: ImportNotes): ImportError {
  const reasons = leftOut.slice(0, REASONS_SHOWN).map(({ subject, text }) => `${subject}: ${text}`);
  return new ImportError([`${file}: no model can be imported.`, ...reasons].join("\n"));
}
