/** Shapes of the API's bodies, of which one builder makes JSON Schema, types and checks. Shapes of JSON: each is printed
 *  as JSON Schema (2020-12, as OpenAPI 3.1 takes it), gives the TypeScript type of its values (`Infer<typeof SITE>`),
 *  and checks a value that came over the wire. Runs on Node too, for the CLI takes them. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };
export type Schema = { readonly [keyword: string]: Json };

/** Returns the path of the first fault in a value, "" for the value itself; null if there is no fault. */
type WireCheck = (value: unknown) => string | null;

export interface Shape<T = unknown> {
  /** Makes the JSON Schema where the shape is used: for a named shape the reference to it. The CLI checks answers and prints no
   *  schema, and a start of it has no time for one. */
  schema(): Schema;
  /** Looser than the schema, as a client must be: words, patterns and bounds may change on a newer server. */
  readonly check: WireCheck;
  /** Never there: it carries the type. */
  readonly of?: T;
}
export type Infer<S> = S extends Shape<infer T> ? T : never;
export type MemberShapes = { readonly [name: string]: Shape };
type Flat<T> = { [Member in keyof T]: T[Member] };
type ObjectOf<R, O> = Flat<{ [Name in keyof R]: Infer<R[Name]> } & { [Name in keyof O]?: Infer<O[Name]> }>;

interface ObjectShape<R extends MemberShapes, O extends MemberShapes> extends Shape<ObjectOf<R, O>> {
  readonly required: R;
  readonly optional: O;
}

/** A shape that `components.schemas` has under its name. */
export interface NamedShape {
  readonly name: string;
  definition(): Schema;
}

const kind =
  (is: (value: unknown) => boolean): WireCheck =>
  (value) =>
    is(value) ? null : "";

const isText = kind((value) => typeof value === "string");
const isAddress = kind(
  (value) => typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
);
const isTime = kind((value) => typeof value === "string" && !Number.isNaN(Date.parse(value)));
const isNumber = kind(Number.isFinite);
const isBoolean = kind((value) => typeof value === "boolean");
const passes: WireCheck = () => null;

/** A schema in its own words, for shapes that the functions below cannot make. */
export const custom = <T = unknown>(schema: Schema | (() => Schema), check: WireCheck = passes): Shape<T> => ({
  schema: typeof schema === "function" ? schema : () => schema,
  check,
});
const FORMATS: Readonly<Record<string, WireCheck>> = { uri: isAddress, "date-time": isTime };

/** With the format `uri` an address that a browser opens, with `date-time` a time as ISO 8601. */
export const string = (description = "", more: Schema = {}): Shape<string> =>
  custom({ type: "string", description, ...more }, FORMATS[more.format as string] ?? isText);

export const integer = (description: string, more: Schema = {}): Shape<number> =>
  custom({ type: "integer", minimum: 0, description, ...more }, isNumber);

export const boolean = (description = ""): Shape<boolean> => custom({ type: "boolean", description }, isBoolean);

/** One of these words today: others may join, so a client takes any. */
export const oneOf = <const Words extends readonly string[]>(description: string, words: Words, more: Schema = {}) =>
  custom<Words[number]>({ type: "string", enum: words, description, ...more }, isText);

/** One of these words and no other, ever: a client that meets another one cannot go on. */
export const onlyOf = <const Words extends readonly string[]>(description: string, words: Words) =>
  custom<Words[number]>(
    oneOf(description, words).schema,
    kind((value) => words.includes(value as string)),
  );

/** A shape that has one value only. */
export const literal = <const Value extends string | number | boolean | null>(value: Value, description: string) =>
  custom<Value>(
    { const: value, description },
    kind((one) => typeof one === typeof value),
  );

const below = (name: string, fault: string): string =>
  fault === "" || fault.startsWith("[") ? `${name}${fault}` : `${name}.${fault}`;

function checkItems(check: WireCheck, value: unknown): string | null {
  if (!Array.isArray(value)) return "";
  for (const [i, item] of value.entries()) {
    const fault = check(item);
    if (fault !== null) return below(`[${i}]`, fault);
  }
  return null;
}

interface ArrayShape<Items extends Shape> extends Shape<Infer<Items>[]> {
  readonly items: Items;
}

export const array = <Items extends Shape>(items: Items, description = "", more: Schema = {}): ArrayShape<Items> => ({
  items,
  schema: () => ({ type: "array", items: items.schema(), description, ...more }),
  check: (value) => checkItems(items.check, value),
});

/** A list of exactly one. */
export const listOfOne = <T>(item: Shape<T>, description: string): Shape<[T]> => {
  const { schema, check } = array(item, description, { minItems: 1, maxItems: 1 });
  return custom(schema, check);
};

const orNull =
  (check: WireCheck): WireCheck =>
  (value) =>
    value === null ? null : check(value);

/** The same, or null. For a shape of one type. */
export const nullable = <T>(shape: Shape<T>): Shape<T | null> =>
  custom((): Schema => {
    const schema = shape.schema();
    if (schema.$ref !== undefined) return { anyOf: [schema, { type: "null" }] };
    return {
      ...schema,
      type: [schema.type as string, "null"],
      ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }),
    };
  }, orNull(shape.check));

function checkMembers(required: MemberShapes, optional: MemberShapes, value: unknown): string | null {
  if (typeof value !== "object" || value === null) return "";
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in required) {
    const fault = required[name]!.check(members[name]);
    if (fault !== null) return below(name, fault);
  }
  for (const name in optional) {
    const fault = members[name] === undefined ? null : optional[name]!.check(members[name]);
    if (fault !== null) return below(name, fault);
  }
  return null;
}

const schemasOf = (members: MemberShapes): { [name: string]: Schema } =>
  Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema()]));

/** MemberShapes that are always there, then those that may be missing. Others may join: a reader ignores them. */
export const object = <R extends MemberShapes, O extends MemberShapes = {}>(
  required: R,
  optional = {} as O,
  more: Schema = {},
): ObjectShape<R, O> => ({
  required,
  optional,
  schema: () => ({
    type: "object",
    ...more,
    properties: { ...schemasOf(required), ...schemasOf(optional) },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
  }),
  check: (value) => checkMembers(required, optional, value),
});

const areTexts = kind(
  (value) =>
    typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string"),
);

/** An object whose members are strings under any name. */
export const texts = (description: string) =>
  custom<Record<string, string>>({ type: "object", additionalProperties: { type: "string" }, description }, areTexts);

type PickedFrom<M, Names> = Pick<M, Names & keyof M>;

const members = <M extends MemberShapes, Names extends string>(all: M, names: readonly Names[]) =>
  Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]!])) as PickedFrom<M, Names>;

/** The same object with these members alone: what a client reads of an answer. */
export const pick = <R extends MemberShapes, O extends MemberShapes, Names extends string & (keyof R | keyof O)>(
  { required, optional }: { readonly required: R; readonly optional: O },
  ...names: readonly Names[]
): ObjectShape<PickedFrom<R, Names>, PickedFrom<O, Names>> =>
  object(members(required, names), members(optional, names));

/** The same object with more members. */
export const extend = <
  R extends MemberShapes,
  O extends MemberShapes,
  MoreR extends MemberShapes,
  MoreO extends MemberShapes = {},
>(
  { required, optional }: { readonly required: R; readonly optional: O },
  more_required: MoreR,
  more_optional = {} as MoreO,
): ObjectShape<R & MoreR, O & MoreO> => object({ ...required, ...more_required }, { ...optional, ...more_optional });

/** The same shape under a name, to which the document refers wherever it is used. */
export const named = <S extends Shape>(name: string, shape: S): S & NamedShape => ({
  ...shape,
  name,
  definition: shape.schema,
  schema: () => ({ $ref: `#/components/schemas/${name}` }),
});

/** A named shape, with a description for this use of it. */
export const ref = <T>(shape: Shape<T>, description: string): Shape<T> =>
  custom(() => ({ ...shape.schema(), description }), shape.check);

export const refOrNull = <T>(shape: Shape<T>, description: string): Shape<T | null> =>
  custom(() => ({ anyOf: [shape.schema(), { type: "null" }], description }), orNull(shape.check));

/** A value of any of these shapes. */
export const anyOf = <const Shapes extends readonly Shape[]>(shapes: Shapes, description?: string) =>
  custom<Infer<Shapes[number]>>(() => ({
    anyOf: shapes.map(({ schema }) => schema()),
    ...(description !== undefined && { description }),
  }));

/** The words of a union, each once: one that is missing does not compile. */
export const wordsOf = <Word extends string>(words: Readonly<Record<Word, true>>): readonly Word[] =>
  Object.keys(words) as Word[];
