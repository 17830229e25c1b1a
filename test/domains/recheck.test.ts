/** BEYOND 10: proofs are looked up again by the clock, and a domain whose proof is gone for long lapses. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { signUp } from "../kit/people.ts";
import { until } from "../kit/until.ts";
import { type Domain, domainWorld, freshDomain } from "./world.ts";

setDefaultTimeout(90_000);

const DAY_MS = 86_400_000;
const HOUR_MS = DAY_MS / 24;
/** The turns are quick, and what they look at goes by the server's clock, which the tests move. */
const QUICK = { SVC_DOMAIN_RECHECK: "1s", SVC_DOMAIN_GRACE: "7d" };

async function one() {
  const world = await domainWorld(QUICK);
  const { server, ask, owned, active } = world;
  const ann = await signUp(server);
  const site = await owned(ann);
  const { domain, records } = await active(site, ann);
  const read = async () => {
    const { body } = await ask(ann, "GET", `/sites/${site.site_id}/domains`);
    return (body as never as { domains: Domain[] }).domains[0]!;
  };
  return { ...world, [Symbol.asyncDispose]: world[Symbol.asyncDispose], ann, site, domain, records, read };
}

describe("BEYOND 10: every SVC_DOMAIN_RECHECK", () => {
  test("a proof that stands is looked up, and the domain stays", async () => {
    await using world = await one();
    const first = await world.read();
    world.server.advance(HOUR_MS);
    await until(async () => (await world.read()).checked_at! > first.checked_at!);
    expect(await world.read()).toMatchObject({ state: "active", verified_at: first.verified_at });
  });

  test("one that misses lapses it after SVC_DOMAIN_GRACE, and verify makes it active again", async () => {
    await using world = await one();
    const { server, dns, read, domain, at, site, ann } = world;
    await world.change(site, domain, { primary: true }, ann);
    dns.clear();
    const before = (await read()).checked_at!;
    await until(async () => (await read()).checked_at! > before);
    for (const days of [3, 3.9]) {
      const last = (await read()).checked_at!;
      server.advance(days * DAY_MS);
      await until(async () => (await read()).checked_at! > last);
      expect([days, (await read()).state, (await at(domain)).status]).toEqual([days, "active", 200]);
    }
    server.advance(DAY_MS);
    await until(async () => (await read()).state === "lapsed");
    expect(await read()).toMatchObject({ primary: false, hsts: false });
    expect((await at(domain)).status).toBe(404);
    expect((await at(`${site.slug}.localhost`)).status).toBe(200);
    world.prove(await read());
    expect(await world.verify(site, domain, ann)).toMatchObject({ status: 200, body: { state: "active" } });
    expect((await at(domain)).status).toBe(200);
  });

  test("one that is back in time counts anew", async () => {
    await using world = await one();
    const { server, dns, read, records, domain } = world;
    const step = async (days: number) => {
      const last = (await read()).checked_at!;
      server.advance(days * DAY_MS);
      await until(async () => (await read()).checked_at! > last);
      return (await read()).state;
    };
    dns.clear();
    expect(await step(1)).toBe("active");
    expect(await step(5)).toBe("active");
    dns.set(records[0]!.name, "TXT", [records[0]!.value]);
    expect(await step(1)).toBe("active");
    dns.clear();
    expect(await step(1)).toBe("active");
    expect(await step(6)).toBe("active");
    expect((await world.at(domain)).status).toBe(200);
  });

  test.each(["fails", "hangs", "refuses", "garbage", "other_name"] as const)(
    "a server that %s for weeks lapses nothing, and is asked again later",
    async (mood) => {
      await using world = await one();
      const { server, dns, read, domain } = world;
      const { checked_at } = await read();
      dns.mood = mood;
      for (let i = 0; i < 3; i++) {
        const asked = dns.asked.length;
        server.advance(10 * DAY_MS);
        await until(() => dns.asked.length > asked);
      }
      expect(await read()).toMatchObject({ state: "active", checked_at });
      expect((await world.at(domain)).status).toBe(200);
      dns.mood = "answers";
      server.advance(DAY_MS);
      await until(async () => (await read()).checked_at! > checked_at!);
    },
  );

  test("a domain that no server answers for keeps no other from its turn", async () => {
    await using world = await one();
    const { server, dns, active, site, ann, read } = world;
    const others: Domain[] = [];
    for (let i = 0; i < 8; i++) others.push(await active(site, ann, freshDomain()));
    const gone = others[3]!;
    dns.set(gone.records[0]!.name, "TXT", null);
    const { checked_at } = await read();
    server.advance(DAY_MS);
    const all = async () =>
      ((await world.ask(ann, "GET", `/sites/${site.site_id}/domains`)).body as never as { domains: Domain[] }).domains;
    await until(async () => (await all()).every((one) => one.checked_at! > checked_at!));
    expect((await all()).map(({ state }) => state)).toEqual(Array(9).fill("active"));
  });
});

test("SVC_RATE_DOMAIN: so many domains are added or verified by an account, and no more", async () => {
  await using world = await domainWorld({ SVC_RATE_DOMAIN: "3/1h" });
  const { server, owned, add, verify } = world;
  const [ann, ben] = [await signUp(server), await signUp(server)];
  const site = await owned(ann);
  const domain = freshDomain();
  expect((await add(site, domain, ann)).status).toBe(201);
  expect((await add(site, domain, ann)).status).toBe(200);
  expect((await verify(site, domain, ann)).status).toBe(409);
  expect((await add(site, freshDomain(), ann)).status).toBe(201);
  for (const refused of [await add(site, freshDomain(), ann), await verify(site, domain, ann)]) {
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await add(site, domain, ann)).status).toBe(200);
  expect((await add(await owned(ben), domain, ben)).status).toBe(201);
});
