/** How a form of some content comes to be: read, or coded by the encoder, then kept while there is room. What is under way
 *  is waited for, never made twice. */
import { createGate } from "../run/gate.ts";
import type { Coding, Compression } from "../http/codings.ts";
import type { Blobs } from "../store/serving.ts";
import type { Bytes } from "../base/types.ts";
import type { Budget } from "./budget.ts";
import { blobOf, findDiskForm, newForm, readContent } from "./contents.ts";
import type { Encoder } from "./encode.ts";
import type { Content, Form } from "./kept.ts";

/** With the response that is kept for it, and its headers. */
const FORM_COST = 1500;
/** Bodies that are read at once: a thousand visitors of a thousand files must not hold them all. */
const READERS = 32;

interface Parts {
  blobs: Blobs;
  budget: Budget;
  encoder: Encoder;
}

interface Making {
  coding: Coding;
  /** Undefined: not now. */
  form: Promise<Form | undefined>;
  /** Of the visitors who wait for it. */
  wanted: AbortSignal[];
}

/** What is under way, by content: a second request waits for it. */
type UnderWay = Map<Content, Making[]>;

const findMaking = (under_way: UnderWay, content: Content, coding: Coding): Making | undefined =>
  under_way.get(content)?.find((making) => making.coding === coding);

export interface Forms {
  identity(content: Content): Promise<Form>;
  /** For a visitor who waits: undefined where it would take too long. */
  coded(content: Content, coding: Compression, signal: AbortSignal): Promise<Form | undefined>;
  /** For nobody in particular, when its turn has come. */
  ahead(content: Content, coding: Compression): Promise<void>;
}

export function createForms(parts: Parts): Forms {
  const { blobs, encoder } = parts;
  const gate = createGate({ width: READERS });
  const under_way: UnderWay = new Map();
  const whole = (content: Content) => gate.run(async () => blobOf(await readContent(blobs, content)));

  async function identity(content: Content): Promise<Form> {
    const known = content.forms.identity ?? findMaking(under_way, content, "identity")?.form;
    const make = async () =>
      content.from_disk ? fromDisk(parts, content) : keep(parts, content, "identity", await whole(content));
    return (await (known ?? begin(under_way, content, "identity", [], make)))!;
  }

  async function coded(content: Content, coding: Compression, signal: AbortSignal): Promise<Form | undefined> {
    const making = findMaking(under_way, content, coding);
    if (making !== undefined) {
      making.wanted.push(signal);
      return making.form;
    }
    const waiting = [signal];
    return begin(under_way, content, coding, waiting, async () => {
      const wanted = () => waiting.some(({ aborted }) => !aborted);
      const bytes = await encoder.now(coding, () => plain(parts, content), wanted);
      return bytes === undefined ? undefined : keepCoded(parts, content, coding, bytes);
    });
  }

  const ahead = (content: Content, coding: Compression): Promise<void> =>
    encoder.ahead(async (code) => {
      const make = async () => {
        const bytes = await code(await plain(parts, content), coding, "quick");
        return bytes === undefined ? undefined : keepCoded(parts, content, coding, bytes);
      };
      const known = content.forms[coding] ?? findMaking(under_way, content, coding)?.form;
      await (known ?? begin(under_way, content, coding, [], make));
    });

  return { identity, coded, ahead };
}

function begin(
  under_way: UnderWay,
  content: Content,
  coding: Coding,
  wanted: AbortSignal[],
  make: () => Promise<Form | undefined>,
): Making["form"] {
  const form = make().finally(() => {
    const rest = under_way.get(content)!.filter((making) => making.coding !== coding);
    if (rest.length > 0) under_way.set(content, rest);
    else under_way.delete(content);
  });
  under_way.set(content, [...(under_way.get(content) ?? []), { coding, form, wanted }]);
  return form;
}

function keep({ budget }: Parts, content: Content, coding: Coding, blob: Blob | null): Form {
  const size = blob?.size ?? 0;
  const form = newForm(content, coding, blob, size, FORM_COST + size);
  budget.made(size);
  content.forms[coding] = form;
  budget.keep(form);
  return form;
}

function keepCoded(parts: Parts, content: Content, coding: Compression, bytes: Bytes | null): Form {
  return keep(parts, content, coding, bytes && blobOf(bytes));
}

async function fromDisk({ blobs }: Parts, content: Content): Promise<Form> {
  const form = await findDiskForm(blobs, content);
  content.forms.identity = form;
  return form;
}

/** What a coding is made of, for the encoder alone. It is not kept: whoever asked for a coding will not ask for this. */
function plain({ blobs }: Parts, content: Content): Promise<Bytes> {
  return content.forms.identity?.blob?.bytes() ?? readContent(blobs, content);
}
