/** `doctor`: what keeps a server from being reached or from working, each with what to do about it (CONTRACT 7). It looks,
 *  and changes nothing. */
import { peekDataDir } from "../../store/operations.ts";
import { visible } from "../../base/visible.ts";
import type { Config } from "../../config/index.ts";
import type { ServerAddress } from "../../store/upkeep.ts";
import type { Call, Command } from "../command.ts";
import { json } from "../print.ts";
import { certificate } from "./certificate.ts";
import { clock } from "./clock.ts";
import { disk } from "./disk.ts";
import { dns } from "./dns.ts";
import type { Check, Finding, Patient } from "./finding.ts";
import { permissions } from "./permissions.ts";
import { ports } from "./ports.ts";

const CHECKS: Readonly<Record<string, Check>> = { dns, certificate, disk, clock, permissions, ports };

/** One that breaks is told as failed: the others are wanted all the same. */
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

/** Where a base URL is given, the sites domain of the last start went with another one. */
function configOf(settings: Call["settings"], last: ServerAddress | null): Config {
  const config = settings(last);
  return config.base_url === last?.base_url ? config : settings(null);
}

export const doctor: Command = {
  name: "doctor",
  arguments: [],
  options: { "--json": null },
  summary: "check DNS, certificate, disk, clock, permissions and ports; exit code 1 where one fails",
  more: "Give it the server's settings (flags or variables) and run it as the server's user. Base URL and sites domain, where they are not set, are those of the server's last start. Nothing is made or changed.",
  async run({ data_dir, settings, switches, print }) {
    const kept = peekDataDir(data_dir);
    const patient: Patient = { config: configOf(settings, kept?.address ?? null), kept, now: Date.now() };
    const checks = Object.entries(CHECKS).map(async ([check, look]) => ({ check, ...(await carryOut(look, patient)) }));
    const findings = await Promise.all(checks);
    if (switches.has("--json")) print(json(findings));
    else
      for (const { check, status, message } of findings)
        print(`${status.padEnd(4)}  ${check.padEnd(11)}  ${visible(message)}\n`);
    return findings.some(({ status }) => status === "fail") ? 1 : 0;
  },
};
