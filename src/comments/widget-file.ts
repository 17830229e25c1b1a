/** `/_svc/c.js`, which pages load where comments are on. */
import { Refusal } from "../errors.ts";
import type { Exchange } from "../http/exchange.ts";

export async function widgetFile(_request: Request, _exchange: Exchange): Promise<Response> {
  throw new Refusal("not_found", "There is nothing at this address.");
}
