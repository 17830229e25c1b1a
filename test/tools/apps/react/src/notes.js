export const notes = [
  { id: "bread", title: "Bread", text: "Flour, water, salt and a day of patience." },
  { id: "kites", title: "Kites", text: "They rise against the wind, not with it." },
];
