/** The entry of a deploy's process from source; in the binary it is server.ts with the hidden subcommand. */
import { serveDeploys } from "./worker.ts";

serveDeploys();
