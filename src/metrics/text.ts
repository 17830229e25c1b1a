/** Figures in Prometheus' text format: each name with its HELP and its TYPE, once, before its lines. */
import { SERIES, SUM_UNIT } from "./series.ts";

/** One line of the answer. */
export interface Sample {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** `state="live"`; left out where the name says all. */
  label?: string;
  value: number;
  /** What stands behind the name of a histogram's line. */
  suffix?: "_bucket" | "_sum" | "_count";
}

/** What the slots of the shared page say. A histogram's buckets hold all that is below their bound. */
export function storedSamples(get: (slot: number) => number): Sample[] {
  let below = 0;
  return SERIES.flatMap(({ name, type, help, label }, slot): Sample[] => {
    const value = get(slot);
    if (type !== "histogram") return [{ name, type, help, label, value }];
    if (label === "sum") {
      const count = below;
      below = 0;
      return [
        { name, type, help, value: value / SUM_UNIT, suffix: "_sum" },
        { name, type, help, value: count, suffix: "_count" },
      ];
    }
    below += value;
    return [{ name, type, help, label, value: below, suffix: "_bucket" }];
  });
}

const line = ({ name, suffix, label, value }: Sample): string =>
  `${name}${suffix ?? ""}${label ? `{${label}}` : ""} ${value}\n`;

/** The samples of one name stand together. */
export const metricsText = (samples: readonly Sample[]): string =>
  samples
    .map((sample, n) => {
      const { name, type, help } = sample;
      const preamble = name === samples[n - 1]?.name ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
      return preamble + line(sample);
    })
    .join("");
