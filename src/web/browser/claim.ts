/** Moves the claim token from the link's fragment into the form, through the sign-in if one is needed. It never sends
 *  the token: that is the person's click. */
import { forgetSite } from "./zone/local-sites.ts";

const key = `svc-claim ${location.pathname}`;
const from_link = location.hash.slice(1);
if (from_link && from_link !== "main") {
  sessionStorage.setItem(key, from_link);
  // Out of the address bar, the history and what is copied from them.
  history.replaceState(null, "", location.pathname);
}
const field = document.querySelector<HTMLInputElement>("input[name=claim_token]");
const token = sessionStorage.getItem(key);
if (field && token) {
  field.value = token;
  document.querySelector<HTMLElement>("button[data-claim]")?.focus();
}
if (document.querySelector("[data-claimed]")) {
  sessionStorage.removeItem(key);
  // The site belongs to an account now: this browser's list is for sites without one.
  forgetSite(location.pathname.split("/").at(-1)!);
}
