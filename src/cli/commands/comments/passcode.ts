/** The passcode of comments, from a flag, a pipe or a person. Other users of a machine see what a program is started with,
 *  so the flag is the last of the ways. */
import type { Context, Given } from "../../command.ts";
import { Failure, usage } from "../../failure.ts";
import { readTyped } from "../../terminal/typed.ts";
import { pipedLine } from "../../terminal/piped-line.ts";

const WAYS =
  "Give it as a line on stdin with --passcode-stdin, or by --passcode <passcode>, which other users of this machine may see.";

async function typedTwice({ terminal }: Context): Promise<string> {
  const first = await readTyped(terminal, "  Passcode for comments, at least 8 characters (not shown): ", "hidden");
  if (first === "") throw new Failure("no_passcode", "No passcode was given: nothing was changed.");
  const second = await readTyped(terminal, "  Once more: ", "hidden");
  if (first !== second) throw new Failure("no_passcode", "The two passcodes differ: nothing was changed.");
  return first;
}

async function lineOfStdin(): Promise<string> {
  const line = await pipedLine();
  if (line === "") throw new Failure("no_passcode", "stdin had no passcode: nothing was changed.");
  return line;
}

/** Undefined where none was given, and none is asked for. */
export async function givenPasscode(context: Context, given: Given): Promise<string | undefined> {
  const flag = given.value("passcode");
  const by_stdin = given.has("passcode-stdin");
  if (flag !== undefined && by_stdin) throw usage("--passcode and --passcode-stdin both give a passcode: give one.");
  if (!by_stdin) return flag;
  return context.terminal.interactive ? typedTwice(context) : lineOfStdin();
}

/** For comments that need one and have none. */
export function askedPasscode(context: Context): Promise<string> {
  if (context.terminal.interactive) return typedTwice(context);
  return Promise.reject(new Failure("no_passcode", `The comments of this site have no passcode yet. ${WAYS}`));
}
