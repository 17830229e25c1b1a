/** From the words on the command line to a command and what it is given. */
import { COMMON_FLAGS, type Command, type Given } from "./command.ts";
import { usage } from "./failure.ts";
import { parseArguments, type Flag, type Parsed } from "./flags.ts";
import { svc } from "./invocation.ts";
import { nearest } from "../nearest.ts";

interface CommandCall {
  command: Command;
  given: Given;
}

const flagsOf = (command: Command): Flag[] => [...command.flags, ...COMMON_FLAGS];

const callOf = ({ name }: Command): string => svc(name);

function unknownFlag(written: string, command: Command, commands: readonly Command[]): Error {
  const table = flagsOf(command);
  const known = table.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
  const guess = nearest(written, known);
  const owners = commands.filter(({ flags }) => flags.some(({ name }) => `--${name}` === written)).map(callOf);
  const elsewhere = owners.length > 0 ? `It belongs to ${owners.join(", ")}.` : `See ${callOf(command)} --help.`;
  return usage(`Unknown flag ${written}. ${guess === null ? elsewhere : `Did you mean ${guess}?`}`);
}

const valued = (value: string | true | undefined): string | undefined => (value === true ? undefined : value);

function givenTo(command: Command, { positionals, flags, unknown }: Parsed, commands: readonly Command[]): Given {
  const foreign = [...flags.keys()].find((name) => !flagsOf(command).some((flag) => flag.name === name));
  const stranger = unknown[0] ?? (foreign === undefined ? undefined : `--${foreign}`);
  if (stranger !== undefined) throw unknownFlag(stranger, command, commands);
  const call = callOf(command);
  if (positionals.length > 0 && command.argument === null) {
    throw usage(`${call} takes no argument, and ${positionals[0]} is one. See ${call} --help.`);
  }
  if (positionals.length > 1) {
    throw usage(`${call} takes one argument, not ${positionals.length}. See ${call} --help.`);
  }
  return {
    argument: positionals[0],
    json: flags.has("json"),
    quiet: flags.has("quiet"),
    has: (flag) => flags.has(flag),
    value: (flag) => valued(flags.get(flag)),
  };
}

/** The first argument that is no flag names the command; any other word belongs to the first row of the table. */
export function readCall(args: readonly string[], commands: readonly Command[]): CommandCall {
  const parsed = parseArguments(args, commands.flatMap(flagsOf));
  const [unnamed, ...others] = commands as readonly [Command, ...Command[]];
  const named = parsed.beforeDashes > 0 ? others.find(({ name }) => name === parsed.positionals[0]) : undefined;
  if (named !== undefined) parsed.positionals.shift();
  const command = named ?? unnamed;
  return { command, given: givenTo(command, parsed, commands) };
}
