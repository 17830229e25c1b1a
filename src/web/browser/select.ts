/** On the list of sites: "Select all on this page", and how many are selected, in the button. */
const form = document.querySelector<HTMLFormElement>("form[data-select]");
const place = form?.querySelector("[data-select-all]");
const counter = form?.querySelector("[data-select-count]");

if (form && place && counter) {
  const boxes = [...form.querySelectorAll<HTMLInputElement>("input[name=site]")];
  const all = document.createElement("input");
  all.type = "checkbox";
  const label = document.createElement("label");
  label.append(all, "Select all on this page");
  place.append(label);

  const show = (): void => {
    const selected = boxes.filter((box) => box.checked).length;
    all.checked = selected === boxes.length;
    all.indeterminate = selected > 0 && selected < boxes.length;
    counter.textContent = selected > 0 ? ` (${selected})` : "";
  };
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  form.addEventListener("change", show);
  // Back brings the ticks back, after this ran.
  addEventListener("pageshow", show);
  show();
}
