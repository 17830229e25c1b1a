/** Which forms a field belongs to by its place, as browsers see it: the form that is open, and where its end tag came while
 *  other elements in it were open, still that form, for what follows lies inside it. A form in an open form is none. Where
 *  that is doubtful (in a select some browsers drop a form's tag, a template takes each), a field belongs to each. */
import { type Form, MOST, Unreadable } from "./facts.ts";
import { IMPLIED_END, VOID } from "../../html/foreign.ts";

interface OpenForm {
  form: Form;
  /** How many elements were open when it began. */
  from: number;
  /** Its end tag has come. */
  ended: boolean;
  /** Every browser sees it. */
  sure: boolean;
}

/** A template has forms of its own. */
interface Scope {
  forms: OpenForm[];
  /** Names of elements that are open, from the first open form on. */
  stack: string[];
  selects: number;
  tables: number;
}

const emptyScope = (): Scope => ({ forms: [], stack: [], selects: 0, tables: 0 });

/** These end by themselves, or are opened again behind an element that ended too early. */
const FORMATTING = new Set("a b big code em font i nobr s small span strike strong tt u label button".split(" "));
const DEEPEST = 1000;

/** Forms that ended are left with the last element that was open in them. */
function leave(at: Scope, length: number): void {
  at.forms = at.forms.filter(({ ended, from }) => !ended || length > from);
  if (at.forms.length === 0) at.stack.length = 0;
}

function closeElement(name: string, at: Scope): void {
  const index = at.stack.lastIndexOf(name);
  if (index < 0) return;
  const holds_blocks = at.stack.slice(index + 1).some((inner) => !FORMATTING.has(inner));
  if (FORMATTING.has(name) && holds_blocks) at.stack.splice(index, 1);
  else at.stack.length = index;
  leave(at, at.stack.length);
}

export class FormOwners {
  private readonly scopes: Scope[] = [emptyScope()];

  /** `nested`: XML, where elements end where they say. */
  constructor(private readonly nested: boolean) {}

  private get scope(): Scope {
    return this.scopes.at(-1)!;
  }

  /** Whether what is read next stands in the page where its tag does, and for every browser: a table puts it before
   *  itself, a template keeps it to itself. */
  get sure(): boolean {
    const { selects, tables } = this.scope;
    return !this.nested && this.scopes.length === 1 && selects === 0 && tables === 0;
  }

  /** False: browsers drop its tag. */
  form(form: Form): boolean {
    const { forms, stack, selects } = this.scope;
    const alone = !this.nested && this.scopes.length === 1;
    if (alone && forms.some(({ ended, sure }) => sure && !ended)) return false;
    if (forms.push({ form, from: stack.length, ended: false, sure: alone && selects === 0 }) > MOST.open_forms) {
      throw new Unreadable("it nests too many forms");
    }
    return true;
  }

  open(name: string): void {
    if (name === "template" && this.scopes.push(emptyScope()) > MOST.templates) {
      throw new Unreadable("it nests too many templates");
    }
    const { scope } = this;
    const { forms, stack } = scope;
    if (name === "select") scope.selects++;
    else if (name === "table") scope.tables++;
    if (forms.length > 0 && name !== "form" && !VOID.has(name) && !IMPLIED_END.has(name) && stack.length < DEEPEST) {
      stack.push(name);
    }
  }

  close(name: string): void {
    const { scope } = this;
    if (name === "select") scope.selects = Math.max(0, scope.selects - 1);
    else if (name === "table") scope.tables = Math.max(0, scope.tables - 1);
    if (name === "form") this.endForm(scope);
    else if (name !== "template") closeElement(name, scope);
    else if (this.scopes.length > 1) this.scopes.pop();
  }

  owners(): readonly Form[] {
    const { forms } = this.scope;
    const open = forms.filter(({ ended }) => !ended);
    return (open.length > 0 ? open : forms).map(({ form }) => form);
  }

  private endForm(scope: Scope): void {
    if (this.nested) scope.forms.pop();
    for (const form of scope.forms) form.ended = true;
    leave(scope, scope.stack.length);
  }
}
