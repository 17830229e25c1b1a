/** Names in HTML are equal in any case of the letters A to Z. Other letters keep theirs: the Kelvin sign is no `k` here. */
const CAPITAL = /[A-Z]/;
const CAPITALS = /[A-Z]+/g;

export const asciiLower = (name: string): string =>
  CAPITAL.test(name) ? name.replace(CAPITALS, (letters) => letters.toLowerCase()) : name;
