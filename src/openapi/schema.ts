/** JSON Schema 2020-12, as OpenAPI 3.1 takes it, put together of few words. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };
export type Schema = { readonly [keyword: string]: Json };
export type Members = { readonly [name: string]: Schema };

export const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
export const whole = (description: string, more: Schema = {}): Schema => ({
  type: "integer",
  minimum: 0,
  description,
  ...more,
});
export const flag = (description: string): Schema => ({ type: "boolean", description });
export const oneOf = (description: string, values: readonly string[]): Schema => ({
  type: "string",
  enum: values,
  description,
});
export const list = (items: Schema, description: string, more: Schema = {}): Schema => ({
  type: "array",
  items,
  description,
  ...more,
});

/** The same, or null. Of what has one type. */
export const orNull = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type as string, "null"],
  ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
});

/** Members that are always there, then those that may be missing. Others may join: whoever reads lets them be. */
export const object = (required: Members, optional: Members = {}, more: Schema = {}): Schema => ({
  type: "object",
  ...more,
  properties: { ...required, ...optional },
  ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
});

/** A schema of `SCHEMAS`, by its name. */
export const ref = (name: string, description?: string): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(description !== undefined && { description }),
});
export const refOrNull = (name: string, description: string): Schema => ({
  anyOf: [ref(name), { type: "null" }],
  description,
});
/** What only ever is one value. */
export const always = (value: string | number | boolean | null, description: string): Schema => ({
  const: value,
  description,
});

/** The words of a union, each once: the compiler asks for one that is missing. */
export const wordsOf = <Word extends string>(words: Readonly<Record<Word, true>>): readonly Word[] =>
  Object.keys(words) as Word[];
