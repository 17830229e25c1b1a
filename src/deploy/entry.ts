/** What a deploy's process runs from source; in the binary it is server.ts with the hidden subcommand. */
import { serveDeploys } from "./worker.ts";

serveDeploys();
