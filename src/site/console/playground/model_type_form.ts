import type { FC } from "hono/jsx";
import type { FieldLabels } from "../../form_error.ts";
import type { CatalogueModel } from "../catalogue.ts";
import type { Body, Fields } from "./fields.ts";

/** What the site shows of a model type. One per type; the rules stand in src/model_types. */
export interface ModelTypeForm {
  /** The name of what it makes, as a title. */
  readonly title: string;
  /** The path of its icon, in a square of 24. */
  readonly icon: string;
  /** What running a model gives: the next message of a conversation, a file, vectors, or a task. */
  readonly result: "message" | "file" | "vectors" | "task";
  /** Labels of its fields by their names in the API. */
  readonly labels: FieldLabels;
  /** The fields, with the model's limits as choices. */
  readonly Inputs: FC<InputsProps>;
  /** The API request of a filled-in form. The API checks it. */
  body(fields: Fields): Body;
  /** A form that the API accepts; `first` gives the first value of a limit. */
  example(first: (limit: string) => string): Fields;
}

export interface InputsProps {
  details: CatalogueModel;
  fields: Fields;
}
