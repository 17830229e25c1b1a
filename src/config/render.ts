/** The settings of the render engine (CONTRACT 9). */
import { filled, oneOf, type Setting } from "./setting.ts";

const setting = <T>(row: Setting<T>): Setting<T> => row;

export const RENDER_SETTINGS = {
  render: setting({
    flag: "--render",
    variables: ["SVC_RENDER"],
    fallback: "off",
    meaning: "whether a headless browser looks at each new version; needs Chromium on this machine",
    allowed: "off or chrome",
    parse: oneOf("off", "chrome"),
  }),
  chrome: setting({
    flag: null,
    variables: ["SVC_CHROME"],
    fallback: null,
    meaning: "that browser; default: the first of chromium, chromium-browser, google-chrome, chrome on PATH",
    allowed: "a path to Chromium or Chrome",
    parse: filled,
  }),
};
