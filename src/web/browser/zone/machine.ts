/** The drop zone, from files to a receipt. The course of a drop, from its files to its receipt: idle → asking → working
 *  → done, or failed and tried again. */
import { deliver, liveVersion, renewToken, withAccount } from "./deliver.ts";
import type { Face } from "./face.ts";
import { type Job, type Source, troubleWithFiles, zipOf } from "./job.ts";
import { forgetSite, type LocalSite, rememberSite } from "./local-sites.ts";
import { type Deployed, deployedIn } from "./receipt.ts";
import { type Answer, type Offer, SIGNED_OUT, type Trouble, troubleOf } from "./refusals.ts";
import type { Setup } from "./setup.ts";
import { Unreachable } from "./worker-calls.ts";

interface Parts {
  face: Face;
  setup: Setup;
  /** The deploy is done. */
  finish(deployed: Deployed, facts: { unchanged: boolean; target: Job["target"]; left_out: readonly string[] }): void;
  /** The list of this browser's sites is another one. */
  listChanged(): void;
}

const ASKS = (event: Event): void => event.preventDefault();
const BUSY = "Something is being published already. Wait until it is live, or cancel it.";
const CANCELLED = "Cancelled. Nothing was published.";
const CANCELLED_AGAIN = "Cancelled. The try before it may have been published.";

export class Machine {
  #job: Job | null = null;
  /** The site of this browser that the next drop is a version of. */
  #local: LocalSite | null = null;
  #said = new Set<string>();
  constructor(readonly parts: Parts) {}

  /** The next drop is a version of this site; null: as the page was made. */
  aimAt(site: LocalSite | null): void {
    this.#local = site;
    if (this.parts.setup.site_id === null) this.parts.face.name(site && `New version of ${site.slug}`);
  }

  get busy(): boolean {
    return this.#job?.busy ?? false;
  }

  /** Everything that is given comes in here. */
  begin(source: Source): void {
    if (this.busy) return this.parts.face.say(BUSY);
    this.#job?.controller.abort();
    const { site_id } = this.parts.setup;
    const job: Job = {
      source,
      target: this.#local
        ? { kind: "local", site: this.#local }
        : site_id === null
          ? { kind: "new" }
          : { kind: "owned", site_id },
      key: randomKey(),
      without_account: false,
      live_before: this.parts.setup.live_version_id ?? undefined,
      left_out: [],
      zip: null,
      controller: new AbortController(),
      busy: false,
      signed_out: false,
      lost: false,
      sent: false,
      name: "",
      title: null,
      from: document.activeElement,
    };
    this.#job = job;
    void this.#run(job);
  }

  readonly #resume = (job: Job): void => {
    job.busy = true;
    addEventListener("beforeunload", ASKS);
    this.parts.face.working(() => job.controller.abort());
  };

  readonly #rest = (job: Job): void => {
    job.busy = false;
    // One whose place another drop took ends after that has begun.
    if (job === this.#job) removeEventListener("beforeunload", ASKS);
  };

  readonly #stage = (words: string): void => {
    if (this.#said.has(words)) return;
    this.#said.add(words);
    this.parts.face.say(words);
  };

  #uploading({ name }: Job, { size }: Blob): void {
    if (this.#said.has("Uploading")) return;
    this.#said.add("Uploading");
    this.parts.face.uploading(name, size);
  }

  async #run(job: Job): Promise<void> {
    this.#said = new Set();
    this.parts.face.say("");
    this.#resume(job);
    try {
      const answer = await this.#attempt(job);
      this.#rest(job);
      this.#conclude(job, answer);
    } catch (error) {
      this.#rest(job);
      if (job === this.#job) this.#fail(job, error);
    }
  }

  async #attempt(job: Job): Promise<Answer | null> {
    const { face, setup } = this.parts;
    const { signal } = job.controller;
    const zip = await zipOf(job, { face, setup, stage: this.#stage, resume: this.#resume, rest: this.#rest });
    if (job.target.kind === "local" && job.live_before === undefined) {
      job.live_before = await liveVersion(job.target.site, signal).catch(() => undefined);
      signal.throwIfAborted();
    }
    const { target, key, without_account } = job;
    return deliver(
      {
        zip,
        target,
        key,
        without_account,
        signal,
        stage: (words) => (words === "Uploading" ? this.#uploading(job, zip) : this.#stage(words)),
        progress: (part) => face.progress(part),
        cancellable: (yes) => {
          job.sent = !yes;
          face.cancellable(yes);
        },
      },
      setup,
    );
  }

  #conclude(job: Job, answer: Answer | null): void {
    const { face } = this.parts;
    const deployed = answer?.status === 200 ? deployedIn(answer) : null;
    if (deployed) return this.#finish(job, deployed);
    if (job.target.kind === "local" && (answer?.status === 401 || answer?.status === 404))
      return this.#drop(job.target.site);
    job.signed_out = answer?.status === 401;
    job.lost ||= answer === null && job.sent;
    this.#failed(job, troubleOf(answer, this.#publisher(job), navigator.onLine));
  }

  #failed(job: Job, trouble: Trouble): void {
    this.parts.face.say("");
    this.parts.face.failed(trouble, (offer) => void this.#take(job, offer));
  }

  #publisher(job: Job) {
    const { csrf, site_id, accounts_only } = this.parts.setup;
    return {
      signed_in: csrf !== null && withAccount(job),
      may_be_anonymous: job.target.kind === "new" && !accounts_only,
      at_home: site_id === null,
      sent: job.sent || job.lost,
    };
  }

  #finish(job: Job, deployed: Deployed): void {
    const { face, listChanged, finish } = this.parts;
    if (deployed.expires_at !== null) rememberSite({ ...deployed, title: job.title });
    else forgetSite(deployed.site_id);
    listChanged();
    this.#job = null;
    this.aimAt(null);
    face.say("");
    const unchanged = deployed.version_id === job.live_before;
    finish(deployed, { unchanged, target: job.target, left_out: job.left_out });
  }

  /** Its token opens nothing any more: the site is somebody's, or gone. */
  #drop({ site_id, slug }: LocalSite): void {
    forgetSite(site_id);
    this.parts.listChanged();
    this.aimAt(null);
    const sentence = `${slug} is gone or belongs to an account now, so it was taken off the list. Nothing was published.`;
    this.parts.face.failed({ sentence, offers: ["start_over"] }, () => this.reset());
  }

  #fail(job: Job, error: unknown): void {
    const { face } = this.parts;
    if (job.controller.signal.aborted) {
      this.reset();
      face.say(job.lost ? CANCELLED_AGAIN : CANCELLED);
      return;
    }
    this.#failed(job, troubleWithFiles(error) ?? this.#unforeseen(job, error));
  }

  #unforeseen(job: Job, error: unknown): Trouble {
    // `fetch` throws a TypeError if no answer comes.
    const lost = error instanceof Unreachable || error instanceof TypeError;
    if (lost) return troubleOf(null, this.#publisher(job), navigator.onLine);
    return {
      sentence: `This page could not go on, and nothing was published (${String(error)}).`,
      offers: ["start_over"],
    };
  }

  /** Goes back to the beginning and puts the focus back. */
  reset(): void {
    const { face } = this.parts;
    const from = this.#job?.from;
    this.#job = null;
    face.say("");
    face.idle();
    if (from instanceof HTMLElement && face.zone.contains(from)) from.focus();
    else face.focusStart();
  }

  async #take(job: Job, offer: Offer): Promise<void> {
    if (offer === "start_over") return this.reset();
    if (offer === "reload") return location.reload();
    job.controller = new AbortController();
    job.sent = false;
    if (offer === "without_account") job.without_account = true;
    else if (job.signed_out && !(await this.#signedInAgain(job))) return;
    await this.#run(job);
  }

  /** Somebody who was signed in never publishes without their account by trying again. */
  async #signedInAgain(job: Job): Promise<boolean> {
    try {
      const renewed = await renewToken(this.parts.setup, job.controller.signal);
      if (!renewed) this.#conclude(job, SIGNED_OUT);
      return renewed;
    } catch (error) {
      this.#fail(job, error);
      return false;
    }
  }
}

/** The letters of a drop's key: 32 of them make one that cannot be guessed. `crypto.randomUUID` is missing on plain
 *  http. */
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** 64 letters: six bits of a byte are one, all equally likely. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => LETTERS[byte & 63]).join("");
