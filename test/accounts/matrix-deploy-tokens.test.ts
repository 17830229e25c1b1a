/** BEYOND 7 in the matrix of RELIABILITY 5: every endpoint × deploy tokens of each scope, of another site, of another
 *  account, expired and revoked. */
import { tryEach } from "./matrix.ts";
import { DEPLOY_CREDENTIALS } from "./matrix-credentials.ts";

tryEach(DEPLOY_CREDENTIALS);
