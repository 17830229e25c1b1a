/** Deletions ask for a word: nobody types it by accident. */
import { Refusal } from "../../base/errors.ts";

export function refuseUnlessConfirmed(fields: URLSearchParams, word: string): void {
  if ((fields.get("confirm") ?? "").trim() === word) return;
  throw new Refusal("invalid_input", `Nothing was deleted. Type ${word} to confirm.`, { field: "confirm" });
}
