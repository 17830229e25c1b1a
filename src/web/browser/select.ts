/** On the list of sites: "Select all on this page", and the bar with how many are selected, which is there while some are. */
const form = document.querySelector<HTMLFormElement>("form[data-select]");
const place = form?.querySelector("[data-select-all]");
const bar = form?.querySelector("[data-selected]");

function begin(form: HTMLFormElement, place: Element, bar: Element): void {
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
    bar.classList.toggle("some", selected > 0);
    bar.querySelector("[data-select-count]")!.textContent = selected > 0 ? `${selected} selected` : "";
  };
  const select = (checked: boolean): void => {
    for (const box of boxes) box.checked = checked;
    show();
  };
  all.addEventListener("change", () => select(all.checked));
  form.addEventListener("change", show);
  const none = bar.querySelector<HTMLElement>("[data-select-none]")!;
  none.hidden = false;
  none.addEventListener("click", () => {
    select(false);
    all.focus(); // the button is gone
  });
  bar.querySelector("[data-select-word]")!.remove(); // the figure says it
  // Back brings the ticks back, after this ran.
  addEventListener("pageshow", show);
  show();
}

if (form && place && bar) begin(form, place, bar);
