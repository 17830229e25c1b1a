#!/usr/bin/env bun
/** svc: arguments in, exit code out. 0 done, 1 failed, 2 wrong arguments, 130 stopped by Ctrl-C. */
import { commandsBelow } from "./src/command/index.ts";
import { readCall } from "./src/cli/call.ts";
import { COMMANDS } from "./src/cli/commands/index.ts";
import { projectsFile } from "./src/cli/saved/shared-file.ts";
import { asFailure } from "./src/cli/failure.ts";
import { commandHelp, overview } from "./src/cli/help.ts";
import { refuseForeignSettings } from "./src/cli/invocation.ts";
import { openLinks } from "./src/cli/saved/links.ts";
import { serverFrom } from "./src/cli/saved/server.ts";
import { type Env, openTerminal, type Terminal } from "./src/cli/terminal/index.ts";
import { red, sayWithMark } from "./src/cli/terminal/text.ts";
import { VERSION } from "./src/cli/version.ts";
import { GIVEN_SERVER } from "./src/client/default-server.ts";
import { knowLocalhost } from "./src/client/loopback.ts";

/** Resolves to the exit code. */
async function run(args: readonly string[], env: Env, terminal: Terminal): Promise<number> {
  const { command, given } = readCall(args, COMMANDS);
  if (given.has("help")) {
    const lines =
      command === COMMANDS[0] ? overview(COMMANDS) : commandHelp(command, commandsBelow(COMMANDS, command.name));
    lines.forEach((line) => terminal.result(line));
    return 0;
  }
  if (given.has("version")) {
    terminal.result(`svc ${VERSION}`);
    if (GIVEN_SERVER !== null) terminal.result(GIVEN_SERVER);
    return 0;
  }
  const [cwd, now] = [process.cwd(), () => Date.now()];
  refuseForeignSettings(cwd, env);
  const links = openLinks(projectsFile(env), now);
  return (await command.run({ env, cwd, now, server: serverFrom(env), links, terminal }, given)) ?? 0;
}

/** Ends the process at once; what it was writing is whole or untouched (src/cli/saved/shared-file.ts). */
function leaveOn(signal: "SIGINT" | "SIGTERM", code: number, terminal: Terminal): void {
  process.on(signal, () => {
    terminal.stopped();
    process.exit(code);
  });
}

/** These two ways to sign in are for programs: everything is answered in JSON, a refusal too. */
const isLoginOfProgram = (args: readonly string[]): boolean =>
  args.includes("login") && args.some((arg) => /^--(request|check(=.*)?)$/.test(arg));

async function main(args: readonly string[], env: Env): Promise<number> {
  // Read before the arguments are parsed: a refusal of them is printed in this form too.
  const json = args.includes("--json") || isLoginOfProgram(args);
  const terminal = openTerminal(env, { json, quiet: args.some((arg) => /^(--quiet|-[a-z]*q[a-z]*)$/.test(arg)) });
  leaveOn("SIGINT", 130, terminal);
  leaveOn("SIGTERM", 143, terminal);
  try {
    return await run(args, env, terminal);
  } catch (error) {
    terminal.restore();
    const failure = asFailure(error);
    if (json) terminal.json({ ok: false, error: failure.message, code: failure.code });
    else sayWithMark(terminal, red("✗"), failure.message);
    return failure.exit;
  }
}

knowLocalhost();
process.exit(await main(process.argv.slice(2), process.env));
