/** The sentences of the lint: one says what is wrong, one what to do. Names from the upload are made safe to show. */
import type { Finding, WarningCode } from "../../base/types.ts";
import { show } from "../show.ts";

type Say = (path: string, target: string) => Finding;

const say =
  (
    code: WarningCode,
    message: (file: string, target: string) => string,
    recipe: (file: string, target: string) => string,
  ): Say =>
  // A hostile page has a hundred thousand: what is not shown is not worded.
  (path, target) => {
    return {
      code,
      path,
      target,
      get message() {
        return message(show(path), show(target));
      },
      get fix_recipe() {
        return recipe(show(path), show(target));
      },
    };
  };

const BUILD = "Build the project (npm run build) and deploy the folder that the build makes (dist, build or out)";

export const placeholderLeft = say(
  "template_placeholder",
  (file, target) => `${file} has "${target}", a placeholder that a build or a server was to fill in.`,
  (file, target) =>
    `Replace "${target}" in ${file} by the address that it stands for, best by deploying what the build makes.`,
);
export const sourceLoaded = say(
  "unbuilt_source",
  (file, target) => `${file} loads "${target}", source code that no browser can run.`,
  (file, target) => `${BUILD}, so that ${file} no longer loads "${target}".`,
);
export const bareImport = say(
  "unbuilt_source",
  (file, target) => `${file} imports "${target}", a package name that no browser can find.`,
  (file, target) => `${BUILD}, or give "${target}" an address in an import map of every page that loads ${file}.`,
);
export const brokenMap = say(
  "unbuilt_source",
  (file) => `The import map of ${file} is not valid JSON, so that no browser uses it.`,
  (file) => `Correct the import map in ${file} to valid JSON, for instance without a comma behind its last entry.`,
);
export const moduleAsScript = say(
  "unbuilt_source",
  (file, target) =>
    `${file} loads "${target}" as a plain script, but it has import or export statements: it stops at once.`,
  (file, target) =>
    `Add type="module" to the script element of "${target}" in ${file}, or deploy what a build makes of it.`,
);
export const nodeRequire = say(
  "unbuilt_source",
  (file, target) => `${file} calls require("${target}"), which browsers do not have: it stops at once.`,
  (file, target) => `${BUILD}, so that no require("${target}") is left in ${file}.`,
);
export const otherCase = (path: string, target: string, found: string): Finding =>
  say(
    "case_mismatch",
    (file, name) => `${file} names "${name}", but the file is called ${show(found)}: letter case counts.`,
    (file, name) => `Change "${name}" in ${file} so that its letters are those of the file's name, ${show(found)}.`,
  )(path, target);

export const missingAsset = (path: string, target: string, name: string): Finding =>
  say(
    "missing_asset",
    (file, url) => `${file} loads "${url}", and no file answers at ${show(name)}.`,
    (file, url) => `Add the file ${show(name)} to what you deploy, or change "${url}" in ${file} to one that is there.`,
  )(path, target);
/** A script joins more to the address. */
export const missingBeginning = (path: string, target: string, name: string): Finding =>
  say(
    "missing_asset",
    (file, url) => `${file} loads what begins with "${url}", and no file of the site begins with ${show(name)}.`,
    (file, url) =>
      `Add the files that begin with ${show(name)} to what you deploy, or change "${url}" in ${file} to where they are.`,
  )(path, target);
/** `routed`: the index runs a router in the browser, whose routes are no files. */
export const brokenLink = (path: string, target: string, name: string, routed: boolean): Finding =>
  say(
    "broken_link",
    (file, url) => `${file} links to "${url}", and nothing answers at ${show(name)}.`,
    (file, url) =>
      `Add the page ${show(name)} to what you deploy, or change "${url}" in ${file} to one that is there${routed ? `, or deploy with svc update --spa if it is a route of your app` : ""}.`,
  )(path, target);
/** A file must not be added there: it would never be served, or it would take the place of the comments' feed. */
export const keptPath = (path: string, target: string, link: boolean): Finding =>
  say(
    link ? "broken_link" : "missing_asset",
    (file, url) => `${file} names "${url}", and nothing answers there: the service keeps that path for itself.`,
    (file, url) => `Change "${url}" in ${file} to a path that the service does not use, with the file there.`,
  )(path, target);
export const endingLeftOut = (path: string, target: string, ending: string): Finding =>
  say(
    "missing_asset",
    (file, url) => `${file} imports "${url}" without its ending, which browsers do not add.`,
    (file, url) => `Change "${url}" in ${file} to "${url}${ending}".`,
  )(path, target);
export const notEncoded = say(
  "missing_asset",
  (file, target) => `"${target}" in ${file} is no valid address: a % begins a character's number there.`,
  (file, target) => `Write each % of "${target}" in ${file} as %25.`,
);
export const noAddress = say(
  "missing_asset",
  (file, target) =>
    `The import map of ${file} gives "${target}", which is no address: it must begin with /, ./ or ../.`,
  (file, target) => `Put ./ in front of "${target}" in the import map of ${file}, or give the whole address.`,
);
export const neverPublished = say(
  "missing_asset",
  (file, target) => `${file} loads "${target}", but node_modules is never published.`,
  (file, target) =>
    `Copy the file out of node_modules into another folder of the site, and change "${target}" in ${file} to its place there.`,
);
export const ownDisk = (path: string, target: string, link: boolean): Finding =>
  say(
    link ? "broken_link" : "missing_asset",
    (file, url) => `${file} names "${url}", a file on the author's own disk.`,
    (file, url) => `Put that file beside ${file} and change "${url}" there to its relative address.`,
  )(path, target);

const REACHABLE = (file: string, url: string): string =>
  `Change "${url}" in ${file} to an address that visitors can reach.`;
export const localhostUrl = say(
  "localhost_url",
  (file, url) => `${file} asks for "${url}", which is each visitor's own machine.`,
  REACHABLE,
);
export const privateUrl = say(
  "private_network_url",
  (file, url) => `${file} asks for "${url}", which only the author's own network can reach.`,
  REACHABLE,
);
export const mixedContent = say(
  "mixed_content",
  (file, url) => `${file} asks for "${url}" over http, which browsers block on an https page.`,
  (file, url) =>
    `Change "${url}" in ${file} to begin with ${/^ws:/i.test(url) ? "wss" : "https"}://, at a host that answers there.`,
);

export const extraPrefix = (path: string, prefix: string, example: string, there: string): Finding =>
  say(
    "wrong_base_path",
    (file) =>
      `${file} asks for ${show(example)}, but the file is at /${show(there)}: this was made for a site that begins at /${show(prefix)}/.`,
    () =>
      `Build again for the base path / (base, homepage, basePath or --base-href), or remove /${show(prefix)} from the beginning of every address.`,
  )(path, prefix);
export const lackingPrefix = (path: string, folder: string, example: string): Finding =>
  say(
    "wrong_base_path",
    (file) => `${file} asks for ${show(example)}, but the file is in ${show(folder)}/.`,
    (file) =>
      path.startsWith(`${folder}/`)
        ? `Deploy the folder ${show(folder)} itself, or put /${show(folder)} in front of the addresses in ${file} that begin with /.`
        : `Move what is in ${show(folder)} to the root of what you deploy, where the addresses in ${file} expect it.`,
  )(path, folder);
