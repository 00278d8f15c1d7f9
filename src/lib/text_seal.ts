/** Encrypts texts that are stored, each bound to its row. */
export interface TextSeal {
  seal(text: string, row: string): string;
  unseal(stored: string, row: string): string;
}
