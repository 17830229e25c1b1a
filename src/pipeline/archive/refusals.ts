/** Refusals of the archive itself. Each names the entry, where one is to blame, and the reason. */
import { Refusal } from "../../base/errors.ts";

export const invalidZip = (reason: string): Refusal =>
  new Refusal("invalid_zip", `This zip cannot be used: ${reason}. Make the zip again and send it whole.`);

/** `shown` is a name that went through `show`. */
export const refuseEntry = (
  code: "invalid_zip" | "unsafe_path" | "unsupported_zip",
  shown: string,
  reason: string,
): Refusal => new Refusal(code, `The entry "${shown}" ${reason}.`, { entry: shown });
