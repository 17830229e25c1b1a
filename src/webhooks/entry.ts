/** The entry of the process that posts letters from source; in the binary it is server.ts with the hidden subcommand. */
import { servePosts } from "./post.ts";

servePosts();
