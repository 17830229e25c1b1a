/** Words that are no commands, and help (CONTRACT 8). */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Home, json } from "../kit/cli.ts";
import { shared } from "../kit/shared.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const home = shared(await Home.make("http://127.0.0.1:1"));

describe("CONTRACT 8: svc help [command]", () => {
  test.each<[string[], string[]]>([
    [["help"], ["--help"]],
    [
      ["help", "update"],
      ["update", "--help"],
    ],
    [
      ["help", "comments"],
      ["comments", "--help"],
    ],
    [
      ["help", "comments", "token", "create"],
      ["comments", "token", "create", "--help"],
    ],
  ])("svc %j is svc %j", async (words, flagged) => {
    const ran = await home.run(words);
    expect(ran).toEqual(await home.run(flagged));
    expect(ran).toMatchObject({ code: 0, err: "" });
  });

  test.each([
    [["help", "udpate"], "There is no svc command udpate. Did you mean svc help update?"],
    [["help", "xyzzy"], "There is no svc command xyzzy. See svc --help."],
    [["help", "publish"], "There is no svc command publish: svc <path> deploys. Run: svc"],
    [["help", "comments", "lst"], "There is no svc comments lst. Did you mean svc comments list?"],
  ])("%j exits 2: %s", async (words, sentence) => {
    const { code, out, err } = await home.run(words);
    expect([code, out, err]).toEqual([2, "", `  ✗ ${sentence}\n`]);
  });
});

describe("CONTRACT 8: a first word that is no path and near a command", () => {
  test.each<[string[], number, string]>([
    [["udpate"], 1, "There is no file or folder udpate. Did you mean svc update?"],
    [["udpate", "dist"], 2, "There is no svc command udpate. Did you mean svc update dist?"],
    [["udpate", "--site", "x"], 2, "There is no svc command udpate. Did you mean svc update --site x?"],
    [["rolback", "-q", "ab12"], 2, "Did you mean svc rollback -q ab12?"],
    [["deply"], 1, "There is no file or folder deply. To deploy a folder: svc <folder>"],
    [["whomai"], 1, "There is no file or folder whomai. Did you mean svc whoami?"],
    [["hlep", "update"], 2, "Did you mean svc help update?"],
    [["delte", "a b"], 2, "Did you mean svc delete 'a b'?"],
    [["depoly", "dist"], 2, "Did you mean svc dist?"],
    [["deploy", "update"], 2, "There is no file or folder update here to deploy. Did you mean svc update?"],
  ])("%j exits %i: %s", async (words, exit, sentence) => {
    const { code, out, err } = await home.run(words);
    expect([code, out]).toEqual([exit, ""]);
    expect(err).toContain(sentence);
    const asJson = json(await home.run([...words, "--json"]));
    expect(asJson["code"]).toBe(exit === 1 ? "not_found" : "usage");
  });

  test.each([["x.html"], ["web/dist"]])("%s is near to none: only that it is not there", async (word) => {
    const { code, err } = await home.run([word]);
    expect([code, err]).toEqual([1, `  ✗ There is no file or folder ${word}.\n`]);
  });

  test.each([["ui"], ["dst"], ["xyzzy"]])(
    "%s could be a command, and is near to none: where they stand",
    async (word) => {
      const { code, err } = await home.run([word]);
      expect([code, err]).toEqual([1, `  ✗ There is no file or folder ${word}. svc help lists the commands.\n`]);
    },
  );

  test.each([
    ["dst", "svc dist"],
    ["web-sit", "svc web-site"],
    ["lst", "svc list"],
  ])("a folder that lies here may be meant, too: %s", async (word, meant) => {
    const cwd = await home.write("near", { "dist/index.html": "d", "web-site/index.html": "w" });
    const { code, err } = await home.run([word], { cwd });
    expect([code, err]).toEqual([1, `  ✗ There is no file or folder ${word}. Did you mean ${meant}?\n`]);
  });
});

describe("CONTRACT 8: words of other tools", () => {
  test.each<[string[], string]>([
    [["publish", "my site"], "Run: svc 'my site'"],
    [["remove", "--yes"], "Run: svc delete --yes"],
    [["teardown"], "Run: svc delete"],
    [["init"], "svc <path> deploys. Run: svc"],
    [["sites"], "Run: svc list"],
    [["status", "dist"], "Run: svc versions dist"],
  ])("%j exits 2 with the line that does it: %s", async (words, sentence) => {
    const { code, out, err } = await home.run(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toStartWith(`  ✗ There is no svc command ${words[0]}`);
    expect(err).toEndWith(`${sentence}\n`);
  });

  test.each<[string[], string[]]>([
    [["ls"], ["list"]],
    [
      ["rm", "calm-otter-x3k9", "--yes"],
      ["delete", "calm-otter-x3k9", "--yes"],
    ],
    [["deploy"], []],
    [
      ["deploy", "dist", "-q"],
      ["dist", "-q"],
    ],
    [
      ["help", "ls"],
      ["help", "list"],
    ],
    [["help", "deploy"], ["help"]],
    [["deploy", "list"], ["./list"]],
  ])("%j does what %j does", async (words, same) => {
    const cwd = await home.write("alias", { "dist/index.html": "d", "list/index.html": "l" });
    const [one, other] = [await home.run(words, { cwd }), await home.run(same, { cwd })];
    expect({ ...one, err: one.err.replaceAll("folder list", "folder ./list") }).toEqual(other);
    expect(one.out + one.err).not.toBe("");
  });

  test.each([["deploy"], ["ls"], ["rm"]])(
    "beside a folder named %s the word alone says both ways, and guesses none",
    async (name) => {
      const cwd = await home.write("ambiguous", { [`${name}/index.html`]: "n", "public/index.html": "p" });
      const other = { deploy: "svc", ls: "svc list", rm: "svc delete" }[name];
      const said = `  ✗ ${name} is a file or folder here, and a command: svc ./${name} deploys it, ${other} does the other.\n`;
      expect(await home.run([name], { cwd })).toEqual({ code: 2, out: "", err: said });
      expect((await home.run(["help", name], { cwd })).code).toBe(0);
      // With more behind it, it is the command.
      expect(json(await home.run(["deploy", "public", "--json"], { cwd }))["code"]).toBe("unreachable");
    },
  );

  test.each([["udpate"]])("a folder named %s is deployed", async (name) => {
    await home.write("named", { [`${name}/index.html`]: "<title>named</title>" });
    const ran = await home.run([name, "--json"], { cwd: home.path("named") });
    // It gets as far as the server, and there is none.
    expect(json(ran)["code"]).toBe("unreachable");
  });
});
