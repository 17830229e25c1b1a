/** The frame around a small write: serving learns of it, and a failing disk becomes an answer. */
import { diskRefusal, makingRoom } from "../disk/failures.ts";
import type { Generation } from "../index.ts";

export interface Commit {
  /** Runs a transaction that serving need not hear of. */
  quiet<T>(transaction: () => T): T;
  /** Runs a transaction that changes sites. */
  seen<T>(transaction: () => T): T;
  /** The same for a deletion: it goes on where the disk is full, for it is what makes room. */
  deletion<T>(transaction: () => T): T;
}

export function commits(data_dir: string, generation: Pick<Generation, "advance">): Commit {
  const quiet = <T>(transaction: () => T): T => {
    try {
      return transaction();
    } catch (error) {
      throw diskRefusal(error);
    }
  };
  const seen = <T>(transaction: () => T): T => {
    const done = quiet(transaction);
    generation.advance();
    return done;
  };
  const deletion = <T>(transaction: () => T): T => seen(() => makingRoom(data_dir, transaction));
  return { quiet, seen, deletion };
}
