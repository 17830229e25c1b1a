/** A subcommand about one account, which its address names. */
import { normalEmail } from "../http/passwords.ts";
import type { Call, Command } from "./command.ts";

interface AboutAccount extends Omit<Command, "arguments" | "options" | "run"> {
  options?: Command["options"];
  run(email: string, call: Call): Promise<void>;
}

export const aboutAccount = ({ run, options = {}, ...row }: AboutAccount): Command => ({
  ...row,
  arguments: ["email"],
  options,
  async run(call) {
    await run(normalEmail(call.arguments[0]!), call);
    return 0;
  },
});
