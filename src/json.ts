/** JSON of a stranger: whatever it holds, asking for a member of it fails on nothing. */

export type Json = { [member: string]: Json } | Json[] | string | number | boolean | null | undefined;

export const member = (value: Json, name: string): Json =>
  value && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
