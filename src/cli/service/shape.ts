/** What an answer must have before a command reads it: a server may be no svc server, or be broken. */

/** Where a value is not as wanted: the path of the first such field, "" for the value itself; null where all is well. */
type Check = (value: unknown) => string | null;

/** The check of an answer of this type. */
export type Shape<Answer> = Check & { readonly of?: Answer };

const kind =
  (is: (value: unknown) => boolean): Check =>
  (value) =>
    is(value) ? null : "";

const isHttp = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

export const TEXT = kind((value) => typeof value === "string");
export const NUMBER = kind(Number.isFinite);
export const BOOLEAN = kind((value) => typeof value === "boolean");
/** An address that a browser opens. */
export const ADDRESS = kind(isHttp);
/** A time as the API writes it: ISO 8601. */
export const TIME = kind((value) => typeof value === "string" && !Number.isNaN(Date.parse(value)));

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? null : check(value);

export const orNone =
  (check: Check): Check =>
  (value) =>
    value === undefined ? null : check(value);

const below = (name: string, fault: string): string =>
  fault === "" || fault.startsWith("[") ? `${name}${fault}` : `${name}.${fault}`;

export const listOf =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return "";
    for (const [i, item] of value.entries()) {
      const fault = check(item);
      if (fault !== null) return below(`[${i}]`, fault);
    }
    return null;
  };

/** An object with at least these fields. */
export const fields =
  <Answer extends object>(checks: { readonly [Field in keyof Required<Answer>]: Check }): Shape<Answer> =>
  (value) => {
    if (typeof value !== "object" || value === null) return "";
    for (const [name, check] of Object.entries<Check>(checks)) {
      const fault = check((value as Record<string, unknown>)[name]);
      if (fault !== null) return below(name, fault);
    }
    return null;
  };

/** A field that this command does not look at. */
export const UNREAD: Check = () => null;

/** Of an answer that nobody reads: that it came is enough. */
export const ANY: Shape<object> = fields<object>({});
