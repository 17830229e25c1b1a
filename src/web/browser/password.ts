/** "Show password" on every password field. Hidden again when the form is sent: browsers remember what text fields hold. */

function addSwitch(input: HTMLInputElement, place: Element): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet";
  button.setAttribute("aria-controls", input.id);
  button.setAttribute("aria-label", "Show password");
  const show = (shown: boolean) => {
    input.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
    button.textContent = "Show";
  };
  show(false);
  button.addEventListener("click", () => show(input.type === "password"));
  input.form?.addEventListener("submit", () => show(false));
  addEventListener("pageshow", () => show(false));
  place.append(button);
}

for (const place of document.querySelectorAll(".secret")) {
  const input = place.querySelector("input");
  if (input) addSwitch(input, place);
}
