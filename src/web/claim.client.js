// Moves the claim token from the link's fragment into the form, through the sign-in where one is needed.
const key = `svc-claim ${location.pathname}`;
const fromLink = location.hash.slice(1);
if (fromLink) {
  sessionStorage.setItem(key, fromLink);
  // Out of the address bar, the history and what is copied from them.
  history.replaceState(null, "", location.pathname);
}
const field = document.querySelector("input[name=claim_token]");
if (field) field.value = sessionStorage.getItem(key) ?? "";
if (document.querySelector("[role=status]")) sessionStorage.removeItem(key);
