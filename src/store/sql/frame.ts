/** Two ways to go on where the disk takes no write. */
import { Refusal } from "../../base/errors.ts";
import { isDiskFull } from "../refusals.ts";
import type { BlobPlace } from "./parts.ts";

/** Runs what frees room (deletions, takedowns, the sweep) again after room was made where the disk is full. */
export async function makingRoom<T>(place: Pick<BlobPlace, "makeRoom">, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDiskFull(error) || !place.makeRoom()) throw error;
    }
  }
}

/** For what is only noted down: on a full or busy disk nobody is refused because of it. */
export async function ifDiskAllows(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}
