/** `bun check` fails here when a row of the API may lack who calls it, its answers or its codes, or when a handler could
 *  trust what its row does not say of the caller. Nothing runs. */
import type { ApiRow } from "../../src/api/row.ts";
import type { API } from "../../src/api/index.ts";
import type { ApiHandler } from "../../src/routes/context.ts";

interface Complete {
  id: string;
  tag: "Sites";
  summary: string;
  who: "account";
  answers: { 200: { description: string } };
  codes: ["not_found"];
}
type Compiles<Row> = Row extends ApiRow ? true : false;

export const rows: [
  Compiles<Complete>,
  Compiles<Omit<Complete, "who">>,
  Compiles<Omit<Complete, "answers">>,
  Compiles<Omit<Complete, "codes">>,
  Compiles<Omit<Complete, "who"> & { who: "everybody" }>,
  Compiles<Omit<Complete, "codes"> & { codes: ["no_such_code"] }>,
] = [true, false, false, false, false, false];

type WhoOf<Name extends keyof typeof API> = (typeof API)[Name]["who"];
type Told<Name extends keyof typeof API> = Parameters<ApiHandler<WhoOf<Name>>>[0];
type Has<Name extends keyof typeof API, Member extends string> = Member extends keyof Told<Name> ? true : false;

export const handlers: [
  Has<"GET /sites/:id", "site">,
  Has<"POST /sites", "owner">,
  Has<"GET /account", "site">,
  Has<"GET /limits", "by">,
  Told<"GET /account">["caller"]["kind"],
] = [true, true, false, false, "account"];
