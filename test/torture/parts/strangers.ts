/** What strangers do to other people's sign-ins: guess at an account, and flood the line for argon2id. Each network is an
 *  address in X-Forwarded-For, which the server is told to believe. */
import { local, type ServerProcess, startProcess, temporaryFolder } from "../../kit/process.ts";
import { percentile } from "./figures.ts";

const OWNER = { email: "owner@example.org", password: "correct horse battery" };
const HOME = "203.0.113.7";
const FLOOD_PER_SECOND = 33;

interface Answered {
  status: number;
  ms: number;
}

async function signIn(
  server: ServerProcess,
  address: string,
  { email, password }: typeof OWNER,
  path = "/auth/login",
): Promise<Answered> {
  const from = performance.now();
  const headers = { "content-type": "application/json", "x-forwarded-for": address };
  const answer = await fetch(local(server) + path, {
    method: "POST",
    headers,
    body: JSON.stringify({ email, password }),
  });
  await answer.arrayBuffer();
  return { status: answer.status, ms: performance.now() - from };
}

async function withServer<T>(env: Record<string, string>, work: (server: ServerProcess) => Promise<T>): Promise<T> {
  await using dir = await temporaryFolder();
  const server = await startProcess(["--data-dir", dir.path, "--log", "off", "--trust-proxy", "127.0.0.1"], { env });
  try {
    await signIn(server, HOME, OWNER, "/auth/signup");
    return await work(server);
  } finally {
    await server.end();
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** With the limits as they come: guesses from one network, then from many. Whether the owner is let in from home. */
export const ownerIsLetIn = (): Promise<boolean> =>
  withServer({}, async (server) => {
    const guess = { ...OWNER, password: "not the password" };
    for (let n = 0; n < 6; n++) await signIn(server, "198.51.100.1", guess);
    const afterOne = await signIn(server, HOME, OWNER);
    for (let n = 0; n < 100; n++) await signIn(server, `198.51.100.${2 + (n % 25)}`, guess);
    const [home, elsewhere] = [await signIn(server, HOME, OWNER), await signIn(server, "192.0.2.1", OWNER)];
    say(
      `the owner's right password: after 6 guesses from one network ${afterOne.status}; after 106 from 26 networks ` +
        `from home ${home.status}, from a network that is new ${elsewhere.status}`,
    );
    return afterOne.status === 200 && home.status === 200;
  });

/** So many wrong passwords a second by the clock, each from the address of its number, while `visit` runs. */
async function whileFlooded<T>(
  server: ServerProcess,
  addressOf: (n: number) => string,
  visit: () => Promise<T>,
): Promise<T> {
  const begin = performance.now();
  const sent: Promise<unknown>[] = [];
  let going = true;
  const flood = (async () => {
    for (let n = 0; going; n++) {
      await Bun.sleep(Math.max(0, begin + (n * 1000) / FLOOD_PER_SECOND - performance.now()));
      sent.push(signIn(server, addressOf(n), { email: `nobody${n % 50}@example.org`, password: "wrong password" }));
    }
  })();
  await Bun.sleep(4_000); // until the line is as long as it gets: nobody waits longer than 3 s
  const seen = await visit();
  going = false;
  await flood;
  await Promise.all(sent);
  return seen;
}

const FLOODS: readonly [name: string, addressOf: (n: number) => string, new_ones_are_let_in: boolean][] = [
  ["one network", () => "198.51.100.1", true],
  ["200 /64s of one /48", (n) => `2001:db8:1:${(n % 200).toString(16)}::1`, true],
  ["200 addresses", (n) => `198.51.100.${n % 200}`, false],
];

let visitor = 0;
/** Sign-ins of the owner from home and of a new network, one after the other, while a flood goes on. */
async function visitors(server: ServerProcess, tries: number): Promise<{ home: Answered[]; elsewhere: Answered[] }> {
  const seen = { home: [] as Answered[], elsewhere: [] as Answered[] };
  for (let n = 0; n < tries; n++) {
    seen.home.push(await signIn(server, HOME, OWNER));
    seen.elsewhere.push(await signIn(server, `192.0.2.${++visitor}`, OWNER));
  }
  return seen;
}

function told(answers: readonly Answered[]): string {
  const times = answers.map(({ ms }) => ms);
  const refused = answers.filter(({ status }) => status !== 200).length;
  return `p50 ${percentile(times, 0.5).toFixed(0)} ms, most ${Math.max(...times).toFixed(0)} ms, ${refused} of ${answers.length} refused`;
}

const isServed = (answers: readonly Answered[]): boolean => answers.every(({ status }) => status === 200);

/** Without the limits of sign-ins: whether nobody is refused (which is after 3 s) while strangers fill the line. */
export const lineIsFair = (tries: number): Promise<boolean> =>
  withServer(
    { SVC_RATE_SIGN_IN: "off", SVC_RATE_SIGN_IN_ACCOUNT: "off", SVC_RATE_SIGN_IN_NAME: "off" },
    async (server) => {
      let fair = true;
      for (const [name, addressOf, newAreLetIn] of FLOODS) {
        const { home, elsewhere } = await whileFlooded(server, addressOf, () => visitors(server, tries));
        say(
          `${FLOOD_PER_SECOND} sign-ins a second from ${name}: from home ${told(home)}; from a new network ${told(elsewhere)}`,
        );
        fair &&= isServed(home) && (!newAreLetIn || isServed(elsewhere));
      }
      return fair;
    },
  );
