/** Buttons that copy, on pages that the server wrote. */
import { hearCopies } from "./copying.ts";

hearCopies(document);
