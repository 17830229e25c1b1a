/** `doctor`: finds what keeps a server from being reached or from working, and says what to do about it (CONTRACT 7). It
 *  changes nothing. */
import { peekDataDir } from "../store/operations.ts";
import { visible } from "../base/visible.ts";
import type { Config } from "../config/index.ts";
import type { ServerAddress } from "../store/upkeep.ts";
import { JSON_FLAG, type OperatorCommand, type OperatorContext } from "./command.ts";
import { json } from "./print.ts";
import type { Finding, Patient } from "./finding.ts";
import { clock, disk, permissions } from "./machine.ts";
import { certificate, dns, ports } from "./reachable.ts";

const CHECKS: Readonly<Record<string, Check>> = { dns, certificate, disk, clock, permissions, ports };

/** A check that breaks counts as failed: the results of the others are wanted all the same. */
async function carryOut(check: Check, patient: Patient): Promise<Finding> {
  try {
    return await check(patient);
  } catch (error) {
    return {
      status: "fail",
      message: `It could not be checked (${(error as Error).message}): run this as the user of the server.`,
    };
  }
}

/** With a base URL of its own, this call does not take the sites domain of the last start: that went with another one. */
function configOf(settings: OperatorContext["settings"], last: ServerAddress | null): Config {
  const config = settings(last);
  return config.base_url === last?.base_url ? config : settings(null);
}

export const doctor: OperatorCommand = {
  name: "doctor",
  arguments: [],
  flags: [JSON_FLAG],
  summary: "check DNS, certificate, disk, clock, permissions and ports; exit code 1 where one fails",
  details: [
    "Give it the server's settings (flags or variables) and run it as the server's user. Base URL and sites domain, where they are not set, are those of the server's last start. Nothing is made or changed.",
  ],
  async run({ data_dir, settings, print }, given) {
    const kept = peekDataDir(data_dir);
    const patient: Patient = { config: configOf(settings, kept?.address ?? null), kept, now: Date.now() };
    const checks = Object.entries(CHECKS).map(async ([check, look]) => ({ check, ...(await carryOut(look, patient)) }));
    const findings = await Promise.all(checks);
    if (given.json) print(json(findings));
    else
      for (const { check, status, message } of findings)
        print(`${status.padEnd(4)}  ${check.padEnd(11)}  ${visible(message)}\n`);
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
};

type Check = (patient: Patient) => Finding | Promise<Finding>;
