/** `notify --test`: whether notices reach the operator (CONTRACT 7.5). */
import { newDeliveryId } from "../base/tokens.ts";
import { signedMessage } from "../webhooks/delivery.ts";
import { posting } from "../webhooks/post.ts";
import type { OperatorCommand } from "./command.ts";

function adviceOn(why: string): string {
  if (why.includes("no address of the internet")) return " To allow it, name its network in SVC_WEBHOOKS_ALLOW.";
  if (/certificate/.test(why)) return " Name the file of an authority of your own in NODE_EXTRA_CA_CERTS.";
  return "";
}

export const notify: OperatorCommand = {
  name: "notify",
  arguments: [],
  flags: [{ name: "test", required: true }],
  summary: "post a test to SVC_NOTIFY and say whether it was taken; exit code 1 where it was not",
  details: [
    "It is signed with SVC_NOTIFY_SECRET, as all notices are. Give it all settings of the server. Once it is taken, notices that wait are sent at once.",
  ],
  async run({ config, open, print }) {
    const { notify: url, notify_secret, base_url, webhooks_allow: allowed } = await config();
    if (url === null || notify_secret === null) {
      throw new Error("There is no address to send notices to: set SVC_NOTIFY and SVC_NOTIFY_SECRET.");
    }
    const now = Date.now();
    const letter = { id: newDeliveryId(), type: "test", created_at: new Date(now).toISOString() };
    const data = { server: base_url, text: `This is a test: notices of ${base_url} arrive here.` };
    const message = signedMessage(letter, { data }, notify_secret, now);
    const { host } = new URL(url); // the rest of the address may be all that it takes to post there
    const posted = await posting()({ url, message, place: "", allowed });
    if (posted.status === null) {
      throw new Error(`${host} did not get the test ${letter.id}: ${posted.why}.${adviceOn(posted.why)}`);
    }
    if (posted.status < 200 || posted.status > 299) {
      throw new Error(`${host} did not take the test ${letter.id}: it answered ${posted.status}.`);
    }
    await open().retryNotices();
    print(`${host} took the test ${letter.id}: it answered ${posted.status} after ${posted.ms} ms\n`);
  },
};
